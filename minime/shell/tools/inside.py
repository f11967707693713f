"""Files of a project and nothing outside it: a path that the model wrote -> a place, a place -> an open file.

A path is resolved first and judged by where it leads. The file is then opened by walking down from the
project's folder without following links, so that a link put there in between leads nowhere.
"""

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from minime.core.tools.places import closed_to_readers, closed_to_writers

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_QUIETLY = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | _QUIETLY


class NotRegularError(OSError):
    """There is something at the path, and it is no file: a pipe, a socket or a device."""


class Place(NamedTuple):
    """Where a path leads: `parts` below the folder `base`; `shown` is the path as the model should write it,
    `where` the path below the project (the whole path in an additional folder)."""

    base: str
    parts: tuple[str, ...]
    shown: str
    where: str


class Refused(NamedTuple):
    """Why a path cannot be reached or a change not be made, for the model."""

    why: str


class Inside:
    """The project at `root` and the folders beside it that are open too; paths are taken from `cwd`."""

    def __init__(self, root: Path, cwd: Path, also: tuple[Path, ...] = ()) -> None:
        self._cwd = cwd.resolve()
        self._root = root.resolve()
        self._bases = (self._root, *(folder.resolve() for folder in also))

    def place(self, path: str, writing: bool = False) -> Place | Refused:
        """Where the path leads, or why it may not be reached (outside, or closed to readers or writers)."""
        try:
            real = (self._cwd / (path or ".")).resolve()
        except (OSError, ValueError, RuntimeError) as problem:
            return Refused(f"{path}: not a path that can be followed ({problem})")
        base = next((base for base in self._bases if real.is_relative_to(base)), None)
        if base is None:
            return Refused(f"{path} is outside the project; only files in {self._root} can be reached")
        parts = real.relative_to(base).parts
        shown = self._shown(real)
        if closed_to_writers(parts) if writing else closed_to_readers(parts):
            return Refused(f"{shown} cannot be {'written' if writing else 'read'}: it is kept by git or mm")
        where = Path(*parts).as_posix() if base == self._root else real.as_posix()
        return Place(str(base), parts, shown, where)

    def _shown(self, real: Path) -> str:
        if real.is_relative_to(self._root) and self._cwd.is_relative_to(self._root):
            return Path(os.path.relpath(real, self._cwd)).as_posix()
        return real.as_posix()


@contextmanager
def open_folder(place: Place, make: bool = False, up: int = 0) -> Iterator[int]:
    """A descriptor of the folder at the place, or `up` levels above it; missing ones are made with `make`.

    Raises OSError.
    """
    folder = os.open(place.base, _FOLDER & ~os.O_NOFOLLOW)
    try:
        for part in place.parts[: len(place.parts) - up]:
            try:
                below = open_below(folder, part)
            except FileNotFoundError:
                if not make:
                    raise
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder)
                below = open_below(folder, part)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def open_below(folder: int, name: str) -> int:
    """A descriptor of the folder `name` in the open `folder`; never through a link. Raises OSError."""
    return os.open(name, _FOLDER, dir_fd=folder)


def open_file(folder: int, name: str, flags: int = os.O_RDONLY) -> int:
    """A descriptor of the regular file `name` in the open `folder`; never through a link, never one that
    would wait. Raises OSError, also for what is not a regular file."""
    _must_be_regular(os.stat(name, dir_fd=folder, follow_symlinks=False))
    descriptor = os.open(name, flags | _FILE, dir_fd=folder)
    try:
        _must_be_regular(os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def open_place(place: Place, flags: int = os.O_RDONLY) -> Iterator[int]:
    """A descriptor of the regular file at the place. Raises OSError."""
    if not place.parts:
        raise IsADirectoryError
    with open_folder(place, up=1) as folder:
        descriptor = open_file(folder, place.parts[-1], flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def problem_text(error: OSError, shown: str) -> str:
    """What went wrong with a file, in one line for the model."""
    match error:
        case FileNotFoundError():
            return f"no such file or folder: {shown}"
        case IsADirectoryError():
            return f"{shown} is a folder; list_directory shows what is in it"
        case NotADirectoryError():
            return f"{shown}: not a folder, or a part of the path is not one"
        case _:
            return f"{shown}: {error.strerror or error}"


def near_names(place: Place) -> tuple[str, ...]:
    """Names in the same folder that look like the one at the place, the nearest first."""
    from difflib import get_close_matches

    try:
        with open_folder(place, up=1) as folder, os.scandir(folder) as entries:
            names = [entry.name for entry in entries if not closed_to_readers((entry.name,))]
    except (OSError, IndexError):
        return ()
    return tuple(get_close_matches(place.parts[-1], names[:5_000], 3)) if place.parts else ()


def read_regular(path: Path, most: int) -> bytes:
    """The content of the regular file at `path`, a place of mm's own; links are followed, nothing waits.

    Raises OSError: `NotRegularError` for what is no file, and for a file of more than `most` bytes.
    """
    with _opened(path) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise OSError(errno.EFBIG, f"larger than {most // 1_000_000:,} MB")
        return file.read()


def read_head(path: Path | str, most: int) -> bytes:
    """The first `most` bytes of the regular file at `path`. Raises OSError as `read_regular` does."""
    with _opened(path) as file:
        return file.read(most)


@contextmanager
def _opened(path: Path | str) -> Iterator[io.FileIO]:
    with io.FileIO(os.open(path, os.O_RDONLY | _QUIETLY)) as file:  # a buffer would read on
        _must_be_regular(os.fstat(file.fileno()))
        yield file


def _must_be_regular(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularError(0, "not a regular file (a pipe, a socket or a device)")
