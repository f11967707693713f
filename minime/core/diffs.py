"""A diff of an edit as coloured lines."""

from minime.core.cells import turns_shown
from minime.core.listing import count
from minime.core.pieces import Piece, Pieces, Style
from minime.core.values import Diff

DIFF_LINES = 60
DIFF_WIDTH = 2_000


def diff_lines(diff: Diff) -> tuple[str, ...]:
    """The lines of a unified diff, without its head."""
    import difflib

    before = (diff.old_text or "").splitlines()
    after = diff.new_text.splitlines()
    return tuple(difflib.unified_diff(before, after, lineterm="", n=2))[2:]


def diff_pieces(lines: tuple[str, ...]) -> Pieces:
    """The lines of a diff, cut where they are long; where it leaves lines of the file out there is a mark."""
    shown = [
        Piece(f"    {_cut(line)}\n", _style(line))
        for place, line in enumerate(lines[:DIFF_LINES])
        if place or not line.startswith("@@")
    ]
    if len(lines) > DIFF_LINES:
        shown.append(Piece(f"    … {count(len(lines) - DIFF_LINES, 'more line')}\n", "dim"))
    return tuple(shown)


def changed_text(lines: tuple[str, ...]) -> str:
    """How many lines come and go: `+2 −1`."""
    come, go = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return " ".join([*([f"+{come:,}"] if come else []), *([f"−{go:,}"] if go else [])])


def _cut(line: str) -> str:
    if line.startswith("@@"):
        return "⋮"
    more = len(line) - DIFF_WIDTH
    return turns_shown(f"{line[:DIFF_WIDTH]} … {more:,} more characters" if more > 0 else line)


def _style(line: str) -> Style:
    return {"+": "green", "-": "red"}.get(line[:1], "dim")
