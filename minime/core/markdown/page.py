"""An answer in Markdown as it streams: text in pieces in, pieces for the screen out, none of which is taken
back. What is on the screen at its end is the same however the text came.

A line of words is put down word by word, a line of code or a heading at its end, a table when it is whole.
A line end of the model's stays one.
"""

import msgspec

from minime.core.cells import turns_shown, unturned
from minime.core.markdown.inline import read
from minime.core.markdown.lines import (
    Blank,
    Code,
    FenceOpens,
    Heading,
    Quoted,
    Row,
    Rule,
    Words,
    aligns,
    closes_fence,
    line_of,
    unquoted,
    without_indent,
)
from minime.core.markdown.tables import table_pieces
from minime.core.markdown.wrapping import Flow, begin, last, pour
from minime.core.pieces import Piece, Pieces

_END = Piece("\n", answer=True)
_BAR = Piece("│ ", "dim", answer=True)
_BAR_ALONE = Piece("│", "dim", answer=True)
_HEADINGS = {1: "bold underline", 2: "bold"}
_LOWER = "bold italic"


class Fence(msgspec.Struct, frozen=True):
    """The block of code that is open."""

    mark: str
    indent: int
    language: str
    depth: int


class Page(msgspec.Struct, frozen=True):
    """What an answer has come to. `held` is text that is not on the screen yet, `flow` the line of words that
    grows there, `before` the character in front of `held` in it, `rows` a table that has begun."""

    held: str = ""
    flow: Flow | None = None
    before: str = ""
    fence: Fence | None = None
    rows: tuple[str, ...] = ()
    depth: int = 0
    in_list: bool = False
    blank: bool = True
    """Whether the last line was empty, or there was none: another empty one is left out."""


def add(page: Page, text: str, columns: int) -> tuple[Page, Pieces]:
    """The page with `text` behind it, and what that puts on the screen."""
    pieces: list[Piece] = []
    lines = (page.held + text).split("\n")
    for line in lines[:-1]:
        page, more = _line(page, line, columns, complete=True)
        pieces += more
    held = lines[-1]
    if held or len(lines) == 1:
        page, more = _line(page, held, columns, complete=False)
        pieces += more
    else:
        page = msgspec.structs.replace(page, held="")
    return page, tuple(pieces)


def unsettled(page: Page) -> str:
    """What has come of the newest line and is not on the screen yet, as it came."""
    word = "".join(span.text for span in page.flow.word) if page.flow else ""
    return word + page.held


def finish(page: Page, columns: int) -> Pieces:
    """What is still to be put on the screen when no more text comes; it ends at the beginning of a line."""
    pieces: Pieces = ()
    if page.held or page.flow is not None:
        page, pieces = _line(page, page.held, columns, complete=True)
    _, more = _without_table(page, columns)
    return pieces + more


def rendered(text: str, columns: int) -> Pieces:
    """A whole answer for the screen."""
    page, pieces = add(Page(), text, columns)
    return pieces + finish(page, columns)


def _line(page: Page, text: str, columns: int, *, complete: bool) -> tuple[Page, Pieces]:
    """A line, or what has come of it: `text` is what `held` had, and more."""
    if page.flow is not None:
        return _flow(page, page.flow, text, columns, complete)
    if page.fence is not None:
        return _code(page, page.fence, text, columns) if complete else (_holding(page, text), ())
    quoted = unquoted(text, complete=complete)
    line = None if quoted is None else line_of(quoted.text, page.in_list, complete=complete)
    if quoted is None or line is None:
        return _holding(page, text), ()
    if isinstance(line, Row) and not quoted.depth:
        return _row(page, line, columns)
    page, pieces = _without_table(page, columns)
    page, more = _begun(page, quoted, line, columns, complete)
    return page, pieces + more


def _holding(page: Page, text: str) -> Page:
    return msgspec.structs.replace(page, held=text)


