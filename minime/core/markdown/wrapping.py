"""Words onto lines of a given width: spans in, pieces out as soon as it is certain on which line they are."""

import re
from collections.abc import Iterable

import msgspec

from minime.core.cells import head, unturned, width
from minime.core.markdown.inline import Span
from minime.core.pieces import Piece, Pieces

_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f"
    "\uff01-\uff60\U00020000-\U0003fffd"
)
_STAYS = frozenset("、。，．：；？！）］｝」』】〉》〕”’…")
_PARTS = re.compile(rf"([ \t]+)|([{_WIDE}])|[^ \t{_WIDE}]+")
"""Spaces, a letter of a script that is written without them, or what else belongs together."""


class Flow(msgspec.Struct, frozen=True):
    """A line that grows: the column it has come to, and the gap and the word that do not stand there yet.

    `hang` stands in front of each further line, `indent` columns of it.
    """

    column: int = 0
    indent: int = 0
    hang: Pieces = ()
    gap: tuple[Span, ...] = ()
    word: tuple[Span, ...] = ()


def begin(first: Pieces, hang: Pieces) -> tuple[Flow, Pieces]:
    """A new line that begins with `first`, its further ones with `hang`."""
    return Flow(_width(first), _width(hang), hang), first


def pour(flow: Flow, spans: Iterable[Span], columns: int) -> tuple[Flow, Pieces]:
    """The line with `spans` behind it, and what of it is certain now."""
    out: list[Piece] = []
    column, gap, word = flow.column, list(flow.gap), list(flow.word)
    room = max(1, columns - flow.indent)
    taken = sum(width(span.text) for span in word)

    def place() -> None:
        nonlocal column, taken
        space = sum(len(span.text) for span in gap)
        if column + space + taken > columns and column > flow.indent:
            out.extend((Piece("\n", answer=True), *flow.hang))
            column, space = flow.indent, 0
            gap.clear()
        out.extend(Piece(span.text, span.style, answer=True) for span in (*gap, *word))
        column += space + taken
        gap.clear()
        word.clear()
        taken = 0

    for text, style in spans:
        for found in _PARTS.finditer(unturned(text)):
            part = found[0]
            if found[1]:
                if word:
                    place()
                gap.append(Span(" " * width(part.expandtabs(4)), style))
                continue
            if word and found[2] and part not in _STAYS:
                place()
            while taken + width(part) > room:
                begun = head(part, room - taken) or ("" if word else part[:1])
                if begun:
                    word.append(Span(begun, style))
                    taken += width(begun)
                    part = part[len(begun) :]
                if not part:
                    break
                place()
            if part:
                word.append(Span(part, style))
                taken += width(part)
    return msgspec.structs.replace(flow, column=column, gap=tuple(gap), word=tuple(word)), tuple(out)


def last(flow: Flow, columns: int) -> tuple[Flow, Pieces]:
    """The line with its last word in its place; a gap at its end falls away."""
    if not flow.word:
        return flow, ()
    flow, pieces = pour(flow, (Span(" "),), columns)
    return msgspec.structs.replace(flow, gap=()), pieces


def wrapped(spans: Iterable[Span], columns: int) -> tuple[Pieces, ...]:
    """`spans` on lines of at most so many columns."""
    flow, pieces = pour(Flow(), spans, columns)
    _, more = last(flow, columns)
    lines: list[list[Piece]] = [[]]
    for piece in pieces + more:
        if piece.text == "\n":
            lines.append([])
        else:
            lines[-1].append(piece)
    return tuple(tuple(line) for line in lines)


def _width(pieces: Pieces) -> int:
    return sum(width(piece.text) for piece in pieces)
