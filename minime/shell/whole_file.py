"""A file that is on disk whole or not at all: a draft beside it, synced, and put in its place by one call.

A draft is locked for as long as its process lives, so that a leftover of a killed one can be told from the
draft of a save that is under way.
"""

import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOCK_SECONDS = 5.0
"""How long a save waits for others to let go of the lock; they hold it for milliseconds."""

LOCK_PAUSE = 0.01

REPLACE_TRIES = 10 if os.name == "nt" else 1
"""Windows refuses while another program looks into the file; it is over in a moment."""

REPLACE_PAUSE = 0.05

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EMLINK}
_NO_SYNC = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}
_DRAFT = re.compile(r"\.(?:\d{8}-\d{6}-[0-9a-f]{8}|[0-9a-f]{32})\.[0-9a-f]{8}\.tmp")
_ADVISORY = hasattr(os, "O_NOFOLLOW")  # Windows has no advisory lock of this kind


@contextmanager
def drafted(path: Path, data: bytes) -> Iterator[Path]:
    """A draft of the file at `path`: beside it, written and synced. What is left of it goes in the end.
    Raises OSError."""
    draft, handle = _new_draft(path)
    try:
        with os.fdopen(handle, "wb", buffering=0) as file:
            left = memoryview(data)
            while left:
                left = left[file.write(left) :]
            os.fsync(handle)
            if _ADVISORY:
                yield draft  # still open, and so still locked
        if not _ADVISORY:
            yield draft  # an open file cannot be renamed there
    finally:
        with suppress(OSError):
            draft.unlink()


def put_in_place(draft: Path, path: Path) -> None:
    """The draft takes the place of the file at `path`. Raises OSError."""
    for left in reversed(range(REPLACE_TRIES)):
        try:
            draft.replace(path)
        except PermissionError:
            if not left:
                raise
            time.sleep(REPLACE_PAUSE)
        else:
            return


def put_if_free(draft: Path, path: Path) -> bool:
    """The draft becomes the file at `path`, unless there is something already: then False. Raises OSError."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            return False
        put_in_place(draft, path)
    return True


def sync_folder(folder: Path) -> None:
    """Makes last what was renamed in `folder`; where a folder cannot be synced, the system does so by itself.
    Raises OSError."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        os.close(handle)


def keep_from_git(file: Path) -> None:
    """Writes the file that hides its folder from git, unless it says something already: a killed mm may have
    left it empty. What is no file is left alone: a pipe would be waited for. Raises OSError."""
    try:
        there = file.lstat()
        if there.st_size or not stat.S_ISREG(there.st_mode):
            return
    except FileNotFoundError:
        pass
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
    try:
        os.write(handle, b"*\n")
    finally:
        os.close(handle)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the advisory lock at `path`, which dies with the process; none where the file system knows none.
    Raises OSError, also when somebody else does not let go of it."""
    if not _ADVISORY:
        yield
        return
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        deadline = time.monotonic() + LOCK_SECONDS
        while not _lock_if_any(handle):
            if time.monotonic() >= deadline:
                raise OSError(0, "another process, perhaps a stopped one, holds its lock")
            time.sleep(LOCK_PAUSE)
        yield
    finally:
        os.close(handle)


def remove_leftovers(folder: Path) -> None:
    """Removes the drafts in `folder` whose processes have died. Trouble is left for a save to tell."""
    if not _ADVISORY:
        return
    try:
        with os.scandir(folder) as entries:
            drafts = [entry.path for entry in entries if _DRAFT.fullmatch(entry.name)]
    except OSError:
        return
    for draft in drafts:
        with suppress(OSError):
            _remove_if_left(Path(draft))


def _new_draft(path: Path) -> tuple[Path, int]:
    while True:
        draft = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.tmp")
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            # Before it was locked, another process may have taken it for a leftover.
            if not _ADVISORY or (_lock_if_any(handle) and os.fstat(handle).st_nlink):
                return draft, handle
        except OSError:
            os.close(handle)
            draft.unlink()
            raise
        os.close(handle)


def _remove_if_left(draft: Path) -> None:
    handle = os.open(draft, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        if _lock(handle):
            draft.unlink()
    finally:
        os.close(handle)


def _lock_if_any(handle: int) -> bool:
    """As `_lock`; True where the file system knows no locks."""
    try:
        return _lock(handle)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return True


def _lock(handle: int) -> bool:
    """Whether the lock could be had just now. Raises OSError."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
