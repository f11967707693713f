"""What servers of tools say, in words: a result for the model, progress and their state for a person."""

import json
from collections.abc import Mapping
from typing import Any

from minime.core.text import base64_size, one_line
from minime.core.tools.outside import Report
from minime.core.tools.toolbox import Said

START_SECONDS = 10.0
"""Seconds that a question waits for servers that are still starting; one that takes longer joins later."""

INSTALL = "pip install '/path/to/the/clone[mcp]'"
NOTHING = "(the tool gave nothing back)"

_KEPT = frozenset((
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
))


def server_environment(environ: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """The environment of a server: what any program needs, and what is configured for this one. Nothing else
    of mm's own reaches it, and so no key."""
    return {name: value for name, value in environ.items() if name in _KEPT} | dict(own)


def result_said(result: dict[str, Any]) -> Said:
    """A result of a tool (`tools/call`, as JSON) in words for the model: text as it is, everything else
    named with its type and size."""
    blocks = result.get("content")
    parts = [_block_text(block) for block in blocks if isinstance(block, dict)] if blocks else []
    text = "\n".join(part for part in parts if part)
    structured = result.get("structuredContent")
    if not text and structured is not None:
        text = json.dumps(structured, ensure_ascii=False, indent=2)
    return Said(text or NOTHING, failed=result.get("isError") is True)


def progress_text(progress: float, total: float | None, message: str | None) -> str:
    """A line about how far a call has come."""
    far = f"{progress:g} of {total:g}" if total else f"{progress:g}"
    return f"{far} · {one_line(message, 200)}\n" if message else f"{far}\n"


def missing_text(names: tuple[str, ...]) -> str:
    """The line for a person who has servers configured and not what it takes to speak to them."""
    return f"MCP servers are left out ({', '.join(names)}): they need the extra mcp ({INSTALL})"


def trouble_text(report: Report) -> str:
    """The line that tells, once, of a server whose tools are not there; empty for one that is ready."""
    match report.state:
        case "starting":
            return (
                f"the MCP server {report.name} has not answered within {START_SECONDS:g} s; "
                "its tools come when it does"
            )
        case "broken":
            return f"the MCP server {report.name} is left out: {report.why} (mm mcp shows all)"
        case _:
            return ""


def servers_text(reports: tuple[Report, ...], *, whole: bool = False) -> str:
    """The servers and their tools, for a person; with `whole` where each is, too."""
    lines: list[str] = []
    for report in reports:
        state = f"{len(report.tools)} tools" if report.state == "ready" else report.state
        state = "1 tool" if state == "1 tools" else state
        why = f": {report.why}" if report.why else ""
        lines.append(f"{report.name} · {state}{why}")
        if whole and report.place:
            lines.append(f"  {one_line(report.place, 200)}")
        width = max((len(tool.name) for tool in report.tools), default=0)
        lines += [f"  {t.name:{width}}  {_first_sentence(t.description)}".rstrip() for t in report.tools]
    return "\n".join(lines)


def _first_sentence(text: str) -> str:
    return one_line(text.strip().split("\n")[0].partition(". ")[0].rstrip("."), 90)


def _block_text(block: dict[str, Any]) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            return f"[{kind} {_media(block)}, {base64_size(data)}: not shown to the model]"
        case {"type": "resource_link", "uri": uri}:
            words = one_line(str(block.get("description") or block.get("name") or ""), 200)
            return f"[resource {uri}{f': {words}' if words else ''}]"
        case {"type": "resource", "resource": {"text": str(text)} as inner}:
            return f"{inner.get('uri', 'resource')}:\n{text}"
        case {"type": "resource", "resource": {"blob": str(data)} as inner}:
            return f"[resource {inner.get('uri', '')} {_media(inner)}, {base64_size(data)}: no text]"
        case _:
            return f"[{one_line(str(block.get('type', 'something')), 40)}]"


def _media(block: dict[str, Any]) -> str:
    return one_line(str(block.get("mimeType") or "of unknown type"), 80)
