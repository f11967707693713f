"""Laws of the protocol's machine: anything is said in any order, the world answers when it likes."""

import json
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from minime.core.acp.effects import (
    DeleteSession,
    Effect,
    Export,
    Forget,
    ListSessions,
    Open,
    Save,
    Send,
    SendLater,
    StartTurn,
    StopTurn,
)
from minime.core.acp.inputs import (
    ConsentNeeded,
    Deleted,
    Ended,
    Exported,
    Happened,
    Heard,
    Input,
    Listed,
    Opened,
    Opening,
    RoundKept,
    SaveDone,
    TurnEnded,
)
from minime.core.acp.machine import step
from minime.core.acp.prompt_text import question
from minime.core.acp.state import State
from minime.core.events import (
    Answered,
    Cancelled,
    Event,
    Failed,
    Notice,
    Outcome,
    TextDelta,
    ThoughtDelta,
    ToolFinished,
    ToolRunning,
    ToolStarted,
    UsageSeen,
)
from minime.core.listing import session_row
from minime.core.session import is_empty, new_session
from minime.core.tools.toolbox import RunCommand
from minime.core.turn import Turn, grow
from minime.core.values import Assistant, Session, Stamp, Tool, Usage, tool_call
from tests.support.acp import TURN_UPDATES, check_line
from tests.support.values import NOW, SYSTEM, plain_json

METHODS = (
    "initialize", "authenticate", "session/new", "session/load", "session/resume", "session/list", "session/close",
    "session/delete", "session/set_mode", "session/set_config_option", "session/prompt",
)  # fmt: skip
KEYS = ("sessionId", "cwd", "prompt", "protocolVersion", "methodId", "modeId", "configId", "value", "cursor")
WORDS = (
    "Hello",
    "/new",
    "/sessions",
    "/title A",
    "/mode auto",
    "/nothing",
    "/etc/hosts",
    "/fork",
    "/export md",
    "/permissions clear",
    " ",
)

OUTCOMES: tuple[Outcome, ...] = (
    Answered(),
    Failed("no answer", "", "watchdog"),
    Failed("wrong key", "401", "key"),
)
EVENTS: tuple[Event, ...] = (
    TextDelta("a\u2028b"),
    ThoughtDelta("hm"),
    Notice("a line"),
    UsageSeen(Usage(1, 2, 3)),
)


