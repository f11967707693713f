"""Sessions on disk: whole or not at all, never over what is not ours, readable by their owner alone."""

import errno
import fcntl
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from minime.core.codec import LARGE, decode, encode
from minime.core.listing import row_text
from minime.core.session import append_turn, with_title
from minime.core.turn import Turn
from minime.core.values import Assistant, Session, Stamp, User
from minime.shell import clock
from minime.shell.store import Loaded, NotLoaded, NotSaved, Saved, Store
from tests.support.values import ID, LATER, NOW, OTHER_ID, OTHER_STAMP, fresh, hello_turn, talked, tool_turn

OTHERS = ("20260916-103000-00000001", "20260916-103000-00000002")


def save(store: Store, session: Session, fresh_id: str = OTHER_ID) -> Saved:
    saved = store.save(session, Stamp(NOW, fresh_id))
    assert isinstance(saved, Saved)
    return saved


def load(store: Store, id: str = ID) -> Session:
    loaded = store.load(id)
    assert isinstance(loaded, Loaded), loaded
    return loaded.session


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_saved_is_loaded_and_is_the_bytes_of_the_codec(tmp_path: Path) -> None:
    save(Store(tmp_path), talked(tool_turn()))
    assert (tmp_path / ".mm" / "sessions" / f"{ID}.json").read_bytes() == encode(talked(tool_turn()))
    assert load(Store(tmp_path)) == talked(tool_turn())


def test_a_file_that_grows_large_is_told_of_once(tmp_path: Path) -> None:  # P01
    store = Store(tmp_path)
    large = talked(Turn((User("more"), Assistant("x" * LARGE))))
    told = [save(store, session).notice for session in (fresh(), large, large)]
    assert told[::2] == ["", ""]
    assert told[1].startswith("the file of this session has grown to 20 MB")
    assert "/compact" in told[1]


def test_nothing_is_made_on_disk_before_the_first_save(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.heads() == ()
    assert isinstance(store.load(ID), NotLoaded)
    assert list(tmp_path.iterdir()) == []


def test_folder_and_files_are_for_their_owner_alone_and_not_for_git(tmp_path: Path) -> None:  # F16
    old = os.umask(0)
    try:
        save(Store(tmp_path), talked(hello_turn()))
    finally:
        os.umask(old)
    assert mode(tmp_path / ".mm") == 0o700
    assert mode(tmp_path / ".mm" / "sessions") == 0o700
    assert mode(tmp_path / ".mm" / "sessions" / f"{ID}.json") == 0o600
    assert (tmp_path / ".mm" / ".gitignore").read_text() == "*\n"


def test_a_gitignore_that_is_there_stays(tmp_path: Path) -> None:  # F16
    (tmp_path / ".mm").mkdir()
    (tmp_path / ".mm" / ".gitignore").write_text("mine\n")
    save(Store(tmp_path), fresh())
    assert (tmp_path / ".mm" / ".gitignore").read_text() == "mine\n"


def test_a_pipe_in_the_place_of_the_gitignore_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / ".mm").mkdir()
    os.mkfifo(tmp_path / ".mm" / ".gitignore")
    save(Store(tmp_path), fresh())


def test_a_save_leaves_the_file_and_no_draft(tmp_path: Path) -> None:
    store = Store(tmp_path)
    saved = save(store, talked(hello_turn()))
    save(store, append_turn(saved.session, tool_turn(), LATER))
    assert sorted(p.name for p in store.folder.iterdir()) == [".lock", f"{ID}.json"]
    assert load(store).messages == talked(hello_turn(), tool_turn()).messages


def test_a_title_of_ones_own_is_newer_than_that_of_another_process(tmp_path: Path) -> None:
    save(Store(tmp_path), talked(hello_turn()))
    one, two = Store(tmp_path), Store(tmp_path)
    first, second = load(one), load(two)
    save(one, with_title(first, "sums"))
    saved = save(two, with_title(second, "additions"))
    assert (saved.session.id, saved.session.title, saved.notice) == (ID, "additions", "")
    assert load(Store(tmp_path)).title == "additions"


