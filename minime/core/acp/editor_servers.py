"""The MCP servers that an editor sends along with a session -> servers as `agent.yaml` has them, and what is
to be told of those that cannot be used."""

from typing import Any

from minime.core.config.settings import McpCommand, McpServer, McpUrl
from minime.core.text import one_line
from minime.core.tools.outside import plain_name


def editor_servers(sent: list[Any]) -> tuple[dict[str, McpServer], tuple[str, ...]]:
    """The servers by name, and a line for each entry that is none mm can reach."""
    found: dict[str, McpServer] = {}
    lines: list[str] = []
    for place, entry in enumerate(sent):
        raw = entry if isinstance(entry, dict) else {}
        name = str(raw.get("name") or f"server {place + 1}")
        server = _server(raw)
        if isinstance(server, str):
            lines.append(f"the editor's MCP server {one_line(name, 60)} is left out: {server}")
        else:
            found[_free(plain_name(name), found)] = server
    return found, tuple(lines)


def _server(raw: dict[str, Any]) -> McpServer | str:
    match raw:
        case {"type": "http", "url": str(url)} if url.startswith(("http://", "https://")):
            return McpUrl(url, _pairs(raw.get("headers")))
        case {"type": "sse"}:
            return "it speaks SSE, which MCP has given up; mm speaks stdio and streamable HTTP"
        case {"command": str(command)} if command and raw.get("type") in {None, "stdio"}:
            args = raw.get("args")
            words = tuple(str(word) for word in args) if isinstance(args, list) else ()
            return McpCommand(command, words, _pairs(raw.get("env")))
        case _:
            return "it has neither a command nor an http address"


def _pairs(sent: Any) -> dict[str, str]:
    """The protocol's list of `{name, value}` as a mapping."""
    pairs = sent if isinstance(sent, list) else []
    return {
        pair["name"]: pair["value"]
        for pair in pairs
        if isinstance(pair, dict) and isinstance(pair.get("name"), str) and isinstance(pair.get("value"), str)
    }


def _free(name: str, taken: dict[str, McpServer]) -> str:
    number, free = 2, name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free
