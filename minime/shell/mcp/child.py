"""The process of a server that mm starts itself. It knows nothing of the SDK, which takes seconds to load:
the processes are on their way meanwhile."""

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from pathlib import Path

from minime.core.config.settings import McpCommand
from minime.core.tools.outside_text import server_environment

MOST_COMPLAINTS = 4_000


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
