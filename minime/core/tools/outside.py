"""Tools of servers outside (MCP) as values: what a server lists -> tools with names that a model can call."""

import json
import re
from typing import Any

import msgspec

from minime.core.text import clean, one_line, visible

MOST_DESCRIPTION = 4_000
"""Characters of a tool's description that a model is told."""

LONGEST_NAME = 64
"""Characters that the chat-completions API allows in the name of a function."""

BETWEEN = "__"
_FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]+")


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as the model is told of it: `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class CallOutside(msgspec.Struct, frozen=True):
    """Call the tool of a server that the model knows as `name`."""

    name: str
    arguments: dict[str, Any]


class Offer(msgspec.Struct, frozen=True):
    """A tool of a server: as the model is told of it, and its name on the server."""

    spec: ToolSpec
    own: str


class Report(msgspec.Struct, frozen=True):
    """How a server stands: `why` says what is wrong with one that is broken; `place` is its command or its
    address."""

    name: str
    place: str
    state: str
    why: str = ""
    tools: tuple[ToolSpec, ...] = ()


def plain_name(text: str) -> str:
    """The text as a name that can stand in a tool's: letters, digits, `-` and `_`."""
    return _FORBIDDEN.sub("_", text).strip("_")[:40] or "server"


def offers(server: str, listed: tuple[dict[str, Any], ...]) -> tuple[Offer, ...]:
    """The tools that `server` lists, each as `server__tool`, made fit for a function's name and told apart.
    What has no name is left out."""
    found: dict[str, Offer] = {}
    for tool in listed:
        own = tool.get("name")
        if not isinstance(own, str) or not own:
            continue
        name = _free_name(f"{server}{BETWEEN}{_FORBIDDEN.sub('_', own)}", found)
        words = tool.get("description") or tool.get("title") or own
        description = clean(str(words)).strip()
        if len(description) > MOST_DESCRIPTION:
            description = description[: MOST_DESCRIPTION - 1] + "…"
        found[name] = Offer(ToolSpec(name, description, _parameters(tool.get("inputSchema"))), own)
    return tuple(found.values())


def missing(spec: ToolSpec, arguments: dict[str, Any]) -> tuple[str, ...]:
    """The keys that the tool needs and that are not there."""
    required = spec.parameters.get("required")
    names = required if isinstance(required, list) else []
    return tuple(name for name in names if isinstance(name, str) and name not in arguments)


def type_text(schema: Any) -> str:
    """The type that a schema names, for a model that gave another: `string`, `array`, `any`."""
    named = schema.get("type") if isinstance(schema, dict) else None
    return " or ".join(map(str, named)) if isinstance(named, list) else str(named or "any")


def arguments_text(call: CallOutside) -> str:
    """The arguments as JSON on one line: what a rule of the permissions is matched against."""
    return json.dumps(call.arguments, ensure_ascii=False)


def pretty_arguments(call: CallOutside) -> tuple[str, ...]:
    """The arguments line by line, for a person who is to allow the call; what cannot be seen is escaped."""
    text = json.dumps(call.arguments, ensure_ascii=False, indent=2)
    return tuple(visible(line) for line in text.split("\n"))


def call_text(call: CallOutside) -> str:
    """The call in words, whole: `call github list_issues owner=mini-me state=open`."""
    server, _, tool = call.name.partition(BETWEEN)
    words = [f"{one_line(key, 40)}={_word(value)}" for key, value in call.arguments.items()]
    return " ".join(["call", *filter(None, (server, tool)), *words])


def _word(value: Any) -> str:
    if isinstance(value, str) and value and value.isprintable() and not re.search(r'[\s="{\[]', value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _parameters(schema: Any) -> dict[str, Any]:
    """The schema as it is; servers of models refuse one that does not say that it is of an object."""
    known = dict(schema) if isinstance(schema, dict) else {}
    known.setdefault("type", "object")
    if not isinstance(known.get("properties"), dict):
        known["properties"] = {}
    return known


def _free_name(name: str, taken: dict[str, Offer]) -> str:
    name, number = name[:LONGEST_NAME], 2
    free = name
    while free in taken:
        end = f"_{number}"
        free, number = name[: LONGEST_NAME - len(end)] + end, number + 1
    return free
