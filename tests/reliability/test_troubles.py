"""Disks that fail, folders that go, bytes that are not ours: told truly, nothing lost, and over when it is over."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.codec import decode, encode
from minime.core.config.settings import Settings
from minime.core.listing import row_text
from minime.core.session import append_turn
from minime.core.values import Stamp
from minime.shell import clock
from minime.shell.agent import Agent
from minime.shell.conversation import Conversation
from minime.shell.store import Loaded, NotLoaded, Saved, Store
from tests.conftest import ROOT
from tests.reliability.traced import can_trace
from tests.support.mm import Visitor, session_files
from tests.support.server import ScriptedServer, says
from tests.support.talks import ID, LATER, NOW, OTHER_ID, fresh, hello_turn, talked, tool_turn

WHOLE = encode(talked(tool_turn(), hello_turn()))
PROGRAM = """
import atexit, os, shutil, subprocess, sys
from pathlib import Path
from minime.core.session import append_turn
from minime.core.turn import Turn
from minime.core.values import Assistant, Stamp, User
from minime.shell.store import Saved, Store
from tests.support.talks import ID, LATER, OTHER_ID, talked, hello_turn
project = Path(sys.argv[1])
said = []
atexit.register(lambda: print("\\n".join(said)))
store = Store(project)
def save(session):
    done = store.save(session, Stamp(LATER, OTHER_ID))
    told = f"{done.session.id}{done.notice}" if isinstance(done, Saved) else done.line
    said.extend((told.replace(str(project), ""), str(sorted(p.name for p in store.folder.glob("*")))))
one = talked(hello_turn())
two = append_turn(one, Turn((User("q"), Assistant("x" * 100_000))), LATER)
"""
STRACE = ("strace", "-f", "-qq", "-o", os.devnull)
LINE = "cannot save the session in /.mm/sessions: "
THERE = f"['.lock', '{ID}.json']"


def say(program: str, project: Path, *before: str) -> list[str]:
    """The lines that `PROGRAM` and `program` print, in a process of their own."""
    done = subprocess.run(
        [*before, sys.executable, "-c", PROGRAM + program, str(project)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if before[:1] == ("unshare",) and "unshare" in done.stderr:
        pytest.skip("a namespace of one's own cannot be had here")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


def test_a_full_disk_and_one_that_is_read_only_are_told_and_saved_to_again_when_it_is_over(
    tmp_path: Path,
) -> None:  # F02, F09
    """Both are real: a small disk in memory that only this process sees."""
    program = """
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "none", project], check=True)
save(one); save(two)
subprocess.run(["mount", "-o", "remount,size=4m", project], check=True)
save(two)
subprocess.run(["mount", "-o", "remount,ro", project], check=True)
save(one)
subprocess.run(["mount", "-o", "remount,rw", project], check=True)
save(one)
"""
    assert say(program, tmp_path, "unshare", "-rm") == [
        *(ID, THERE),
        *(f"{LINE}No space left on device", THERE),
        *(ID, THERE),
        *(f"{LINE}Read-only file system", THERE),
        *(ID, THERE),
    ]


def test_a_permission_that_was_lost_is_told_and_the_session_saved_when_it_is_back(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    program = """
if not os.getuid():
    os.seteuid(65534)  # nobody: root may do everything
