"""Text of anybody to text of a page: nothing of it is markup, and what steers the eye unseen is shown."""

import html
import re

from minime.core.text import without_surrogates

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, which no page may hold
    "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the direction of what follows
    "\ud800-\udfff]"  # halves of characters, which no file can hold
)


def escaped(text: str) -> str:
    """The text between tags: all of it is read as text."""
    if "<" in text or "&" in text or ">" in text:
        text = html.escape(text, quote=False)
    return text if text.isprintable() else shown(text)


def quoted(text: str) -> str:
    """The text as the value of an attribute, with its quotes."""
    return f'"{html.escape(_UNSEEN.sub("", without_surrogates(text)))}"'


def shown(markup: str) -> str:
    """Markup with each character that would work unseen replaced by its number, in a box."""
    if markup.replace("\n", "").replace("\t", "").isprintable():  # nearly all is, and that is quickly known
        return markup
    return _UNSEEN.sub(_boxed, markup.replace("\r\n", "\n"))


def _boxed(found: re.Match[str]) -> str:
    return f'<span class="unseen">U+{ord(found[0]):04X}</span>'
