"""An edit as values: the text before and what is wanted -> the text after, and the hunk that shows it."""

import re

import msgspec

from minime.core.text import clean, clip
from minime.core.tools.filetext import newline_of, with_newline
from minime.core.values import Diff

DIFF_LIMIT = 20_000
"""Characters of a hunk's side that are kept."""

CONTEXT = 3
"""Unchanged lines that a hunk shows before and after what changed."""


class Edited(msgspec.Struct, frozen=True):
    """The text after an edit, and in how many places it was changed."""

    text: str
    places: int


class CannotEdit(msgspec.Struct, frozen=True):
    """Why an edit is not possible, for the model."""

    why: str


def replace_text(text: str, old: str, new: str, everywhere: bool) -> Edited | CannotEdit:
    """The text with `new` in place of `old`, which must occur once unless `everywhere`.

    A model writes plain newlines; where the file has CR and newline both texts are taken to mean that.
    """
    if not old:
        return CannotEdit("old_text is empty; to write a whole file use write_file")
    if old == new:
        return CannotEdit("old_text and new_text are the same; nothing to change")
    newline = newline_of(text)
    for kind in (newline,) if newline else ("", "\n", "\r\n"):
        wanted = with_newline(old, kind)
        if wanted not in text:
            continue
        places = text.count(wanted)
        if places == 1 and text.find(wanted, text.find(wanted) + 1) >= 0:
            places = 2
        if places > 1 and not everywhere:
            return CannotEdit(
                f"old_text was found {places} times; give more of the lines around it so that it "
                "occurs once, or set all to true"
            )
        return Edited(text.replace(wanted, with_newline(new, kind)), text.count(wanted))
    return CannotEdit("old_text was not found" + _near(text, old))


def hunk(path: str, before: str | None, after: str) -> Diff:
    """What an edit changes: the changed lines of both sides with a few around them, each side capped at
    20,000 characters. `before` is None for a new file."""
    new = _lines(after)
    if before is None:
        return Diff(path, None, _capped(new))
    old = _lines(before)
    shortest = min(len(old), len(new))
    start = next((i for i in range(shortest) if old[i] != new[i]), shortest)
    rest = shortest - start
    end = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    first = max(0, start - CONTEXT)
    return Diff(
        path,
        _capped(old[first : min(len(old), len(old) - end + CONTEXT)]),
        _capped(new[first : min(len(new), len(new) - end + CONTEXT)]),
    )


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", clean(text))


def _capped(lines: list[str]) -> str:
    """The lines up to the limit; how many are left out stands in the last one."""
    size = 0
    for count, line in enumerate(lines):
        size += len(line)
        if size > DIFF_LIMIT:
            kept = "".join(lines[:count]) or clip(line, DIFF_LIMIT // 2) + "\n"
            left_out = len(lines) - max(1, count)
            return f"{kept}… {left_out:,} more lines …\n" if left_out else kept
    return "".join(lines)


def _near(text: str, old: str) -> str:
    """A hint where the text that was meant may stand."""
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")
    lines = [line.strip() for line in text.split("\n")]
    if not wanted or wanted not in lines:
        return "; it must be exactly as in the file: read it again"
    place = lines.index(wanted) + 1
    return f"; its first line stands at line {place}, but white space or what follows differs: read it again"
