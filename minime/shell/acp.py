"""The editor's façade: lines of stdin go into the machine, its effects into the world.

The real stdout is the protocol's: it is put aside at the start, and what anything else prints goes to
stderr. Everything but reading and writing of lines runs in one event loop.
"""

import asyncio
import contextlib
import signal
import sys
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from minime import __version__
from minime.core.acp.effects import (
    Decide,
    DeleteSession,
    Effect,
    Export,
    Forget,
    ListSessions,
    Open,
    Save,
    Send,
    SendLater,
    StartCompaction,
    StartTurn,
    Stop,
    StopTurn,
    UseModel,
)
from minime.core.acp.inputs import (
    CannotOpen,
    CompactionEnded,
    ConsentNeeded,
    Deleted,
    Ended,
    Exported,
    Happened,
    Heard,
    Input,
    ModelsFound,
    Opened,
    RoundKept,
    SaveDone,
    ServersSeen,
    TurnEnded,
)
from minime.core.acp.machine import step
from minime.core.acp.state import State
from minime.core.acp.wire import INTERNAL_ERROR, MOST_BYTES, Fault, Request, read_line, write_fault
from minime.core.events import Cancelled, Failed, Outcome
from minime.core.turn import Turn, start
from minime.core.values import ToolCall
from minime.shell import clock
from minime.shell.editor_pipes import Writer, keep_apart, read_lines
from minime.shell.editor_session import EditorSession, Projects
from minime.shell.mcp import has_sdk

if TYPE_CHECKING:
    from minime.shell.tools.tools import Ready

SURVEY_AFTER = 0.2
"""Seconds behind the opening of a session after which its models are looked for."""

LAST_SECONDS = 1.5
"""What running turns have to end in, when the editor has gone."""


