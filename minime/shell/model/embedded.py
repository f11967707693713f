"""The embedded model: weights on the disk go in, a server like any other comes out; it ends with mm.

The engine runs in a process of its own because it holds the interpreter while it loads and does not let
go of a prompt in hand: there, Ctrl-C and the end of mm would wait for it. The pipe that is the process's
stdin stays open as long as mm lives; its end, however it comes, is the end of the process.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import msgspec

from minime.core.model.embedded import (
    CONTEXT_WINDOW,
    ENGINE,
    MODULE,
    SMOLLM2,
    START_SECONDS,
    Order,
    Ready,
    Stuck,
    exit_meaning,
    models_folder,
    read_answer,
    thread_count,
)
from minime.core.model.servers import Server

SERVER = Path(__file__).with_name("embedded_server.py")
TEMPLATE = Path(__file__).parents[2] / "data" / "smollm2-tools.jinja"


class Embedded:
    """A model that answers at `server` to requests that carry `api_key`, under the name `model`."""

    def __init__(self, process: subprocess.Popen[bytes], address: str, api_key: str, model: str) -> None:
        self.server = Server("embedded", f"{address}/v1")
        self.api_key = api_key
        self.model = model
        self._process = process

    @property
    def pid(self) -> int:
        """The model's process."""
        return self._process.pid

    def close(self) -> None:
        """Ends the model's process; takes some milliseconds, whatever it is doing. May be called twice."""
        _end(self._process)


def find_weights(environ: Mapping[str, str]) -> Path | None:
    """The file of the weights that mm knows: from the package that carries it (which is not imported),
    else from where `mm setup` puts it; None when it is in neither place or not whole."""
    from importlib.util import find_spec

    spec = find_spec(MODULE)
    places = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    places.append(Path(models_folder(environ, Path.home())))
    for place in places:
        path = place / SMOLLM2.file
        with contextlib.suppress(OSError):
            if path.stat().st_size == SMOLLM2.size:
                return path
    return None


def has_engine() -> bool:
    """Whether the engine is installed (the extra `minime[local]`)."""
    from importlib.util import find_spec

    return find_spec(ENGINE) is not None


async def start(
    weights: Path,
    *,
    threads: int | None = None,
    template: bool,
    context_window: int = CONTEXT_WINDOW,
    within: float = START_SECONDS,
) -> Embedded | Stuck:
    """The model of the file `weights`, ready to answer, or why it is not.

    `threads` None means `MM_EMBEDDED_THREADS`, else all cores but one. `template` says whether mm's own
    chat template is laid over the file's: right for the weights that mm knows only. Waits at most `within`
    seconds; cancelling the wait ends the process.
    """
    import asyncio
    import tempfile

    if not has_engine():
        return Stuck("no engine")
    stuck = unfit(weights)
    if stuck is not None:
        return stuck
    order = _order(weights, threads or thread_count(os.environ, _cores()), template, context_window)
    with tempfile.TemporaryFile() as words:
        process = _launch(words)
        try:
            line = await asyncio.wait_for(asyncio.to_thread(_converse, process, order), within)
        except TimeoutError:
            _end(process)
            return Stuck("slow")
        except BaseException:
            _end(process)
            raise
        match read_answer(line):
            case Ready(address):
                return Embedded(process, address, order.key, order.name)
            case Stuck() as stuck:
                _end(process)
                return stuck
            case None:
                return _ended(process, words)


def _order(weights: Path, threads: int, template: bool, context_window: int) -> Order:
    import secrets

    return Order(
        weights=str(weights.resolve()),
        name=weights.stem,
        template=TEMPLATE.read_text(encoding="utf-8") if template else "",
        key=secrets.token_urlsafe(24),
        threads=threads,
        context_window=context_window,
        parent=_lasting_parent(),
    )


def _launch(words: IO[bytes]) -> subprocess.Popen[bytes]:
    # By its path and with -P, so that no file of the user's project is taken for a module. A session of its
    # own keeps the terminal's Ctrl-C away.
    return subprocess.Popen(
        [sys.executable, "-P", str(SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=words,
        start_new_session=True,
    )


def _ended(process: subprocess.Popen[bytes], words: IO[bytes]) -> Stuck:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1)
    _end(process)
    words.seek(0)
    said = words.read(2000).decode(errors="replace").strip()
    meaning = exit_meaning(process.returncode)
    return Stuck(meaning.why, said or meaning.detail)


def unfit(weights: Path) -> Stuck | None:
    """Why a file is none to load, as far as its first bytes tell; None when it may be one."""
    try:
        with weights.open("rb") as file:
            return None if file.read(4) == b"GGUF" else Stuck("not a model")
    except OSError as error:
        return Stuck("no file", str(error))


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _lasting_parent() -> int:
    # The kernel's death signal comes when the starting thread ends, so only the main thread may ask for it.
    import threading

    return os.getpid() if threading.current_thread() is threading.main_thread() else 0


def _converse(process: subprocess.Popen[bytes], order: Order) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(msgspec.json.encode(order) + b"\n")
        process.stdin.flush()
        return process.stdout.readline()
    except (OSError, ValueError):
        return b""


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
