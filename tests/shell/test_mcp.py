"""Servers of tools: real ones, over stdio and over HTTP, with the SDK on both sides or on none."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from minime.core.config.settings import McpCommand, McpServer, McpUrl
from minime.core.text import LIMIT
from minime.core.tools.outside import CallOutside
from minime.core.tools.toolbox import Said
from minime.shell.mcp.servers import Servers
from minime.shell.mcp_verb import list_servers
from minime.shell.tools.tools import Ready, Tools
from tests.conftest import ROOT

DATA = ROOT / "tests" / "data" / "mcp"
SDK = McpCommand(sys.executable, (str(DATA / "tools_server.py"),))
PATIENCE = 60.0


@contextlib.asynccontextmanager
async def started(wanted: dict[str, McpServer], folder: Path, **more: Any) -> AsyncIterator[Servers]:
    servers = Servers(wanted, folder, os.environ, roots=(folder,), **more)
    try:
        await servers.ready(PATIENCE)
        yield servers
    finally:
        await servers.close()


async def call(servers: Servers, name: str, heard: list[str] | None = None, **arguments: Any) -> Said:
    return await servers.call(CallOutside(name, arguments), (heard if heard is not None else []).append)


def plain(folder: Path, *words: str) -> McpCommand:
    return McpCommand(
        sys.executable, (str(DATA / "plain_server.py"), str(folder / "told"), *words), {"OWN_KEY": "k"}
    )


def alive(marker: str) -> list[int]:
    """The processes in whose words `marker` stands."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = entry.read_bytes().split(b"\0")
            if any(word.startswith(marker.encode()) for word in words):
                found.append(int(entry.parent.name))
    return found


@contextlib.contextmanager
def served_over_http() -> Iterator[str]:
    """The address of the SDK's server, in a thread of this process."""
    import uvicorn

    from tests.data.mcp.tools_server import server

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = uvicorn.Config(server.streamable_http_app(), host="127.0.0.1", port=port, log_level="error")
    web = uvicorn.Server(config)
    thread = threading.Thread(target=web.run, daemon=True)
    thread.start()
    while not web.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}/mcp"
    web.should_exit = True
    thread.join(10)


async def test_a_server_is_listed_called_and_ended(tmp_path: Path) -> None:
    with served_over_http() as url:
        wanted: dict[str, McpServer] = {
            "tools": SDK,
            "web": McpUrl(url),
            "none": McpCommand("no-such-program"),
        }
        async with started(wanted, tmp_path, call_seconds=30) as servers:
            assert [report.state for report in servers.reports] == ["ready", "ready", "broken"]
            assert servers.news() == (
                "the MCP server none is left out: there is no program no-such-program (mm mcp shows all)",
            )
            assert servers.news() == ()
            await _good_calls(servers)
            await _cancelled(servers)
            [running] = alive(str(DATA / "tools_server.py"))
            heard = await call(servers, "web__add", a=1, b=2)
            assert heard == Said("3")
    with pytest.raises(ProcessLookupError):
        os.kill(running, 0)


async def _good_calls(servers: Servers) -> None:
    nested = next(tool for tool in servers.tools if tool.name == "tools__note").parameters
    assert nested["$defs"]["Place"]["properties"]["line"]["type"] == "integer"
    note = {"text": "hi", "place": {"line": 3, "tags": ["a"]}}
    assert await call(servers, "tools__note", note=note) == Said("hi at 3 ['a']")
    assert await call(servers, "tools__add", a=1, b=2) == Said("3")
    failed = await call(servers, "tools__fail")
    assert failed.failed
    assert "the disk is on fire" in failed.text
    wrong = await call(servers, "tools__add", a="x")
    assert wrong.failed
    assert "valid integer" in wrong.text
    seen = await call(servers, "tools__picture")
    assert seen.text.splitlines() == [
        "look:",
        "[image image/png, 1 kB: not shown to the model]",
        "[resource file:///tmp/log: log]",
    ]
    progress: list[str] = []
    assert await call(servers, "tools__count", progress, to=2) == Said("done")
    assert progress == ["1 of 2 · at 1\n", "2 of 2 · at 2\n"]
    unknown = await call(servers, "tools__nothing")
    assert unknown == Said("no server offers tools__nothing now (mm mcp shows which there are)", failed=True)
    tools = Tools(Path.cwd(), Path.cwd(), call=servers.call, secrets=("begin",))
    large = await tools.run("1", Ready(CallOutside("tools__large", {})), lambda _: None)
    assert len(large.content) <= LIMIT
    assert large.content.startswith("*** xxx")
    assert large.content.endswith("xxx end")


