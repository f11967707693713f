"""`read_file`: a place in the project -> what the model reads of it."""

import io
import os
import threading
from typing import NamedTuple

from minime.core.images import HEAD as HEAD_OF_IMAGE
from minime.core.images import MOST_BYTES, TOO_LARGE, mime_of
from minime.core.text import LIMIT, clean, clip
from minime.core.tools.filetext import HEAD, codec_of
from minime.core.tools.toolbox import ReadFile, Said
from minime.shell.tools.inside import Place, near_names, open_place, problem_text

NOTE = 100
"""Characters that are left for the note below what is shown."""

SCANNED = 256_000_000
"""Characters of a file passed on the way to the line asked for."""

COUNTED = 20_000_000
"""Bytes of a file up to which its lines are counted to the end."""

_PIECE = 65_536


class _Page(NamedTuple):
    """The lines shown: the first line's number, the lines, and how many the file has (None: not counted)."""

    first: int
    lines: list[str]
    total: int | None


def read_file(place: Place, action: ReadFile, stop: threading.Event, limit: int = LIMIT) -> Said:
    """The lines asked for, as many as fit in `limit` characters, and a note that says how to go on where
    there are more."""
    try:
        with open_place(place) as descriptor:
            size = os.fstat(descriptor).st_size
            head = os.pread(descriptor, HEAD, 0)
            codec = codec_of(head)
            if codec is None:
                return Said(f"{place.shown} is a binary file ({size:,} bytes)", failed=True)
            if not head:
                return Said("(empty file)")
            with open(descriptor, encoding=codec[0], errors="replace", closefd=False) as file:
                if codec[1]:
                    file.read(1)
                page = _page(file, max(1, action.offset), action.limit, limit - NOTE, size, stop)
    except OSError as error:
        near = near_names(place) if isinstance(error, FileNotFoundError) else ()
        hint = f"; there is {', '.join(near)}" if near else ""
        return Said(problem_text(error, place.shown) + hint, failed=True)
    return _told(place, page, size)


def read_image(place: Place) -> bytes | str:
    """The image at the place; nothing where there is no file, or one that is no image, and a few words where
    it is too large."""
    try:
        with open_place(place) as descriptor:
            if mime_of(os.pread(descriptor, HEAD_OF_IMAGE, 0)) is None:
                return b""
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read(MOST_BYTES + 1)
    except OSError:
        return b""
    if len(data) > MOST_BYTES:
        return TOO_LARGE
    return data


def _page(
    file: io.TextIOBase, offset: int, most_lines: int, room: int, size: int, stop: threading.Event
) -> _Page:
    """The lines from `offset` on, and the number of lines where it is worth the time to count them."""
    lines: list[str] = []
    left, number, passed, is_over = room, 0, 0, False
    while not stop.is_set():
        line, length = _line(file, room, stop)
        if not line:
            return _Page(offset, lines, number)
        number, passed = number + 1, passed + length
        if number >= offset and not is_over:
            text = clip(clean(line), room)
            if lines and len(text) > left:
                is_over = True
            else:
                lines.append(text)
                left -= len(text)
                is_over = left <= 0 or len(lines) == most_lines
        if (is_over and size > COUNTED) or passed > SCANNED:
            break
    return _Page(offset, lines, None)


def _line(file: io.TextIOBase, room: int, stop: threading.Event) -> tuple[str, int]:
    """The next line and its true length; of one that is much too long, the two ends. A line without an end
    is read as far as a file is passed over at all."""
    line = file.readline(_PIECE)
    length = len(line)
    while line and not line.endswith("\n") and length <= SCANNED and not stop.is_set():
        piece = file.readline(_PIECE)
        if not piece:
            break
        length += len(piece)
        line += piece
        if len(line) > 4 * _PIECE:
            line = line[:_PIECE] + line[-_PIECE:]
    if length > len(line):
        half = room // 2 - 50
        left_out = length - 2 * half
        line = f"{line[:half]}\n… {left_out:,} characters of this line left out …\n{line[-half:]}"
    return line, length


def _told(place: Place, page: _Page, size: int) -> Said:
    text = "".join(page.lines)
    last = page.first + len(page.lines) - 1
    if not page.lines:
        if page.total is not None:
            return Said(
                f"{place.shown} has {page.total:,} lines; there is no line {page.first:,}", failed=True
            )
        return Said(
            f"{place.shown}: line {page.first:,} is too far into a file of {size:,} bytes", failed=True
        )
    if page.total is not None and page.first == 1 and last == page.total:
        return Said(text)
    whole = f"of {page.total:,}" if page.total is not None else f"of a file of {size:,} bytes"
    more = f"; go on with offset={last + 1}" if page.total is None or last < page.total else ""
    end = "" if text.endswith("\n") else "\n"
    return Said(f"{text}{end}… lines {page.first:,}-{last:,} {whole}{more} …")
