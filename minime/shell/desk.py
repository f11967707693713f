"""The person's place at the terminal: lines from the prompt, keys while a turn runs, what stands above it."""

import asyncio
import shutil
import threading
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from minime.core.config.settings import secrets
from minime.core.session import is_empty
from minime.core.status import status_text
from minime.core.tools.permissions import Mode
from minime.core.typed import shell_command
from minime.shell.completer import Completer
from minime.shell.conversation import Conversation
from minime.shell.history import HistoryFile
from minime.shell.keyboard import Interrupts
from minime.shell.line_editor import LineEditor
from minime.shell.own_command import run_own
from minime.shell.paper import Paper
from minime.shell.prompt import Prompt
from minime.shell.typeahead import TypeAhead

T = TypeVar("T")


class Desk:
    """`runner` asks the servers for their models when a line wants one."""

    def __init__(
        self,
        conversation: Conversation,
        interrupts: Interrupts,
        environ: Mapping[str, str],
        paper: Paper,
        runner: asyncio.Runner,
    ) -> None:
        agent = conversation.agent
        self._conversation = conversation
        self._interrupts = interrupts
        self._paper = paper
        self._runner = runner
        self._typing = TypeAhead()
        completer = Completer(agent.project, agent.tools.cwd, conversation.store, self._models)
        self._editor = LineEditor(interrupts, HistoryFile(environ), completer.offers)
        self._prompt = Prompt(self._editor, paper, lambda: secrets(agent.settings))
        self._warmed: threading.Thread | None = None
        self._above = ""
        interrupts.away = self._typing.away
        interrupts.stopped = self._typing.stopped

    def open(self) -> None:
        """Sits down."""
        self._editor.open()
        self._interrupts.install_suspending()
        self._warmed = threading.Thread(target=_warm, name="mm-warm")
        self._warmed.start()

    def close(self) -> None:
        """Gets up."""
        if self._warmed is not None:
            self._warmed.join()

    def line(self, mode: Mode) -> str | None:
        """The next line for mm; None when the person leaves. Commands of their own are run meanwhile."""
        self._show_status(mode)
        while (line := self._prompt.line()) is not None and (own := shell_command(line)) is not None:
            self._run_own(own)
        return line

    async def hold(self, turn: Coroutine[Any, Any, T], went_well: Callable[[T], bool]) -> T:
        """What comes of the turn, during which Ctrl-C ends it and all else that is typed is kept."""
        with self._typing.listening():
            ended = await self._interrupts.guard(turn)
        self._prompt.turn_ended(
            self._typing.take(), went_well=went_well(ended), asked_for_consent=self._typing.asked
        )
        return ended

    def _run_own(self, command: str) -> None:
        tools = self._conversation.agent.tools
        ended = run_own(command, tools.cwd, tools.environment(), self._interrupts)
        if ended:
            self._paper.line(ended, "dim")

    def _models(self) -> tuple[str, ...]:
        choices = self._runner.run(self._conversation.agent.reach.choices())
        return tuple(choice.label for choice in choices)

    def _show_status(self, mode: Mode) -> None:
        """The line above the prompt, where it says something that it did not say before."""
        session, agent = self._conversation.session, self._conversation.agent
        if not self._paper.is_terminal or is_empty(session):
            return
        width = shutil.get_terminal_size().columns - 1
        line = status_text(session, agent.asking.budget(session), agent.reach.name, mode, width)
        if line != self._above:
            self._above = line
            self._paper.line(line, "dim")


def _warm() -> None:
    """Loads what the first question needs while the person types it."""
    import httpx  # noqa: F401
    import rich.console  # noqa: F401
    import rich.text  # noqa: F401

    import minime.shell.model.http  # noqa: F401
    import minime.shell.tools.write_tools  # noqa: F401
