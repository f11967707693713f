"""A very large session, taken up, gone on with by a turn and saved: `python -m tests.reliability.large WHICH SIZE`.

WHICH is `floor` (the least that has to be done with the same bytes: decode, encode, write, sync), `mm`, or
`baseline` (nothing). The measures of one process are one line of JSON.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import msgspec

from minime.core.codec import decode, encode
from minime.core.session import append_turn, new_session
from minime.core.turn import Turn
from minime.core.values import Assistant, Session, Stamp, User
from minime.shell.store import Loaded, Saved, Store
from tests.conftest import ROOT
from tests.support.talks import ID, LATER, NOW, OTHER_ID

MESSAGE = 2_000
TIME_GOAL = 2.5
MEMORY_GOAL = 6.0
NEWEST = Turn((User("and now?"), Assistant("That as well.")))


class Measure(msgspec.Struct, frozen=True):
    """What one process came to: seconds on the clock, and its most memory in MB."""

    seconds: float
    peak: float


class Large(msgspec.Struct, frozen=True):
    """The medians: MB of the file, seconds of the floor and of mm, memory as a multiple of the file."""

    what: str
    size: float
    floor: float
    mm: float
    memory: float
    time_goal: float

    @property
    def ratio(self) -> float:
        return self.mm / self.floor

    @property
    def missed(self) -> bool:
        return self.time_goal < self.ratio or self.memory > MEMORY_GOAL


def large(what: str, size: int, runs: int, *, unknown: bool = False) -> Large:
    """Measures a session of `size` bytes, with keys that mm does not know where `unknown`."""
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        file = project / ".mm" / "sessions" / f"{ID}.json"
        file.parent.mkdir(parents=True)
        data = encode(session(size, unknown=unknown))
        measured: dict[str, list[Measure]] = {"baseline": [], "floor": [], "mm": []}
        for _ in range(runs):
            for which, found in measured.items():
                file.write_bytes(data)
                found.append(_measure(which, project))
    baseline = median(one.peak for one in measured["baseline"])
    return Large(
        what,
        len(data) / 1e6,
        median(one.seconds for one in measured["floor"]),
        median(one.seconds for one in measured["mm"]),
        (median(one.peak for one in measured["mm"]) - baseline) / (len(data) / 1e6),
        float("inf") if unknown else TIME_GOAL,
    )


def session(size: int, *, unknown: bool = False) -> Session:
    """A conversation of about `size` bytes, in messages of 2 KB."""
    text = ("A line of what was said, with “quotes” and\na second line. " * 60)[: MESSAGE - 100]
    extra = {"x-note": "kept"} if unknown else {}
    turn = (User(text, extra=extra), Assistant(text))
    begun = new_session(Stamp(NOW, ID), "You are mini-me.")
    return msgspec.structs.replace(begun, messages=begun.messages + turn * (size // (2 * MESSAGE)))


def _measure(which: str, project: Path) -> Measure:
    command = [sys.executable, "-m", "tests.reliability.large", which, str(project)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Measure)


def _floor(project: Path) -> None:
    data = (project / ".mm" / "sessions" / f"{ID}.json").read_bytes()
    with (project / "floor").open("wb") as file:
        file.write(encode(decode(data)))
        file.flush()
        os.fsync(file.fileno())


def _mm(project: Path) -> None:
    store = Store(project)
    loaded = store.load(ID)
    assert isinstance(loaded, Loaded)
    saved = store.save(append_turn(loaded.session, NEWEST, LATER), Stamp(LATER, OTHER_ID))
    assert isinstance(saved, Saved)
    assert saved.session.id == ID


def main() -> None:
    """Measures itself."""
    which, project = sys.argv[1], Path(sys.argv[2])
    before = time.perf_counter()
    if which != "baseline":
        (_floor if which == "floor" else _mm)(project)
    seconds = time.perf_counter() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    sys.stdout.write(msgspec.json.encode(Measure(seconds, peak / 1e6)).decode())


if __name__ == "__main__":
    main()
