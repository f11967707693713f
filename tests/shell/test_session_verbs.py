"""The verbs about kept conversations, as a person or a script meets them: real folders, real files."""

import json
import os
import subprocess
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from minime import cli
from minime.core.codec import decode, encode
from minime.core.events import Failed
from minime.core.listing import Found, NotFound
from minime.core.searching import Wanted
from minime.core.session import append_turn, settle
from minime.core.turn import Turn
from minime.core.values import Assistant, Session, User
from minime.shell.history_verbs import search_sessions, show_stats
from minime.shell.housekeeping_verbs import delete_sessions
from minime.shell.store import Saved, Store
from tests.support.mm import MM, Visitor, environment
from tests.support.values import (
    ID,
    NOW,
    OTHER_ID,
    OTHER_STAMP,
    hello_turn,
    question,
    talked,
    tool_turn,
)

DAMAGED = "20200101-000000-0badf11e"


class Ran(NamedTuple):
    status: int
    out: str
    err: str


Mm = Callable[..., Ran]


@pytest.fixture
def mm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Mm:
    """`mm sessions WORDS` in the project, without a terminal."""

    def run(*words: str) -> Ran:
        status = cli.run([*words, "--project", str(tmp_path)])
        return Ran(status, *capsys.readouterr())

    return run


def keep(project: Path, *sessions: Session) -> None:
    folder = project / ".mm" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    for session in sessions:
        (folder / f"{session.id}.json").write_bytes(encode(session))


def files(project: Path) -> dict[str, bytes]:
    folder = project / ".mm" / "sessions"
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def held(project: Path, id: str) -> Session:
    return decode((project / ".mm" / "sessions" / f"{id}.json").read_bytes())


