"""The output of a running command as it is shown: its beginning as it comes, its end when it is over, and
between them how much was left out. The model reads more of it than a person wants to see."""

import msgspec

from minime.core.cells import cut, turns_shown
from minime.core.listing import count
from minime.core.pieces import Piece, Pieces

FIRST = 8
LAST = 4
ROWS = 3
"""Rows of the screen that one line may take."""


class Output(msgspec.Struct, frozen=True):
    """What has come: lines shown, the newest of those that are not, their number and size, the open line."""

    shown: int = 0
    newest: tuple[str, ...] = ()
    hidden: int = 0
    size: int = 0
    held: str = ""


def add_output(output: Output, text: str, columns: int) -> tuple[Output, Pieces]:
    """The output with `text` behind it, and the lines to show at once."""
    *lines, held = (output.held + text).split("\n")
    room = max(0, FIRST - output.shown)
    shown, hidden = lines[:room], lines[room:]
    newest = (*output.newest, *hidden)
    size = output.size + sum(len(line) + 1 for line in hidden)
    return (
        Output(
            output.shown + len(shown),
            newest[-LAST:],
            output.hidden + len(hidden),
            size,
            held,
        ),
        _lines(shown, columns),
    )


def end_output(output: Output, columns: int) -> Pieces:
    """What is shown when no more comes."""
    if output.held:
        output, pieces = add_output(output, "\n", columns)
        return pieces + end_output(output, columns)
    newest = output.newest
    left_out = output.hidden - len(newest)
    if left_out <= 0:
        return _lines(newest, columns)
    size = output.size - sum(len(line) + 1 for line in newest)
    gap = Piece(f"    … {count(left_out, 'more line')}, {_size_text(size)} …\n", "dim italic")
    return (gap, *_lines(newest, columns))


def _lines(lines: tuple[str, ...] | list[str], columns: int) -> Pieces:
    room = max(10, ROWS * columns - 4)
    return tuple(Piece(f"    {cut(turns_shown(line.expandtabs()), room)}\n", "dim") for line in lines)


def _size_text(size: int) -> str:
    return f"{size:,} characters" if size < 10_000 else f"{size // 1000:,} KB"
