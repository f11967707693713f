"""The sessions of a project on disk: one file each under `.mm/sessions`, written whole and atomically."""

import os
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from pathlib import Path

import msgspec

from minime.core.codec import Unreadable, decode, encode, grown_text
from minime.core.images import own_images
from minime.core.listing import (
    HEAD_BYTES,
    Found,
    Head,
    NotFound,
    Row,
    drawn,
    head_of,
    head_updated,
    is_id,
    newest_first,
    pick,
    session_row,
)
from minime.core.session import is_empty, with_title
from minime.core.values import Session, Stamp
from minime.shell.pictures import Pictures
from minime.shell.tools.inside import NotRegularError, read_head, read_regular
from minime.shell.whole_file import (
    drafted,
    keep_from_git,
    locked,
    put_if_free,
    put_in_place,
    remove_leftovers,
    sync_folder,
)

LARGEST = 1_000_000_000
"""Bytes of a session file that is read."""

TRIES = 20
"""How often a save begins anew because of what other processes do to the file in between."""


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
        self.pictures = Pictures(self.folder, self._make_folder)
        self._seen: dict[str, bytes] = {}

    def load(self, id: str) -> Loaded | NotLoaded:
        """The session `id`, remembered as it was read, so that a later save sees a change by others."""
        return self._load(id, remember=True)

    def has(self, id: str) -> bool:
        """Whether this process has read the file of the session, or written it."""
        return id in self._seen

    def save(self, session: Session, stamp: Stamp) -> Saved | NotSaved:
        """Puts `session` in its file. Where the file is not what this process last loaded or saved, it is
        left alone and the session goes to `stamp.fresh_id`; if only its title is new, that is taken over."""
        try:
            self._make_folder()
            return self._save(session, stamp.fresh_id)
        except OSError as error:
            return NotSaved(f"cannot save the session in {self.folder}: {_errno_text(error)}")

    def tidy(self) -> None:
        """Removes what saves of killed processes have left behind."""
        if self._is_inside():
            remove_leftovers(self.folder)
            self.pictures.tidy()

    def heads(self) -> tuple[Head, ...]:
        """All sessions that were used, newest use first, from the beginning of their files. A damaged one
        counts as used when its id was drawn. No folder is no session; other trouble raises OSError."""
        heads = (self._head(id) for id in self._ids())
        return newest_first(head for head in heads if head is not None)

    def find(self, wanted: str, current: str = "") -> Found | NotFound:
        """Which session is meant by a number, `last`, or a piece of an id; for a whole id no other file is
        looked at. `last` passes over `current`. Raises OSError."""
        if is_id(wanted) and os.path.lexists(self._path(wanted)):
            return Found(wanted)
        return pick(tuple(head.id for head in self.heads()), wanted, current)

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
            if os.path.lexists(self._path(id)):
                with self._lock():  # a save under way is not to bring it back
                    self._path(id).unlink(missing_ok=True)
                    self.pictures.remove(id)
        except OSError as error:
            return f"cannot delete session {id}: {_errno_text(error)}"
        self._seen.pop(id, None)
        return ""

    def remove_unused(self, before: datetime) -> None:
        """Removes sessions without a question, an error or a pending round that were opened before then."""
        with suppress(OSError):
            old = [id for id in self._ids() if drawn(id) < before and self._head(id) is None]
            if old:
                with self._lock():  # one of them may be used in this moment
                    for id in old:
                        if self._head(id) is None:
                            self._path(id).unlink(missing_ok=True)
                            self.pictures.remove(id)

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
        updated = None
        try:
            data = read_head(f"{self.folder}{os.sep}{id}.json", HEAD_BYTES)  # a Path would cost a read
            head = head_of(id, data)
            if head is not None:
                return head
            updated = head_updated(data)
            match self._load(id, remember=False):
                case Loaded(session=session):
                    return None if is_empty(session) else Head(id, session.updated, session.title)
                case NotLoaded(reason=damaged):
                    pass
        except OSError as error:
            damaged = _errno_text(error)
        return Head(id, updated or drawn(id), damaged=damaged)

    def _make_folder(self) -> None:
        home = self.project / ".mm"
        if not self._is_inside():
            raise OSError(0, "it is a link that leads out of the project")
        for folder in (home, self.folder):
            if not folder.is_dir():
                with suppress(FileExistsError):
                    folder.mkdir(mode=0o700)
                sync_folder(folder.parent)
        keep_from_git(home / ".gitignore")

    def _is_inside(self) -> bool:
        project = Path(os.path.realpath(self.project))
        return Path(os.path.realpath(self.folder)).is_relative_to(project)

    def _lock(self) -> AbstractContextManager[None]:
        return locked(self.folder / ".lock")

    def _save(self, session: Session, fresh_id: str) -> Saved:
        """Raises OSError. The draft is written before the lock is taken, so that nobody waits for a disk."""
        notice = ""
        for _ in range(TRIES):
            self.pictures.own(session)
            session = own_images(session)
            data = encode(session)
            path = self._path(session.id)
            with drafted(path, data) as draft, self._lock():
                agreed = self._agreed(session)
                if agreed is session and self._put(draft, path, session.id):
                    notice = notice or grown_text(len(self._seen.get(session.id, b"")), len(data))
                    self._seen[session.id] = data
                    break
            if agreed is None or agreed is session:
                if session.id in self._seen:
                    notice = _diverted(session.id, fresh_id, deleted=not os.path.lexists(path))
                session = msgspec.structs.replace(session, id=fresh_id)
                fresh_id = f"{fresh_id[:-8]}{secrets.token_hex(4)}"
            else:
                session = agreed
        else:
            raise OSError(0, "other processes change it all the time")
        sync_folder(self.folder)
        return Saved(session, notice)

    def _agreed(self, session: Session) -> Session | None:
        """What may take the place of the session's file: `session` where the file is as this process knows it
        or not known, with a title that another process gave it, None when the file is another's now."""
        known = self._seen.get(session.id)
        if known is None or (there := self._current(session.id)) == known:
            return session
        before, after = _decoded(known), _decoded(there)
        if before is None or after is None or not _same_but_title(before, after):
            return None
        self._seen[session.id] = there
        return session if session.title != before.title else with_title(session, after.title)

    def _put(self, draft: Path, path: Path, id: str) -> bool:
        """False when there is a file of that id already, and this process has never seen it."""
        if id not in self._seen:
            return put_if_free(draft, path)
        put_in_place(draft, path)
        return True

    def _current(self, id: str) -> bytes:
        """What the file holds now; nothing where there is none, or something else. Raises OSError."""
        try:
            return self.read(id)
        except (FileNotFoundError, IsADirectoryError, NotRegularError):
            return b""


def _decoded(data: bytes) -> Session | None:
    try:
        return decode(data)
    except Unreadable:
        return None


def _same_but_title(one: Session, other: Session) -> bool:
    return with_title(other, one.title) == msgspec.structs.replace(one, updated=other.updated)


def _diverted(id: str, fresh: str, deleted: bool) -> str:
    what = "was deleted" if deleted else "was changed"
    return f"session {id} {what} by another process; this conversation goes on as {fresh}"


def _errno_text(error: OSError) -> str:
    return error.strerror or str(error)
