"""What a value of agent.yaml may be (`Shape`), and the words for it and for what was found instead."""

import difflib
import json
import math
import re
from collections.abc import Callable
from typing import Any, Literal

import msgspec

Path = tuple[str | int, ...]
"""Where a value stands: the keys and list places that lead to it."""

Form = Literal["line", "lines", "url", "web", "header", "secret"]
"""What a text may hold: one line; several; a web address to build on; any web address; printable ASCII; the
same, never shown."""


class Text(msgspec.Struct, frozen=True):
    """A text; an empty one counts as not set where `empty` is false."""

    form: Form = "line"
    empty: bool = False


class Flag(msgspec.Struct, frozen=True):
    """True or false."""


class Whole(msgspec.Struct, frozen=True):
    """A whole number in a range."""

    low: int
    high: int


class Number(msgspec.Struct, frozen=True):
    """A number in a range."""

    low: float
    high: float


class Duration(msgspec.Struct, frozen=True):
    """A time span, in seconds once read; `zero` says whether 0 (never) is one."""

    zero: bool = True


class Choice(msgspec.Struct, frozen=True):
    """One of these words."""

    words: tuple[str, ...]


class Each(msgspec.Struct, frozen=True):
    """A list of values of one shape; `single`: one value alone stands for a list of one."""

    shape: "Shape"
    single: bool = False


class Named(msgspec.Struct, frozen=True):
    """A mapping from names of the user's own, which fit the pattern `names`, to values of one shape."""

    shape: "Shape"
    names: str


class Table(msgspec.Struct, frozen=True):
    """A mapping with known keys. `make` builds the value of them, or says in a text what is wrong."""

    keys: tuple["Key", ...]
    make: Callable[..., Any]
    needed: tuple[str, ...] = ()


Shape = Text | Flag | Whole | Number | Duration | Choice | Each | Named | Table


class Key(msgspec.Struct, frozen=True):
    """A key of agent.yaml: its shape, what it means, its default in words, an example in YAML."""

    name: str
    shape: Shape
    meaning: str = ""
    default: str = ""
    example: str = ""

    @property
    def field(self) -> str:
        """The key in snake_case, as the values of the core name it."""
        return re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), self.name)


def nearest(word: str, known: tuple[str, ...], cutoff: float = 0.6) -> str | None:
    """The known word that looks most like this one, case and underscores aside; None when none is alike by
    `cutoff` (0 to 1)."""
    lowered = {name.replace("_", "").lower(): name for name in known}
    found = difflib.get_close_matches(word.replace("_", "").lower(), lowered, n=1, cutoff=cutoff)
    return lowered[found[0]] if found else None


def expected(shape: Shape) -> str:
    """A shape in words, to stand behind `expected`."""
    match shape:
        case Text(form="url" | "web"):
            return "an address that begins with http:// or https://"
        case Text(form="header" | "secret"):
            return "text of printable ASCII characters"
        case Text():
            return "text"
        case Flag():
            return "true or false"
        case Whole(low, high):
            return f"a whole number from {low} to {high}"
        case Number(low, high):
            return f"a number from {low:g} to {high:g}"
        case Duration(zero):
            return "a duration such as 500ms, 30s, 2m or seconds as a number" + (
                ", a day at most" if zero else ", above 0 and a day at most"
            )
        case Choice(words):
            return f"one of {', '.join(words)}"
        case Each(inner, single):
            return f"a list ({expected(inner)} each)" + (", or one alone" if single else "")
        case Named():
            return "a mapping of names"
        case Table(keys):
            return f"a mapping with {', '.join(key.name for key in keys)}"


def unknown_key(name: str, known: tuple[str, ...]) -> str:
    """The complaint about a key that nobody knows: it names the nearest, or all."""
    near = nearest(name, known)
    return f"unknown key; did you mean {near}?" if near else f"unknown key; known are {', '.join(known)}"


def mismatch(shape: Shape, value: Any, *, hidden: bool) -> str:
    """The complaint about a value that does not fit, with the way out where one is known. `hidden`: the value
    itself is not shown."""
    what = f"expected {expected(shape)}" + ("" if hidden else f", found {shown(value)}")
    match shape, value:
        case Text() | Choice(), bool():
            return f"{what}; YAML reads yes, no, on and off as true and false, so write it in quotes"
        case (Text() | Choice(), list() | dict()) | (Text(form="url" | "web"), _):
            return what
        case Text() | Choice(), _ if not isinstance(value, str):
            return f"{what}; write it in quotes"
        case Choice(words), str() if nearest(value, words) and not hidden:
            return f"{what}; did you mean {nearest(value, words)}?"
        case Flag(), str() if value.lower() in {"true", "false", "yes", "no", "on", "off"} and not hidden:
            return f"{what}; take the quotes away"
        case Whole() | Number(), str() if number_in(value) is not None and not hidden:
            where = "without an exponent" if "e" in value.lower() else "without quotes"
            return f"{what}, which is text to YAML; write it {where}"
        case _:
            return what


def number_in(text: str) -> int | float | None:
    """The finite number that a text spells; None when it spells none."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if math.isfinite(number) else None
    return None


def shown(value: Any) -> str:
    """A value as a person would write it, in one short line."""
    match value:
        case None:
            return "nothing"
        case str():
            text = json.dumps(value, ensure_ascii=bool(not value.isprintable()))
        case bool():
            text = "true" if value else "false"
        case list() | tuple():
            text = "a list"
        case dict():
            text = "a mapping"
        case int() if abs(value) >= 10**20:
            text = "a very large number"
        case _:
            text = str(value)
    return text if len(text) <= 60 else text[:59] + "…"
