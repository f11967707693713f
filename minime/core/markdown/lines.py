"""What kind of line of Markdown it is, told from its beginning as soon as that is certain."""

import re
from typing import Literal

import msgspec

DEEPEST = 20
"""Columns of indentation that are kept."""

_QUOTE = re.compile(r"(?: {0,3}> ?)+")
_HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#*)?[ \t]*\Z")
_HEADING_BEGUN = re.compile(r"#{1,6}(?:[ \t]|\Z)")
_FENCE = re.compile(r"(`{3,}|~{3,})([^`]*)\Z")
_ITEM = re.compile(r"([-*+]|[0-9]{1,9}[.)])[ \t]+(?=[^ \t])")
_ITEM_BEGUN = re.compile(r"(?:[-*+]|[0-9]{1,9}(?:[.)]|\Z))[ \t]*\Z")
_RULE = re.compile(r"(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|={3,}[ \t]*)\Z")
_RULE_BEGUN = re.compile(r"(?:[-\t ]+|[*\t ]+|[_\t ]+|=+)\Z")


class Blank(msgspec.Struct, frozen=True):
    """Nothing."""


class Rule(msgspec.Struct, frozen=True):
    """A line across the page."""


class Heading(msgspec.Struct, frozen=True):
    """A heading, 1 the highest."""

    level: int
    text: str


class FenceOpens(msgspec.Struct, frozen=True):
    """The line above a block of code; the block ends at a line of `mark` again."""

    mark: str
    indent: int
    language: str
    line: str


class Row(msgspec.Struct, frozen=True):
    """A row of a table, if more of them follow."""

    text: str


class Code(msgspec.Struct, frozen=True):
    """A line of code that stands there indented."""

    text: str


class Words(msgspec.Struct, frozen=True):
    """A line of words: `marker` is what a list has in front of them."""

    indent: int
    marker: str
    text: str


Line = Blank | Rule | Heading | FenceOpens | Row | Code | Words


class Quoted(msgspec.Struct, frozen=True):
    """How many quotes a line stands in, and what is in them."""

    depth: int
    text: str


def unquoted(text: str, *, complete: bool) -> Quoted | None:
    """The line without the marks of quotes; None while it may have more of them."""
    found = _QUOTE.match(text)
    depth = found[0].count(">") if found else 0
    rest = text[found.end() :] if found else text
    if not complete and not rest.strip(" ") and len(rest) < 4:
        return None
    return Quoted(depth, rest)


def line_of(text: str, in_list: bool, *, complete: bool) -> Line | None:
    """The line that begins with `text`; None while that is not certain."""
    body = text.lstrip(" \t")
    indent = len(text[: len(text) - len(body)].expandtabs(4))
    if not body.strip():
        return Blank() if complete else None
    if indent >= 4 and not in_list:
        return Code(text) if complete else None
    match body[0]:
        case "#" if _HEADING_BEGUN.match(body):
            return _heading(body) if complete else None
        case "`" | "~":
            return _fence_or_words(body, indent, complete)
        case "|":
            return Row(body) if complete else None
        case "-" | "*" | "_" | "=" if _RULE_BEGUN.match(body):
            if not complete:
                return None
            if _RULE.match(body):
                return Rule()
        case _:
            pass
    return _words(body, indent, complete)


def _heading(body: str) -> Heading:
    found = _HEADING.match(body)
    return Heading(len(found[1]), found[2] or "") if found else Heading(1, body)


def _fence_or_words(body: str, indent: int, complete: bool) -> Line | None:
    mark = body[0]
    run = len(body) - len(body.lstrip(mark))
    if run < 3 and (run < len(body) or complete):
        return _words(body, indent, complete)
    if mark == "`" and "`" in body[run:]:
        return _words(body, indent, complete)
    if not complete:
        return None
    found = _FENCE.match(body)
    words = found[2].split() if found else []
    language = words[0].strip("{}.") if words else ""
    return FenceOpens(body[:run], indent, language, body.rstrip())


def _words(body: str, indent: int, complete: bool) -> Words | None:
    indent = min(indent, DEEPEST)
    found = _ITEM.match(body)
    if found:
        marker = found[1] if found[1][0].isdigit() else "•"
        return Words(indent, f"{marker} ", body[found.end() :])
    if _ITEM_BEGUN.match(body):
        if not complete:
            return None
        if not body.strip()[0].isdigit() or not body.strip().isdigit():
            return Words(indent, body.strip().replace("-", "•").replace("*", "•") + " ", "")
    return Words(indent, "", body)


def closes_fence(text: str, mark: str) -> bool:
    """Whether a line ends the block of code that `mark` began."""
    bare = text.strip()
    return len(bare) >= len(mark) and bare == mark[0] * len(bare)


def without_indent(text: str, indent: int) -> str:
    """A line of code without what its block stands in from the left."""
    spaces = len(text) - len(text.lstrip(" "))
    return text[min(indent, spaces) :]


Align = Literal["left", "right", "center"]


def aligns(row: str) -> tuple[Align, ...]:
    """How the columns stand, from the second row of a table; none when it is not that."""
    cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
    if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
        return ()
    return tuple(
        "center" if cell[0] == cell[-1] == ":" and len(cell) > 1 else "right" if cell[-1] == ":" else "left"
        for cell in cells
    )
