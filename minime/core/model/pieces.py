"""A text that grows piece by piece, as an immutable value: pieces in, the same pieces joined coarser out.

Appending to a string or a tuple copies all that is there, which makes a long stream quadratic. Here each
piece is at least twice as long as its right neighbour, so that there are few of them and every character is
copied a logarithmic number of times.
"""

from typing import AnyStr


def push(pieces: tuple[AnyStr, ...], piece: AnyStr) -> tuple[AnyStr, ...]:
    """`pieces` with `piece` behind them: joined, they are the text."""
    while pieces and len(pieces[-1]) < 2 * len(piece):
        piece = pieces[-1] + piece
        pieces = pieces[:-1]
    return pieces + (piece,) if piece else pieces  # noqa: RUF005 - the type of *pieces is not known
