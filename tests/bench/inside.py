"""What one process does, measured inside it: `python -m tests.bench.inside RUNS`; a row of JSON a line."""

import os
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

import msgspec

from minime.core.checkup import size_text
from minime.core.codec import encode
from minime.core.listing import HEAD_BYTES
from minime.core.searching import Wanted, hits, may_hold, new_search
from minime.core.session import append_turn, new_session
from minime.core.turn import Turn
from minime.core.values import Assistant, Session, Stamp, Tool, User, tool_call
from minime.shell.history_verbs import Sessions
from minime.shell.store import Saved, Store
from tests.bench import editors, streams
from tests.bench.rows import Row, by_turns, timed

NOW = datetime(2026, 9, 16, 10, 15, 30, tzinfo=UTC)
RESULT = "".join(f"{number}: a line of a file, with “quotes”\n" for number in range(100))


def session(size: int, number: int = 0) -> Session:
    """A conversation about files whose file has at least `size` bytes."""
    id, moment = new_id(number)
    grown = new_session(Stamp(moment, id), "You are mini-me.", "tiny")
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


def listing(folder: Path, sessions: int, size: int, runs: int) -> Row:
    """`Store.heads` of a full folder. Of each file the beginning is real and the rest a hole: nobody reads
    it."""
    store = Store(folder)
    store.folder.mkdir(parents=True)
    data, model = encode(session(size)), session(size)
    for number in range(sessions):
        id, updated = new_id(number)
        head = data[: 2 * HEAD_BYTES].replace(model.id.encode(), id.encode(), 1)
        file = store.folder / f"{id}.json"
        file.write_bytes(head.replace(_time(model.updated), _time(updated), 2))
        os.truncate(file, len(data))

    def heads() -> None:
        assert len(store.heads()) == sessions

    def read() -> None:
        for entry in os.scandir(store.folder):
            with open(entry.path, "rb", buffering=0) as file:  # noqa: PTH123 - a floor makes no Path
                file.read(HEAD_BYTES)

    what = f"ordering {sessions:,} sessions of {size_text(size)} by their heads"
    return Row("List", what, "read the first 4 KB of each", 3.0, by_turns(timed(read), timed(heads), runs))


def searching(folder: Path, sessions: int, size: int, runs: int) -> Row:
    """All sessions looked through for words that stand in the last of them."""
    store = Store(folder)
    store.folder.mkdir(parents=True)
    data, model = encode(session(size)), session(size)
    for number in range(sessions):
        id, _ = new_id(number)
        words = b"It holds a needle." if not number else b"It holds lines."
        one = data.replace(model.id.encode(), id.encode(), 1).replace(b"It holds lines.", words)
        (store.folder / f"{id}.json").write_bytes(one)
    wanted = Wanted("a Needle")
    look = new_search(wanted)
    assert not isinstance(look, str)

    def search() -> None:
        found = [
            hit
            for one in Sessions(store, lambda data: may_hold(data, wanted))
            for hit in hits(one, wanted, look)
        ]
        assert len({hit.id for hit in found}) == 1

    def read() -> None:
        found = 0
        for entry in os.scandir(store.folder):
            with open(entry.path, "rb", buffering=0) as file:  # noqa: PTH123 - a floor makes no Path
                found += b"a needle" in file.read().lower()
        assert found == 1

    what = f"searching {sessions:,} sessions of {size_text(size)} for words in one of them"
    floor = "read each whole and look at its bytes in small letters"
    return Row("List", what, floor, 2.0, by_turns(timed(read), timed(search), runs))


def new_id(number: int) -> tuple[str, datetime]:
    """The id of a session that was used at a moment of its own, and the moment."""
    moment = NOW + timedelta(seconds=number)
    return f"{moment:%Y%m%d-%H%M%S}-{number:08x}", moment


def _time(moment: datetime) -> bytes:
    return f'"{moment:%Y-%m-%dT%H:%M:%SZ}"'.encode()


def main() -> None:
    """Measures, and writes each row as soon as it is there."""
    runs = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = chain(
            (saving(folder / "small", 1_000_000, runs), saving(folder / "large", 10_000_000, runs)),
            streams.rows(runs),
            (
                listing(folder / "many", 10_000, 50_000, runs),
                listing(folder / "large-ones", 1_000, 1_000_000, runs),
                searching(folder / "search", 200, 1_000_000, runs),
            ),
            (editors.replay(Stamp(NOW, "20260916-101530-00000000"), runs),),
        )
        for row in found:
            sys.stdout.write(msgspec.json.encode(row).decode() + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
