"""All servers of tools of a session: started in the background, asked for their tools, called, ended.

They live in a thread with an event loop of its own: a terminal that waits for a line runs none, and the SDK
takes seconds to load.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from minime.core.config.settings import McpCommand, McpServer
from minime.core.tools.outside import CallOutside, Report, ToolSpec
from minime.core.tools.outside_text import START_SECONDS, missing_text, trouble_text
from minime.core.tools.toolbox import Said
from minime.shell.mcp import has_sdk
from minime.shell.mcp.child import Started, start_process

if TYPE_CHECKING:
    from minime.shell.mcp.server import Server

LEAVE_SECONDS = 2.0
TICK = 0.02


class Servers:
    """The servers `wanted`, by name; `cwd` is where those run that mm starts, `roots` is what is open to
    them, of `secrets` no line holds any, `call_seconds` (0: no bound) is what a call may take."""

    def __init__(
        self,
        wanted: Mapping[str, McpServer],
        cwd: Path,
        environ: Mapping[str, str],
        *,
        roots: tuple[Path, ...] = (),
        secrets: tuple[str, ...] = (),
        call_seconds: float = 0.0,
    ) -> None:
        self._wanted = wanted
        self._world = (cwd, environ, roots, secrets, call_seconds)
        self._there: dict[str, Server] = {}
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._settled: Future[None] = Future()
        self._started: dict[str, Started | None] = {}
        self._began = 0.0
        self._closing = False
        self._told: set[str] = set()
        self._fault = ""
        self.lacking = missing_text(tuple(wanted)) if wanted and not has_sdk() else ""
        """The line to tell where the SDK is not installed; else empty."""

    def start(self) -> None:
        """Starts them all, once; returns at once."""
        if self._thread is not None or self.lacking or not self._wanted:
            return
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._live, name="mm-mcp", daemon=True)
        self._thread.start()

    @property
    def reports(self) -> tuple[Report, ...]:
        """How each server stands."""
        if self.lacking:
            return tuple(
                Report(name, "", "broken", "the extra mcp is not installed") for name in self._wanted
            )
        there = self._there
        unknown = Report("", "", "broken" if self._fault else "starting", self._fault)
        return tuple(
            there[name].report if name in there else Report(name, "", unknown.state, unknown.why)
            for name in self._wanted
        )

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """What those that are ready offer."""
        return tuple(tool for report in self.reports for tool in report.tools)

    async def ready(self, most: float = START_SECONDS) -> None:
        """Waits until each is ready or known to be broken; at most so many seconds from their start."""
        self.start()
        if self._thread is None:
            return
        left = self._began + most - time.monotonic()
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(self._settled)), max(0.0, left))

    def news(self) -> tuple[str, ...]:
        """The lines about servers that are not there, each once."""
        lines = [trouble_text(report) for report in self.reports if not self.lacking]
        fresh = tuple(line for line in lines if line and line not in self._told)
        self._told.update(fresh)
        return fresh

    async def call(self, call: CallOutside, progress: Callable[[str], None]) -> Said:
        """What came of a call. `progress` is told how far it is, in another thread."""
        await self.ready()
        server = next(
            (one for one in self._there.values() if any(t.name == call.name for t in one.report.tools)), None
        )
        if server is None or self._loop is None:
            return Said(f"no server offers {call.name} now (mm mcp shows which there are)", failed=True)
        asked = asyncio.run_coroutine_threadsafe(server.call(call, progress), self._loop)
        return await asyncio.wrap_future(asked)

    async def close(self) -> None:
        """Ends them all, and what they have started."""
        if self._thread is None:
            return
        self._closing = True
        if not self._there:  # the SDK still loads, and nobody has a hand on the processes
            self._drop()
            return
        deadline = time.monotonic() + LEAVE_SECONDS
        while self._thread.is_alive() and time.monotonic() < deadline:
            if self._loop is not None and self._stop is not None:
                with suppress(RuntimeError):  # it has just ended
                    self._loop.call_soon_threadsafe(self._stop.set)
            await asyncio.sleep(TICK)

    def _live(self) -> None:
        try:
            asyncio.run(self._main())
        except Exception as error:
            self._fault = f"the SDK cannot be used: {type(error).__name__}: {error}"
        finally:
            self._settle()

    async def _main(self) -> None:
        self._stop = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._started = {name: await self._start_process(wanted) for name, wanted in self._wanted.items()}
        try:
            await self._hold(self._stop)
        finally:
            self._drop()
            await asyncio.gather(*(one.ended() for one in self._started.values() if one is not None))

    def _drop(self) -> None:
        for one in self._started.values():
            if one is not None:
                one.drop()

    async def _hold(self, stop: asyncio.Event) -> None:
        from minime.shell.mcp.server import Server, World

        if self._closing:
            return

        world = World(*self._world)
        self._there = {
            name: Server(name, wanted, world, self._look, self._started[name])
            for name, wanted in self._wanted.items()
        }
        tasks = [asyncio.create_task(server.run()) for server in self._there.values()]
        await stop.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _start_process(self, wanted: McpServer) -> Started | None:
        """Its process, where it is to have one; why there can be none is found out when it is looked for."""
        if not isinstance(wanted, McpCommand):
            return None
        try:
            return Started(await start_process(wanted, *self._world[:2]))
        except (OSError, ValueError):
            return None

    def _look(self) -> None:
        if all(server.report.state != "starting" for server in self._there.values()):
            self._settle()

    def _settle(self) -> None:
        if not self._settled.done():
            self._settled.set_result(None)
