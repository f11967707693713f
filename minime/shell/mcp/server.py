"""One server of tools, from its start to its end: its tools listed and called; if it dies, it comes back."""

import asyncio
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from minime import __version__
from minime.core.config.settings import McpCommand, McpServer, McpUrl
from minime.core.model.servers import is_loopback
from minime.core.text import mask, one_line
from minime.core.tools.outside import CallOutside, Offer, Report, offers
from minime.core.tools.outside_text import START_SECONDS, progress_text, result_said
from minime.core.tools.toolbox import Said
from minime.shell.mcp.child import Child, Started, start_process
from minime.shell.mcp.stdio import child_streams

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp.client.session import ClientRequestContext, IncomingMessage

LONGEST_START = 60.0
"""Seconds until a server that does not answer is given up: the first start of one may fetch a package."""

MOST_PAGES = 50
SILENCE = 300.0


class World(NamedTuple):
    """What a server gets of the world: where it runs, what is open to it, what must not be shown of it, and
    how long a call may take (seconds, 0: no bound)."""

    cwd: Path
    environ: Mapping[str, str]
    roots: tuple[Path, ...]
    secrets: tuple[str, ...]
    call_seconds: float


class Server:
    """All of it runs in one event loop; `changed` is called when `report` is another. `started` is its
    process, where that is on its way already."""

    def __init__(
        self,
        name: str,
        wanted: McpServer,
        world: World,
        changed: Callable[[], None],
        started: Started | None = None,
    ) -> None:
        self._wanted = wanted
        self._world = world
        self._changed = changed
        self._started = started
        self._client: Client | None = None
        self._offers: dict[str, Offer] = {}
        self._settled = asyncio.Event()
        self._child = Child(self._settled.clear)
        self._pauses = list(_pauses(wanted))
        self._why = ""
        self._relisting: set[asyncio.Task[None]] = set()
        self.report = Report(name, mask(_place(wanted), world.secrets), "starting")

    async def run(self) -> None:
        """Holds the server until it is given up, or the task is cancelled; then it is ended."""
        while True:
            self._why = mask(one_line(await self._live(), 300), self._world.secrets)
            self._client = None
            if self.report.state != "ready" or not self._pauses:
                self._report("broken", self._why)
                self._settled.set()
                return
            self._settled.clear()
            await asyncio.sleep(self._pauses.pop(0))

    async def call(self, call: CallOutside, show: Callable[[str], None]) -> Said:
        """What the tool gives back, or in words why it gives nothing. Cancelled, it tells the server."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._settled.wait(), START_SECONDS)
        client, child, offer = self._client, self._child, self._offers.get(call.name)
        if client is None or offer is None:
            why = self.report.why or (self._why if client is None else "it does not offer this tool any more")
            return Said(f"the MCP server {self.report.name} cannot be asked: {why}", failed=True)

        async def tell(progress: float, total: float | None, message: str | None) -> None:
            show(progress_text(progress, total, message))

        asked = asyncio.create_task(client.call_tool(offer.own, call.arguments, progress_callback=tell))
        ended = asyncio.create_task(child.gone.wait())
        seconds = self._world.call_seconds
        try:
            await asyncio.wait({asked, ended}, timeout=seconds or None, return_when="FIRST_COMPLETED")
            if asked.done() and asked.exception() is not None:  # of an end it may have heard first
                await asyncio.wait({ended}, timeout=0.2)
            if ended.done() and not (asked.done() and asked.exception() is None):
                return Said(self._died_text(), failed=True)
            if not asked.done():
                return Said(f"timed out after {seconds:g} s (commandTimeout in agent.yaml)", failed=True)
            return self._said(asked)
        finally:
            asked.cancel()
            ended.cancel()
            await asyncio.wait({asked, ended}, timeout=1)

    def _said(self, asked: "asyncio.Task[types.CallToolResult]") -> Said:
        error = asked.exception()
        if error is None:
            self._pauses = list(_pauses(self._wanted))
            return result_said(asked.result().model_dump(by_alias=True, mode="json", exclude_none=True))
        if isinstance(self._wanted, McpUrl) and not isinstance(error, MCPError):
            self._child.leave()
        return Said(f"the MCP server {self.report.name} failed: {_why(error)}", failed=True)

    def _died_text(self) -> str:
        words = self._child.last_words()
        said = f"; its last words: {one_line(words, 200)}" if words else ""
        return f"the MCP server {self.report.name} ended while it ran this, which may have been done{said}"

    async def _live(self) -> str:
        """Why the server is no more; returns when it has gone. While it is there, it can be called."""
        child = self._child = Child(self._settled.clear)
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(LONGEST_START):
                    client = await stack.enter_async_context(self._new_client(child))
                    await self._list(client)
                self._client = client
                self._settled.set()
                await child.gone.wait()
        except TimeoutError:
            return f"it did not answer within {LONGEST_START:g} s{_last(child)}"
        except Exception as error:
            return f"{_why(error)}{_last(child)}"
        return f"it ended by itself{_last(child)}"

    def _new_client(self, child: Child) -> Client:
        return Client(
            self._transport(child),
            client_info=types.Implementation(name="mini-me", version=__version__),
            list_roots_callback=self._roots,
            message_handler=self._heed,
            cache=None,
        )

    def _transport(self, child: Child) -> Any:
        match self._wanted:
            case McpCommand() as wanted:
                return child_streams(lambda: self._process(wanted), child)
            case McpUrl(url=url, headers=headers):
                return _web_streams(url, headers)

    async def _process(self, wanted: McpCommand) -> Process:
        process = self._started.take() if self._started is not None else None
        return process or await start_process(wanted, self._world.cwd, self._world.environ)

    async def _list(self, client: Client) -> None:
        listed: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            listed += [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in page.tools]
            cursor = page.next_cursor
            if not cursor:
                break
        self._offers = {offer.spec.name: offer for offer in offers(self.report.name, tuple(listed))}
        self._report("ready")

    async def _heed(self, message: "IncomingMessage") -> None:
        """Another list of tools is asked for, beside the stream that told of it."""
        if isinstance(message, types.ToolListChangedNotification) and self._client is not None:
            task = asyncio.create_task(self._list(self._client))
            self._relisting.add(task)
            task.add_done_callback(self._relisted)

    def _relisted(self, task: "asyncio.Task[None]") -> None:
        self._relisting.discard(task)
        if not task.cancelled():
            task.exception()  # the old list stands

    async def _roots(self, context: "ClientRequestContext") -> types.ListRootsResult:
        roots = [
            types.Root.model_validate({"uri": path.as_uri(), "name": path.name}) for path in self._world.roots
        ]
        return types.ListRootsResult(roots=roots)

    def _report(self, state: str, why: str = "") -> None:
        tools = tuple(offer.spec for offer in self._offers.values()) if state == "ready" else ()
        self.report = Report(self.report.name, self.report.place, state, why, tools)
        self._changed()


@asynccontextmanager
async def _web_streams(url: str, headers: Mapping[str, str]) -> "AsyncIterator[TransportStreams]":
    timeout = httpx2.Timeout(30.0, read=SILENCE)
    # A proxy of the environment is for other machines.
    client = httpx2.AsyncClient(headers=dict(headers), timeout=timeout, trust_env=not is_loopback(url))
    async with client, streamable_http_client(url, http_client=client) as streams:
        yield streams


def _pauses(wanted: McpServer) -> tuple[float, ...]:
    """Seconds before each try to have a server back that has gone, since a call went well: a program is
    started again once, and one elsewhere may be on its way back."""
    return (0.0,) if isinstance(wanted, McpCommand) else (0.0, 1.0, 4.0, 15.0)


def _place(wanted: McpServer) -> str:
    match wanted:
        case McpCommand(command=command, args=args):
            return " ".join((command, *args))
        case McpUrl(url=url):
            return url


def _last(child: Child) -> str:
    words = child.last_words()
    return f"; its last words: {one_line(words, 200)}" if words else ""


def _why(error: BaseException) -> str:
    """What went wrong, in words; of several faults the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    match error:
        case MCPError():
            return one_line(error.error.message, 300)
        case FileNotFoundError():
            return f"there is no program {error.filename}"
        case OSError():
            return error.strerror or str(error)
        case ValidationError():
            first = error.errors()[0]
            at = ".".join(map(str, first["loc"]))
            return f"it does not keep to the protocol ({at}: {one_line(first['msg'], 200)})"
        case httpx2.HTTPStatusError():
            return f"HTTP {error.response.status_code}"
        case httpx2.TransportError():
            return f"it cannot be reached ({one_line(str(error), 200) or type(error).__name__})"
        case _:
            return one_line(str(error), 300) or type(error).__name__
