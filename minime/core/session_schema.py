"""The JSON Schema of the session file, from the values that are written to it."""

from typing import Any

import msgspec

from minime.core.values import UNKNOWN, Session


def session_schema() -> dict[str, Any]:
    """The schema. Keys that this version does not know are allowed at every level, since they are kept."""
    schema = msgspec.json.schema(Session)
    definitions = {name: _open(definition) for name, definition in schema["$defs"].items()}
    session = definitions["Session"]
    session["required"] = [name for name in session["required"] if name != "errors"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A session of mini-me",
        "$ref": schema["$ref"],
        "$defs": definitions,
    }


def _open(definition: dict[str, Any]) -> dict[str, Any]:
    properties = {key: value for key, value in definition["properties"].items() if key != UNKNOWN}
    return definition | {"properties": properties, "additionalProperties": True}
