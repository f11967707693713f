"""`search` and `list_directory`: start the worker, end it in time, tell what it had found by then."""

import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from minime.core.tools.toolbox import ListDirectory, Said, Search
from minime.shell.tools.inside import Place
from minime.shell.tools.processes import run_process

SECONDS = 10
"""How long a search or a listing may take, whatever the pattern or the `.gitignore` files."""

MOST = 200
"""Matching lines that are told."""

ENTRIES = 1_000
"""Entries that a listing shows."""

_MODULE = "minime.shell.tools.search_worker"
_HEARD = 1_000_000


class _Heard(NamedTuple):
    """What the worker said: lines found, what is wrong with the request, its last word (None: it did not get
    that far) and whether its time was over."""

    found: list[str]
    problem: str | None
    end: str | None
    late: bool


def search(
    place: Place,
    action: Search,
    environment: Mapping[str, str],
    stop: threading.Event,
    seconds: int = SECONDS,
) -> Said:
    """The matching lines, as `path:line: text`, and why there may be more. Raises OSError when the worker
    cannot be started."""
    wanted = {"pattern": action.pattern, "glob": action.glob, "most": MOST}
    found, problem, too_large, late = _work(place, wanted, environment, stop, seconds)
    if problem is not None:
        return Said(problem, failed=True)
    notes: list[str] = []
    if late:
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


def list_directory(
    place: Place,
    action: ListDirectory,
    environment: Mapping[str, str],
    stop: threading.Event,
    seconds: int = SECONDS,
) -> Said:
    """The names in the folder, one a line, folders with a slash at their end. Raises OSError when the worker
    cannot be started."""
    wanted = {"depth": max(1, action.depth), "most": ENTRIES}
    found, problem, end, late = _work(place, wanted, environment, stop, seconds)
    if problem is not None:
        return Said(problem, failed=True)
    notes: list[str] = []
    if late:
        notes.append(f"… stopped after {seconds} s; there may be more: list a folder of them …")
    elif end is None:
        notes.append("… the listing broke off; there may be more …")
    elif end == "more":
        notes.append(f"… more than {ENTRIES:,} entries; list a folder of them, or search …")
    return Said(
        "\n".join([*found, *notes]) or "(empty, or all of it ignored)", failed=end is None and not found
    )


def _work(
    place: Place,
    wanted: Mapping[str, object],
    environment: Mapping[str, str],
    stop: threading.Event,
    seconds: int,
) -> _Heard:
    import json

    request = {
        "base": place.base,
        "parts": place.parts,
        "shown": place.shown,
        "seconds": seconds + 5,
        **wanted,
    }
    # -P: a module in the current folder must not be taken for one of Python's own.
    command = [sys.executable, "-P", "-W", "ignore", "-X", "utf8", "-m", _MODULE, json.dumps(request)]
    heard = bytearray()

    def hear(data: bytes) -> None:
        if len(heard) < _HEARD:
            heard.extend(data)

    ended = run_process(command, Path("/"), environment, seconds, stop, hear)
    lines = heard.decode("utf-8", "replace").split("\n")[:-1]
    said = {kind: [line[1:] for line in lines if line.startswith(kind)] for kind in "=!."}
    return _Heard(said["="], next(iter(said["!"]), None), next(iter(said["."]), None), ended.why == "timeout")
