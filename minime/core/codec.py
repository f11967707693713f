"""A session to the bytes of its file and back.

The file is JSON, indented by two spaces and fully expanded. A file whose every key this version knows is
decoded in one strict pass; one with other keys takes the slower way, which keeps them with the value they
stand in (`Value.extra`), so that a load and a save lose nothing.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

import msgspec
from msgspec import inspect

from minime.core.session import VERSION
from minime.core.values import UNKNOWN, Session

LARGE = 20_000_000
"""Bytes from which a session's file is slow to save after each turn."""


class Unreadable(Exception):  # noqa: N818 - it is named for what it says
    """The bytes are no session of ours. Its text is the reason, in a few words."""


class Newer(Unreadable):
    """The bytes are a session that a newer mm wrote."""


class _Probe(msgspec.Struct):
    version: Any = None
    id: Any = None
    messages: Any = None


_STRICT = msgspec.json.Decoder(Session)
_PROBE = msgspec.json.Decoder(_Probe)
_UNKNOWN_BYTES = UNKNOWN.encode()
_HEX = rb"[0-9a-fA-F]{2}"
_PAIR = rb"u[dD][89abAB]" + _HEX + rb"\\u[dD][c-fC-F]" + _HEX
_ESCAPE = re.compile(rb"\\(?:" + _PAIR + rb"|(u[dD][89a-fA-F]" + _HEX + rb")|.)", re.DOTALL)


def grown_text(before: int, now: int) -> str:
    """The line for a file that has become large, from so many bytes to so many; empty for any other."""
    if now < LARGE or before >= LARGE:
        return ""
    return (
        f"the file of this session has grown to {now // 1_000_000} MB and gets slow to save: "
        "/compact makes it smaller, /new begins another"
    )


def encode(session: Session) -> bytes:
    """The file's bytes, with a newline at the end."""
    data = msgspec.json.encode(session)
    if _UNKNOWN_BYTES in data:
        data = msgspec.json.encode(_lay_out(msgspec.json.decode(data)))
    data = msgspec.json.format(data, indent=2)
    return data + b"\n"


def decode(data: bytes) -> Session:
    """The session in `data`, which may come from an older mm or hold keys of a newer one.

    Raises `Unreadable` when it is empty, cut, no JSON, no session, or written by a version above ours.
    """
    try:
        if _UNKNOWN_BYTES not in data:
            session = _STRICT.decode(data)
            if session.version == VERSION:
                return session
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        pass  # the slower way keeps what it can and says what it cannot
    return _decode_with_care(data)


def _decode_with_care(data: bytes) -> Session:
    if not data.lstrip(b" \t\r\n\0"):
        raise Unreadable("empty")
    if rb"\ud" in data or rb"\uD" in data:
        data = _ESCAPE.sub(_paired, data)
    try:
        probe = _PROBE.decode(data)
        raw = msgspec.json.decode(data)
    except msgspec.ValidationError:
        raise Unreadable("not a session file") from None
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        _explain(data, error)
    if probe.version is None or probe.messages is None or probe.id is None:
        raise Unreadable("not a session file")
    if not isinstance(probe.version, int) or isinstance(probe.version, bool):
        raise Unreadable("its version is not a number")
    if probe.version > VERSION:
        raise Newer(f"written by a newer mm (version {probe.version}; this one reads {VERSION})")
    if probe.version < VERSION:
        raise Unreadable(f"its version is {probe.version}; this mm reads {VERSION}")
    raw.setdefault("errors", [])
    try:
        return msgspec.convert(_gatherer()(raw), Session)
    except (msgspec.ValidationError, RecursionError) as error:
        raise Unreadable(_sentence(str(error))) from None


def _paired(escape: re.Match[bytes]) -> bytes:
    """Half a character, as other programs write it, is none: what stands for those that cannot be read."""
    return rb"\ufffd" if escape[1] else escape[0]


def _explain(data: bytes, error: Exception) -> NoReturn:
    if isinstance(error, RecursionError):
        raise Unreadable("nested too deeply") from None
    if "truncated" in str(error):
        raise Unreadable("truncated") from None
    if data.lstrip()[:1] != b"{":
        raise Unreadable("not a session file") from None
    raise Unreadable(f"not JSON ({_sentence(str(error))})") from None


def _sentence(text: str) -> str:
    """A message of the JSON library without its capital, and without what is said already."""
    text = text.removeprefix("JSON is malformed: ")
    return text[:1].lower() + text[1:]


@cache
def _gatherer() -> Callable[[Any], Any]:
    """For a session as plain JSON: the same, with the keys that this version does not know put away under
    `UNKNOWN`, at every level."""
    return _gatherer_of(inspect.type_info(Session))


def _gatherer_of(node: inspect.Type) -> Callable[[Any], Any]:
    match node:
        case inspect.StructType():
            known = {f.encode_name: _gatherer_of(f.type) for f in node.fields if f.name != "extra"}
            if node.tag_field is not None:
                known[node.tag_field] = _as_it_is
            return lambda raw: _sorted_out(raw, known) if isinstance(raw, dict) else raw
        case inspect.VarTupleType(item_type=item):
            each = _gatherer_of(item)
            return lambda raw: list(map(each, raw)) if isinstance(raw, list) else raw
        case inspect.UnionType(types=types):
            return _chooser([(member, _gatherer_of(member)) for member in types])
        case _:
            return _as_it_is


def _chooser(members: list[tuple[inspect.Type, Callable[[Any], Any]]]) -> Callable[[Any], Any]:
    """Gathers by the member of a union that a value is meant for."""
    structs = [(member, gather) for member, gather in members if isinstance(member, inspect.StructType)]
    key = next((member.tag_field for member, _ in structs), None)
    by_tag = {member.tag: gather for member, gather in structs}
    items = next(
        (gather for member, gather in members if isinstance(member, inspect.VarTupleType)), _as_it_is
    )

    def gather(raw: Any) -> Any:
        if isinstance(raw, dict):
            tag = raw.get(key) if key is not None else None
            return by_tag.get(tag, _as_it_is)(raw) if isinstance(tag, str | None) else raw
        return items(raw)

    return gather


def _sorted_out(raw: dict[str, Any], known: dict[str, Callable[[Any], Any]]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    for key, value in raw.items():
        gather = known.get(key)
        if gather is None:
            unknown[key] = value
        else:
            kept[key] = gather(value)
    if unknown:
        kept[UNKNOWN] = unknown
    return kept


def _as_it_is(raw: Any) -> Any:
    return raw


def _lay_out(raw: Any) -> Any:
    """The reverse of `_gather`: unknown keys back in their place, behind the known ones."""
    match raw:
        case dict():
            unknown = raw.pop(UNKNOWN, {})
            return {key: _lay_out(value) for key, value in raw.items()} | unknown
        case list():
            return [_lay_out(value) for value in raw]
        case _:
            return raw
