"""A table of Markdown as it stands on a terminal: in columns, or row by row where there is no room."""

from collections.abc import Sequence

from minime.core.cells import width
from minime.core.markdown.inline import Span, read
from minime.core.markdown.lines import Align, aligns
from minime.core.markdown.wrapping import wrapped
from minime.core.pieces import Piece, Pieces, also

NARROWEST = 6
"""Columns of a terminal below which a column of a table is no use."""

Cell = tuple[tuple[Span, ...], ...]
"""The lines of a cell."""


def table_pieces(rows: Sequence[str], columns: int) -> Pieces:
    """The table whose lines are `rows`, the second of which says how the columns stand."""
    head, *body = (_cells(row) for row in (rows[0], *rows[2:]))
    count = max(map(len, (head, *body)))
    head, *body = ([*row, *[((),)] * (count - len(row))] for row in (head, *body))
    stands: list[Align] = list(aligns(rows[1])[:count])
    stands += ["left"] * (count - len(stands))
    wanted = [max(_cell_width(row[place]) for row in (head, *body)) for place in range(count)]
    room = columns - 3 * (count - 1)
    if sum(wanted) > room and room < NARROWEST * count:
        return _records(head, body, columns)
    widths = _shared(wanted, room)
    rule = Piece("─┼─".join("─" * has for has in widths) + "\n", "dim", answer=True)
    gap = Piece(" │ ".join(" " * has for has in widths).rstrip() + "\n", "dim", answer=True)
    pieces = [*_row(head, widths, stands, "bold"), rule]
    for place, row in enumerate(body):
        if place and (_is_folded(body[place - 1], widths) or _is_folded(row, widths)):
            pieces.append(gap)  # else nobody could tell where a row ends
        pieces += _row(row, widths, stands, "")
    return tuple(pieces)


def _cells(row: str) -> list[Cell]:
    """The cells of a row; a bar in code or behind a backslash parts nothing."""
    cells, cell, code, place = [], "", False, 0
    text = row.strip().removeprefix("|")
    while place < len(text):
        letter = text[place]
        if letter == "\\" and text[place + 1 : place + 2] == "|":
            letter, place = "|", place + 1
        elif letter == "|" and not code:
            cells.append(cell)
            cell, letter = "", ""
        elif letter == "`":
            code = not code
        cell += letter
        place += 1
    if cell.strip():
        cells.append(cell)
    return [_cell(text) for text in cells] or [_cell("")]


def _cell(text: str) -> Cell:
    for broken in ("<br/>", "<br />"):
        text = text.replace(broken, "<br>")
    return tuple(tuple(read(line.strip(), complete=True)[0]) for line in text.split("<br>"))


def _cell_width(cell: Cell) -> int:
    return max(sum(width(span.text) for span in line) for line in cell)


def _is_folded(row: list[Cell], widths: list[int]) -> bool:
    """Whether the row takes more than one line."""
    return any(len(cell) > 1 or _cell_width(cell) > has for cell, has in zip(row, widths, strict=True))


def _shared(wanted: list[int], room: int) -> list[int]:
    """The width of each column: what it wants, or an even share of what the small ones leave."""
    if sum(wanted) <= room:
        return wanted
    widest = max(wanted)
    while sum(min(want, widest) for want in wanted) > room:
        widest -= 1
    widths = [min(want, widest) for want in wanted]
    for place, want in enumerate(wanted):
        if want > widths[place] and sum(widths) < room:
            widths[place] += 1
    return widths


def _row(cells: list[Cell], widths: list[int], stands: list[Align], style: str) -> list[Piece]:
    columns = [
        [line for part in cell for line in wrapped((Span(s.text, also(s.style, style)) for s in part), has)]
        for cell, has in zip(cells, widths, strict=True)
    ]
    pieces: list[Piece] = []
    for place in range(max(map(len, columns))):
        for number, (lines, has) in enumerate(zip(columns, widths, strict=True)):
            if number:
                pieces.append(Piece(" │ ", "dim", answer=True))
            line = lines[place] if place < len(lines) else ()
            pieces += _aligned(line, has, stands[number], is_last=number == len(widths) - 1)
        pieces.append(Piece("\n", answer=True))
    return pieces


def _aligned(line: Pieces, has: int, stands: Align, *, is_last: bool) -> Pieces:
    left = max(0, has - sum(width(piece.text) for piece in line))
    before = left if stands == "right" else left // 2 if stands == "center" else 0
    after = 0 if is_last else left - before
    return tuple(
        piece
        for piece in (Piece(" " * before, answer=True), *line, Piece(" " * after, answer=True))
        if piece.text
    )


def _records(head: list[Cell], body: list[list[Cell]], columns: int) -> Pieces:
    """Each row as lines of its own: the name of the column, and what stands in it."""
    pieces: list[Piece] = []
    for place, row in enumerate(body or [head]):
        if place:
            pieces.append(Piece("─" * min(columns, 20) + "\n", "dim", answer=True))
        for name, cell in zip(head, row, strict=True):
            title = [Span(s.text, also(s.style, "bold")) for line in name for s in line]
            words = [span for line in cell for span in (Span(" "), *line)]
            for line in wrapped((*title, Span(":"), *words), columns):
                pieces += (*line, Piece("\n", answer=True))
    return tuple(pieces)
