"""A call as a model wrote it, read kindly: the tool that it means, its arguments, and what was expected."""

import json
from typing import Any

import msgspec

from minime.core.text import one_line, without_surrogates
from minime.core.tools.outside import type_text

_LENIENT = json.JSONDecoder(strict=False)


def known_name(name: str, names: tuple[str, ...]) -> str:
    """The name among `names` that a model means; its own where it is none of them."""
    if name in names:
        return name
    plain = name.strip().rsplit(".", 1)[-1].casefold().replace("-", "_")
    return next((known for known in names if known.casefold().replace("-", "_") == plain), name)


def unknown_tool_text(name: str, names: tuple[str, ...]) -> str:
    """What a model reads that calls a tool which is not there."""
    from difflib import get_close_matches

    near = get_close_matches(name.casefold(), names, 1, 0.4)
    text = f"unknown tool {excerpt(name, 60)}; available: {', '.join(names) or 'none'}"
    return f"{text}; did you mean {near[0]}?" if near else text


def read_arguments(written: str) -> Any:
    """The arguments that a model wrote as JSON. Raises ValueError or RecursionError for what is none."""
    if not written.strip():
        return {}
    arguments = _decoded(written)
    if isinstance(arguments, str) and arguments.lstrip().startswith("{"):
        arguments = _decoded(arguments)
    return {} if arguments is None else arguments


def _decoded(written: str) -> Any:
    """The value of a JSON text: most is well-formed, and then quickly read; else by the lenient reader."""
    try:
        return msgspec.json.decode(written)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return _LENIENT.decode(written)


def storable(value: Any) -> Any:
    """The value with each lone surrogate in its texts as U+FFFD."""
    match value:
        case str():
            return without_surrogates(value)
        case dict():
            return {storable(key): storable(inner) for key, inner in value.items()}
        case list():
            return [storable(inner) for inner in value]
        case _:
            return value


def expected_text(parameters: dict[str, Any]) -> str:
    """What a tool expects, by its JSON Schema: `expected an object with path (string), …`."""
    properties = parameters.get("properties") or {}
    required = parameters.get("required") or ()
    keys = (
        f"{key} ({type_text(value)}{'' if key in required else ', optional'})"
        for key, value in properties.items()
    )
    return f"expected an object with {', '.join(keys)}" if properties else "expected an object"


def excerpt(written: str, limit: int = 120) -> str:
    """The beginning of what a model wrote, on one line."""
    return one_line(written, limit) or '""'
