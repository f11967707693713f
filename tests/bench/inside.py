"""What one process does, measured inside it: `python -m tests.bench.inside RUNS`; a row of JSON a line."""

import os
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

import msgspec

from minime.core.codec import encode
from minime.core.listing import HEAD_BYTES
from minime.core.session import append_turn, new_session
from minime.core.turn import Turn
from minime.core.values import Assistant, Session, Stamp, Tool, User, tool_call
from minime.shell.store import Saved, Store
from tests.bench import editors, streams
from tests.bench.rows import Row, by_turns, timed

SESSIONS = 1_000
NOW = datetime(2026, 9, 16, 10, 15, 30, tzinfo=UTC)
RESULT = "".join(f"{number}: a line of a file, with “quotes”\n" for number in range(100))


def session(size: int, number: int = 0) -> Session:
    """A conversation about files whose file has at least `size` bytes."""
    moment = NOW + timedelta(seconds=number)
    grown = new_session(Stamp(moment, f"{moment:%Y%m%d-%H%M%S}-{number:08x}"), "You are mini-me.", "tiny")
    call = tool_call("call_1", "read_file", '{"path": "main.py"}')
    asked = (User("What does it do?"), Assistant("", tool_calls=(call,)))
    turn = Turn((*asked, Tool("call_1", RESULT), Assistant("It holds lines.")))
    per_turn = len(encode(append_turn(grown, turn, moment))) - len(encode(grown))
    many = tuple(message for _ in range(size // per_turn + 1) for message in turn.messages)
    return msgspec.structs.replace(append_turn(grown, turn, moment), messages=(grown.messages + many))


def saving(folder: Path, size: int, runs: int) -> Row:
    """`Store.save` over the file that it saved before."""
    folder.mkdir()
    store = Store(folder)
    kept = session(size)
    stamp = Stamp(NOW, "20260916-101530-ffffffff")

    def save() -> None:
        saved = store.save(kept, stamp)
        assert isinstance(saved, Saved)
        assert saved.session.id == kept.id

    def write() -> None:
        with (folder / "floor").open("wb") as file:
            file.write(encode(kept))
            file.flush()
            os.fsync(file.fileno())

    what = f"saving a session of {size / 1e6:g} MB"
    return Row(
        "Save", what, "encode, write and `fsync` the same", 2.0, by_turns(timed(write), timed(save), runs)
    )


def listing(folder: Path, runs: int) -> Row:
    """`Store.heads` of a full folder."""
    store = Store(folder)
    store.folder.mkdir(parents=True)
    for number in range(SESSIONS):
        one = session(50_000, number)
        (store.folder / f"{one.id}.json").write_bytes(encode(one))

    def heads() -> None:
        assert len(store.heads()) == SESSIONS

    def read() -> None:
        for entry in os.scandir(store.folder):
            with open(entry.path, "rb", buffering=0) as file:  # noqa: PTH123 - a floor makes no Path
                file.read(HEAD_BYTES)

    what = f"ordering {SESSIONS:,} sessions of 50 KB by their heads"
    return Row("List", what, "read the first 4 KB of each", 3.0, by_turns(timed(read), timed(heads), runs))


def main() -> None:
    """Measures, and writes each row as soon as it is there."""
    runs = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = chain(
            (saving(folder / "small", 1_000_000, runs), saving(folder / "large", 10_000_000, runs)),
            streams.rows(runs),
            (listing(folder / "list", runs), editors.replay(Stamp(NOW, "20260916-101530-00000000"), runs)),
        )
        for row in found:
            sys.stdout.write(msgspec.json.encode(row).decode() + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
