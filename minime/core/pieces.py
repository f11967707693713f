"""Pieces of text, each in one style: what the core has to say to a terminal or a pipe."""

import msgspec

Style = str
"""Words with a space between: bold, dim, italic, underline, strike, and at most one colour."""


class Piece(msgspec.Struct, frozen=True):
    """Text in one style. `answer` marks the model's answer, which a one-shot run writes to stdout; `language`
    names that of a line of code, which may be coloured by what it says."""

    text: str
    style: Style = ""
    answer: bool = False
    language: str = ""


Pieces = tuple[Piece, ...]


def plain(pieces: Pieces) -> str:
    """The text of `pieces` without any style."""
    return "".join(piece.text for piece in pieces)


def also(style: Style, more: Style) -> Style:
    """Both styles in one."""
    return f"{style} {more}" if style and more and more not in style.split() else style or more
