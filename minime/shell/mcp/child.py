"""The process of a server that mm starts itself. It knows nothing of the SDK, which takes seconds to load:
the processes are on their way meanwhile."""

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from signal import SIGKILL

from minime.core.config.settings import McpCommand
from minime.core.tools.outside_text import server_environment
from minime.shell.tools.processes import guarded, signal_group

MOST_COMPLAINTS = 4_000
LAST_SECONDS = 1.0


class Child:
    """What is known of a server that runs: `gone` is set when it says no more, and `on_leaving` is called at
    that moment; `said` is the end of what it wrote to stderr."""

    def __init__(self, on_leaving: Callable[[], None]) -> None:
        self.gone = asyncio.Event()
        self.said = b""
        self._on_leaving = on_leaving

    def leave(self) -> None:
        """Takes it that nothing will come any more."""
        self.gone.set()
        self._on_leaving()

    def complain(self, data: bytes) -> None:
        """Takes what it wrote to stderr."""
        self.said = (self.said + data)[-MOST_COMPLAINTS:]

    def last_words(self) -> str:
        """The last line of its stderr with words in it."""
        lines = self.said.decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


class Started:
    """A process that is on its way before anybody can talk to it: until it is taken, it ends with mm."""

    def __init__(self, process: Process) -> None:
        self._process: Process | None = process
        self._dropped: Process | None = None
        self._guard = ExitStack()
        self._guard.enter_context(guarded(process.pid))

    def take(self) -> Process | None:
        """The process, once; from now on it is the caller's to end."""
        process, self._process = self._process, None
        self._guard.close()
        return process

    def drop(self) -> None:
        """Ends the process, if nobody has taken it."""
        process = self.take()
        if process is not None:
            self._dropped = process
            signal_group(process.pid, SIGKILL)

    async def ended(self) -> None:
        """Waits until a process that was dropped is no more, in the loop that has started it."""
        if self._dropped is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._dropped.wait(), LAST_SECONDS)


async def start_process(wanted: McpCommand, cwd: Path, environ: Mapping[str, str]) -> Process:
    """The server in a process group of its own. Raises OSError or ValueError when it cannot be started."""
    return await asyncio.create_subprocess_exec(
        wanted.command,
        *wanted.args,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=server_environment(environ, wanted.env),
        cwd=cwd,
        start_new_session=True,
    )
