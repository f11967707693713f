"""The blocks of a prompt to a question: what the model reads, and what the person typed."""

import re
from collections.abc import Mapping
from posixpath import basename
from urllib.parse import SplitResult, unquote, urlsplit

from minime.core.acp.state import Block
from minime.core.images import HEAD, MOST_BYTES, NO_IMAGES, TOO_LARGE, Kept, mime_of, with_images
from minime.core.text import base64_size, fenced
from minime.core.tools.toolbox import ReadFile
from minime.core.turn import Turn, start

_LINES = re.compile(r"L?(\d{1,9})(?:[-:,]L?(\d{1,9}))?")


def linked_file(block: Block) -> ReadFile | None:
    """The file that a link names, with its lines (`#L10-20`); None for a block that is no link to a file. An
    image that was not sent along is one."""
    if block.type != "resource_link" and (block.type != "image" or block.data):
        return None
    parts = _address(block)
    if parts.scheme not in {"file", ""} or not parts.path:
        return None
    lines = _LINES.fullmatch(parts.fragment)
    if lines is None:
        return ReadFile(unquote(parts.path))
    first = max(1, int(lines[1]))
    last = max(first, int(lines[2] or lines[1]))
    return ReadFile(unquote(parts.path), first, last - first + 1)


def image_data(block: Block) -> bytes | str:
    """The image that a block brings along; or why it is none, in words behind its description; empty for a
    block that is not meant to be one."""
    if block.type != "image" and not (block.type == "resource" and block.mime.startswith("image/")):
        return b""
    import base64

    if not block.data:
        return "which was not sent along"
    if len(block.data) > MOST_BYTES * 4 // 3 + 4:
        return TOO_LARGE
    try:
        data = base64.b64decode(block.data.rpartition(",")[2], validate=True)
    except ValueError:
        return "whose data is damaged"
    return data if mime_of(data[:HEAD]) else "which is no PNG, JPEG, GIF or WebP"


def image_name_of(block: Block) -> str:
    """What the image of a block is called; empty where that is not known."""
    return block.name or basename(unquote(_address(block).path))


def question(
    blocks: tuple[Block, ...], read: dict[int, str], images: Mapping[int, Kept | str] = NO_IMAGES
) -> Turn:
    """A turn with the question that the blocks make: the words with what they mention by name, and behind
    them what was given. `read` holds what stood at the links that led to a file, by their place, `images`
    the images that are kept, or why one is not."""
    typed = ""
    shown = [b for b in blocks if b.type != "image"] or blocks
    for before, block in zip((None, *shown), shown, strict=False):
        typed += _gap(before, block) + _typed(block)
    typed = typed.strip("\n")
    given = [
        text
        for place, block in enumerate(blocks)
        if (text := _given(block, read.get(place), images.get(place)))
    ]
    kept = tuple(image for image in images.values() if isinstance(image, Kept))
    return start(with_images("\n\n".join(filter(None, (typed, *given))), kept), typed=typed)


def _gap(before: Block | None, block: Block) -> str:
    """What stands between two blocks: a line end between words and words, a space around a mention; nothing
    where there is white space."""
    left, right = _typed(before)[-1:] if before else "", _typed(block)[:1]
    if not left or not right or left.isspace() or right.isspace():
        return ""
    return "\n" if before is not None and before.type == block.type == "text" else " "


def _typed(block: Block) -> str:
    match block.type:
        case "text":
            return block.text
        case "resource_link" | "resource":
            return f"@{block.name or basename(unquote(_address(block).path)) or block.uri}"
        case _:
            return f"[{block.type}]"


def _given(block: Block, text: str | None, image: Kept | str | None) -> str:
    if isinstance(image, Kept):
        return ""  # it stands behind the words
    match block.type:
        case "text":
            return ""
        case "image" | "resource" if image:
            return f"The user gave {_thing(block)}, {image}."
        case "resource" if block.text:
            return fenced(block.uri, block.text)
        case "resource_link" if text is not None:
            return fenced(block.uri, text)
        case "resource_link":
            return f"The user points to {block.uri}{f' ({block.name})' if block.name else ''}."
        case "resource":
            return f"The user gave {block.uri} ({block.mime or 'binary'}), which is no text."
        case _:
            return f"The user gave {_thing(block)}, which this model is not shown."


def _thing(block: Block) -> str:
    """A picture or a sound by name, type and size, as far as they are known."""
    kind = {"image": "an image", "resource": "an image", "audio": "a sound"}.get(block.type, "something")
    known = (image_name_of(block), block.mime or block.type, base64_size(block.data) if block.data else "")
    return f"{kind} ({', '.join(filter(None, known))})"


def _address(block: Block) -> SplitResult:
    """The parts of the block's address; all empty where it is none."""
    try:
        return urlsplit(block.uri)
    except ValueError:
        return urlsplit("")
