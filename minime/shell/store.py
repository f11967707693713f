"""The sessions of a project on disk: one file each under `.mm/sessions`, written whole and atomically."""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from minime.core.codec import Unreadable, decode, encode
from minime.core.listing import (
    HEAD_BYTES,
    Head,
    Row,
    has_title,
    head_updated,
    is_id,
    newest_first,
    session_row,
)
from minime.core.session import is_empty, with_title
from minime.core.values import Session, Stamp
from minime.shell.tools.inside import NotRegularError, read_head, read_regular

LARGEST = 1_000_000_000
"""Bytes of a session file that is read."""

LOCK_SECONDS = 5.0
"""How long a save waits for others to let go of the lock; they hold it for milliseconds."""

LOCK_PAUSE = 0.01


class Loaded(msgspec.Struct, frozen=True):
    """The session of a file that is whole."""

    session: Session


class NotLoaded(msgspec.Struct, frozen=True):
    """The file could not be read: `reason` in a few words. `damaged` is False where the disk is to blame
    and trying again may help."""

    reason: str
    damaged: bool


class Saved(msgspec.Struct, frozen=True):
    """On disk, whole. `session` is what was written: under a new id where another process had changed
    the file, and then `notice` is the line that says so."""

    session: Session
    notice: str = ""


class NotSaved(msgspec.Struct, frozen=True):
    """Not on disk; whatever was there before still is. `line` says why."""

    line: str


