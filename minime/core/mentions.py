"""The files that a typed question names with an `@`, and the question with what stood in them."""

import re

import msgspec

from minime.core.images import Kept, with_images
from minime.core.text import fenced
from minime.core.tools.toolbox import ReadFile
from minime.core.turn import Turn, start

MOST = 20
"""Files that one question can name; more is a pasted text, not a wish."""

_CODE = re.compile(r"(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)|(?P<tick>`{1,2})[^\n]*?(?P=tick)", re.DOTALL)
_DECORATOR = re.compile(
    r"^[ \t]*@[\w.]+(?:\([^\n]*)?[ \t]*\n(?=[ \t]*(?:@|(?:async[ \t]+)?def\b|class\b))", re.MULTILINE
)
_MENTION = re.compile(
    r"""(?<![^\s(\[{<"',;:])@(?:"(?P<quoted>[^"\n]+)"(?P<lines>[#:]L?\d[\dL:-]*)?"""
    r"""|(?P<bare>[^\s"'`@(){}<>|*?\\]++)(?![(@]))"""
)
_LINES = re.compile(r"(?P<path>.*?)[#:]L?(?P<first>\d{1,9})(?:[-:]L?(?P<last>\d{1,9}))?")
_CUT = re.compile(r"\n… (lines [\d,]+-[\d,]+ of [^;…]+?)(?:; [^…]*)? …\Z")
_CLOSING = ".,;:!?]"
_SURE = re.compile(r"(?:/|~/|\.\.?(?:/|\Z))")
_ENDS_AS_FILES_DO = re.compile(
    r"\.(?:bash|c|cc|cfg|conf|cpp|css?|csv|diff|env|gif|go|h|hpp|html?|ini|ipynb|java|jpe?g|jsx?|json|jsonl|kt|lock"
    r"|log|lua|md|mjs|patch|pdf|php|png|proto|pyi?|rb|rs|rst|scala|scss|sh|sql|svg|swift|tex|tf|toml|tsx?|tsv"
    r"|txt|vue|webp|xml|ya?ml|yml|zig)\Z",
    re.IGNORECASE,
)


class Mention(msgspec.Struct, frozen=True):
    """A path as it was named, and the lines of it (0: all). `sure` says that it can be nothing but a path;
    else it is one when there is something at it."""

    path: str
    first: int = 0
    last: int = 0
    sure: bool = False


class Given(msgspec.Struct, frozen=True):
    """What stood at a path that a question names."""

    path: str
    text: str


def mentions(question: str) -> tuple[tuple[Mention, ...], ...]:
    """The paths that a question names, each once: the readings of each, the likeliest first (`@main.py.` ends
    a sentence more often than it is a name). What stands in code or before a function is no path, and
    neither is an e-mail address."""
    bare = _CODE.sub(" ", question)
    bare = _DECORATOR.sub("\n", bare)
    each = (_readings(match) for match in _MENTION.finditer(bare))
    found = {readings[0]: readings for readings in each if readings}
    return tuple(found.values())[:MOST]


def _readings(match: re.Match[str]) -> tuple[Mention, ...]:
    if match["quoted"]:
        return (_mention(match["quoted"] + (match["lines"] or ""), sure=True),)
    word = match["bare"]
    short = word.rstrip(_CLOSING)
    return tuple(_mention(text, sure=False) for text in dict.fromkeys((short, word)) if text)


def _mention(text: str, sure: bool) -> Mention:
    lines = _LINES.fullmatch(text)
    path = lines["path"] if lines and lines["path"] else text
    first = max(1, int(lines["first"])) if lines and lines["path"] else 0
    last = max(first, int(lines["last"] or first)) if lines and lines["path"] else 0
    return Mention(path, first, last, sure or _is_sure(path))


def _is_sure(path: str) -> bool:
    """Whether the word is a path by its looks: it begins as one does, or ends as the name of a file does."""
    return bool(_SURE.match(path) or _ENDS_AS_FILES_DO.search(path))


def to_read(mention: Mention) -> ReadFile:
    """The reading of the file that is named."""
    if not mention.first:
        return ReadFile(mention.path)
    return ReadFile(mention.path, mention.first, mention.last - mention.first + 1)


def asked(typed: str, given: tuple[Given, ...], behind: str = "", images: tuple[Kept, ...] = ()) -> Turn:
    """A turn with the question that was typed and, behind it, what stood in the files and came by a pipe, and
    the images."""
    blocks = [fenced(one.path, one.text) for one in given]
    text = "\n\n".join(filter(None, (typed, *blocks, behind.strip("\n"))))
    return start(with_images(text, images), typed=typed)


def given_text(path: str, text: str, *, is_folder: bool = False) -> str:
    """What was put into the question, in a line for the person."""
    if is_folder:
        return f"@{path} · a list of {text.count(chr(10)) + 1:,} names"
    if cut := _CUT.search(text):
        return f"@{path} · {cut[1]} only"
    lines = text.count("\n") + (not text.endswith("\n"))
    return f"@{path} · {lines:,} {'line' if lines == 1 else 'lines'}"
