"""`read`: a value as YAML gave it becomes one that is used, or a complaint in words about its place."""

import math
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from minime.core.config.expansion import Expanded, Malformed, Unset, expand
from minime.core.config.shapes import (
    Choice,
    Duration,
    Each,
    Flag,
    Form,
    Key,
    Named,
    Number,
    Path,
    Shape,
    Table,
    Text,
    Whole,
    expected,
    mismatch,
    number_in,
    shown,
    unknown_key,
)


class Complaint(msgspec.Struct, frozen=True):
    """What is wrong with the value at a path."""

    path: Path
    text: str


class Reading(msgspec.Struct):
    """What `read` collects on its way: complaints, and the variables that were filled in where."""

    environ: Mapping[str, str]
    expands: bool = True
    complaints: list[Complaint] = msgspec.field(default_factory=list)
    variables: dict[Path, dict[str, str]] = msgspec.field(default_factory=dict)

    def complain(self, path: Path, text: str) -> None:
        """Adds a complaint about the value at `path`."""
        self.complaints.append(Complaint(path, text))


LONGEST_DURATION = 86_400.0
_DURATION = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*(ms|s|m)?")
_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, None: 1.0}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_CONTROL_IN_LINES = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]"
)


def parse_duration(value: object) -> float | None:
    """Seconds: of `500ms`, `30s`, `2m`, or a number of seconds; None for anything else."""
    match value:
        case bool():
            return None
        case int() | float():
            seconds = float(value) if abs(value) <= LONGEST_DURATION else math.inf
        case str():
            found = _DURATION.fullmatch(value.strip())
            seconds = float(found[1]) * _UNIT[found[2]] if found else math.nan
        case _:
            return None
    return seconds if 0 <= seconds <= LONGEST_DURATION else None


def read(shape: Shape, value: Any, path: Path, into: Reading) -> Any:
    """The value as it is used; None, with a complaint, when it does not fit, or when nothing is said."""
    if isinstance(value, str) and into.expands and "${" in value:
        text = _filled_in(value, path, into)
        return None if text is None else _read_leaf(shape, text, path, into, filled=True)
    match shape, value:
        case _, None:
            return None
        case Each(shape=inner), list() | tuple():
            return tuple(read_each(inner, value, path, into))
        case Each(shape=inner, single=True), _:
            return tuple(read_each(inner, [value], path, into))
        case Named(), dict():
            return _read_named(shape, value, path, into)
        case Table(), dict():
            return _read_table(shape, value, path, into)
        case _:
            return _read_leaf(shape, value, path, into, filled=False)


def read_each(shape: Shape, values: Any, path: Path, into: Reading) -> list[Any]:
    """The values of a list that fit; each of the others is complained of."""
    found = []
    for place, value in enumerate(values):
        if value is None:
            into.complain((*path, place), f"expected {expected(shape)}, found nothing")
        one = read(shape, value, (*path, place), into)
        if one is not None:
            found.append(one)
    return found


def read_keys(keys: tuple[Key, ...], values: dict[Any, Any], path: Path, into: Reading) -> dict[str, Any]:
    """What is said in a mapping with known keys, by field name; unknown keys are complained of."""
    known = {key.name: key for key in keys}
    said: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            into.complain((*path, str(name)), unknown_key(str(name), tuple(known)))
            continue
        one = read(known[name].shape, value, (*path, name), into)
        if one is not None:
            said[known[name].field] = one
    return said


def _read_leaf(shape: Shape, value: Any, path: Path, into: Reading, *, filled: bool) -> Any:
    """A value that holds no others. `filled`: it came out of a variable, so it is text whatever it means,
    and it is not shown."""
    found: Any = None
    match shape, value:
        case Each(shape=inner, single=True), str():
            one = _read_leaf(inner, value, (*path, 0), into, filled=filled)
            return None if one is None else (one,)
        case Text(form, empty), str():
            if value == "" and not empty:
                return None
            trouble = _text_trouble(form, value)
            if trouble:
                into.complain(path, trouble)
                return None
            return value.rstrip("/") if form == "url" else value
        case Flag(), bool():
            return value
        case Flag(), str() if filled:
            found = {"true": True, "false": False}.get(value.lower())
        case Whole(low, high), int() | float() if not isinstance(value, bool):
            found = int(value) if low <= value <= high and value == int(value) else None
        case Number(low, high), int() | float() if not isinstance(value, bool):
            found = float(value) if low <= value <= high else None
        case Whole() | Number(), str() if filled and number_in(value) is not None:
            return _read_leaf(shape, number_in(value), path, into, filled=False)
        case Duration(zero), _:
            seconds = parse_duration(value)
            found = None if seconds == 0 and not zero else seconds
        case Choice(words), str():
            found = value if value in words else None
        case _:
            pass
    if found is None and not (filled and value == ""):
        hidden = filled or (isinstance(shape, Text) and shape.form == "secret")
        into.complain(path, mismatch(shape, value, hidden=hidden))
    return found


def _read_named(shape: Named, value: dict[Any, Any], path: Path, into: Reading) -> dict[str, Any]:
    found = {}
    for name, inner in value.items():
        place = (*path, str(name))
        if not (isinstance(name, str) and re.fullmatch(shape.names, name)):
            into.complain(place, f"not a name that can stand here (it must fit {shape.names})")
        elif inner is None:
            into.complain(place, f"expected {expected(shape.shape)}, found nothing")
        else:
            one = read(shape.shape, inner, place, into)
            if one is not None:
                found[name] = one
    return found


def _read_table(shape: Table, value: dict[Any, Any], path: Path, into: Reading) -> Any:
    before = len(into.complaints)
    said = read_keys(shape.keys, value, path, into)
    missing = [key for key in shape.needed if key not in said]
    if len(into.complaints) > before:
        return None
    if missing:
        into.complain(path, f"{' and '.join(missing)} must be given")
        return None
    made = shape.make(**said)
    if isinstance(made, str):
        into.complain(path, made)
        return None
    return made


def _filled_in(value: str, path: Path, into: Reading) -> str | None:
    match expand(value, into.environ):
        case Expanded(text, names):
            if names:
                into.variables[path] = {name: into.environ[name] for name in names}
            return text
        case Unset(name):
            into.complain(
                path, f"the variable {name} is not set; set it, or give a default: ${{{name}:-default}}"
            )
        case Malformed(excerpt):
            into.complain(
                path,
                f"{shown(excerpt)} is not a variable; "
                "write ${NAME} or ${NAME:-default}, and $${ for the characters themselves",
            )
    return None


def _text_trouble(form: Form, value: str) -> str:
    if form in {"header", "secret"}:
        plain = value.isascii() and value.isprintable()
        return "" if plain else "expected printable ASCII characters in one line, found others"
    if (_CONTROL_IN_LINES if form == "lines" else _CONTROL).search(value):
        many = "text without" if form == "lines" else "one line of text without"
        return f"expected {many} control characters"
    return _url_trouble(form, value) if form in {"url", "web"} else ""


def _url_trouble(form: Form, value: str) -> str:
    try:
        parts = urlsplit(value)
        whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole or "\\" in value or " " in value:
        return f"expected an address that begins with http:// or https://, found {shown(value)}"
    if "@" in parts.netloc:
        return "expected an address without user name and password; a key belongs into apiKey"
    if form == "url" and (parts.query or parts.fragment):
        return f"expected an address without ? and #, found {shown(value)}"
    return ""