class Store:
    """The sessions folder of one project. Nothing is made on disk before the first save."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.folder = project / ".mm" / "sessions"
        self._seen: dict[str, bytes] = {}

    def load(self, id: str) -> Loaded | NotLoaded:
        """The session `id`, remembered as it was read, so that a later save sees a change by others."""
        return self._load(id, remember=True)

    def save(self, session: Session, stamp: Stamp) -> Saved | NotSaved:
        """Puts `session` in its file. Where the file is not what this process last loaded or saved, it is
        left alone and the session goes to `stamp.fresh_id`; if only its title is new, that is taken over."""
        try:
            self._make_folder()
            with self._lock():
                return self._save(session, stamp)
        except OSError as error:
            return NotSaved(f"cannot save the session in {self.folder}: {_errno_text(error)}")

    def heads(self) -> tuple[Head, ...]:
        """All sessions that were used, newest use first, from the beginning of their files. A damaged one
        counts as used when its id was drawn. No folder is no session; other trouble raises OSError."""
        heads = (self._head(id) for id in self._ids())
        return newest_first(head for head in heads if head is not None)

    def rows(self, ids: tuple[str, ...]) -> Iterator[Row]:
        """A row for each of `ids`, numbered from 1; each file is read whole and checked."""
        for number, id in enumerate(ids, start=1):
            match self._load(id, remember=False):
                case Loaded(session=session):
                    yield session_row(number, session)
                case NotLoaded(reason=reason):
                    yield Row(number, id, damaged=reason)

    def delete(self, id: str) -> str:
        """Removes the file of a session, if there is one; empty, or why it could not be."""
        try:
            self._path(id).unlink(missing_ok=True)
        except OSError as error:
            return f"cannot delete session {id}: {_errno_text(error)}"
        self._seen.pop(id, None)
        return ""

    def remove_unused(self, before: datetime) -> None:
        """Removes sessions without a question, an error or a pending round that were opened before then."""
        with suppress(OSError):
            for id in self._ids():
                if _drawn(id) < before and self._head(id) is None:
                    self.delete(id)

    def read(self, id: str) -> bytes:
        """The bytes of a session's file. Raises OSError, also for a pipe or device in its place."""
        return read_regular(self._path(id), LARGEST)

    def _load(self, id: str, *, remember: bool) -> Loaded | NotLoaded:
        if not is_id(id):
            return NotLoaded("invalid session id", damaged=False)
        try:
            data = self.read(id)
        except FileNotFoundError:
            return NotLoaded("no such session", damaged=False)
        except OSError as error:
            return NotLoaded(_errno_text(error), damaged=False)
        try:
            session = decode(data)
        except Unreadable as error:
            return NotLoaded(str(error), damaged=True)
        if session.id != id:
            return NotLoaded(f"it holds another session, {session.id[:40]}", damaged=True)
        if remember:
            self._seen[id] = data
        return Loaded(session)

    def _path(self, id: str) -> Path:
        assert is_id(id), "only an id of our own form is ever a file's name"
        return self.folder / f"{id}.json"

    def _ids(self) -> list[str]:
        try:
            names = [entry.name for entry in os.scandir(self.folder)]
        except FileNotFoundError:
            return []
        return [name[:-5] for name in names if name.endswith(".json") and is_id(name[:-5])]

    def _head(self, id: str) -> Head | None:
        """The head of a file; None when its session was never used (editors open them beforehand)."""
        try:
            head = read_head(f"{self.folder}{os.sep}{id}.json", HEAD_BYTES)  # a Path would cost a read
            updated = head_updated(head)
            if updated is None or not has_title(head):
                head = self.read(id)
                updated = head_updated(head)
                if _is_unused(head):
                    return None
        except OSError:
            updated = None
        return Head(id, updated or _drawn(id))

    def _make_folder(self) -> None:
        home = self.project / ".mm"
        project = Path(os.path.realpath(self.project))
        if not Path(os.path.realpath(self.folder)).is_relative_to(project):
            raise OSError(0, "it is a link that leads out of the project")
        if not self.folder.is_dir():
            home.mkdir(mode=0o700, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileExistsError), (home / ".gitignore").open("x", encoding="utf-8") as file:
            file.write("*\n")

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Held while a file is compared and replaced; it dies with the process. Raises OSError, also when
        somebody else does not let go of it."""
        if not hasattr(os, "O_NOFOLLOW"):  # Windows has no advisory lock of this kind
            yield
            return
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(self.folder / ".lock", flags, 0o600)
        try:
            deadline = time.monotonic() + LOCK_SECONDS
            while not _locked(handle):
                if time.monotonic() >= deadline:
                    raise OSError(0, "another process, perhaps a stopped one, holds its lock")
                time.sleep(LOCK_PAUSE)
            yield
        finally:
            os.close(handle)

    def _save(self, session: Session, stamp: Stamp) -> Saved | NotSaved:
        known = self._seen.get(session.id)
        there = self._current(session.id)
        notice = ""
        if there != known:
            title = _title_alone(known, there)
            if title is None:
                fresh = msgspec.structs.replace(session, id=stamp.fresh_id)
                if known is not None:
                    notice = _diverted(session.id, fresh.id, there is None)
                session = fresh
            else:
                session = with_title(session, title)
        data = encode(session)
        self._replace(session.id, data)
        self._seen[session.id] = data
        return Saved(session, notice)

    def _current(self, id: str) -> bytes | None:
        try:
            return self.read(id)
        except FileNotFoundError:
            return None
        except (IsADirectoryError, NotRegularError):
            return b""  # not what this process wrote, whatever it is

    def _replace(self, id: str, data: bytes) -> None:
        path = self._path(id)
        draft = self.folder / f".{id}.{secrets.token_hex(4)}.tmp"
        try:
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        _sync_folder(self.folder)


def _is_unused(data: bytes) -> bool:
    try:
        return is_empty(decode(data))
    except Unreadable:
        return False


def _drawn(id: str) -> datetime:
    """When an id was drawn, as it says itself."""
    try:
        return datetime.strptime(id[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)


def _locked(handle: int) -> bool:
    """Whether the lock could be had just now."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Makes a rename last; a system that cannot sync a folder does so by itself."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _title_alone(known: bytes | None, there: bytes | None) -> str | None:
    """The title in `there`, when nothing else in it differs from `known`."""
    if known is None or there is None:
        return None
    try:
        before, after = decode(known), decode(there)
    except Unreadable:
        return None
    same = with_title(after, before.title)
    return after.title if msgspec.structs.replace(same, updated=before.updated) == before else None


def _diverted(id: str, fresh: str, deleted: bool) -> str:
    what = "was deleted" if deleted else "was changed"
    return f"session {id} {what} by another process; this conversation goes on as {fresh}"


def _errno_text(error: OSError) -> str:
    return error.strerror or str(error)