class Editor:
    """The machine's state, and the hands of each open session."""

    def __init__(self, put: Callable[[bytes], None], state: State, projects: Projects) -> None:
        self._put = put
        self._state = state
        self._projects = projects
        self._sessions: dict[str, EditorSession] = {}
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._waiting: dict[tuple[str, str], asyncio.Future[str]] = {}
        self._others: set[asyncio.Task[None]] = set()
        self._inbox: deque[Input] = deque()
        self._lines = bytearray()
        self._busy = False
        self.stopped = asyncio.Event()

    def hear(self, said: Input) -> None:
        """Takes what has happened, and does what follows from it, in order."""
        self._inbox.append(said)
        if self._busy:
            return
        self._busy = True
        try:
            while self._inbox:
                self._take(self._inbox.popleft())
            self._flush()
        finally:
            self._busy = False

    def _take(self, said: Input) -> None:
        try:
            self._state, effects = step(self._state, said, clock.stamp())
            for effect in effects:
                self._do(effect)
        except Exception as error:
            # Whatever it is: the request is answered, and everything else goes on.
            asking = read_line(said.line) if isinstance(said, Heard) else None
            if not isinstance(asking, Request):
                raise
            fault = Fault(INTERNAL_ERROR, f"mm itself failed: {type(error).__name__}: {error}")
            self._lines += write_fault(asking.id, fault)

    async def close(self) -> None:
        """Lets go of everything that is still held."""
        for task in (*self._tasks.values(), *self._others):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), *self._others, return_exceptions=True)
        await asyncio.gather(*(session.agent.close() for session in self._sessions.values()))

    def _do(self, effect: Effect) -> None:
        match effect:
            case Send(line=line):
                self._lines += line
            case SendLater(id=id, seconds=seconds, line=line):
                asyncio.get_running_loop().call_later(seconds, self._send_if_open, id, line)
            case Open():
                self._open(effect)
            case ListSessions():
                self._inbox.append(self._projects.list_sessions(effect))
            case Export(id=id, session=session, wanted=wanted):
                self._inbox.append(Exported(id, self._sessions[id].export(session, wanted)))
            case DeleteSession(request=request, id=id):
                self._inbox.append(Deleted(request, self._projects.delete(id)))
            case Save(id=id, session=session):
                saved, trouble = self._sessions[id].save(session)
                self._inbox.append(SaveDone(id, session.id, saved, trouble))
            case StartTurn():
                self._start(effect)
            case StartCompaction():
                self._compact(effect)
            case StopTurn(id=id):
                if id in self._tasks:
                    self._tasks[id].cancel()
            case Decide(id=id, call_id=call_id, refusal=refusal):
                waiting = self._waiting.pop((id, call_id), None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(refusal)
            case UseModel(id=id, name=name):
                self._sessions[id].agent.use_model(name)
            case Forget(id=id):
                session_held = self._sessions.pop(id, None)
                if session_held is not None:
                    self._later(session_held.agent.close())
            case Stop():
                self.stopped.set()

    def _open(self, wish: Open) -> None:
        opened = self._projects.open(wish)
        if isinstance(opened, CannotOpen):
            self._inbox.append(Opened(wish, opened))
            return
        session, outcome = opened
        before = self._sessions.get(wish.id)
        self._sessions[wish.id] = session
        if before is not None:
            self._later(before.agent.close())
        self._inbox.append(Opened(wish, outcome))
        asyncio.get_running_loop().call_later(SURVEY_AFTER, lambda: self._later(self._survey(wish.id)))

    async def _survey(self, id: str) -> None:
        """Which models there are, told once it is known."""
        session = self._sessions.get(id)
        if session is None:
            return
        session.agent.start()
        model, models, window = await session.agent.reach.survey()
        if model:
            self.hear(ModelsFound(id, model, models, window.tokens, window.origin))
        if session.agent.servers is not None:
            await session.agent.servers.ready()
            self.hear(ServersSeen(id, session.agent.reports))

    def _start(self, effect: StartTurn) -> None:
        id, session = effect.id, self._sessions[effect.id]

        async def consent(call: ToolCall, ready: "Ready") -> str:
            answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            self._waiting[id, call.id] = answer
            self.hear(ConsentNeeded(id, call, ready.action, ready.where))
            try:
                return await answer
            finally:
                self._waiting.pop((id, call.id), None)

        turn = session.answer(
            effect.session,
            effect.blocks,
            effect.turn,
            consent,
            lambda turn: self.hear(RoundKept(id, turn)),
            lambda event: self.hear(Happened(id, event)),
        )
        task = asyncio.get_running_loop().create_task(turn)
        self._tasks[id] = task
        task.add_done_callback(lambda done: self._ended(id, done))

    def _compact(self, effect: StartCompaction) -> None:
        id = effect.id
        work = self._sessions[id].compact(
            effect.session, effect.focus, lambda event: self.hear(Happened(id, event))
        )
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[id] = task

        def ended(done: asyncio.Task[Outcome]) -> None:
            self._drop(id, done)
            # Cancelled before its first step, nothing of it had begun; all else is an outcome.
            self.hear(CompactionEnded(id, Cancelled() if done.cancelled() else done.result()))

        task.add_done_callback(ended)

    def _drop(self, id: str, task: asyncio.Task[Any]) -> None:
        if self._tasks.get(id) is task:
            del self._tasks[id]
        if id in self._sessions and self._sessions[id].agent.reports:
            self.hear(ServersSeen(id, self._sessions[id].agent.reports))

    def _ended(self, id: str, task: asyncio.Task[tuple[Turn, Outcome]]) -> None:
        self._drop(id, task)
        if task.cancelled():
            # Cancelled before its first step: nothing of it had begun.
            self.hear(TurnEnded(id, start(""), Cancelled()))
            return
        error = task.exception()
        if error is not None:
            shown = f"mm itself failed: {type(error).__name__}: {error}"
            self.hear(TurnEnded(id, start(""), Failed(shown)))
            return
        turn, outcome = task.result()
        self.hear(TurnEnded(id, turn, outcome, getattr(outcome, "kind", "")))

    def _later(self, work: "asyncio._CoroutineLike[None]") -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._others.add(task)
        task.add_done_callback(self._others.discard)

    def _send_if_open(self, id: str, line: bytes) -> None:
        if id in self._state.sessions:
            self._lines += line
            self._flush()

    def _flush(self) -> None:
        if self._lines:
            self._put(bytes(self._lines))
            self._lines.clear()


def serve(environ: Mapping[str, str], config: Path | None = None, start: Path | None = None) -> int:
    """Speaks the protocol on stdin and stdout until the editor goes. `start` is the process's own folder,
    where it is not the current one. The result is the exit status."""
    folder = start or Path.cwd()
    heard, out = keep_apart()
    return asyncio.run(_serve(heard, out, Projects(environ, config, folder)))


async def _serve(heard: int, out: int, projects: Projects) -> int:
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_complain)

    def leave() -> None:
        editor.hear(Ended())
        loop.call_later(LAST_SECONDS, editor.stopped.set)

    def soon(work: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(work)

    writer = Writer(out, lambda: soon(leave))
    keeps, resumes = projects.abilities()
    editor = Editor(writer.put, State(__version__, keeps=keeps, resumes=resumes, mcp=has_sdk()), projects)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        loop.add_signal_handler(number, leave)
    read_lines(
        heard, MOST_BYTES, lambda line: soon(leave if line is None else lambda: editor.hear(Heard(line)))
    )
    await editor.stopped.wait()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(editor.close(), 0.2)
    writer.close(0.2)
    return 0


def _complain(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A fault of mm's own is a line on stderr and ends nothing."""
    error = context.get("exception")
    told = f"{type(error).__name__}: {error}" if error else str(context.get("message", ""))
    sys.stderr.write(f"mm: mm itself failed: {' '.join(told.split())}\n")
