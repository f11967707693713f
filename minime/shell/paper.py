"""Styled pieces of text onto a stream: coloured on a terminal that wants colours, plain elsewhere."""

import contextlib
import sys
from typing import TYPE_CHECKING, TextIO

from minime.core.screen import Piece, Pieces, Style
from minime.core.text import clean

if TYPE_CHECKING:
    from rich.console import Console


class Paper:
    """Writes to one stream, and lets nothing through that would steer the terminal of whoever reads it.

    A reader who has left breaks off nothing, and neither does a terminal that is gone or a full disk behind
    stderr. Where the result itself is lost, on a stdout that is no terminal, OSError is raised.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.is_terminal = stream.isatty()
        self._matters = stream is sys.stdout and not self.is_terminal
        self._console: Console | None = None

    def write(self, pieces: Pieces) -> None:
        """Puts down `pieces`, at once."""
        lost = BrokenPipeError if self._matters else OSError
        with contextlib.suppress(lost):
            for piece in pieces:
                text = clean(piece.text)
                if piece.style and self.is_terminal:
                    self._styled(text, piece.style)
                else:
                    self.stream.write(text)
            self.stream.flush()

    def line(self, text: str, style: Style = "") -> None:
        """Puts down a line."""
        self.write((Piece(f"{text}\n", style),))

    def _styled(self, text: str, style: Style) -> None:
        from rich.text import Text

        if self._console is None:
            from rich.console import Console

            self._console = Console(file=self.stream, highlight=False, soft_wrap=True)
        self._console.print(Text(text, style), end="")
