"""`write_file` and `edit_file`: first what exactly would change, then, with consent, the change itself."""

import os
import stat
from contextlib import suppress

import msgspec

from minime.core.tools.editing import CannotEdit, hunk, replace_text
from minime.core.tools.filetext import Script, decode, encode, with_newline
from minime.core.tools.toolbox import EditFile, Said, WriteFile
from minime.core.values import Diff
from minime.shell.tools.inside import (
    Place,
    Refused,
    near_names,
    open_file,
    open_folder,
    open_place,
    problem_text,
)

LARGEST = 10_000_000
"""Bytes of a file that can be edited."""


class Change(msgspec.Struct, frozen=True):
    """A change that is ready to be made: the bytes before (None: no such file) and after, and what is said
    when it is done."""

    place: Place
    before: bytes | None
    after: bytes
    diff: Diff
    done: str


def plan_change(place: Place, action: WriteFile | EditFile) -> Change | Refused:
    """What the action would change, or why it cannot; nothing is written yet."""
    if not place.parts:
        return Refused(f"{place.shown} is a folder")
    try:
        before = _bytes_of(place, os.O_RDWR)
    except FileNotFoundError:
        before = None
    except OSError as error:
        return Refused(problem_text(error, place.shown))
    if before is not None and len(before) > LARGEST:
        return Refused(f"{place.shown} is larger than {LARGEST // 1_000_000} MB; change it with a command")
    if isinstance(action, WriteFile):
        return _plan_write(place, before, action.content)
    return _plan_edit(place, before, action)


def make_change(change: Change) -> Said:
    """What came of the change. It is made whole or not at all, and only if the file is still as it was."""
    place = change.place
    try:
        try:
            now = _bytes_of(place, os.O_RDONLY)
        except FileNotFoundError:
            now = None
        if now != change.before:
            return Said(
                f"{place.shown} has changed meanwhile; nothing was written: read it again", failed=True
            )
        if now != change.after:
            _replace(place, change.after)
    except OSError as error:
        return Said(f"nothing was written: {problem_text(error, place.shown)}", failed=True)
    return Said(change.done)


def _plan_write(place: Place, before: bytes | None, content: str) -> Change | Refused:
    old = decode(before) if before is not None else None
    script = old.script if old is not None and old.text else Script(newline="")
    text = with_newline(content, script.newline)
    after = encode(text, script)
    if after is None:
        return Refused(
            f"{place.shown} is not UTF-8, and its encoding ({script.codec}) lacks characters of this"
        )
    known = None if before is None else old.text if old is not None else "(a binary file)\n"
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    done = f"{'wrote' if before is None else 'replaced'} {place.shown} ({lines:,} line{'s' * (lines != 1)})"
    return Change(place, before, after, hunk(place.shown, known, text), done)


def _plan_edit(place: Place, before: bytes | None, action: EditFile) -> Change | Refused:
    if before is None:
        near = near_names(place)
        hint = f"; there is {', '.join(near)}" if near else "; write_file makes a new one"
        return Refused(f"no such file: {place.shown}{hint}")
    old = decode(before)
    if old is None:
        return Refused(f"{place.shown} is a binary file")
    edited = replace_text(old.text, action.old_text, action.new_text, action.all)
    if isinstance(edited, CannotEdit):
        return Refused(f"{place.shown}: {edited.why}")
    after = encode(edited.text, old.script)
    if after is None:
        return Refused(f"{place.shown} is not UTF-8, and its encoding lacks characters of new_text")
    done = f"edited {place.shown}" + (f" in {edited.places:,} places" if edited.places > 1 else "")
    return Change(place, before, after, hunk(place.shown, old.text, edited.text), done)


def _bytes_of(place: Place, flags: int) -> bytes:
    """The content of the file, one byte more than the largest at most. Raises OSError."""
    with open_place(place, flags) as descriptor, open(descriptor, "rb", closefd=False) as file:
        return file.read(LARGEST + 1)


def _replace(place: Place, data: bytes) -> None:
    """Puts the file in place, complete and on the disk, with the mode of the one before. Raises OSError."""
    name = place.parts[-1]
    with open_folder(place, make=True, up=1) as folder:
        temporary = f".mm-{os.urandom(4).hex()}.tmp"
        mode = _mode(folder, name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, 0o666, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if mode is not None:
                    os.fchmod(descriptor, mode)
                file.write(data)
                file.flush()
                os.fsync(descriptor)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
        os.fsync(folder)


def _mode(folder: int, name: str) -> int | None:
    """The permissions of the file that is there; None when there is none."""
    try:
        descriptor = open_file(folder, name)
    except FileNotFoundError:
        return None
    try:
        return stat.S_IMODE(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)
