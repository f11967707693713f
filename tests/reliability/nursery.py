"""Many kills in one breath: `python -m tests.reliability.nursery FOLDER`, under strace with `INJECT`.

strace counts the calls of each process for itself and kills a process at its `at`th call of a kind. Here each
child makes so many idle calls of one kind first that the one it is to die at comes at the place wanted in a save.
"""

import fcntl
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from minime.core.session import append_turn
from minime.core.values import Stamp
from minime.shell.store import Loaded, Saved, Store
from tests.support.talks import ID, LATER, NOW, OTHER_ID, fresh, hello_turn, tool_turn


def at(name: str) -> int:
    """Which call of that name kills: one more than this program needs for itself."""
    return 700 if name == "openat" else 40


POINTS = (
    *(("flock", number) for number in range(1, 7)),
    *(("fsync", number) for number in range(1, 9)),
    *(("openat", number) for number in range(1, 10)),
    *(("write", number) for number in (1, 2, 3)),
    *(("mkdir", number) for number in (1, 2)),
    ("link", 1),
    *(("rename", number) for number in (1, 2)),
    *(("unlink", number) for number in (1, 2, 3)),
)
"""Calls of the saves of a `visit`, each by its name and its number."""

TURNS = (hello_turn(), tool_turn(), hello_turn())

INJECT = tuple(f"{name}:signal=SIGKILL:when={at(name)}" for name in sorted({name for name, _ in POINTS}))


def idle(name: str, scratch: int) -> Callable[[], object]:
    """A call of that name that does nothing of weight."""
    match name:
        case "openat":
            return lambda: os.close(os.open(os.devnull, os.O_RDONLY))
        case "write":
            return lambda: os.write(scratch, b"")
        case "flock":
            return lambda: fcntl.flock(scratch, fcntl.LOCK_UN)
        case "fsync":
            return lambda: os.fsync(scratch)
        case "mkdir":
            return lambda: os.mkdir("/")  # noqa: PTH102 - as few calls as can be
        case "link":
            return lambda: os.link("", "")
        case "rename":
            return lambda: os.rename("", "")  # noqa: PTH104
        case _:
            return lambda: os.unlink("")  # noqa: PTH108


def visit(project: Path, confirmed: int) -> None:
    """A session is made, and grows by a turn twice; the file `confirmed` counts the turns."""
    store = Store(project)
    session = fresh()
    for number, turn in enumerate(TURNS, start=1):
        saved = store.save(append_turn(session, turn, LATER), Stamp(NOW, OTHER_ID))
        assert isinstance(saved, Saved)
        session = saved.session
        os.pwrite(confirmed, str(number).encode(), 0)


def main() -> None:
    """Each point in a child of its own; says which of them lived through it."""
    folder = Path(sys.argv[1])
    warm = folder / "warm"
    warm.mkdir()
    Store(warm).save(fresh(), Stamp(NOW, OTHER_ID))  # what is imported late is there now
    assert isinstance(Store(warm).load(ID), Loaded)
    scratch = os.open(folder / "scratch", os.O_RDWR | os.O_CREAT)
    for name, number in POINTS:
        project = folder / f"{name}-{number}"
        project.mkdir()
        confirmed = os.open(project / "confirmed", os.O_RDWR | os.O_CREAT)
        child = os.fork()
        if not child:
            call = idle(name, scratch)
            for _ in range(at(name) - number):
                with suppress(OSError):
                    call()
            visit(project, confirmed)
            os._exit(0)
        os.close(confirmed)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            print(project.name, flush=True)


if __name__ == "__main__":
    main()
