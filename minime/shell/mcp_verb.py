"""`mm mcp`: the configured servers of tools, started to see how they stand."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from minime.core.config.settings import secrets
from minime.core.tools.outside import Report
from minime.core.tools.outside_text import servers_text
from minime.shell.config.config import Broken, load_settings
from minime.shell.config.project import find_project
from minime.shell.mcp.servers import Servers

DONE, FAILED, WRONG = 0, 1, 2
LONGEST = 60.0
"""Seconds that a server has here: the first start of one may fetch a package."""

NONE = "no MCP servers are configured (mcp in agent.yaml; an editor may send its own)"


def list_servers(
    start: Path,
    *,
    environ: Mapping[str, str],
    say: Callable[[str], None],
    warn: Callable[[str], None],
    config: Path | None = None,
    trust: bool = False,
    as_json: bool = False,
) -> int:
    """Says of each server whether it answers and which tools it offers. The result is the exit status: 1
    when one does not, 2 when the configuration is broken."""
    project = find_project(start, Path.home())
    loaded = load_settings(project, environ=environ, config=config, trust=trust)
    if isinstance(loaded, Broken):
        for line in loaded.lines:
            warn(line)
        return WRONG
    for line in loaded.notices:
        warn(line)
    settings = loaded.settings
    servers = Servers(settings.mcp, start.resolve(), environ, roots=(project,), secrets=secrets(settings))
    reports = asyncio.run(_reports(servers))
    if as_json:
        say(json.dumps([_plain(report) for report in reports], indent=2, ensure_ascii=False))
    elif reports:
        say(servers_text(reports, whole=True))
    elif not loaded.notices:
        say(NONE)
    if servers.lacking:
        warn(servers.lacking)
    return FAILED if any(report.state != "ready" for report in reports) else DONE


async def _reports(servers: Servers) -> tuple[Report, ...]:
    try:
        await servers.ready(LONGEST)
        return servers.reports
    finally:
        await servers.close()


def _plain(report: Report) -> dict[str, object]:
    return dict(msgspec.to_builtins(report))
