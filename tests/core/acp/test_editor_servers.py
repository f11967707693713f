"""The servers of tools that an editor sends along, as servers of ours."""

from typing import Any

import pytest

from minime.core.acp.editor_servers import editor_servers
from minime.core.config.settings import McpCommand, McpUrl


def test_servers_of_both_kinds_are_taken_as_they_are() -> None:
    variable = {"name": "TOKEN", "value": "t"}
    sent = [
        {"name": "files", "command": "/bin/files", "args": ["-v", "/w"], "env": [variable]},
        {"type": "http", "name": "My docs!", "url": "https://h/mcp", "headers": [variable]},
        {"name": "files", "command": "other", "args": [], "env": []},
    ]
    found, lines = editor_servers(sent)
    assert found == {
        "files": McpCommand("/bin/files", ("-v", "/w"), {"TOKEN": "t"}),
        "My_docs": McpUrl("https://h/mcp", {"TOKEN": "t"}),
        "files_2": McpCommand("other"),
    }
    assert lines == ()


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"type": "sse", "name": "a", "url": "http://h"}, "it speaks SSE"),
        ({"name": "a"}, "neither a command nor an http address"),
        ({"name": "a", "command": ""}, "neither a command nor an http address"),
        ({"type": "http", "name": "a", "url": "file:///etc"}, "neither a command nor an http address"),
        ({"type": "acp", "name": "a", "id": "1"}, "neither a command nor an http address"),
    ],
)
def test_a_server_that_cannot_be_reached_is_told_by_its_name(entry: dict[str, Any], why: str) -> None:
    found, [line] = editor_servers([entry])
    assert not found
    assert line.startswith("the editor's MCP server a is left out: ")
    assert why in line


def test_what_is_no_server_at_all_has_a_number() -> None:
    assert editor_servers(["nonsense"])[1] == (
        "the editor's MCP server server 1 is left out: it has neither a command nor an http address",
    )
