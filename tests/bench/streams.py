"""Reading an answer of many pieces: the whole way over a socket, and the folds alone."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator

import httpx
import msgspec

from minime.core.model import reply, sse
from minime.core.model.servers import server_at
from minime.shell.model.model import Model
from tests.bench.rows import Row, Sample, by_turns, timed
from tests.bench.stream_server import DELTAS, PAYLOADS, PIECES

BODY = b'{"model": "tiny", "stream": true, "messages": [{"role": "user", "content": "x"}]}'
TOOLS = frozenset({"read_file", "run_command"})
AREA = "Stream"


def rows(runs: int) -> Iterator[Row]:
    """The rows about streams, with a server in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.stream_server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{int(server.stdout.readline())}"
            yield from (over_socket(url, way, runs) for way in ("pieces", "whole"))
        finally:
            server.terminate()
    for name, pieces in (("one by one", PIECES), ("in pieces of 64 KB", blocks())):
        what = f"the folds alone, {DELTAS:,} deltas {name}"
        yield Row(
            AREA,
            what,
            "decode each payload as JSON",
            0,
            by_turns(timed(decode), timed(folding(pieces)), runs),
        )


def over_socket(url: str, way: str, runs: int) -> Row:
    """`Model.ask` against the HTTP client alone."""
    path = f"{url}/{way}"
    with asyncio.Runner() as runner:
        model = Model(server_at(path))
        client = httpx.AsyncClient(trust_env=False, verify=False, timeout=None)

        async def ask() -> None:
            answer = await model.ask(BODY, TOOLS, lambda event: None)
            assert len(answer.content.split()) == DELTAS

        async def read() -> None:
            size = 0
            async with client.stream("POST", f"{path}/chat/completions", content=BODY) as response:
                async for received in response.aiter_bytes():
                    size += len(received)
            assert size == sum(map(len, PIECES))

        def run(work: Callable[[], object]) -> Callable[[], Sample]:
            return timed(lambda: runner.run(work()))  # type: ignore[arg-type]

        name = "sent one by one" if way == "pieces" else "sent at once"
        found = by_turns(run(read), run(ask), runs)
        runner.run(model.close())
        runner.run(client.aclose())
    goal = 2.0 if way == "pieces" else 0
    return Row(AREA, f"`Model.ask`, {DELTAS:,} deltas {name}", "receive them with `httpx` alone", goal, found)


def blocks() -> tuple[bytes, ...]:
    """The stream as a fast server's bytes come in."""
    whole = b"".join(PIECES)
    return tuple(whole[place : place + 65_536] for place in range(0, len(whole), 65_536))


def decode() -> None:
    """The least that can be done with the payloads."""
    for payload in PAYLOADS:
        msgspec.json.decode(payload)


def folding(pieces: tuple[bytes, ...]) -> Callable[[], None]:
    """Both folds over `pieces`."""

    def fold() -> None:
        state, draft = sse.SseState(), reply.Draft(TOOLS)
        for piece in pieces:
            state, payloads = sse.feed(state, piece)
            for payload in payloads:
                draft, _ = reply.add_payload(draft, payload)
        assert isinstance(reply.finish(draft), reply.Complete)

    return fold
