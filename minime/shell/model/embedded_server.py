"""The process of the embedded model: a JSON line on stdin says what to load, one on stdout where it answers.

It runs by its path, imports nothing of mm, and ends when its stdin does: with mm, however mm ends.
"""

import json
import os
import sys
import time
from typing import Any

# Between two batches of a prompt the engine looks whether anybody still waits: small batches make a
# cancelled prompt end in 2 s instead of half a minute, and cost no speed.
BATCH = 256
PROMPT_CACHE_MIB = 256
PR_SET_PDEATHSIG = 1
SIGKILL = 9


def main() -> None:
    """Serves the model until stdin ends."""
    answers = os.dup(1)
    os.dup2(2, 1)
    order = json.loads(sys.stdin.buffer.readline())
    _end_with(order["parent"])
    answer, server = _load(order)
    os.write(answers, json.dumps(answer).encode() + b"\n")
    os.close(answers)
    if server is not None:
        _silence()
        sys.stdin.buffer.read()
    # The engine's own way out waits for the request in hand.
    os._exit(0)


def _end_with(parent: int) -> None:
    # The engine holds the interpreter while it loads, so the end of stdin is not seen then.
    if not parent or not sys.platform.startswith("linux"):
        return
    import ctypes

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _load(order: dict[str, Any]) -> tuple[dict[str, Any], object]:
    try:
        import xllamacpp
    except ImportError as error:
        return {"answer": "stuck", "why": "no library", "detail": str(error)}, None
    params = xllamacpp.CommonParams()
    params.model.path = order["weights"]
    params.model_alias = {order["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [order["key"]]
    params.n_ctx = order["context_window"]
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = BATCH
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = order["threads"]
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.use_jinja = True
    params.verbosity = 0
    if order["template"]:
        params.chat_template = order["template"]
        # So small a model is only ever right about its first guess.
        params.sampling.temp = 0.0
    try:
        server = xllamacpp.Server(params)
        address = server.listening_address
        _wait_healthy(address)
    except (RuntimeError, OSError) as error:
        return {"answer": "stuck", "why": "not loaded", "detail": str(error)}, None
    return {"answer": "ready", "address": address}, server


def _wait_healthy(address: str) -> None:
    import http.client

    host = address.removeprefix("http://")
    while True:
        connection = http.client.HTTPConnection(host, timeout=5)
        connection.request("GET", "/health")
        ready = connection.getresponse().status == http.client.OK
        connection.close()
        if ready:
            return
        time.sleep(0.02)


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


if __name__ == "__main__":
    main()
