"""A server of tools written with the official SDK: what a good server does, and some that is hard to take."""

import asyncio
import sys
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ImageContent, ResourceLink, TextContent
from pydantic import BaseModel

server = MCPServer("tools")


class Place(BaseModel):
    line: int
    tags: list[str] = []


class Note(BaseModel):
    text: str
    place: Place


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers. Nothing else is done."""
    return a + b


@server.tool(structured_output=False)
def note(note: Note) -> str:
    """Keep a note of nested objects."""
    return f"{note.text} at {note.place.line} {note.place.tags}"


@server.tool(structured_output=False)
def fail() -> str:
    """Fail."""
    raise ToolError("the disk is on fire")


@server.tool(structured_output=False)
def large() -> str:
    """Give back five megabytes."""
    return "begin " + "x" * 5_000_000 + " end"


@server.tool(structured_output=False)
def picture() -> CallToolResult:
    """Give back a picture and a link."""
    return CallToolResult(
        content=[
            TextContent(type="text", text="look:"),
            ImageContent(type="image", data="iVBORw0KGgo=", mime_type="image/png"),
            ResourceLink(type="resource_link", name="log", uri="file:///tmp/log"),
        ]
    )


@server.tool(structured_output=False)
async def count(context: Context[Any], to: int) -> str:
    """Count, and tell how far it is."""
    for number in range(1, to + 1):
        await context.report_progress(number, to, f"at {number}")
    return "done"


@server.tool(structured_output=False)
async def wait() -> str:
    """Never come to an end, and tell on stderr when it is told to."""
    sys.stderr.write("waiting\n")
    try:
        await asyncio.sleep(1_000)
    except asyncio.CancelledError:
        sys.stderr.write("told to end\n")
        sys.stderr.flush()
        raise
    return "never"


if __name__ == "__main__":
    server.run()
