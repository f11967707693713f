"""A conversation with the pure protocol machine: what an editor says and what happens -> a transcript.

    talk = Conversation()
    talk.ask("session/new", cwd="/w", mcpServers=[])
    talk.prompt("Hello")
    talk.answer("Hi.")
    assert talk.text == golden("acp/first.txt")

The disk is a dictionary; turns are played by hand. Each line that goes out is checked against the official
schema as it comes.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

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
    ConsentNeeded,
    Deleted,
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
from minime.core.acp.prompt_text import image_data, image_name_of, question
from minime.core.acp.state import Block, State
from minime.core.events import (
    Answered,
    Event,
    Outcome,
    TextDelta,
    ToolFinished,
    ToolRunning,
    ToolStarted,
    UsageSeen,
)
from minime.core.images import Kept, image_name, image_text, image_url
from minime.core.listing import session_row
from minime.core.session import is_empty, new_session
from minime.core.tools.toolbox import BadCall, parse_call
from minime.core.turn import Turn, grow
from minime.core.values import Assistant, Diff, Session, Stamp, Tool, ToolCall, Usage
from tests.support.schema import accepts
from tests.support.values import NOW, SYSTEM

SCHEMA = Path(__file__).parent.parent / "data" / "acp" / "schema-v1.json"
MOST_LINE = 1_000_000
TURN_UPDATES = {"agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update"}
TOOLS = ("read_file", "write_file", "edit_file", "list_directory", "search", "run_command")


@cache
def schema() -> dict[str, Any]:
    """The official schema of the protocol."""
    whole: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return whole


@cache
def results() -> dict[str, str]:
    """The name in the schema of what answers each method of an agent."""
    return {
        kind["x-method"]: name
        for name, kind in schema()["$defs"].items()
        if kind.get("x-side") == "agent" and name.endswith("Response")
    }


def is_valid(kind: str, value: Any) -> bool:
    """Whether `value` is a `kind` of the schema."""
    return accepts({"$ref": f"#/$defs/{kind}"}, value, schema())


def check_line(line: bytes, methods: dict[Any, str]) -> dict[str, Any]:
    """A line that went out, read; it must be one line of ASCII and valid for what it answers or tells."""
    assert line.isascii()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert len(line) < MOST_LINE
    said: dict[str, Any] = json.loads(line)
    assert said["jsonrpc"] == "2.0"
    if "method" in said and "id" in said:
        assert said["method"] == "session/request_permission"
        assert is_valid("RequestPermissionRequest", said["params"])
    elif "method" in said:
        assert said["method"] == "session/update"
        assert is_valid("SessionNotification", said["params"]), said
    elif "error" in said:
        assert is_valid("Error", said["error"])
        assert "\n" not in said["error"]["message"]
    else:
        assert is_valid(results()[methods[said["id"]]], said["result"]), said
    return said


class Conversation:
    """The machine, a disk in memory, and what was said. `heard` are the lines that went out, read; `done`
    all effects; `disk_full` is the line that a save fails with."""

    def __init__(
        self, *, window: int = 0, mode: Any = "ask", client: dict[str, Any] | None = None, **state: Any
    ):
        self.state = State("0.1.0", **state)
        self.disk: dict[str, Session | CannotOpen] = {}
        self.disk_full = ""
        self.images: dict[str, bytes] = {}
        self.opening: dict[str, Any] = {"window": window, "mode": mode, "model": "qwen3:8b", "tools": TOOLS}
        self.heard: list[dict[str, Any]] = []
        self.done: list[Effect] = []
        self.lines: list[str] = []
        self.turns: dict[str, tuple[StartTurn, Turn]] = {}
        self.methods: dict[Any, str] = {}
        self._clock = 0
        self._number = 0
        if client is not None:
            self.ask("initialize", protocolVersion=1, clientCapabilities=client)

    @property
    def text(self) -> str:
        """The transcript: `> ` heard, `< ` written, `* ` done."""
        return "\n".join(self.lines) + "\n"

    @property
    def id(self) -> str:
        """The session that was opened last."""
        return next(e.id for e in reversed(self.done) if isinstance(e, Open))

    def ask(self, method: str, /, **params: Any) -> Any:
        """A request; its answer (the result, or the error), None while it is open."""
        self._number += 1
        number = self._number
        self.methods[number] = method
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.raw(json.dumps(message).encode())
        return self.answer_to(number)

    def tell(self, method: str, /, **params: Any) -> None:
        """A notification."""
        self.raw(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def permit(self, option: str | None) -> None:
        """The answer to the newest request for permission; None: cancelled."""
        id = next(m["id"] for m in reversed(self.heard) if m.get("method") == "session/request_permission")
        outcome = {"outcome": "selected", "optionId": option} if option else {"outcome": "cancelled"}
        self.raw(json.dumps({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}}).encode())

    def raw(self, line: bytes) -> None:
        """A line of the editor, as it is."""
        shown = line.rstrip(b"\n").decode("utf-8", "backslashreplace").replace("\r", "\\r")
        self.lines.append(f"> {shown}".rstrip())
        self.feed(Heard(line))

    def feed(self, happened: Input) -> None:
        """Something that happens, and all that follows from it."""
        inbox = [happened]
        while inbox:
            self._clock += 1
            stamp = Stamp(NOW + timedelta(seconds=self._clock), f"20260916-101530-{self._clock:08x}")
            self.state, effects = step(self.state, inbox.pop(0), stamp)
            for effect in effects:
                self.done.append(effect)
                self.lines += self._written(effect)
                inbox += self._world(effect)

    def new(self, cwd: str = "/w", **params: Any) -> str:
        """A fresh session's id."""
        answer = self.ask("session/new", cwd=cwd, mcpServers=params.pop("mcpServers", []), **params)
        return str(answer["sessionId"])

    def prompt(self, *blocks: str | dict[str, Any], id: str = "") -> Any:
        """A prompt in the session that was opened last, or in `id`."""
        said = [b if isinstance(b, dict) else {"type": "text", "text": b} for b in blocks]
        return self.ask("session/prompt", sessionId=id or self.id, prompt=said)

    def happen(self, *events: Event, id: str = "") -> None:
        """Events of the running turn."""
        for event in events:
            self.feed(Happened(id or self.id, event))

    def start(self, call: ToolCall, diff: Diff | None = None, *, consent: bool = True, id: str = "") -> None:
        """A tool call begins, and asks for consent where it has to."""
        id = id or self.id
        self.grow(Assistant("", (call,), model="qwen3:8b"), id=id)
        self.happen(ToolStarted(call, "", diff), id=id)
        action = parse_call(call, TOOLS)
        assert not isinstance(action, BadCall)
        if consent:
            self.feed(ConsentNeeded(id, call, action, getattr(action, "path", "")))

    def finish(self, result: Tool, *, run: bool = True, keep: bool = True, id: str = "") -> None:
        """The call comes to its end, and its round."""
        id = id or self.id
        if run:
            self.happen(ToolRunning(result.tool_call_id), id=id)
        self.happen(ToolFinished(result), id=id)
        self.grow(result, id=id)
        if keep:
            self.feed(RoundKept(id, self.turns[id][1]))

    def grow(self, *messages: Assistant | Tool, id: str = "") -> None:
        """The running turn grows."""
        id = id or self.id
        wish, turn = self.turns[id]
        self.turns[id] = wish, grow(turn, *messages)

    def answer(self, text: str, usage: Usage | None = None, *, stopped: Any = "", id: str = "") -> None:
        """The turn ends with these words."""
        id = id or self.id
        self.happen(TextDelta(text), *([UsageSeen(usage)] if usage else []), id=id)
        self.grow(Assistant(text, model="qwen3:8b", usage=usage, stopped=stopped), id=id)
        self.end(Answered(), id=id)

    def end(self, outcome: Outcome, *, id: str = "") -> None:
        """The turn is over."""
        id = id or self.id
        _, turn = self.turns.pop(id)
        self.feed(TurnEnded(id, turn, outcome, getattr(outcome, "kind", "")))

    def answers(self, number: Any) -> list[Any]:
        """All answers to a request: there has to be one."""
        return [
            m.get("result", m.get("error")) for m in self.heard if "method" not in m and m["id"] == number
        ]

    def answer_to(self, number: Any) -> Any:
        """The answer to a request, None while there is none."""
        return next(iter(self.answers(number)), None)

    def updates(self, id: str = "") -> list[dict[str, Any]]:
        """What the session was shown."""
        return [
            m["params"]["update"]
            for m in self.heard
            if m.get("method") == "session/update" and m["params"]["sessionId"] == (id or self.id)
        ]

    def kinds(self, id: str = "") -> list[str]:
        """The kinds of what the session was shown."""
        return [update["sessionUpdate"] for update in self.updates(id)]

    def mark(self) -> None:
        """Forgets what was said and done so far, for a test to look at the rest alone."""
        self.heard.clear()
        self.lines.clear()
        self.done = [e for e in self.done if isinstance(e, Open)]

    def _written(self, effect: Effect) -> Iterator[str]:
        match effect:
            case Send(line=line):
                self.heard.append(check_line(line, self.methods))
                yield f"< {line.decode().rstrip()}"
            case SendLater(seconds=seconds, line=line):
                self.heard.append(check_line(line, self.methods))
                yield f"* {seconds} s later:"
                yield f"< {line.decode().rstrip()}"
            case Open(why=why, id=id, cwd=cwd):
                yield f"* open {why} {id} in {cwd}"
            case Save(session=session):
                yield f"* save {session.id}: {_about(session)}"
            case StartTurn(session=session):
                yield f"* start turn behind {_about(session)}"
            case StartCompaction(session=session, focus=focus):
                yield f"* compact {_about(session)}: {focus or 'no words'}"
            case StopTurn():
                yield "* stop turn"
            case Decide(call_id=call_id, refusal=refusal):
                yield f"* decide {call_id}: {refusal or 'yes'}"
            case ListSessions(cwd=cwd):
                yield f"* list {cwd or 'all projects'}"
            case Export(session=session, wanted=wanted):
                yield f"* export {_about(session)} as {wanted.format} to {wanted.file or 'a free name'}"
            case DeleteSession(id=id):
                yield f"* delete {id}"
            case UseModel(name=name):
                yield f"* use model {name}"
            case Forget(id=id):
                yield f"* let go of {id}"
            case Stop():
                yield "* end"

    def _kept(self, id: str, blocks: tuple[Block, ...]) -> dict[int, Kept | str]:
        """The images of a prompt as mm keeps them, or why it does not."""
        kept: dict[int, Kept | str] = {}
        for place, block in enumerate(blocks):
            data = image_data(block)
            if isinstance(data, str):
                kept[place] = data
            elif data:
                url = image_url(id, image_name(data))
                self.images[url] = data
                kept[place] = Kept(url, image_text(image_name_of(block), data))
        return kept

    def _world(self, effect: Effect) -> Iterator[Input]:
        match effect:
            case Open(why="new", id=id):
                session = new_session(Stamp(NOW, id), SYSTEM)
                yield Opened(effect, Opening(session, SYSTEM, self.state.keeps, **self.opening))
            case Open(id=id):
                found = self.disk.get(id, CannotOpen(-32002, f"session not found: no session {id} here"))
                if isinstance(found, Session):
                    yield Opened(
                        effect, Opening(found, SYSTEM, self.state.keeps, **self.opening, images=self.images)
                    )
                else:
                    yield Opened(effect, found)
            case Save(id=id, session=session):
                if self.disk_full:
                    yield SaveDone(id, session.id, None, self.disk_full)
                else:
                    self.disk[session.id] = session
                    yield SaveDone(id, session.id, session)
            case StartTurn(id=id, blocks=blocks, turn=turn):
                self.turns[id] = effect, turn or question(blocks, {}, self._kept(id, blocks))
            case ListSessions(cwd=cwd):
                kept = [s for s in self.disk.values() if isinstance(s, Session) and not is_empty(s)]
                kept.sort(key=lambda s: (s.updated, s.id), reverse=True)
                rows = tuple((cwd or "/w", session_row(n, s)) for n, s in enumerate(kept, 1))
                yield Listed(effect, rows)
            case Export(id=id, wanted=wanted):
                yield Exported(id, f"wrote /w/{wanted.file or 'talk'}")
            case DeleteSession(request=request, id=id):
                self.disk.pop(id, None)
                yield Deleted(request)
            case _:
                pass


def _about(session: Session) -> str:
    """A session in a few words."""
    errors = f", {len(session.errors)} errors" if session.errors else ""
    pending = f", pending: {session.pending.reason}" if session.pending else ""
    title = f" {session.title!r}" if session.title else ""
    return f"{len(session.messages)} messages{errors}{pending}{title}"
