"""A small reader of JSON Schema: as much of it as this project's schemas use, an error for the rest."""

import re
from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def _is(kind: str, value: Any) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, TYPES[kind]) or (
        kind == "integer" and isinstance(value, float) and value % 1 == 0
    )


def accepts(schema: dict[str, Any], value: Any, root: dict[str, Any] | None = None) -> bool:
    """Whether `value`, as JSON has it, is valid under `schema`."""
    whole = root or schema
    return all(_keyword(name, rule, schema, value, whole) for name, rule in schema.items())


def _keyword(name: str, rule: Any, schema: dict[str, Any], value: Any, root: dict[str, Any]) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match name:
        case "$schema" | "$defs" | "title" | "description" | "default" | "examples":
            return True
        case "discriminator" | "format" | "unevaluatedProperties":
            return True
        case _ if name.startswith("x-"):
            return True
        case "$ref":
            target: Any = root
            for part in rule.removeprefix("#/").split("/"):
                target = target[part]
            return accepts(target, value, root)
        case "type":
            return any(_is(kind, value) for kind in ([rule] if isinstance(rule, str) else rule))
        case "anyOf":
            return any(accepts(one, value, root) for one in rule)
        case "allOf":
            return all(accepts(one, value, root) for one in rule)
        case "oneOf":
            return sum(accepts(one, value, root) for one in rule) == 1
        case "not":
            return not accepts(rule, value, root)
        case "minLength":
            return not isinstance(value, str) or len(value) >= rule
        case "enum":
            return value in rule
        case "const":
            return bool(value == rule)
        case "pattern":
            return not isinstance(value, str) or re.search(rule, value) is not None
        case "minimum":
            return not number or value >= rule
        case "exclusiveMinimum":
            return not number or value > rule
        case "maximum":
            return not number or value <= rule
        case "items":
            return not isinstance(value, list) or all(accepts(rule, one, root) for one in value)
        case "required":
            return not isinstance(value, dict) or all(key in value for key in rule)
        case "properties":
            return not isinstance(value, dict) or all(
                accepts(rule[key], one, root) for key, one in value.items() if key in rule
            )
        case "propertyNames":
            return not isinstance(value, dict) or all(accepts(rule, key, root) for key in value)
        case "additionalProperties":
            extra = {} if not isinstance(value, dict) else value
            others = [one for key, one in extra.items() if key not in schema.get("properties", {})]
            return (
                all(accepts(rule, one, root) for one in others)
                if isinstance(rule, dict)
                else rule or not others
            )
    raise AssertionError(f"the schema uses {name}, which this reader does not know")
