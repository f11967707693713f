"""Images on disk: beside their sessions, with them, and gone with them."""

import base64
from pathlib import Path

import pytest

from minime.core.images import MOST_BYTES, Kept, all_urls, image_name, image_url, with_images
from minime.core.session import fork
from minime.core.turn import Turn
from minime.core.values import Assistant, Session, User
from minime.shell.housekeeping_verbs import check_sessions
from minime.shell.pictures import Pictures
from minime.shell.store import Loaded, NotSaved, Saved, Store
from tests.support.values import ID, OTHER_ID, OTHER_STAMP, PIXEL, STAMP, talked

PNG = base64.b64decode(PIXEL)
NAME = image_name(PNG)


def seen(store: Store) -> Session:
    """A conversation about an image, kept and saved."""
    url = store.pictures.add(ID, PNG)
    turn = Turn((User(with_images("What is it?", (Kept(url, "a.png"),))), Assistant("A dot.")))
    saved = store.save(talked(turn), STAMP)
    assert isinstance(saved, Saved)
    return saved.session


def kept(project: Path) -> dict[str, bytes]:
    folder = project / ".mm" / "sessions"
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.glob("*.files/*")}


def test_an_image_is_a_file_beside_its_session_for_the_owner_alone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    session = seen(store)
    assert all_urls(session) == (f"{ID}.files/{NAME}",)
    assert kept(tmp_path) == {f"{ID}.files/{NAME}": PNG}
    file = tmp_path / ".mm" / "sessions" / f"{ID}.files" / NAME
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert Store(tmp_path).pictures.read(f"{ID}.files/{NAME}") == PNG


def test_a_copy_has_its_images_and_keeps_them_when_the_other_is_deleted(tmp_path: Path) -> None:
    store = Store(tmp_path)
    saved = store.save(fork(seen(store), OTHER_STAMP), OTHER_STAMP)
    assert isinstance(saved, Saved)
    assert all_urls(saved.session) == (f"{OTHER_ID}.files/{NAME}",)
    assert store.delete(ID) == ""
    assert kept(tmp_path) == {f"{OTHER_ID}.files/{NAME}": PNG}
    assert Store(tmp_path).load(OTHER_ID) == Loaded(saved.session)
    assert not store.pictures.missing(saved.session)


def test_a_conversation_that_goes_on_elsewhere_takes_its_images_along(tmp_path: Path) -> None:
    store = Store(tmp_path)
    session = seen(store)
    file = tmp_path / ".mm" / "sessions" / f"{ID}.json"
    file.write_bytes(file.read_bytes().replace(b"A dot.", b"A dog."))
    saved = store.save(session, OTHER_STAMP)
    assert isinstance(saved, Saved)
    assert (saved.session.id, bool(saved.notice)) == (OTHER_ID, True)
    assert kept(tmp_path) == {f"{id}.files/{NAME}": PNG for id in (ID, OTHER_ID)}


def test_what_the_disk_does_not_take_is_held_and_written_with_the_session(tmp_path: Path) -> None:
    (tmp_path / ".mm").write_text("in the way")
    store = Store(tmp_path)
    url = store.pictures.add(ID, PNG)
    turn = Turn((User(with_images("?", (Kept(url, "a.png"),))), Assistant("A dot.")))
    assert isinstance(store.save(talked(turn), STAMP), NotSaved)
    assert store.pictures.read(url) == PNG
    (tmp_path / ".mm").unlink()
    assert isinstance(store.save(talked(turn), STAMP), Saved)
    assert kept(tmp_path) == {url: PNG}


def test_where_nothing_is_kept_an_image_is_held_in_memory() -> None:
    pictures = Pictures()
    url = pictures.add(ID, PNG)
    assert pictures.read(url) == PNG
    assert pictures.to_send((url, image_url(ID, NAME.replace("png", "gif")))) == {url: PNG}


@pytest.mark.parametrize("what", ["gone", "changed", "a link", "a link to its folder", "too large"])
def test_an_image_that_is_not_what_was_kept_is_not_read(
    tmp_path: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(tmp_path)
    session = seen(store)
    file = tmp_path / ".mm" / "sessions" / f"{ID}.files" / NAME
    match what:
        case "gone":
            file.unlink()
        case "changed":
            file.write_bytes(PNG + b"x")
        case "a link":
            file.rename(tmp_path / NAME)
            file.symlink_to(tmp_path / NAME)
        case "a link to its folder":
            file.parent.rename(tmp_path / "elsewhere")
            file.parent.symlink_to(tmp_path / "elsewhere")
        case _:
            file.write_bytes(PNG + bytes(MOST_BYTES))
    assert store.pictures.read(f"{ID}.files/{NAME}") is None
    assert check_sessions(store, as_json=False) == 0
    assert f"not there any more: {ID}.files/{NAME}" in capsys.readouterr().out
    assert isinstance(store.save(session, STAMP), Saved), "a lost image holds no conversation up"


def test_an_image_is_not_written_through_a_link(tmp_path: Path) -> None:
    store = Store(tmp_path / "project")
    (tmp_path / "project" / ".mm" / "sessions").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "project" / ".mm" / "sessions" / f"{ID}.files").symlink_to(tmp_path / "elsewhere")
    assert store.pictures.read(store.pictures.add(ID, PNG)) == PNG
    assert not list((tmp_path / "elsewhere").iterdir())
    store.pictures.remove(ID)
    assert (tmp_path / "elsewhere").is_dir()


def test_leftovers_of_killed_writes_are_removed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    seen(store)
    left = tmp_path / ".mm" / "sessions" / f"{ID}.files" / f".{NAME[:32]}.0a1b2c3d.tmp"
    left.write_bytes(b"half")
    store.tidy()
    assert kept(tmp_path) == {f"{ID}.files/{NAME}": PNG}
