"""The hands: an action is made ready, and then done; what comes out is a result that the model reads.

Nothing that a model asks for or a file holds is an exception here. All text is cleaned, masked and clipped.
"""

import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from minime.core.text import LIMIT, clean, clip, mask
from minime.core.tools.outside import CallOutside
from minime.core.tools.running import command_environment, command_seconds
from minime.core.tools.toolbox import (
    Action,
    EditFile,
    ListDirectory,
    ReadFile,
    RunCommand,
    Said,
    Search,
    WriteFile,
)
from minime.core.values import Diff, Tool
from minime.shell.tools.inside import Inside, Place, Refused
from minime.shell.tools.write_tools import Change


class Ready(msgspec.Struct, frozen=True):
    """An action that can be done. `diff` is what an edit would change; `where` is the true path of its file
    below the project, for `consent.decide`."""

    action: Action
    where: str = ""
    diff: Diff | None = None
    place: Place | None = None
    change: Change | None = None


class Impossible(msgspec.Struct, frozen=True):
    """An action that cannot be done, so that nobody need be asked; `message` is what the model reads."""

    message: str


CallServer = Callable[[CallOutside, Callable[[str], None]], Awaitable[Said]]
"""Has the tool of a server called; the second argument is told, in any thread, how far it is."""


class Tools:
    """The tools at work in one project: files inside `root` and `also`, paths and commands from `cwd`, and
    through `call` those of servers.

    `command_timeout` is in seconds, 0: no bound. Of `secrets` no text holds any; the variables named in
    `secret_names`, and those that hold a secret, are not in the environment of commands.
    """

    def __init__(
        self,
        root: Path,
        cwd: Path,
        *,
        also: tuple[Path, ...] = (),
        command_timeout: float = 120.0,
        secrets: tuple[str, ...] = (),
        secret_names: tuple[str, ...] = (),
        call: CallServer | None = None,
    ) -> None:
        self._inside = Inside(root, cwd, also)
        self.cwd = cwd
        self._command_timeout = command_timeout
        self._secrets = secrets
        self._secret_names = frozenset(secret_names)
        self._call = call

    async def prepare(self, action: Action) -> Ready | Impossible:
        """What the action would do, as exactly as can be told before it is done; writes nothing."""
        from minime.shell.tools.threads import in_thread

        if isinstance(action, RunCommand):
            return self._prepare_command(action)
        if isinstance(action, CallOutside):
            return Ready(action)
        try:
            return await in_thread(lambda _: self._prepare(action))
        except Exception as error:
            return Impossible(self._plain(f"{action.path}: {error}"))

    async def run(
        self, call_id: str, ready: Ready, progress: Callable[[str], None], limit: int = LIMIT
    ) -> Tool:
        """What came of it, in at most `limit` characters. `progress` gets the output of a command, and how
        far a server is, as it comes, in this thread.

        Raises CancelledError only, when cancelled: then nothing of the action is running any more.
        """
        import asyncio

        from minime.shell.tools.threads import in_thread

        loop = asyncio.get_running_loop()

        def show(text: str) -> None:
            loop.call_soon_threadsafe(progress, text)

        def tell(text: str) -> None:
            show(self._plain(text))

        try:
            if isinstance(ready.action, CallOutside) and self._call is not None:
                said = await self._call(ready.action, tell)
            else:
                said = await in_thread(lambda stop: self._run(ready, stop, show, limit))
        except Exception as error:
            why = error.strerror if isinstance(error, OSError) else None
            said = Said(f"could not be done: {why or error}", failed=True)
        diff = None if said.failed else ready.diff
        return Tool(call_id, clip(self._plain(said.text), limit), failed=said.failed, diff=diff)

    def _prepare_command(self, action: RunCommand) -> Ready | Impossible:
        if not action.command.strip():
            return Impossible("the command is empty")
        if "\0" in action.command:
            return Impossible("the command holds a NUL character")
        return Ready(action)

    def _prepare(
        self, action: ReadFile | ListDirectory | Search | WriteFile | EditFile
    ) -> Ready | Impossible:
        from minime.shell.tools.write_tools import plan_change

        editing = isinstance(action, WriteFile | EditFile)
        place = self._inside.place(action.path, writing=editing)
        if isinstance(place, Refused):
            return Impossible(self._plain(place.why))
        if not isinstance(action, WriteFile | EditFile):
            return Ready(action, place.where, place=place)
        change = plan_change(place, action)
        if isinstance(change, Refused):
            return Impossible(self._plain(change.why))
        old, new = change.diff.old_text, change.diff.new_text
        diff = Diff(change.diff.path, None if old is None else self._plain(old), self._plain(new))
        return Ready(action, place.where, diff, place, change)

    def _run(self, ready: Ready, stop: threading.Event, show: Callable[[str], None], limit: int) -> Said:
        from minime.shell.tools.read_tools import read_file
        from minime.shell.tools.write_tools import make_change

        match ready:
            case Ready(action=RunCommand() as action):
                return self._run_command(action, stop, show)
            case Ready(change=Change() as change):
                return make_change(change)
            case Ready(action=ReadFile() as action, place=Place() as place):
                return read_file(place, action, stop, limit)
            case Ready(action=ListDirectory() as action, place=Place() as place):
                from minime.shell.tools.search_tool import list_directory

                return list_directory(place, action, self.environment(), stop)
            case Ready(action=Search() as action, place=Place() as place):
                from minime.shell.tools.search_tool import search

                return search(place, action, self.environment(), stop)
            case _:
                return Said("not prepared", failed=True)

    def _run_command(self, action: RunCommand, stop: threading.Event, show: Callable[[str], None]) -> Said:
        from minime.shell.tools.run_tool import run_command

        seconds = command_seconds(action.timeout, self._command_timeout)
        return run_command(action.command, self.cwd, self.environment(), seconds, self._secrets, stop, show)

    def environment(self) -> dict[str, str]:
        """What commands find in theirs: mm's own, without the configured secrets."""
        return command_environment(os.environ, self._secret_names, self._secrets)

    def _plain(self, text: str) -> str:
        return mask(clean(text), self._secrets)