class World:
    """A disk and running turns that answer what the machine wants done, each when `data` says so."""

    def __init__(self, data: st.DataObject) -> None:
        self.draw = data.draw
        self.state = State("0.1.0", resumes=True)
        self.clock = 0
        self.disk: dict[str, Session] = {}
        self.waiting: list[Input] = []
        self.turns: dict[str, Turn] = {}
        self.stopped: set[str] = set()
        self.methods: dict[Any, str] = {}
        self.answers: dict[Any, int] = {}
        self.open_prompts: dict[str, list[Any]] = {}
        self.loads: dict[str, list[Any]] = {}
        self.deleted: set[str] = set()
        self.permissions: list[int] = []
        self.asked_calls: list[tuple[str, str]] = []
        self.spoken: list[tuple[str, str]] = []
        self.let_go = False

    def hear(self, happened: Input) -> None:
        self.clock += 1
        stamp = Stamp(NOW + timedelta(seconds=self.clock), f"20260916-101530-{self.clock:08x}")
        self.state, effects = step(self.state, happened, stamp)
        self.let_go = any(isinstance(effect, Forget) for effect in effects)
        for effect in effects:
            self.do(effect)

    def say(self, line: bytes) -> None:
        self.hear(Heard(line))

    def ask(self, method: str, params: Any) -> None:
        number = len(self.methods) + 1
        self.methods[number] = method
        id = params.get("sessionId")
        if method == "session/prompt" and isinstance(id, str):
            self.open_prompts.setdefault(id, []).append(number)
        if method == "session/load" and isinstance(id, str):
            self.loads.setdefault(id, []).append(number)
        if method == "session/delete" and isinstance(id, str):
            self.deleted.add(id)
        self.say(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode())

    def do(self, effect: Effect) -> None:
        match effect:
            case Send(line=line) | SendLater(line=line):
                self.sent(check_line(line, self.methods))
            case Open(why="new", id=id):
                session = new_session(Stamp(NOW, id), SYSTEM)
                self.waiting.append(Opened(effect, Opening(session, SYSTEM, True, "ask", window=100)))
            case Open(id=id):
                session = self.disk.get(id, new_session(Stamp(NOW, id), SYSTEM))
                self.waiting.append(Opened(effect, Opening(session, SYSTEM, True, "ask")))
            case ListSessions():
                kept = [s for s in self.disk.values() if not is_empty(s)]
                self.waiting.append(Listed(effect, tuple(("/w", session_row(1, s)) for s in kept)))
            case Export(id=id):
                self.waiting.append(Exported(id, "wrote it"))
            case Save(id=id, session=session):
                if not self.let_go and self.draw(st.integers(0, 4)) == 0:
                    self.waiting.append(SaveDone(id, session.id, None, "cannot save: no space left"))
                    return
                before = self.disk.get(session.id)
                if before is not None and is_empty(session) and not is_empty(before):
                    kept_elsewhere = [
                        s for s in self.disk.values() if s.id != before.id and s.title == before.title
                    ]
                    assert kept_elsewhere, "a conversation was overwritten before it was archived"
                self.disk[session.id] = session
                self.waiting.append(SaveDone(id, session.id, session))
            case DeleteSession(request=request, id=id):
                self.disk.pop(id, None)
                self.waiting.append(Deleted(request))
            case StartTurn(id=id, blocks=blocks):
                assert id not in self.turns, "one turn of a session at a time"
                self.turns[id] = question(blocks, {})
            case StopTurn(id=id):
                self.stopped.add(id)
            case _:
                pass

    def sent(self, said: dict[str, Any]) -> None:
        if said.get("method") == "session/request_permission":
            self.permissions.append(said["id"])
        elif said.get("method") == "session/update":
            id, kind = said["params"]["sessionId"], said["params"]["update"]["sessionUpdate"]
            if kind in TURN_UPDATES or kind == "usage_update":
                assert self.open_prompts.get(id) or self.loads.get(id), f"{kind} outside a prompt"
        elif said["id"] is not None:
            number = said["id"]
            self.answers[number] = self.answers.get(number, 0) + 1
            for numbers in (*self.open_prompts.values(), *self.loads.values()):
                if number in numbers:
                    numbers.remove(number)

    def turn_goes_on(self, id: str) -> None:
        """Something happens in the running turn of a session."""
        turn = self.turns[id]
        number = len(turn.messages) * 100 + self.clock
        call = tool_call(f"call_{len(turn.messages)}", "run_command", '{"command": "make"}')
        kind = self.draw(st.integers(0, 7))
        if id in self.stopped or kind == 0:
            outcome = Cancelled() if id in self.stopped else self.draw(st.sampled_from(OUTCOMES))
            del self.turns[id]
            self.stopped.discard(id)
            if isinstance(outcome, Answered):
                words = f"Done {self.clock}."
                self.spoken.append((id, words))
                turn = grow(
                    turn, Assistant(words, stopped=self.draw(st.sampled_from(("", "length", "loop"))))
                )
            self.hear(TurnEnded(id, turn, outcome, getattr(outcome, "kind", "")))
        elif kind <= 3:
            self.hear(Happened(id, self.draw(st.sampled_from(EVENTS))))
        elif kind <= 5:
            self.hear(Happened(id, ToolStarted(call, "run make")))
            self.hear(ConsentNeeded(id, call, RunCommand("make"), ""))
        else:
            result = Tool(call.id, f"ok {number}", failed=kind == 6)
            self.turns[id] = grow(turn, Assistant("", (call,)), result)
            for event in (ToolStarted(call, "run make"), ToolRunning(call.id), ToolFinished(result)):
                self.hear(Happened(id, event))
            self.hear(RoundKept(id, self.turns[id]))

    def one_step(self) -> None:
        """Something happens, whatever it is."""
        kind = self.draw(st.integers(0, 9))
        ids = sorted(self.state.sessions) or ["20260916-101530-00000001"]
        if kind <= 1 and self.waiting:
            self.hear(self.waiting.pop(0))
        elif kind <= 4 and self.turns:
            self.turn_goes_on(self.draw(st.sampled_from(sorted(self.turns))))
        elif kind == 5:
            self.say(
                self.draw(st.binary(max_size=20) | plain_json.map(lambda value: json.dumps(value).encode()))
            )
        elif kind == 6 and self.permissions:
            option = self.draw(
                st.sampled_from(("allow", "allow-always", "reject", "reject-always", "?", None))
            )
            outcome = {"outcome": "selected", "optionId": option} if option else {"outcome": "cancelled"}
            id = self.draw(st.sampled_from(self.permissions))
            self.say(json.dumps({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}}).encode())
        elif kind == 7:
            told = {
                "sessionId": self.draw(st.sampled_from(ids)),
                "requestId": self.draw(st.integers(1, 30)),
            }
            method = self.draw(st.sampled_from(("session/cancel", "$/cancel_request", "_other")))
            self.say(json.dumps({"jsonrpc": "2.0", "method": method, "params": told}).encode())
        else:
            method = self.draw(st.sampled_from((*METHODS, "session/new", *["session/prompt"] * 6)))
            params: dict[str, Any] = {
                "sessionId": self.draw(st.sampled_from(ids)),
                "cwd": self.draw(st.sampled_from(("/w", "/w", "w"))),
                "prompt": [{"type": "text", "text": self.draw(st.sampled_from(WORDS))}],
                "protocolVersion": 1,
                "clientCapabilities": {"session": {"notices": {}}} if self.draw(st.booleans()) else {},
                "methodId": "mm-config",
                "modeId": self.draw(st.sampled_from(("ask", "auto", "?"))),
                "configId": self.draw(st.sampled_from(("mode", "model", "?"))),
                "value": "ask",
            }
            for key in self.draw(st.lists(st.sampled_from(KEYS), max_size=1)) if kind == 9 else ():
                params[key] = self.draw(plain_json)
            self.ask(method, params)

    def come_to_an_end(self) -> None:
        """The editor goes, and all that was under way comes to its end."""
        self.hear(Ended())
        while self.waiting or self.turns:
            while self.waiting:
                self.hear(self.waiting.pop(0))
            for id in sorted(self.turns):
                self.turn_goes_on(id)


@given(st.data())
def test_each_request_is_answered_once_nothing_comes_behind_and_nothing_is_lost(
    data: st.DataObject,
) -> None:
    world = World(data)
    world.ask("session/new", {"cwd": "/w"})
    world.hear(world.waiting.pop())
    for _ in range(data.draw(st.integers(0, 40))):
        world.one_step()
    world.come_to_an_end()
    assert world.answers == dict.fromkeys(world.methods, 1)
    assert world.state.stopping
    assert not any(live.running or live.queue for live in world.state.sessions.values())
    there = [*world.disk.values(), *(live.session for live in world.state.sessions.values())]
    kept = {m.content for session in there for m in session.messages if isinstance(m, Assistant)}
    assert {words for id, words in world.spoken if id not in world.deleted} <= kept


@given(st.binary(max_size=200) | plain_json.map(lambda value: json.dumps(value).encode()))
def test_no_line_is_too_strange(line: bytes) -> None:
    _, effects = step(State("0.1.0"), Heard(line), Stamp(NOW, "20260916-101530-00000001"))
    for effect in effects:
        if isinstance(effect, Send):
            assert "error" in check_line(effect.line, {})