save(one); store.folder.chmod(0o500); save(two); store.folder.chmod(0o700); save(two)
"""
    for folder in tmp_path.parents:
        if not folder.stat().st_mode & 1 and not os.getuid():
            folder.chmod(folder.stat().st_mode | 0o011)
    assert say(program, tmp_path) == [ID, THERE, f"{LINE}Permission denied", THERE, ID, THERE]


@pytest.mark.skipif(not can_trace(), reason="strace is not there, or may not trace here")
def test_whatever_the_system_says_is_told_and_the_next_save_does_it(tmp_path: Path) -> None:
    """Each save but the first fails at one call, and the one behind it succeeds."""
    inject = (
        "fsync:error=EIO:when=5+9",  # of a draft, and of the folder, behind the rename
        "rename:error=EBUSY:when=2",
        "flock:error=ENOMEM:when=10",  # of the draft
        "write:error=EDQUOT:when=10",
    )
    words = (word for what in inject for word in ("-e", f"inject={what}"))
    lines = say("save(one)\nfor session in (two, one) * 5: save(session)", tmp_path, *STRACE, *words)
    assert lines[1::2] == [THERE] * 11
    assert lines[0::2] == [
        *(ID, f"{LINE}Input/output error"),
        *(ID, f"{LINE}Device or resource busy"),
        *(ID, f"{LINE}Cannot allocate memory"),
        *(ID, f"{LINE}Input/output error"),
        *(ID, f"{LINE}Disk quota exceeded"),
        ID,
    ]


def test_a_folder_that_was_removed_is_made_again_and_without_its_project_that_is_told(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    lines = say(
        "save(one); shutil.rmtree(project / '.mm'); save(two); shutil.rmtree(project); save(two)", project
    )
    gone = f"session {ID} was deleted by another process; this conversation goes on as {OTHER_ID}"
    assert lines == [
        *(ID, THERE),
        *(f"{OTHER_ID}{gone}", f"['.lock', '{OTHER_ID}.json']"),
        *(f"{LINE}No such file or directory", "[]"),
    ]


def test_a_clock_that_goes_back_loses_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = append_turn(fresh(), hello_turn(), LATER)
    assert isinstance(store.save(first, Stamp(LATER, OTHER_ID)), Saved)
    saved = store.save(append_turn(first, tool_turn(), NOW), Stamp(NOW, OTHER_ID))
    assert isinstance(saved, Saved)
    assert (saved.session.id, saved.notice) == (ID, "")
    again = Store(tmp_path).load(ID)
    assert isinstance(again, Loaded)
    assert again.session.messages == talked(hello_turn(), tool_turn()).messages


def _damaged() -> Iterator[st.SearchStrategy[bytes]]:
    places = st.integers(0, len(WHOLE) - 1)
    yield st.binary(max_size=300)
    yield places.map(lambda cut: WHOLE[:cut])
    yield st.tuples(places, st.binary(min_size=1, max_size=8)).map(
        lambda at: WHOLE[: at[0]] + at[1] + WHOLE[at[0] + len(at[1]) :]
    )
    yield st.tuples(places, places).map(lambda cut: WHOLE[: min(cut)] + WHOLE[max(cut) :])


@given(st.one_of(*_damaged()))
def test_whatever_a_file_holds_it_is_read_or_told_of_and_nobody_writes_over_it(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    store = Store(tmp_path_factory.mktemp("project"))
    store.folder.mkdir(parents=True)
    file = store.folder / f"{ID}.json"
    file.write_bytes(data)
    loaded = store.load(ID)
    if isinstance(loaded, NotLoaded):
        assert loaded.damaged
        assert len(loaded.reason.splitlines()) == 1
    else:
        assert decode(encode(loaded.session)) == loaded.session
    for row in store.rows(tuple(head.id for head in store.heads())):
        assert row_text(row, clock.local).isprintable()
    store.tidy()
    store.remove_unused(NOW)
    saved = Store(store.project).save(talked(hello_turn()), Stamp(LATER, OTHER_ID))
    assert isinstance(saved, Saved)
    assert saved.session.id == OTHER_ID
    assert file.read_bytes() == data


def test_a_conversation_that_could_not_be_saved_is_taken_up_again_as_it_was_left(tmp_path: Path) -> None:
    store, told = Store(tmp_path), list[str]()
    conversation = Conversation(Agent(Settings(), tmp_path, tmp_path, {}), store)
    conversation.tell = told.append
    conversation.change(talked(hello_turn()))
    store.folder.rename(tmp_path / "away")
    store.folder.write_text("in the way", encoding="utf-8")
    conversation.change(append_turn(conversation.session, tool_turn(), LATER))
    other = Store(tmp_path)
    for _ in range(2):  # the one in hand, then one that was left
        store.folder.unlink()
        (tmp_path / "away").rename(store.folder)
        loaded = other.load(ID)  # meanwhile another process goes on with it
        assert isinstance(loaded, Loaded)
        theirs = append_turn(loaded.session, hello_turn(), LATER)
        assert isinstance(other.save(theirs, Stamp(NOW, OTHER_ID)), Saved)
        assert conversation.resume(ID) == ""
        assert len(conversation.session.messages) == len(talked(hello_turn(), tool_turn()).messages)
        store.folder.rename(tmp_path / "away")
        store.folder.write_text("in the way", encoding="utf-8")
        assert conversation.leave()
    store.folder.unlink()
    (tmp_path / "away").rename(store.folder)
    conversation.change(msgspec.structs.replace(talked(tool_turn()), id="20260916-103000-00000001"))
    assert [line.split(":")[0].split(" by ")[0] for line in told] == [
        f"cannot save the session in {store.folder}",
        f"session {ID} was changed",
        "the session is saved again",
    ]
    again = [store.load(head.id) for head in store.heads()]
    lengths = sorted(len(one.session.messages) for one in again if isinstance(one, Loaded))
    assert lengths == [5, 7, 7]


def test_conversations_that_could_not_be_saved_are_held_and_saved_when_it_is_over(tmp_path: Path) -> None:
    """The real mm; a file stands where its folder has to be, and is taken away."""
    project = tmp_path / "project"
    project.mkdir()
    (project / ".mm").write_text("in the way", encoding="utf-8")
    (project / "agent.yaml").touch()
    answers = [says("one"), says("two"), says("three"), says("four")]
    env = {"MM_MODEL": "tiny"}
    with (
        ScriptedServer(answers) as server,
        Visitor(cwd=project, env={**env, "MM_BASE_URL": server.url}) as mm,
    ):
        for count, line in enumerate(("first?", "second?", "/new", "third?"), start=1):
            mm.prompt(count)
            mm.type(line)
        mm.prompt(5)
        assert mm.screen.count("cannot save the session") == 1
        (project / ".mm").unlink()
        mm.type("fourth?")
        mm.see("the session is saved again")
        mm.prompt(6)
        mm.press("d")
        assert mm.leave() == 0
    sessions = [decode(file.read_bytes()) for file in session_files(project)]
    assert sorted(len(session.messages) for session in sessions) == [5, 5]
    assert {session.title for session in sessions} == {"first?", "third?"}