def test_an_id_that_is_taken_twice_over_is_drawn_until_one_is_free(tmp_path: Path) -> None:
    save(Store(tmp_path), talked(hello_turn()))
    save(Store(tmp_path), msgspec.structs.replace(talked(hello_turn()), id=OTHER_ID))
    saved = save(Store(tmp_path), talked(tool_turn()))
    assert saved.session.id not in {ID, OTHER_ID}
    assert len(Store(tmp_path).heads()) == 3
    assert load(Store(tmp_path), OTHER_ID).messages == talked(hello_turn()).messages


def test_where_files_can_have_one_name_only_a_new_one_is_exclusive_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such file systems (FAT, some network drives) cannot be mounted by everybody; their answer is made up."""

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    save(Store(tmp_path), talked(hello_turn()))
    assert save(Store(tmp_path), talked(tool_turn())).session.id == OTHER_ID
    assert load(Store(tmp_path)) == talked(hello_turn())


def test_where_there_are_no_locks_sessions_are_saved_and_no_draft_is_taken_for_a_leftover(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    store = Store(tmp_path)
    save(store, talked(hello_turn()))
    draft = store.folder / f".{ID}.0123abcd.tmp"
    draft.touch()
    store.tidy()
    assert draft.exists()


def test_leftovers_of_killed_saves_are_removed_and_nothing_else_is(tmp_path: Path) -> None:
    store = Store(tmp_path)
    save(store, talked(hello_turn()))
    left, under_way = (store.folder / f".{ID}.{number}.tmp" for number in ("00000001", "00000002"))
    others = [store.folder / name for name in (".notes.tmp", f"{OTHER_ID}.json", f".{ID}.tmp", "a.tmp")]
    for file in (left, under_way, *others):
        file.write_text("{")
    (store.folder / f".{ID}.00000003.tmp").mkdir()
    outside = tmp_path / "outside"
    outside.touch()
    (store.folder / f".{ID}.00000004.tmp").symlink_to(outside)
    with under_way.open("rb") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        store.tidy()
        assert under_way.exists()
        assert not left.exists()
    store.tidy()
    assert not under_way.exists()
    assert all(file.exists() for file in (*others, outside))
    assert load(store) == talked(hello_turn())


@pytest.mark.parametrize("refusals", [2, 99])
def test_windows_is_asked_again_for_a_moment_when_another_program_looks_into_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusals: int
) -> None:  # F11
    store = Store(tmp_path)
    session = save(store, talked(hello_turn())).session
    replace, left = os.replace, refusals

    def busy(source: str, target: str) -> None:
        nonlocal left
        left -= 1
        if left >= 0:
            raise PermissionError(errno.EACCES, "Access is denied")
        replace(source, target)

    monkeypatch.setattr(os, "replace", busy)
    longer = append_turn(session, tool_turn(), LATER)
    refused = store.save(longer, OTHER_STAMP)  # this system never says so for a moment only
    assert isinstance(refused, NotSaved)
    assert left == refusals - 1
    monkeypatch.setattr("minime.shell.whole_file.REPLACE_TRIES", 5)
    monkeypatch.setattr("minime.shell.whole_file.REPLACE_PAUSE", 0)
    again = store.save(longer, OTHER_STAMP)
    assert isinstance(again, Saved if refusals == 2 else NotSaved)
    assert load(Store(tmp_path)) == (longer if refusals == 2 else session)
    assert sorted(p.name for p in store.folder.iterdir()) == [".lock", f"{ID}.json"]


@pytest.mark.parametrize("id", ["../../etc/passwd", "a/b", "C:\\x", "", ".", "a" * 300])
def test_an_id_of_another_form_is_refused_before_the_disk_is_touched(tmp_path: Path, id: str) -> None:  # F15
    assert Store(tmp_path / "nowhere").load(id) == NotLoaded("invalid session id", damaged=False)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (encode(talked(tool_turn()))[:400], "truncated"),
        (b'{"foo": 1}', "not a session file"),
        (encode(msgspec.structs.replace(fresh(), id=OTHER_ID)), f"it holds another session, {OTHER_ID}"),
    ],
)
def test_a_file_that_is_not_whole_or_not_ours_is_told_and_never_written(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    store = Store(tmp_path)  # F03, F07
    save(store, fresh())
    path = store.folder / f"{ID}.json"
    path.write_bytes(data)
    assert Store(tmp_path).load(ID) == NotLoaded(reason, damaged=True)
    saved = save(Store(tmp_path), talked(hello_turn()))
    assert saved.session.id == OTHER_ID
    assert path.read_bytes() == data


def test_trouble_of_the_disk_is_not_taken_for_damage(tmp_path: Path) -> None:  # F08
    store = Store(tmp_path)
    save(store, fresh())
    (store.folder / f"{ID}.json").unlink()
    (store.folder / f"{ID}.json").mkdir()
    assert store.load(ID) == NotLoaded("Is a directory", damaged=False)


def test_two_processes_on_one_session_both_keep_what_they_had(tmp_path: Path) -> None:  # L01, L04, F21
    save(Store(tmp_path), talked(hello_turn()))
    one, two = Store(tmp_path), Store(tmp_path)
    first, second = load(one), load(two)
    save(one, append_turn(first, tool_turn(), LATER))
    saved = save(two, append_turn(second, hello_turn(), LATER), OTHERS[0])
    assert saved.session.id == OTHERS[0]
    assert (
        saved.notice
        == f"session {ID} was changed by another process; this conversation goes on as {OTHERS[0]}"
    )
    assert load(one).messages == talked(hello_turn(), tool_turn()).messages
    assert load(two, OTHERS[0]).messages == talked(hello_turn(), hello_turn()).messages
    again = save(two, append_turn(saved.session, hello_turn(), LATER), OTHERS[1])
    assert again.session.id == OTHERS[0]


def test_a_title_given_by_another_process_is_taken_over(tmp_path: Path) -> None:
    save(Store(tmp_path), talked(hello_turn()))
    one, two = Store(tmp_path), Store(tmp_path)
    first, second = load(one), load(two)
    save(one, with_title(first, "sums"))
    saved = save(two, append_turn(second, hello_turn(), LATER))
    assert (saved.session.id, saved.session.title, saved.notice) == (ID, "sums", "")


def test_a_session_deleted_elsewhere_goes_on_under_a_new_id(tmp_path: Path) -> None:
    store = Store(tmp_path)
    saved = save(store, talked(hello_turn()))
    (store.folder / f"{ID}.json").unlink()
    again = save(store, append_turn(saved.session, hello_turn(), LATER))
    assert again.session.id == OTHER_ID
    assert "was deleted by another process" in again.notice


def test_an_id_that_is_taken_is_drawn_again_without_a_word(tmp_path: Path) -> None:
    save(Store(tmp_path), talked(hello_turn()))
    saved = save(Store(tmp_path), talked(tool_turn()))
    assert (saved.session.id, saved.notice) == (OTHER_ID, "")
    assert load(Store(tmp_path)) == talked(hello_turn())


def test_a_full_disk_leaves_the_old_file_and_says_why(tmp_path: Path) -> None:  # F02
    """The real thing: a limit on the size of files in a child process, which the kernel enforces."""
    save(Store(tmp_path), talked(hello_turn()))
    program = f"""
