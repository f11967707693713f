"""Styled pieces of text onto a stream: coloured on a terminal that wants colours, plain elsewhere."""

import contextlib
from typing import TYPE_CHECKING, TextIO

from minime.core.screen import Piece, Pieces, Style

if TYPE_CHECKING:
    from rich.console import Console


class Paper:
    """Writes to one stream. A stream that is closed at the other end takes what comes and says nothing."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.is_terminal = stream.isatty()
        self._console: Console | None = None

    def write(self, pieces: Pieces) -> None:
        """Puts down `pieces`, at once."""
        with contextlib.suppress(BrokenPipeError):
            for piece in pieces:
                if piece.style and self.is_terminal:
                    self._styled(piece)
                else:
                    self.stream.write(piece.text)
            self.stream.flush()

    def line(self, text: str, style: Style = "") -> None:
        """Puts down a line."""
        self.write((Piece(f"{text}\n", style),))

    def _styled(self, piece: Piece) -> None:
        from rich.text import Text

        if self._console is None:
            from rich.console import Console

            self._console = Console(file=self.stream, highlight=False, soft_wrap=True)
        self._console.print(Text(piece.text, piece.style), end="")
