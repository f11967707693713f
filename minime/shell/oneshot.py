"""One question, one turn: the answer on stdout, all else on stderr."""

import asyncio
import contextlib
import sys

import msgspec

from minime.core.budget import result_limit
from minime.core.events import Answered, Cancelled, Event, Failed, Outcome
from minime.core.mentions import asked
from minime.core.pieces import Piece
from minime.core.turn import Turn, answer_text, turn_stopped
from minime.shell.conversation import Conversation
from minime.shell.display import Display
from minime.shell.keyboard import Interrupts
from minime.shell.paper import Paper
from minime.shell.permission import Permission

MOST_STDIN = 1_000_000
READING_AFTER = 0.2
"""Seconds of silence on a pipe after which a line says that mm is reading it."""

WRONG = 2


class OneShot:
    """Shows a turn as it goes. On a terminal the answer streams; into a pipe it goes whole, at the end, so
    that what the model says between two tools does not get into it."""

    def __init__(self, conversation: Conversation, *, as_json: bool) -> None:
        self._conversation = conversation
        self._out = Paper(sys.stdout)
        self._display = Display(self._out if self._out.is_terminal else None, Paper(sys.stderr))
        self._json = as_json
        self._lost: OSError | None = None
        self.pause = self._display.pause

    def tell(self, line: str) -> None:
        """A line of its own, on stderr."""
        self._display.tell(line)

    def run(self, question: str, piped: str, permission: Permission, interrupts: Interrupts) -> int:
        """Has the question answered, with the files that it names and what was piped in behind it. The result
        is the exit status. Raises OSError when stdout could not be written, once the turn is kept."""
        with asyncio.Runner() as runner:
            turn = runner.run(self._turn(question, piped))
            if isinstance(turn, str):
                self._display.tell(f"mm: {turn}", "red")
                return WRONG
            status = runner.run(self._run(turn, permission, interrupts))
        if self._lost is not None:
            raise self._lost
        return status

    async def _turn(self, question: str, piped: str) -> Turn | str:
        agent = self._conversation.agent
        if "@" not in question:  # most have none, and reading files takes more modules
            return asked(question, (), piped)
        from minime.shell.attaching import question_turn

        limit = result_limit(agent.asking.budget(self._conversation.session))
        return await question_turn(
            question,
            agent.tools,
            lambda line: self._display.tell(f"  {line}", "dim"),
            self._conversation.keep_image,
            limit,
            piped,
        )

    async def _run(self, turn: Turn, permission: Permission, interrupts: Interrupts) -> int:
        asked = self._conversation.ask(turn, self._show, permission.consent)
        async with self._display.watched():
            ended, outcome = await interrupts.guard(asked)
        if self._json:
            self._line(self._report(ended, outcome))
        else:
            self._display.end(ended, outcome, self._conversation.agent.max_steps)
            if not self._out.is_terminal and not isinstance(outcome, Failed):
                self._answer(answer_text(ended))
        with contextlib.suppress(asyncio.CancelledError):  # Ctrl-C once more: the turn is over already
            await self._conversation.agent.close()
        match outcome:
            case Answered():
                return 1 if turn_stopped(ended) in {"steps", "loop"} else 0
            case Failed():
                return 1
            case Cancelled():
                return interrupts.leaving or 130

    def _show(self, event: Event) -> None:
        if self._json:
            self._line(event)
        else:
            self._display.show(event)

    def _answer(self, text: str) -> None:
        if text:
            self._out.write((Piece(text if text.endswith("\n") else text + "\n"),))

    def _line(self, value: object) -> None:
        try:
            self._out.write((Piece(msgspec.json.encode(value).decode() + "\n"),))
        except OSError as error:
            self._lost = error

    def _report(self, ended: Turn, outcome: Outcome) -> dict[str, object]:
        conversation = self._conversation
        report: dict[str, object] = {"event": "done", "outcome": "answered", "answer": answer_text(ended)}
        match outcome:
            case Failed(shown=shown):
                report |= {"outcome": "failed", "answer": "", "error": shown}
            case Cancelled():
                report["outcome"] = "cancelled"
            case Answered():
                report["stopped"] = turn_stopped(ended)
        return report | {"session": conversation.session.id if conversation.store else ""}


def read_stdin() -> str | None:
    """What comes in on stdin when that is no terminal; None when it is one, or closed.

    A line on stderr says so when a pipe is silent at first: mm waits for its end.
    """
    from minime.core.text import clean

    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return None
    try:
        _tell_when_silent()
        data = sys.stdin.buffer.read(MOST_STDIN + 1)
    except OSError:
        return None
    if len(data) > MOST_STDIN:
        Paper(sys.stderr).line("mm: stdin holds more than 1 MB; the rest is left out", "yellow")
    return clean(data[:MOST_STDIN])


def _tell_when_silent() -> None:
    import os
    import select
    import stat

    descriptor = sys.stdin.fileno()
    if (
        stat.S_ISFIFO(os.fstat(descriptor).st_mode)
        and not select.select([descriptor], [], [], READING_AFTER)[0]
    ):
        Paper(sys.stderr).line("mm: reading stdin until its end (Ctrl-D, or run it with < /dev/null)", "dim")
