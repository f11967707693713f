"""Styled pieces of text onto a stream: coloured on a terminal that wants colours, plain elsewhere."""

import contextlib
import os
import sys
from typing import TYPE_CHECKING, TextIO

from minime.core.cells import document_shown, unturned, width
from minime.core.pieces import Piece, Pieces, Style
from minime.core.text import clean

if TYPE_CHECKING:
    from minime.shell.highlight import Highlighter

_LOOKS = {"bold": "1", "dim": "2", "italic": "3", "underline": "4", "strike": "9"}
_COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "magenta": "35", "cyan": "36"}
NARROWEST, USUAL = 10, 80


class Paper:
    """Writes to one stream, and lets nothing through that would steer the terminal of whoever reads it.

    A reader who has left breaks off nothing, and neither does a terminal that is gone or a full disk behind
    stderr. Where the result itself is lost, on a stdout that is no terminal, OSError is raised.

    `styles` says whether looks are wanted, `colours` whether colours are too (NO_COLOR).
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.is_terminal = stream.isatty()
        self.styles = self.is_terminal and os.environ.get("TERM", "dumb") not in {"dumb", "unknown", ""}
        self.colours = self.styles and not os.environ.get("NO_COLOR")
        self._matters = stream is sys.stdout and not self.is_terminal
        self._column = 0
        self._passing = 0
        self._highlighter: Highlighter | None = None

    @property
    def columns(self) -> int:
        """How wide the terminal is now; 0 where there is none, or one that can only show text."""
        return _columns(self.stream) if self.styles else 0

    def shares_terminal(self, other: "Paper") -> bool:
        """Whether both write to the same terminal."""
        if not (self.is_terminal and other.is_terminal):
            return False
        try:
            here, there = os.fstat(self.stream.fileno()), os.fstat(other.stream.fileno())
        except (OSError, ValueError):
            return False
        return here.st_rdev == there.st_rdev

    def write(self, pieces: Pieces) -> None:
        """Puts down `pieces`, at once."""
        text = self._take_away() + "".join(self._styled(piece) for piece in pieces)
        if self.styles:
            self._move("".join(piece.text for piece in pieces))
        lost = BrokenPipeError if self._matters else OSError
        with contextlib.suppress(lost):
            self.stream.write(text)
            self.stream.flush()

    def line(self, text: str, style: Style = "") -> None:
        """Puts down a line."""
        self.write((Piece(f"{text}\n", style),))

    def document(self, data: bytes) -> None:
        """Puts down a document, or whole lines of one, byte for byte; what would steer a terminal stands
        there as its escape. Raises OSError."""
        if self.is_terminal:
            self.stream.write(document_shown(data.decode("utf-8", "replace")))
            return
        self.stream.flush()
        self.stream.buffer.write(data)

    @property
    def room(self) -> int:
        """Columns that are left on the line that is open, but one; 0 where nothing may pass."""
        columns = self.columns
        return max(0, columns - 1 - self._column % columns - (self._column > 0)) if columns else 0

    def pass_by(self, text: str) -> None:
        """Shows `text`, which is at most `room` wide, until something else is written; "" takes it away."""
        if not self.styles or not (text or self._passing):
            return
        text = f" {text}" if text and self._column else text
        back = self._back() if self._passing else ""
        self._passing = width(text)
        with contextlib.suppress(OSError):
            shown = f"\x1b[2m{self._harmless(text)}\x1b[0m" if text else ""
            self.stream.write(f"{back}{shown}\x1b[K")
            self.stream.flush()

    def _take_away(self) -> str:
        passing, self._passing = self._passing, 0
        return f"{self._back()}\x1b[K" if passing else ""

    def _back(self) -> str:
        """To where the passing text began. The terminal may have moved the cursor on: it shows typed keys."""
        return f"\x1b[{self._column % max(1, self.columns) + 1}G" if self._column else "\r"

    def _move(self, text: str) -> None:
        _, line_end, rest = text.rpartition("\n")
        self._column = width(rest) + (0 if line_end else self._column)

    def _styled(self, piece: Piece) -> str:
        text = self._harmless(piece.text)
        if piece.language and self.colours:
            return self._code(text, piece.language)
        if self._highlighter is not None and text.strip("\n"):
            self._highlighter = None
        return self._painted(text, piece.style)

    def _harmless(self, text: str) -> str:
        return unturned(clean(text)) if self.is_terminal else clean(text)

    def _painted(self, text: str, style: Style) -> str:
        if not style or not self.styles or not text:
            return text
        looks = dict(_LOOKS, **_COLOURS) if self.colours else _LOOKS
        codes = ";".join(looks[word] for word in style.split() if word in looks)
        return f"\x1b[{codes}m{text}\x1b[0m" if codes else text

    def _code(self, line: str, language: str) -> str:
        if self._highlighter is None or self._highlighter.language != language:
            from minime.shell.highlight import Highlighter

            self._highlighter = Highlighter(language)
        return "".join(self._painted(text, style) for text, style in self._highlighter.line(line))


def _columns(stream: TextIO) -> int:
    """The width of a terminal; what the environment says, or the usual, where it does not tell."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    if not columns:
        told = os.environ.get("COLUMNS", "")
        columns = int(told) if told.isdecimal() else 0
    return max(NARROWEST, columns or USUAL)
