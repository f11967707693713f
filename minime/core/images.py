"""Images in a conversation: what bytes show of them, the names they are kept under, how they are told of.

An image is kept as a file of its own, in a folder beside its session, under a name made from its bytes; the
session names it. So the session stays small, and equal images are one file.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from minime.core.values import ImagePart, ImageUrl, Message, Session, TextPart, User

MOST_BYTES = 10_000_000
"""Bytes of one image that a question takes."""

MOST_SENT = 20_000_000
"""Bytes of all images in one request; the newest go first."""

HEAD = 64
"""Bytes from which it can be told whether something is an image."""

Mime = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]

ENDINGS: dict[Mime, str] = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
}
_MIMES: dict[str, Mime] = {ending: mime for mime, ending in ENDINGS.items()}
_KEPT = re.compile(r"(\d{8}-\d{6}-[0-9a-f]{8})\.files/([0-9a-f]{32}\.(?:png|jpg|gif|webp))")
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""The markers of a JPEG behind which its size stands."""

_LABEL = "Image: "
TOO_LARGE = f"which is larger than the {MOST_BYTES // 1_000_000} MB that a question takes"
NOT_SHOWN = "(this model is not shown the image itself)"


NO_IMAGES: Mapping[Any, Any] = MappingProxyType({})
"""Where there is none to look up."""


class Kept(msgspec.Struct, frozen=True):
    """An image that is kept: `url` is its path below `.mm/sessions/`, `told` what it is in a few words."""

    url: str
    told: str


def mime_of(head: bytes) -> Mime | None:
    """What kind of image begins like this, whatever its name says; None for what no model is sent."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def image_text(name: str, data: bytes) -> str:
    """An image in a few words: `photo.png (PNG, 640×480, 12 kB)`, as far as its bytes show."""
    mime = mime_of(data[:HEAD])
    extent = _extent(data, mime) if mime else None
    kind = ENDINGS[mime].upper().replace("JPG", "JPEG") if mime else ""
    size = f"{len(data) / 1_000_000:.1f} MB" if len(data) >= 1_000_000 else f"{max(1, len(data) // 1_000)} kB"
    known = (kind, f"{extent[0]}×{extent[1]}" if extent else "", size)
    return f"{name or 'an image'} ({', '.join(filter(None, known))})"


def image_name(data: bytes) -> str:
    """The name of the file that keeps this image; equal bytes have an equal name."""
    import hashlib

    mime = mime_of(data[:HEAD])
    assert mime is not None, "only an image is kept"
    return f"{hashlib.sha256(data).hexdigest()[:32]}.{ENDINGS[mime]}"


def image_url(session_id: str, name: str) -> str:
    """Where the session keeps the image of this name, as its file says it."""
    return f"{session_id}.files/{name}"


def image_place(url: str) -> tuple[str, str] | None:
    """`(session id, name)` of an image that mm has kept; None for any other address, which is never read."""
    found = _KEPT.fullmatch(url)
    return (found[1], found[2]) if found else None


def kept_mime(url: str) -> Mime:
    """What kind of image a kept file is, by the name that mm has given it."""
    return _MIMES[url.rpartition(".")[2]]


def image_urls(messages: Iterable[Message]) -> tuple[str, ...]:
    """The images that the messages name, each once, the oldest first."""
    return tuple(
        dict.fromkeys(
            part.image_url.url
            for message in messages
            if isinstance(message, User) and not isinstance(message.content, str)
            for part in message.content
            if isinstance(part, ImagePart)
        )
    )


def with_images(text: str, images: Iterable[Kept]) -> str | tuple[TextPart | ImagePart, ...]:
    """The content of a question: its words, and behind each image's description the image."""
    parts: list[TextPart | ImagePart] = [TextPart(text)] if text else []
    for image in images:
        parts += (TextPart(f"{_LABEL}{image.told}"), ImagePart(ImageUrl(image.url)))
    return tuple(parts) if parts and isinstance(parts[-1], ImagePart) else text


