"""`search`: starts the worker that searches, ends it in time, and tells what it had found by then."""

import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from minime.core.tools.toolbox import Said, Search
from minime.shell.tools.inside import Place
from minime.shell.tools.processes import run_process

SECONDS = 10
"""How long a search may take, whatever the pattern."""

MOST = 200
"""Matching lines that are told."""

_MODULE = "minime.shell.tools.search_worker"
_HEARD = 1_000_000


def search(
    place: Place,
    action: Search,
    environment: Mapping[str, str],
    stop: threading.Event,
    seconds: int = SECONDS,
) -> Said:
    """The matching lines, as `path:line: text`, and why there may be more. Raises OSError when the worker
    cannot be started."""
    import json

    request = {
        "base": place.base,
        "parts": place.parts,
        "shown": place.shown,
        "pattern": action.pattern,
        "glob": action.glob,
        "seconds": seconds + 5,
        "most": MOST,
    }
    # -P: a module in the current folder must not be taken for one of Python's own.
    command = [sys.executable, "-P", "-W", "ignore", "-X", "utf8", "-m", _MODULE, json.dumps(request)]
    heard = bytearray()

    def hear(data: bytes) -> None:
        if len(heard) < _HEARD:
            heard.extend(data)

    ended = run_process(command, Path.cwd(), environment, seconds, stop, hear)
    lines = heard.decode("utf-8", "replace").split("\n")[:-1]
    problem = next((line[1:] for line in lines if line.startswith("!")), None)
    if problem is not None:
        return Said(problem, failed=True)
    found = [line[1:] for line in lines if line.startswith("=")]
    too_large = next((line[1:] for line in lines if line.startswith(".")), None)
    notes: list[str] = []
    if ended.why == "timeout":
        notes.append(f"… stopped after {seconds} s; there may be more: search in fewer files …")
    elif len(found) >= MOST:
        notes.append(
            f"… stopped after {MOST} lines; there may be more: use a narrower pattern, path or glob …"
        )
    elif too_large is None:
        notes.append("… the search broke off; there may be more …")
    elif too_large != "0":
        notes.append(f"… files larger than 10 MB were not searched: {too_large} …")
    return Said("\n".join([*(found or ["no line matches"]), *notes]), failed=too_large is None and not found)
