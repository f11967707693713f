"""The schema of the session file says what the file holds."""

import json

import msgspec

from minime.core.codec import encode
from minime.core.session_schema import session_schema
from tests.support.values import talked, tool_turn


def test_the_keys_of_a_file_are_those_of_its_schema_and_others_are_allowed() -> None:
    schema = msgspec.to_builtins(session_schema())
    definitions = schema["$defs"]
    session = definitions["Session"]
    assert set(json.loads(encode(talked(tool_turn())))) <= set(session["properties"])
    assert "errors" not in session["required"]
    assert all(
        definition["additionalProperties"]
        for definition in definitions.values()
        if "properties" in definition
    )
    assert not any("extra" in definition.get("properties", {}) for definition in definitions.values())
