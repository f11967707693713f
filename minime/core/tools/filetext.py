"""The bytes of a file -> its text and how it was written (encoding, mark, line ends), and back again."""

import codecs
import re
from typing import NamedTuple

HEAD = 8_192
"""Bytes at the head of a file by which it is judged to be binary."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNPRINTABLE = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")


class Script(NamedTuple):
    """How a text is written down: its codec, the byte order mark before it, and its line end (empty where
    a file mixes them)."""

    codec: str = "utf-8"
    mark: bytes = b""
    newline: str = "\n"


class FileText(NamedTuple):
    """A file's text, line ends as they are, and how it is written."""

    text: str
    script: Script


def codec_of(head: bytes) -> tuple[str, bytes] | None:
    """The codec and the byte order mark of a file that begins with `head`; None when it is binary.

    Text that is not UTF-8 is read as Latin-1, in which each byte is one character: nothing is lost.
    """
    for mark, codec in _MARKS:
        if head.startswith(mark):
            return codec, mark
    head = head[:HEAD]
    if b"\0" in head:
        return None
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return None if len(_UNPRINTABLE.findall(head)) * 20 > len(head) else ("latin-1", b"")
    return "utf-8", b""


def decode(data: bytes) -> FileText | None:
    """The text of a whole file; None when it is binary."""
    found = codec_of(data)
    if found is None:
        return None
    codec, mark = found
    try:
        text = data[len(mark) :].decode(codec)
    except UnicodeDecodeError:
        if mark:
            return None
        codec, text = "latin-1", data.decode("latin-1")
    return FileText(text, Script(codec, mark, newline_of(text)))


def encode(text: str, script: Script) -> bytes | None:
    """The text as bytes of a file written so; None when its encoding has no such characters."""
    try:
        return script.mark + text.encode(script.codec)
    except UnicodeEncodeError:
        return None


def newline_of(text: str) -> str:
    """The line end of a text: newline (also where there is none), CR and newline, or empty for both mixed."""
    ends, windows = text.count("\n"), text.count("\r\n")
    if windows == 0:
        return "\n"
    return "\r\n" if windows == ends else ""


def with_newline(text: str, newline: str) -> str:
    """The text with this line end throughout; as it is when `newline` is empty."""
    if not newline:
        return text
    text = text.replace("\r\n", "\n")
    return text if newline == "\n" else text.replace("\n", newline)