def images_of(user: User) -> tuple[Kept, ...]:
    """The images of a question, each with the words that describe it."""
    if isinstance(user.content, str):
        return ()
    found: list[Kept] = []
    before = ""
    for part in user.content:
        if isinstance(part, TextPart):
            before = part.text
        else:
            told = before.removeprefix(_LABEL) if before.startswith(_LABEL) else "an image"
            found.append(Kept(part.image_url.url, told))
    return tuple(found)


def words_of(user: User) -> str:
    """What the model reads of a question beside its images."""
    if isinstance(user.content, str):
        return user.content
    images = {f"{_LABEL}{image.told}" for image in images_of(user)}
    return "\n".join(p.text for p in user.content if isinstance(p, TextPart) and p.text not in images)


def own_images(session: Session) -> Session:
    """The session with each image named in the folder that is its own: after a fork it has another."""
    if all(url.startswith(f"{session.id}.") for url in all_urls(session) if image_place(url)):
        return session
    pending = session.pending
    if pending is not None:
        pending = msgspec.structs.replace(pending, messages=_owned(pending.messages, session.id))
    return msgspec.structs.replace(session, messages=_owned(session.messages, session.id), pending=pending)


def all_urls(session: Session) -> tuple[str, ...]:
    """The images of the session, those of an unfinished turn among them."""
    return image_urls((*session.messages, *(session.pending.messages if session.pending else ())))


def to_send(sizes: Mapping[str, int], urls: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the images that go with a request: the newest, as many as fit. `sizes` are the bytes of those
    that are there."""
    chosen: list[str] = []
    room = MOST_SENT
    for url in reversed(urls):
        if url in sizes and sizes[url] <= room:
            room -= sizes[url]
            chosen.append(url)
    return tuple(reversed(chosen))


def data_url(url: str, data: bytes) -> str:
    """The image as servers take it."""
    return f"data:{kept_mime(url)};base64,{in_base64(data)}"


def in_base64(data: bytes) -> str:
    """The bytes as text."""
    import base64

    return base64.b64encode(data).decode()


def _owned(messages: tuple[Message, ...], id: str) -> tuple[Message, ...]:
    return tuple(_own(message, id) if isinstance(message, User) else message for message in messages)


def _own(user: User, id: str) -> User:
    if isinstance(user.content, str):
        return user
    parts: list[TextPart | ImagePart] = []
    for part in user.content:
        if isinstance(part, ImagePart) and (place := image_place(part.image_url.url)):
            there = msgspec.structs.replace(part.image_url, url=image_url(id, place[1]))
            part = msgspec.structs.replace(part, image_url=there)
        parts.append(part)
    return msgspec.structs.replace(user, content=tuple(parts))


def _extent(data: bytes, mime: Mime) -> tuple[int, int] | None:
    """Width and height in pixels, where the bytes show them."""
    match mime:
        case "image/png" if data[12:16] == b"IHDR" and len(data) >= 24:
            return _number(data[16:20]), _number(data[20:24])
        case "image/gif" if len(data) >= 10:
            return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
        case "image/webp" if len(data) >= 30:
            return _webp_extent(data)
        case "image/jpeg":
            return _jpeg_extent(data)
        case _:
            return None


def _webp_extent(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            wide, high = (int.from_bytes(data[at : at + 2], "little") & 0x3FFF for at in (26, 28))
            return wide, high
        case _:
            return None


def _jpeg_extent(data: bytes) -> tuple[int, int] | None:
    """Walks the segments to the one that begins a frame."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _FRAMES:
            return _number(data[at + 7 : at + 9]), _number(data[at + 5 : at + 7])
        if marker == 0xFF:
            at += 1
        else:
            at += 2 + max(2, _number(data[at + 2 : at + 4]))
    return None


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")
