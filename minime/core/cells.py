"""How many columns of a terminal a text takes, and a text cut to so many."""

import re
import unicodedata
from functools import lru_cache

_WIDENS = "\N{VARIATION SELECTOR-16}"
_TURNS = re.compile(r"[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

_STEERS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def width(text: str) -> int:
    """Columns that `text`, one line of it, takes; rather one too many than one too few."""
    if text.isascii():
        return len(text)
    return sum(_columns(letter) for letter in text)


def cut(text: str, columns: int) -> str:
    """`text` on at most so many columns, with … where something is left out."""
    if width(text) <= columns:
        return text
    return head(text, columns - 1) + "…" if columns > 0 else ""


def head(text: str, columns: int) -> str:
    """The longest beginning of `text` that takes at most so many columns; marks stay with their letter."""
    if text.isascii():
        return text[: max(0, columns)]
    taken = 0
    for place, letter in enumerate(text):
        taken += _columns(letter)
        if taken > columns:
            return text[:place]
    return text


def unturned(text: str) -> str:
    """`text` without the characters that turn the direction of others."""
    return text if text.isascii() else _TURNS.sub("", text)


def turns_shown(text: str) -> str:
    """`text` with each character that turns the direction of others as its escape: for code and diffs."""
    return text if text.isascii() else _TURNS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def document_shown(text: str) -> str:
    """`text`, the whole of a document, as a terminal may show it: each character that would steer the
    terminal or turn the direction of others as its escape, in the way of JSON."""
    return _STEERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


@lru_cache(4096)
def _columns(letter: str) -> int:
    if letter == _WIDENS:
        return 1
    if unicodedata.category(letter) in {"Mn", "Me", "Cf"} or "\u1160" <= letter <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
