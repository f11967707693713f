"""Text to pieces that fit into lines: a line out stays under 1 MB, whatever is told in it."""

import json
from collections.abc import Sequence

from minime.core.text import clip

MOST_OF_LETTER = 12
"""Bytes of a line that one character takes at most: two escapes of six."""

MOST_PIECE = 60_000
"""Characters in one piece of a message."""

MOST_IMAGE = 700_000
"""Bytes of an image that is shown; in Base64 it still fits a line."""

MOST_SHOWN = 200_000
"""Bytes of a line that one text of a tool call may take."""


def pieces(text: str) -> Sequence[str]:
    """The text in pieces that fit a line; nothing for an empty one."""
    if 0 < len(text) <= MOST_PIECE:
        return (text,)
    return [text[at : at + MOST_PIECE] for at in range(0, len(text), MOST_PIECE)]


def cut(text: str, most: int = MOST_SHOWN) -> str:
    """The text where it takes at most so many bytes of a line, else head and tail of it."""
    if len(text) * MOST_OF_LETTER + 2 <= most:
        return text
    size, room = _size(text), len(text)
    short = text
    while size > most:
        room = min(room * most // size, room * 3 // 4)
        short = clip(text, room)
        size = _size(short)
    return short


def _size(text: str) -> int:
    return len(json.dumps(text))
