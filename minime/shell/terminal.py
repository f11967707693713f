"""The interactive terminal: read a line, do it, say what came of it."""

import asyncio
import sys
from collections.abc import Coroutine, Mapping
from typing import Any

from minime.core.budget import result_limit
from minime.core.commands import Nothing, Question, Slash, Unknown, help_text, parse_command
from minime.core.context_text import context_text
from minime.core.events import Answered, Cancelled, Outcome
from minime.core.listing import SHOWN_ROWS, count, row_text
from minime.core.model.offers import choices_text, chosen, place_text
from minime.core.pieces import Piece, Style
from minime.core.screen import errors_pieces, resumed_pieces, tools_text, undone_text
from minime.core.session import changed_files, fork, is_empty, last_exchange, undo, with_title
from minime.core.tools.consent import always_text
from minime.core.tools.permissions import MODES
from minime.core.turn import Turn
from minime.core.typed import HELP
from minime.core.values import first_line
from minime.shell import clock
from minime.shell.attaching import question_turn
from minime.shell.conversation import Conversation
from minime.shell.desk import Desk
from minime.shell.display import Display
from minime.shell.exporting import export_line
from minime.shell.keyboard import Interrupts
from minime.shell.paper import Paper
from minime.shell.permission import Permission


class Terminal:
    """A visit: one conversation in hand at a time, until the person leaves."""

    def __init__(
        self, conversation: Conversation, interrupts: Interrupts, environ: Mapping[str, str]
    ) -> None:
        self.conversation = conversation
        self.permission: Permission | None = None
        self._interrupts = interrupts
        self._paper = Paper(sys.stdout)
        self._display = Display(self._paper, self._paper)
        self._runner = asyncio.Runner()
        self._desk = Desk(conversation, interrupts, environ, self._paper, self._runner)
        self.pause = self._display.pause

    def tell(self, line: str, style: Style = "yellow") -> None:
        """A line of its own."""
        self._display.tell(line, style)

    def visit(self, permission: Permission, first: str = "") -> int:
        """Holds the conversation until the person leaves. The result is the exit status."""
        self.permission = permission
        with self._runner as runner:
            self._greet(runner.run(self.conversation.agent.reach.describe()))
            if first:
                self._resume(first)
            self._desk.open()
            try:
                while not self._interrupts.leaving and self._line(runner):
                    pass
            except SystemExit:
                pass
            self.conversation.finish()
            runner.run(self.conversation.agent.close())
        self._desk.close()
        return self._interrupts.leaving

    def _greet(self, answering: str) -> None:
        mode = self.permission.mode if self.permission else "ask"
        self.tell(f"mini-me · {answering} · {mode} mode · /help", "bold")
        store = self.conversation.store
        if store is None:
            return
        try:
            earlier = len(store.heads())
        except OSError as error:
            self.tell(f"cannot read {store.folder}: {error.strerror or error}", "red")
            return
        if earlier:
            self.tell(f"{count(earlier, 'earlier session')} here: /sessions, /resume", "dim")

    def _line(self, runner: asyncio.Runner) -> bool:
        """Reads a line and does it; False when the person leaves."""
        text = self._desk.line(self.permission.mode if self.permission else "ask")
        if text is None:
            return False
        try:
            return self._do(text, runner)
        except KeyboardInterrupt:
            self._paper.write((Piece("\n"),))
            return True

    def _do(self, text: str, runner: asyncio.Runner) -> bool:
        match parse_command(text):
            case Nothing():
                pass
            case Unknown(message=message):
                self.tell(message, "red")
            case Question(text=question):
                runner.run(self._ask(question))
            case Slash(name="quit"):
                return False
            case Slash(name="resume", argument=wanted):
                self._resume(wanted)
            case Slash(name="retry"):
                runner.run(self._retry())
            case Slash(name="compact", argument=focus):
                runner.run(self._compact(focus))
            case Slash(name="model", argument=name):
                runner.run(self._model(name))
            case Slash(name="context"):
                runner.run(self._context())
            case Slash(name=name, argument=argument):
                self._command(name, argument)
        return True

    async def _ask(self, question: str) -> None:
        assert self.permission is not None, "a visit has begun"
        agent = self.conversation.agent
        limit = result_limit(agent.asking.budget(self.conversation.session))
        turn = await question_turn(
            question,
            agent.tools,
            lambda line: self.tell(f"  {line}", "dim"),
            self.conversation.keep_image,
            limit,
        )
        if isinstance(turn, str):
            self.tell(turn, "red")
        else:
            await self._answer(self.conversation.ask(turn, self._display.show, self.permission.consent))

    async def _retry(self) -> None:
        assert self.permission is not None, "a visit has begun"
        if not await self._answer(self.conversation.retry(self._display.show, self.permission.consent)):
            self._paper.line("nothing to try again yet")

    async def _compact(self, focus: str) -> None:
        compacting = self.conversation.compact(focus, self._display.show)
        async with self._display.watched():
            outcome = await self._desk.hold(compacting, lambda outcome: isinstance(outcome, Answered))
        if isinstance(outcome, Cancelled):
            self.tell("cancelled")

    async def _answer(self, turn: Coroutine[Any, Any, tuple[Turn, Outcome] | None]) -> bool:
        """Shows a turn from its first word to its end; False when there was none."""
        async with self._display.watched():
            answered = await self._desk.hold(
                turn, lambda ended: ended is not None and isinstance(ended[1], Answered)
            )
        if answered is not None:
            self._display.end(*answered, self.conversation.agent.max_steps)
            self._paper.line("")
        return answered is not None

    def _command(self, name: str, argument: str) -> None:
        session = self.conversation.session
        assert self.permission is not None, "a visit has begun"
        match name:
            case "help":
                self._paper.line(f"{help_text()}\n\n{HELP}")
            case "new":
                left = self.conversation.leave()
                self.permission.always = ()
                self._paper.line(
                    f"left {session.id}; the next question opens a new conversation"
                    if left
                    else "this one is empty"
                )
            case "undo":
                self._undo()
            case "fork" if is_empty(session):
                self._paper.line("this one is empty")
            case "fork":
                forked = fork(session, clock.stamp())
                self.conversation.change(forked)
                self._paper.line(f"this is {forked.id} now; {session.id} stays as it is")
            case "sessions":
                self._sessions()
            case "title":
                self._title(argument)
            case "export":
                agent = self.conversation.agent
                self.tell(*export_line(session, argument, agent.folder, agent.asking.pictures))
            case "errors":
                when = tuple(f"{clock.local(record.time):%Y-%m-%d %H:%M}" for record in session.errors)
                self._paper.write(errors_pieces(session, when))
            case "tools":
                self._paper.line(
                    tools_text(self.conversation.agent.tool_names, self.conversation.agent.reports)
                )
            case "mode":
                self._mode(argument)
            case "permissions":
                self._permissions(argument)
            case _:
                raise AssertionError(f"a command without its deed: {name}")

    def _resume(self, wanted: str) -> None:
        if not wanted:
            self.tell("which one? /resume NUMBER, a piece of its id, or last (/sessions lists them)", "red")
            return
        trouble = self.conversation.resume(wanted)
        if trouble:
            self.tell(trouble, "red")
            return
        session = self.conversation.session
        if self.permission is not None:
            self.permission.always = ()
        when = f"{clock.local(session.updated):%Y-%m-%d %H:%M}"
        self._paper.write(resumed_pieces(session, when, self._paper.columns))

    def _sessions(self) -> None:
        store = self.conversation.store
        if store is None:
            self.tell("sessions are not kept here", "red")
            return
        try:
            heads = store.heads()
        except OSError as error:
            self.tell(f"cannot read {store.folder}: {error.strerror or error}", "red")
            return
        for row in store.rows(tuple(head.id for head in heads[:SHOWN_ROWS])):
            mark = "*" if row.id == self.conversation.session.id else " "
            text = mark + row_text(row, clock.local, self._paper.columns)[1:]
            self._paper.line(text, "red" if row.damaged else "")
        if not heads:
            self._paper.line("no sessions here yet")
        if len(heads) > SHOWN_ROWS:
            self._paper.line(f"… and {len(heads) - SHOWN_ROWS} older (mm sessions --all)", "dim")

    def _undo(self) -> None:
        session = self.conversation.session
        shorter = undo(session, clock.now())
        if shorter is session:
            self._paper.line("nothing to take back")
            return
        self.conversation.change(shorter)
        gone = last_exchange(session)
        files = changed_files(gone)
        self._paper.line(undone_text(gone, files))

    def _title(self, title: str) -> None:
        session = self.conversation.session
        if title:
            self.conversation.change(with_title(session, first_line(title)))
        self._paper.line(self.conversation.session.title or "no title yet: /title TEXT gives one")

    def _mode(self, wanted: str) -> None:
        assert self.permission is not None, "a visit has begun"
        mode = next((mode for mode in MODES if mode == wanted), None)
        if wanted and mode is None:
            self.tell(f"no mode {wanted!r}: there are {', '.join(MODES)}", "red")
            return
        self.permission.mode = mode or self.permission.mode
        self._paper.line(f"mode: {self.permission.mode}")

    def _permissions(self, wanted: str) -> None:
        assert self.permission is not None, "a visit has begun"
        if wanted == "clear":
            self.permission.always = ()
        elif wanted:
            self.tell("/permissions shows what was allowed, /permissions clear takes it back", "red")
            return
        allowed = [f"  {always_text(rule)}" for rule in self.permission.always]
        self._paper.line(
            "\n".join(["allowed for this conversation:", *allowed])
            if allowed
            else "nothing is allowed beforehand"
        )

    async def _context(self) -> None:
        agent, session = self.conversation.agent, self.conversation.session
        await agent.reach.survey_window()
        self._paper.line(context_text(session, agent.asking.budget(session), agent.window.origin))

    async def _model(self, wanted: str) -> None:
        agent = self.conversation.agent
        there = await agent.reach.choices()
        name, where = await agent.reach.glance()
        if not wanted:
            self._paper.line(choices_text(there, name, where) or "no model: start a server (ollama serve)")
            return
        meant = chosen(there, wanted, where)
        if isinstance(meant, str):
            self.tell(meant, "red")
            return
        agent.use_model(meant)
        self._paper.line(f"model: {meant.name}{place_text(meant.server)}, from the next question on")
