"""`${NAME}` in a text of agent.yaml becomes what the environment holds; the environment is an argument."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

_MENTION = re.compile(
    r"\$(?P<literal>\$\{)|\$\{(?:(?P<name>[A-Za-z_]\w*)(?::-(?P<default>[^{}]*))?\})?", re.ASCII
)


class Expanded(msgspec.Struct, frozen=True):
    """The text with its variables filled in, and the names of those that the environment had."""

    text: str
    names: tuple[str, ...] = ()


class Unset(msgspec.Struct, frozen=True):
    """A variable without a default that the environment does not hold, or holds empty."""

    name: str


class Malformed(msgspec.Struct, frozen=True):
    """A `${` that begins neither `${NAME}` nor `${NAME:-default}`; `excerpt` shows where."""

    excerpt: str


def expand(text: str, environ: Mapping[str, str]) -> Expanded | Unset | Malformed:
    """The text with `${NAME}` and `${NAME:-default}` filled in; `$${` stands for `${` itself.

    An empty variable counts as unset.
    """
    pieces: list[str] = []
    names: list[str] = []
    end = 0
    for mention in _MENTION.finditer(text):
        pieces.append(text[end : mention.start()])
        end = mention.end()
        name = mention["name"]
        if mention["literal"]:
            pieces.append("${")
        elif name is None:
            return Malformed(text[mention.start() : mention.start() + 20].split("\n")[0])
        elif environ.get(name):
            pieces.append(environ[name])
            names.append(name)
        elif mention["default"] is not None:
            pieces.append(mention["default"])
        else:
            return Unset(name)
    pieces.append(text[end:])
    return Expanded("".join(pieces), tuple(names))


def variables_in(value: Any) -> tuple[str, ...]:
    """The names of the variables that a value of agent.yaml mentions anywhere inside, each once."""
    match value:
        case str():
            found = [mention["name"] for mention in _MENTION.finditer(value) if mention["name"]]
        case dict():
            found = [name for inner in value.items() for part in inner for name in variables_in(part)]
        case list() | tuple():
            found = [name for inner in value for name in variables_in(inner)]
        case _:
            found = []
    return tuple(dict.fromkeys(found))