import resource, signal
from pathlib import Path
from minime.core.session import append_turn
from minime.core.turn import Turn
from minime.core.values import Assistant, User
from minime.shell.store import Store
from tests.support.values import LATER, OTHER_STAMP
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store(Path({str(tmp_path)!r}))
session = store.load({ID!r}).session
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
big = append_turn(session, Turn((User("q"), Assistant("x" * 5000))), LATER)
print(store.save(big, OTHER_STAMP).line)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    folder = tmp_path / ".mm" / "sessions"
    assert done.stdout == f"cannot save the session in {folder}: File too large\n"
    assert decode((folder / f"{ID}.json").read_bytes()) == talked(hello_turn())
    assert sorted(p.name for p in folder.iterdir()) == [".lock", f"{ID}.json"]


def test_a_folder_that_cannot_be_made_is_told_and_the_next_save_tries_again(
    tmp_path: Path,
) -> None:  # F09, F17
    store = Store(tmp_path)
    (tmp_path / ".mm").write_text("a file in the way")
    refused = store.save(talked(hello_turn()), OTHER_STAMP)
    assert isinstance(refused, NotSaved)
    assert refused.line == f"cannot save the session in {store.folder}: Not a directory"
    (tmp_path / ".mm").unlink()
    assert save(store, talked(hello_turn())).session.id == ID


