"""Emphasis, code and links inside a line: text so far in, spans and the rest that is not certain yet out.

What is certain never changes by what comes later, so the spans of a line are the same however it came: a
mark waits for its counterpart, to the end of the line or for `REACH` characters, and is a plain character
without one. That is less than CommonMark knows and what models write.
"""

import re
from typing import NamedTuple

from minime.core.pieces import Style, also

REACH = 300
"""Characters within which a mark has to be closed."""

CODE: Style = "cyan"
LINK: Style = "underline"
ADDRESS: Style = "dim"

_MARK = re.compile(r"[\\`*_~\[!<]")
_RUN = re.compile(r"(.)\1*", re.DOTALL)
_ESCAPED = frozenset("\\`*_~#<>|.-+!$")
_ADDRESS = re.compile(r"<([a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@/]+@[^\s<>@]+)>")
_ADDRESS_BEGUN = re.compile(r"<[^\s<>]*\Z")
_NAME = re.compile(r"\w+")
_EMPHASIS = {1: "italic", 2: "bold", 3: "bold italic"}


class Span(NamedTuple):
    """Characters in one style."""

    text: str
    style: Style = ""


class Taken(NamedTuple):
    """What stands at a mark: the spans up to `end`; none when the mark is plain characters."""

    end: int
    spans: tuple[Span, ...] | None = None


def read(text: str, style: Style = "", *, before: str = "", complete: bool) -> tuple[list[Span], str]:
    """The spans of `text`, and its rest that needs more to be understood, empty when the line is `complete`.
    `before` is the character in front of the text."""
    spans: list[Span] = []
    start = place = 0
    while mark := _MARK.search(text, place):
        at = mark.start()
        taken = _take(text, at, style, text[at - 1] if at else before, complete)
        if taken is None:
            _add(spans, text[start:at], style)
            return spans, text[at:]
        place = taken.end
        if taken.spans is not None:
            _add(spans, text[start:at], style)
            spans += taken.spans
            start = place
    _add(spans, text[start:], style)
    return spans, ""


def _add(spans: list[Span], text: str, style: Style) -> None:
    if text:
        spans.append(Span(text, style))


def _take(text: str, at: int, style: Style, before: str, complete: bool) -> Taken | None:
    """What stands at the mark `text[at]`; None while that is not certain."""
    done = complete or len(text) - at >= REACH
    within = text[at : at + REACH]
    match within[0]:
        case "\\":
            found = _escape(within, style, done)
        case "`":
            found = _code(within, style, done)
        case "[":
            found = _link(within, 0, style, done)
        case "!":
            found = _image(within, style, done)
        case "<":
            found = _autolink(within, style, done)
        case _:
            found = _emphasis(within, style, before, done)
    return None if found is None else Taken(at + found.end, found.spans)


def _escape(text: str, style: Style, done: bool) -> Taken | None:
    if len(text) == 1:
        return Taken(1) if done else None
    return Taken(2, (Span(text[1], style),)) if text[1] in _ESCAPED else Taken(1)


def _run(text: str, at: int) -> int:
    """How often the character at `at` stands there in a row."""
    found = _RUN.match(text, at)
    return found.end() - at if found else 0


def _code(text: str, style: Style, done: bool) -> Taken | None:
    ticks = _run(text, 0)
    if ticks == len(text) and not done:
        return None
    end = _code_end(text, 0, done)
    if end is None:
        return None
    if end < 0:
        return Taken(ticks)
    code = text[ticks : end - ticks]
    if len(code) > 2 and code[0] == code[-1] == " " and code.strip():
        code = code[1:-1]
    return Taken(end, (Span(code, also(style, CODE)),))


def _code_end(text: str, at: int, done: bool) -> int | None:
    """Where the code span that begins at `at` ends; −1 when it does not, None while that is not certain."""
    ticks = _run(text, at)
    place = at + ticks
    while (place := text.find("`", place)) >= 0:
        run = _run(text, place)
        if place + run == len(text) and not done:
            return None
        if run == ticks:
            return place + run
        place += run
    return -1 if done else None


def _emphasis(text: str, style: Style, before: str, done: bool) -> Taken | None:
    mark, run = text[0], _run(text, 0)
    if run == len(text):
        return Taken(run) if done else None
    after = text[run]
    inside_word = before.isalnum() and (mark == "_" or (run == 1 and before.isascii() and after.isalnum()))
    fits = run == 2 if mark == "~" else run <= 3
    if not fits or after.isspace() or inside_word:
        return Taken(run)
    end = _emphasis_end(text, run, done)
    if end is None:
        return None
    inner = text[run : end - run]
    if end < 0 or not inner or (mark == "_" and run == 2 and _NAME.fullmatch(inner)):  # __init__ is a name
        return Taken(run)
    more = "strike" if mark == "~" else _EMPHASIS[run]
    spans, _ = read(inner, also(style, more), before=mark, complete=True)
    return Taken(end, tuple(spans))


def _emphasis_end(text: str, run: int, done: bool) -> int | None:
    """Where the emphasis that `text` begins with ends; −1 when it does not, None while it is not certain."""
    mark = text[0]
    nested = False
    place = run
    while place < len(text):
        letter = text[place]
        if letter == "\\":
            place += 2
        elif letter == "`":
            end = _code_end(text, place, done)
            if end is None:
                return None
            place = end if end > 0 else place + _run(text, place)
        elif letter == mark:
            here = _run(text, place)
            last = place + here == len(text)
            if last and not done:
                return None
            closes = not text[place - 1].isspace() and (
                mark != "_" or last or not text[place + here].isalnum()
            )
            if here == run and closes:
                return place + run
            if here == 3 and run < 3 and nested and closes:
                return place + 3
            if here + run == 3:
                nested = not nested
            place += here
        else:
            place += 1
    return -1 if done else None


def _link(text: str, at: int, style: Style, done: bool) -> Taken | None:
    """A link whose bracket stands at `at`: its words, and its address where that says something else."""
    close = _bracket_end(text, at, "[", "]")
    if close < 0 or close + 1 == len(text):
        return Taken(at + 1) if done else None
    if text[close + 1] != "(":
        return Taken(at + 1)
    end = _bracket_end(text, close + 1, "(", ")")
    if end < 0:
        return Taken(at + 1) if done else None
    words = text[at + 1 : close]
    address = text[close + 2 : end].strip().partition(' "')[0].strip("<> ")
    spans, _ = read(words, also(style, LINK), complete=True)
    if address and address != words:
        spans.append(Span(f" ({address})" if words else address, also(style, ADDRESS)))
    return Taken(end + 1, tuple(spans))


def _bracket_end(text: str, at: int, opening: str, closing: str) -> int:
    """Where the bracket at `at` is closed; −1 when it is not."""
    depth = 0
    for place in range(at, len(text)):
        if text[place] == opening:
            depth += 1
        elif text[place] == closing:
            depth -= 1
            if depth == 0:
                return place
    return -1


def _image(text: str, style: Style, done: bool) -> Taken | None:
    if len(text) == 1:
        return Taken(1) if done else None
    return _link(text, 1, style, done) if text[1] == "[" else Taken(1)


def _autolink(text: str, style: Style, done: bool) -> Taken | None:
    found = _ADDRESS.match(text)
    if found:
        return Taken(found.end(), (Span(found[1], also(style, LINK)),))
    return None if _ADDRESS_BEGUN.match(text) and not done else Taken(1)