ONE = talked(hello_turn(), tool_turn())
TWO = settle(
    msgspec.structs.replace(talked(hello_turn()), id=OTHER_ID),
    question("and test.py?"),
    Failed("no answer", "raw"),
    OTHER_STAMP.now,
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    keep(tmp_path, ONE, TWO)
    (tmp_path / ".mm" / "sessions" / f"{DAMAGED}.json").write_bytes(b'{"version": 1, "id"')
    return tmp_path


def test_search_tells_session_turn_and_line(project: Path, mm: Mm) -> None:
    ran = mm("sessions", "search", "PRINTS HI")
    assert ran.status == 0
    head, line = ran.out.splitlines()
    assert head.startswith(f"{ID} · 2026-09-16 ")
    assert line == "  turn 2 · agent · line 1: It prints hi."
    ran = mm("sessions", "search", "ver.ion", "--regex")
    assert ran.err.startswith("1 session could not be read: mm sessions check says why\n")


def test_search_for_a_script_is_one_object_a_line(project: Path, mm: Mm) -> None:
    ran = mm("sessions", "search", "main", "--tool", "read_file", "--json")
    assert [json.loads(line) for line in ran.out.splitlines()] == [
        {"id": ID, "turn": 2, "role": "call", "line": 1, "text": "path: main.py", "tool": "read_file"}
    ]


def test_search_in_errors_and_by_an_expression(project: Path, mm: Mm) -> None:
    assert OTHER_ID in mm("sessions", "search", "^no a.swer$", "--regex", "--errors").out
    ran = mm("sessions", "search", "(", "--regex")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("mm: not a regular expression")


def test_search_without_a_hit_ends_with_one(project: Path, mm: Mm) -> None:
    ran = mm("sessions", "search", "elephant")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("no session here holds 'elephant'\n")


def test_check_tells_what_is_wrong_and_changes_nothing(project: Path, mm: Mm) -> None:
    folder = project / ".mm" / "sessions"
    (folder / f".{ID}.00000000.tmp").touch()
    (folder / "notes.txt").touch()
    os.mkfifo(folder / "20200101-000000-00000000.json")
    before = {path.name: path.stat() for path in folder.iterdir()}
    ran = mm("sessions", "check")
    assert ran.status == 1
    assert f"damaged     {DAMAGED}  truncated" in ran.out
    assert "unreadable  20200101-000000-00000000  not a regular file" in ran.out
    assert ran.out.endswith("4 sessions: 2 whole, 1 damaged, 1 unreadable · 1 leftover · 1 strange file\n")
    rows = json.loads(mm("sessions", "check", "--json").out)
    assert {row["state"] for row in rows} == {"whole", "damaged", "unreadable", "leftover", "foreign"}
    after = {path.name: path.stat() for path in folder.iterdir()}
    assert {name: stat.st_mtime_ns for name, stat in after.items()} == {
        name: stat.st_mtime_ns for name, stat in before.items()
    }


def test_check_of_whole_files_and_of_none_is_well(tmp_path: Path, mm: Mm) -> None:
    assert mm("sessions", "check") == (0, "no sessions here yet\n", "")
    keep(tmp_path, ONE)
    assert mm("sessions", "check").out.endswith("1 session: 1 whole\n")


def test_fork_is_a_copy_under_a_new_id(project: Path, mm: Mm) -> None:
    told = json.loads(mm("sessions", "fork", "9c1e", "--json").out)
    assert told["from"] == ID
    copy = held(project, told["id"])
    assert copy.messages == ONE.messages
    assert held(project, ID) == ONE
    assert mm("sessions", "fork", "1").out.endswith(f" is a copy of {told['id']}\n")  # it is the newest now


def test_rename_gives_another_title_and_changes_nothing_else(project: Path, mm: Mm) -> None:
    assert mm("sessions", "rename", "9c1e", "Parser", "rewrite") == (0, f"{ID}  Parser rewrite\n", "")
    assert held(project, ID) == msgspec.structs.replace(ONE, title="Parser rewrite")
    assert mm("sessions", "rename", "9c1e", " ").status == 2


def test_a_title_given_elsewhere_reaches_the_conversation_in_hand(project: Path, mm: Mm) -> None:
    store = Store(project)
    store.load(ID)
    mm("sessions", "rename", ID, "Sums")
    saved = store.save(settle(ONE, question(), Failed("no answer"), NOW), OTHER_STAMP)
    assert isinstance(saved, Saved)
    assert (saved.session.id, saved.session.title, saved.notice) == (ID, "Sums", "")


def test_delete_asks_and_without_anybody_to_answer_removes_nothing(project: Path, mm: Mm) -> None:
    before = files(project)
    ran = mm("sessions", "delete", "1", "2")
    assert ran.status == 1
    assert ran.err == "mm: nothing removed (--yes removes without a question)\n"
    assert files(project) == before
    ran = mm("sessions", "delete", "1", ID, "--yes")
    assert (ran.status, ran.out.splitlines()[-1]) == (0, "removed 2 conversations")
    assert set(files(project)) == {f"{DAMAGED}.json"}


def test_delete_of_one_that_is_not_there_removes_none(project: Path, mm: Mm) -> None:
    before = files(project)
    assert mm("sessions", "delete", "1", "ffff", "--yes").status == 1
    assert mm("sessions", "delete", "../x", "--yes").err.startswith("mm: invalid session id")
    assert files(project) == before


def test_a_damaged_or_an_unused_one_can_be_deleted_by_its_id(project: Path, mm: Mm) -> None:
    unused = msgspec.structs.replace(talked(), id="20260901-000000-00000000")
    keep(project, unused)
    assert mm("sessions", "delete", DAMAGED, unused.id, "--yes").status == 0
    assert set(files(project)) == {f"{ID}.json", f"{OTHER_ID}.json"}


def test_prune_keeps_the_newest_and_what_cannot_be_read(project: Path, mm: Mm) -> None:  # P07
    before = files(project)
    ran = mm("sessions", "prune", "--keep", "1")
    assert (ran.status, ID in ran.out, OTHER_ID in ran.out) == (1, True, False)
    assert files(project) == before
    assert mm("sessions", "prune", "--keep", "1", "--yes").status == 0
    assert set(files(project)) == {f"{OTHER_ID}.json", f"{DAMAGED}.json"}


def test_prune_leaves_one_that_is_cut_behind_its_head(project: Path, mm: Mm) -> None:
    file = project / ".mm" / "sessions" / f"{ID}.json"
    file.write_bytes(file.read_bytes()[:-40])
    ran = mm("sessions", "prune", "--keep", "1", "--yes")
    assert (ran.status, ran.out) == (0, "nothing to remove\n")
    assert ran.err == f"{ID} stays: truncated\n"
    assert file.exists()


def test_what_is_used_while_the_question_is_open_stays(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    used = append_turn(ONE, tool_turn(), OTHER_STAMP.now)

    def ask(question: str) -> bool:
        assert question == "Remove these 2 conversations for good?"
        keep(project, used)
        return True

    assert delete_sessions(Store(project), (ID, OTHER_ID), ask) == 1
    told = capsys.readouterr()
    assert told.err == f"mm: {ID} stays: it was used meanwhile\n"
    assert told.out.endswith("removed 1 conversation\n")
    assert held(project, ID) == used


def test_prune_by_age(project: Path, mm: Mm) -> None:
    days = (datetime.now(UTC) - ONE.updated) // timedelta(days=1)
    assert mm("sessions", "prune", "--older-than", f"{days + 2}d", "--yes").out == "nothing to remove\n"
    assert mm("sessions", "prune", "--older-than", "1h", "--yes").out.endswith("removed 2 conversations\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "mm: which ones? --keep N keeps the newest, --older-than 90d takes the old ones\n"),
        (("--older-than", "soon"), "mm: --older-than takes an age such as 12h, 90d, 6w, 3m or 1y, not 'soon'\n"),
        (("--keep", "-1"), "mm: --keep takes a number from 0\n"),
    ],
)  # fmt: skip
def test_prune_without_a_bound_is_wrong_usage(
    project: Path, mm: Mm, words: tuple[str, ...], told: str
) -> None:
    assert mm("sessions", "prune", *words) == (2, "", told)


def test_errors_of_all_conversations_are_counted(project: Path, mm: Mm) -> None:
    ran = mm("errors")
    assert ran.out.startswith("1 error in 1 session: 1 generation\n")
    told = json.loads(mm("errors", "--json").out)
    assert told["kinds"] == {"generation": 1}
    [error] = told["errors"]
    assert (error["message"], error["count"], error["sessions"]) == ("no answer", 1, [OTHER_ID])


def test_stats_name_each_model(project: Path, mm: Mm) -> None:
    ran = mm("sessions", "stats")
    assert ran.out.splitlines()[1].split() == ["qwen3:8b", "2", "3", "4", "274", "11", "1", "3.0", "s", "1"]
    told = json.loads(mm("sessions", "stats", "--json").out)
    assert (told["sessions"], told["models"][0]["turns"]) == (2, 3)


@pytest.mark.parametrize("verb", [("errors",), ("sessions", "stats"), ("sessions", "search", "x")])
def test_a_folder_without_sessions_is_no_trouble(mm: Mm, verb: tuple[str, ...]) -> None:
    ran = mm(*verb)
    assert ran.status in {0, 1}
    assert ran.out + ran.err


def test_a_person_is_asked_at_the_terminal_and_no_is_no(project: Path) -> None:
    with Visitor("sessions", "delete", ID, "--project", str(project), cwd=project) as visitor:
        visitor.see(r"Remove this 1 conversation for good\? \[y/N\]")
        visitor.type("n")
        assert visitor.leave() == 1
    assert f"{ID}.json" in files(project)


def test_a_reader_who_leaves_early_ends_a_search_quietly(project: Path) -> None:
    many = Turn((User("go"), Assistant("a needle\n" * 5_000)))
    keep(project, msgspec.structs.replace(talked(many), id=ID))
    words = [*MM, "sessions", "search", "needle"]
    with subprocess.Popen(
        words, cwd=project, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as search:
        assert search.stdout is not None
        assert search.stderr is not None
        assert search.stdout.readline().startswith(ID.encode())
        search.stdout.close()
        assert search.stderr.read() == b""
    assert search.returncode == 0


def test_memory_stays_flat_however_many_conversations_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "It reads a file, and then another one.\n"
    keep(
        tmp_path,
        *(
            msgspec.structs.replace(
                talked(Turn((User("go"), Assistant(line * 2_000)))), id=f"20260916-101530-{number:08x}"
            )
            for number in range(30)
        ),
    )
    largest = max(map(len, files(tmp_path).values()))
    store = Store(tmp_path)
    tracemalloc.start()
    search_sessions(store, Wanted("and a.*third", regex=True), as_json=False)
    show_stats(store, as_json=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert '"sessions": 30' in capsys.readouterr().out
    assert peak < 5 * largest


def test_any_session_is_found_by_its_id_and_by_no_other_look(tmp_path: Path) -> None:  # P04
    keep(tmp_path, ONE)
    for number in range(30):
        (tmp_path / ".mm" / "sessions" / f"20260916-101530-{number:08x}.json").write_bytes(b"")
    store = Store(tmp_path)
    assert store.find(ID) == Found(ID)
    assert store.find("9c1e") == Found(ID)
    assert isinstance(store.find("20260916-101530-ffffffff"), NotFound)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("sessions", "serch", "x"), "mm: mm sessions has no verb 'serch': did you mean search?\n"),
        (("schema", "zzz"), "mm: mm schema has no verb 'zzz': there are config, session\n"),
    ],
)
def test_a_slip_of_the_fingers_names_the_verb(
    words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(words) == 2
    assert capsys.readouterr().err == told