def test_a_folder_that_vanished_is_made_again_and_the_conversation_kept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    saved = save(store, talked(hello_turn()))
    (store.folder / f"{ID}.json").unlink()
    (store.folder / ".lock").unlink()
    store.folder.rmdir()
    again = save(store, saved.session)
    assert load(store, again.session.id).messages == talked(hello_turn()).messages


def test_a_sessions_folder_that_leads_out_of_the_project_is_not_used(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    project = tmp_path / "project"
    (project / ".mm").mkdir(parents=True)
    (project / ".mm" / "sessions").symlink_to(outside)
    (outside / f".{ID}.00000001.tmp").touch()
    Store(project).tidy()
    refused = Store(project).save(fresh(), OTHER_STAMP)
    assert isinstance(refused, NotSaved)
    assert "out of the project" in refused.line
    assert [file.name for file in outside.iterdir()] == [f".{ID}.00000001.tmp"]


def test_a_project_reached_through_a_link_is_the_same_project(tmp_path: Path) -> None:  # F18
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    save(Store(tmp_path / "link"), talked(hello_turn()))
    assert [head.id for head in Store(real).heads()] == [ID]


def test_the_list_goes_by_last_use_in_the_file_and_not_by_its_mtime(tmp_path: Path) -> None:  # F20
    store = Store(tmp_path)
    save(store, talked(hello_turn()))
    save(store, msgspec.structs.replace(talked(hello_turn()), id=OTHERS[0], updated=NOW))
    os.utime(store.folder / f"{OTHERS[0]}.json", (2e9, 2e9))
    assert [head.id for head in store.heads()] == [ID, OTHERS[0]]


def test_a_session_that_was_never_used_is_in_no_list_and_is_removed_in_time(tmp_path: Path) -> None:
    store = Store(tmp_path)
    save(store, fresh())
    save(store, msgspec.structs.replace(talked(hello_turn()), id=OTHERS[0], title=""))
    assert [head.id for head in store.heads()] == [OTHERS[0]]
    store.remove_unused(NOW)
    assert load(store, ID) == fresh()
    store.remove_unused(LATER)
    assert isinstance(store.load(ID), NotLoaded)
    assert isinstance(store.load(OTHERS[0]), Loaded)


def test_a_deleted_session_is_gone_and_deleting_twice_is_no_fault(tmp_path: Path) -> None:
    store = Store(tmp_path)
    save(store, talked(hello_turn()))
    assert (store.delete(ID), store.delete(ID)) == ("", "")
    assert store.heads() == ()


def test_a_session_that_is_used_while_old_ones_are_removed_stays(tmp_path: Path) -> None:
    store = Store(tmp_path)
    session = save(store, fresh()).session
    with (store.folder / ".lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        remover = threading.Thread(target=Store(tmp_path).remove_unused, args=(LATER,))
        remover.start()
        (store.folder / f"{ID}.json").write_bytes(encode(append_turn(session, hello_turn(), LATER)))
    remover.join()
    assert load(Store(tmp_path)).messages == talked(hello_turn()).messages


def test_the_list_shows_damaged_files_and_passes_over_what_is_no_session(tmp_path: Path) -> None:  # F02
    store = Store(tmp_path)
    save(store, talked(hello_turn()))
    (store.folder / f"{OTHERS[0]}.json").write_bytes(b"")
    (store.folder / "notes.json").write_text("{}")
    (store.folder / f".{OTHERS[1]}.0.tmp").write_text("{")
    rows = list(store.rows(tuple(head.id for head in store.heads())))
    assert [(row.id, row.damaged) for row in rows] == [(OTHERS[0], "empty"), (ID, "")]


def test_a_head_without_its_time_in_the_first_4_kb_is_read_whole(tmp_path: Path) -> None:
    store = Store(tmp_path)
    save(store, talked(hello_turn()))
    path = store.folder / f"{ID}.json"
    path.write_bytes(b'{"x-padding": "' + b"x" * 5000 + b'",' + path.read_bytes()[1:])
    assert store.heads()[0].updated == LATER


def bytes_read() -> int:
    """How many bytes this process has read so far."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("rchar"))


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="this system does not count reads")
def test_the_order_is_read_from_4_kb_of_each_file_however_long_it_is(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for number in range(20):
        id = f"20260916-101530-{number:08x}"
        save(store, msgspec.structs.replace(talked(hello_turn()), id=id))
        path = store.folder / f"{id}.json"
        path.write_bytes(path.read_bytes()[:-3] + b" " * 100_000 + b"\n}\n")
    before = bytes_read()
    assert {head.updated for head in store.heads()} == {LATER}
    assert bytes_read() - before < 20 * 4096 + 4096


def test_the_lock_is_let_go_when_its_holder_is_killed(tmp_path: Path) -> None:  # L02
    save(Store(tmp_path), fresh())
    program = f"""
import fcntl, os, time
fcntl.flock(os.open({str(tmp_path / ".mm" / "sessions" / ".lock")!r}, os.O_RDWR), fcntl.LOCK_EX)
print("held", flush=True); time.sleep(60)
"""
    holder = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    with holder:
        assert holder.stdout.readline() == "held\n"
        holder.kill()
    assert save(Store(tmp_path), msgspec.structs.replace(fresh(), id=OTHERS[0])).session.id == OTHERS[0]


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "huge"])
def test_what_is_no_session_file_holds_nobody_up(tmp_path: Path, kind: str) -> None:
    store = Store(tmp_path)
    saved = save(store, talked(hello_turn())).session
    file = store.folder / f"{ID}.json"
    file.unlink()
    match kind:
        case "pipe":
            os.mkfifo(file)
        case "device":
            file.symlink_to("/dev/zero")
        case "folder":
            file.mkdir()
        case _:
            file.touch()
            os.truncate(file, 1 << 40)
    assert [head.id for head in store.heads()] == [ID]
    [row] = store.rows((ID,))
    assert row.damaged
    assert isinstance(store.load(ID), NotLoaded)
    if kind != "huge":
        assert save(store, append_turn(saved, tool_turn(), LATER)).session.id == OTHER_ID
    assert not file.is_file() or file.stat().st_size in {0, 1 << 40}


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_moment_at_the_ends_of_time_is_listed_all_the_same(tmp_path: Path, moment: str) -> None:
    store = Store(tmp_path)
    save(store, talked(hello_turn()))
    file = store.folder / f"{ID}.json"
    file.write_text(
        "\n".join(
            f'  "updated": "{moment}",' if line.startswith('  "updated"') else line
            for line in file.read_text().split("\n")
        )
    )
    assert [head.id for head in store.heads()] == [ID]
    [row] = store.rows((ID,))
    assert "2 + 2" in row_text(row, clock.local)


def test_nothing_is_made_through_links_that_lead_out(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    (project / ".mm" / "sessions").mkdir(parents=True)
    outside.mkdir()
    (project / ".mm" / ".gitignore").symlink_to(outside / "ignore")
    (project / ".mm" / "sessions" / ".lock").symlink_to(outside / "lock")
    assert isinstance(Store(project).save(fresh(), OTHER_STAMP), NotSaved)
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / ".mm").symlink_to(outside)
    assert isinstance(Store(tmp_path / "second").save(fresh(), OTHER_STAMP), NotSaved)
    (tmp_path / "third").mkdir()
    (tmp_path / "third" / ".mm").symlink_to(".mm")
    assert isinstance(Store(tmp_path / "third").save(fresh(), OTHER_STAMP), NotSaved)
    assert list(outside.iterdir()) == []


def test_a_lock_that_nobody_lets_go_of_fails_the_save_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # L03
    monkeypatch.setattr("minime.shell.whole_file.LOCK_SECONDS", 0.05)
    store = Store(tmp_path)
    save(store, fresh())
    with (store.folder / ".lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = store.save(talked(hello_turn()), OTHER_STAMP)
    assert isinstance(refused, NotSaved)
    assert "lock" in refused.line
    assert save(store, talked(hello_turn())).session.id == ID