async def _cancelled(servers: Servers) -> None:
    """The server is told, and goes on with the next call."""
    waiting = asyncio.create_task(call(servers, "tools__wait"))
    await asyncio.sleep(0.1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    server = servers._there["tools"]
    while b"told to end" not in server._child.said:
        await asyncio.sleep(0.01)
    assert await call(servers, "tools__add", a=2, b=2) == Said("4")


async def test_a_server_that_misbehaves_costs_its_own_tools_and_nothing_else(tmp_path: Path) -> None:
    wanted: dict[str, McpServer] = {
        "plain": plain(tmp_path, "--stay"),
        "short": McpCommand("sh", ("-c", "echo no key is set >&2; exit 3")),
    }
    environ = {**os.environ, "MM_API_KEY": "secret-1", "GITHUB_TOKEN": "secret-2"}
    servers = Servers(wanted, tmp_path, environ, secrets=("key is",), call_seconds=30)
    await servers.ready(PATIENCE)
    assert [tool.name for tool in servers.tools] == [
        "plain__say_it",
        "plain__say_it_2",
        "plain__environment",
        "plain__die",
    ]
    assert servers.news() == (
        "the MCP server short is left out: Connection closed; its last words: no *** set (mm mcp shows all)",
    )
    variables = (await call(servers, "plain__environment")).text.split()
    assert {"PATH", "OWN_KEY"} <= set(variables)
    assert not {"MM_API_KEY", "GITHUB_TOKEN"} & set(variables)
    assert await call(servers, "plain__say_it_2", text="hi") == Said("say/it: hi")

    died = await call(servers, "plain__die")
    assert died == Said(
        "the MCP server plain ended while it ran this, which may have been done; its last words: no more",
        failed=True,
    )
    assert await call(servers, "plain__say_it", text="again") == Said("say it: again"), "it came back"
    assert (await call(servers, "plain__die")).failed
    assert (await call(servers, "plain__die")).failed
    while servers.reports[0].state == "ready":
        await asyncio.sleep(0.01)
    assert servers.reports[0].why == "it ended by itself; its last words: no more"
    assert servers.tools == ()
    told = (tmp_path / "told").read_text(encoding="utf-8")
    assert told.count('"initialize"') == 3, (
        "twice it was started again: after a call that went well, and once more"
    )
    await servers.close()


async def test_a_server_that_does_not_leave_is_made_to_and_one_that_does_not_answer_is_passed_over(
    tmp_path: Path,
) -> None:
    servers = Servers(
        {"plain": plain(tmp_path, "--stay"), "silent": McpCommand("sleep", ("1007",))}, tmp_path, os.environ
    )
    servers.start()
    while not servers.tools:
        await asyncio.sleep(0.01)
    await servers.ready(0)
    assert servers.news() == (
        "the MCP server silent has not answered within 10 s; its tools come when it does",
    )
    [running] = alive(str(tmp_path / "told"))
    await servers.close()
    with pytest.raises(ProcessLookupError):
        os.kill(running, signal.SIGTERM)


async def test_a_server_that_has_just_been_started_is_ended_too(tmp_path: Path) -> None:
    marker = str(tmp_path / "just")
    servers = Servers(
        {"slow": McpCommand("sh", ("-c", "while :; do sleep 0.1; done", marker))}, tmp_path, os.environ
    )
    servers.start()
    while not alive(marker):
        await asyncio.sleep(0.01)
    await servers.close()
    while alive(marker):
        await asyncio.sleep(0.01)


async def test_without_the_sdk_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    servers = Servers({"tools": SDK}, tmp_path, os.environ)
    await servers.ready()
    assert servers.lacking == (
        "MCP servers are left out (tools): they need the extra mcp (pip install '/path/to/the/clone[mcp]')"
    )
    assert not servers.tools
    assert not servers.news()
    assert [report.why for report in servers.reports] == ["the extra mcp is not installed"]


def test_the_verb_lists_no_server_of_a_project_that_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("mcp: {bad: {command: touch, args: [ran]}}\n", encoding="utf-8")
    environ = {"HOME": str(tmp_path / "home")}
    said: list[str] = []
    warned: list[str] = []
    assert list_servers(tmp_path, environ=environ, say=said.append, warn=warned.append) == 0
    assert said == []
    assert warned == ["agent.yaml is not trusted yet, so this is left out: mcp; mm trust shows it and asks"]
    assert not (tmp_path / "ran").exists()
