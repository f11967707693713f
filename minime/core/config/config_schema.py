"""`config_schema`: the keys of agent.yaml become a JSON Schema, for editors to complete and check with."""

from typing import Any

from minime.core.config.agent_yaml import KEYS
from minime.core.config.shapes import (
    Choice,
    Duration,
    Each,
    Flag,
    Key,
    Named,
    Number,
    Shape,
    Table,
    Text,
    Whole,
)

_VARIABLE = {"$ref": "#/$defs/variable"}


def config_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a whole agent.yaml. A key with nothing behind it says nothing, so null is
    allowed; where a number or a word belongs, `${NAME}` may stand too."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "agent.yaml of mini-me",
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {key.name: _key_schema(key) for key in KEYS},
        "$defs": {
            "variable": {
                "description": "A variable of the environment.",
                "type": "string",
                "pattern": r"\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^{}]*)?\}",
            }
        },
    }


def _key_schema(key: Key) -> dict[str, Any]:
    described = {"description": f"{key.meaning} Default: {key.default}."} if key.meaning else {}
    return {**described, "anyOf": [*_forms(key.shape), {"type": "null"}]}


def _forms(shape: Shape) -> list[dict[str, Any]]:
    match shape:
        case Text(form="url"):
            return [{"type": "string", "pattern": "^https?://[^@?#\\s]+$"}, {"const": ""}, _VARIABLE]
        case Text(form="web"):
            return [{"type": "string", "pattern": "^https?://\\S+$"}, {"const": ""}, _VARIABLE]
        case Text():
            return [{"type": "string"}]
        case Flag():
            return [{"type": "boolean"}, _VARIABLE]
        case Whole(low, high):
            return [{"type": "integer", "minimum": low, "maximum": high}, _VARIABLE]
        case Number(low, high):
            return [{"type": "number", "minimum": low, "maximum": high}, _VARIABLE]
        case Duration(zero):
            bound = {"minimum": 0} if zero else {"exclusiveMinimum": 0}
            return [
                {"type": "number", **bound, "maximum": 86_400},
                {"type": "string", "pattern": r"^\s*(\d+(\.\d+)?|\.\d+)\s*(ms|s|m)?\s*$"},
                _VARIABLE,
            ]
        case Choice(words):
            return [{"enum": list(words)}, _VARIABLE]
        case Each(inner, single):
            forms = _forms(inner)
            return [{"type": "array", "items": {"anyOf": forms}}, *(forms if single else [])]
        case Named(inner, names):
            return [
                {
                    "type": "object",
                    "propertyNames": {"pattern": f"^{names}$"},
                    "additionalProperties": {"anyOf": _forms(inner)},
                }
            ]
        case Table(keys, _, needed):
            return [
                {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {key.name: _key_schema(key) for key in keys},
                    **({"required": list(needed)} if needed else {}),
                }
            ]