def _begun(
    page: Page,
    quoted: Quoted,
    line: Blank | Rule | Heading | FenceOpens | Row | Code | Words,
    columns: int,
    complete: bool,
) -> tuple[Page, Pieces]:
    """A line whose kind is known, outside of code and tables."""
    bars = (_BAR,) * min(quoted.depth, 1 + columns // 16)
    again = page.blank and not quoted.depth
    page = msgspec.structs.replace(page, held="", blank=isinstance(line, Blank) and not quoted.depth)
    match line:
        case Blank():
            return page, () if again else (*bars[1:], *(_BAR_ALONE,) * bool(bars), _END)
        case Rule():
            return _outside(page), (
                *bars,
                Piece("─" * max(1, columns - 2 * len(bars)), "dim", answer=True),
                _END,
            )
        case Heading(level=level, text=words):
            flow, pieces = begin(bars, bars)
            spans, _ = read(words, _HEADINGS.get(level, _LOWER), complete=True)
            flow, more = pour(flow, spans, columns)
            _, end = last(flow, columns)
            return _outside(page), (*pieces, *more, *end, _END)
        case FenceOpens(mark=mark, indent=indent, language=language, line=fence_line):
            fence = Fence(mark, indent, language, quoted.depth)
            page = msgspec.structs.replace(page, fence=fence)
            shown = Piece(" " * indent + unturned(fence_line), "dim", answer=True)
            return page, (*bars, shown, _END)
        case Code(text=code):
            return page, (*bars, Piece(turns_shown(code), answer=True), _END)
        case Row(text=words):
            return _words(page, bars, Words(0, "", words), columns, complete)
        case Words():
            return _words(page, bars, line, columns, complete)


def _outside(page: Page) -> Page:
    return msgspec.structs.replace(page, in_list=False)


def _words(page: Page, bars: Pieces, line: Words, columns: int, complete: bool) -> tuple[Page, Pieces]:
    indent = min(line.indent, columns // 3)
    in_list = bool(line.marker) or (page.in_list and indent > 0)
    space = Piece(" " * indent, answer=True)
    marker = Piece(line.marker, answer=True)
    hang = Piece(" " * (indent + len(line.marker)), answer=True)
    flow, pieces = begin((*bars, space, marker), (*bars, hang))
    page = msgspec.structs.replace(page, flow=flow, before="", in_list=in_list)
    page, more = _flow(page, flow, line.text, columns, complete)
    return page, tuple(piece for piece in pieces if piece.text) + more


def _flow(page: Page, flow: Flow, text: str, columns: int, complete: bool) -> tuple[Page, Pieces]:
    """Words behind those that stand there already."""
    spans, rest = read(text, before=page.before, complete=complete)
    flow, pieces = pour(flow, spans, columns)
    if complete:
        _, end = last(flow, columns)
        return msgspec.structs.replace(page, flow=None, held="", before=""), (*pieces, *end, _END)
    done = text[: len(text) - len(rest)]
    before = done[-1] if done else page.before
    return msgspec.structs.replace(page, flow=flow, held=rest, before=before), pieces


def _code(page: Page, fence: Fence, text: str, columns: int) -> tuple[Page, Pieces]:
    """A line of a block of code; a quote that ends before its code ends it too."""
    bars = (_BAR,) * min(fence.depth, 1 + columns // 16)
    if fence.depth:
        quoted = unquoted(text, complete=True) or Quoted(0, text)
        if not quoted.depth:
            return _line(msgspec.structs.replace(page, fence=None), text, columns, complete=True)
        text = quoted.text
    page = msgspec.structs.replace(page, held="")
    if closes_fence(text, fence.mark):
        page = msgspec.structs.replace(page, fence=None, blank=False)
        return page, (*bars, Piece(" " * fence.indent + fence.mark, "dim", answer=True), _END)
    line = " " * fence.indent + without_indent(turns_shown(text), fence.indent)
    return page, (*bars, Piece(line if line.strip() else "", answer=True, language=fence.language), _END)


def _row(page: Page, row: Row, columns: int) -> tuple[Page, Pieces]:
    """A row behind those of the table; two that make none are words, the second perhaps above one."""
    if len(page.rows) == 1 and not aligns(row.text):
        page, pieces = _without_table(page, columns)
    else:
        pieces = ()
    return msgspec.structs.replace(page, held="", rows=(*page.rows, row.text)), pieces


def _without_table(page: Page, columns: int) -> tuple[Page, Pieces]:
    """The page with the table that has begun put down."""
    rows = page.rows
    if not rows:
        return page, ()
    page = msgspec.structs.replace(page, rows=(), blank=False, in_list=False)
    if len(rows) > 1:
        return page, table_pieces(rows, columns)
    flow, _ = begin((), ())
    spans, _ = read(rows[0], complete=True)
    flow, pieces = pour(flow, spans, columns)
    _, end = last(flow, columns)
    return page, (*pieces, *end, _END)
