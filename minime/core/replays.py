"""What an agent does with a recorded conversation, as texts that are kept and compared: one for the system
prompt, one for the tools, one for each turn."""

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import msgspec

from minime.core.events import Answered, Cancelled, Failed, Outcome
from minime.core.pieces import Piece, Style
from minime.core.text import clean
from minime.core.tools.consent import Allow, Ask, Deny, decide
from minime.core.tools.permissions import Mode, PermissionRule
from minime.core.tools.toolbox import BadCall, parse_call
from minime.core.turn import SAME_CALL_WARNING, Turn, turn_stopped
from minime.core.values import Assistant, Session, Tool, ToolCall, User

SYSTEM, TOOLS = "system.md", "tools.json"
NO_RESULT = "(no result on record)"
NO_ANSWER = "the model is asked once more than it was in the recording"
_WARNING = re.compile(r"\n" + re.escape(SAME_CALL_WARNING).replace(r"\{count\}", r"\d+") + r"\Z")


class Request(msgspec.Struct, frozen=True):
    """The model is asked with this body."""

    body: bytes


class Called(msgspec.Struct, frozen=True):
    """A tool call, in a few words, and whether it passes, is asked for, or is refused."""

    title: str
    verdict: str


class Ended(msgspec.Struct, frozen=True):
    """The turn is over; so many recorded answers were not asked for."""

    turn: Turn
    outcome: Outcome
    left: int


Step = Request | Called | Ended


class Recorded(msgspec.Struct, frozen=True):
    """A turn as it was recorded: what stood before it, its question, the answers in order, and the results
    by the ids of their calls."""

    before: Session
    question: User
    answers: tuple[Assistant, ...]
    results: dict[str, Tool]


def recorded_turns(session: Session) -> Iterator[Recorded]:
    """The turns of a session. A summary is no turn but part of what stands before the next one."""
    places = [n for n, m in enumerate(session.messages) if isinstance(m, User)]
    for place, end in pairwise([*places, len(session.messages)]):
        question = session.messages[place]
        if not isinstance(question, User) or question.compacted:
            continue
        behind = session.messages[place + 1 : end]
        yield Recorded(
            msgspec.structs.replace(session, messages=session.messages[:place], pending=None),
            question,
            tuple(_undecided(m) for m in behind if isinstance(m, Assistant)),
            {m.tool_call_id: m for m in behind if isinstance(m, Tool)},
        )


def _undecided(answer: Assistant) -> Assistant:
    """The answer without the mark of a turn that mm stopped itself: whether it does is seen again."""
    stopped = "" if answer.stopped in {"steps", "loop"} else answer.stopped
    return msgspec.structs.replace(answer, stopped=stopped)


def recorded_result(recorded: Recorded, call_id: str) -> Tool:
    """What the call came to then, without what mm itself put behind it: whether it does is seen again."""
    result = recorded.results.get(call_id, Tool(call_id, NO_RESULT, failed=True))
    return msgspec.structs.replace(result, content=_WARNING.sub("", result.content))


def called(
    title: str, call: ToolCall, names: tuple[str, ...], mode: Mode, rules: tuple[PermissionRule, ...]
) -> Called:
    """The call with what would be decided on it."""
    action = parse_call(call, names)
    if isinstance(action, BadCall):
        return Called(title, "not understood")
    match decide(action, mode, rules):
        case Allow():
            return Called(title, "passes")
        case Ask():
            return Called(title, "asks for consent")
        case Deny():
            return Called(title, "refused")


def replay_texts(turns: tuple[tuple[Step, ...], ...]) -> dict[str, str]:
    """The texts by the names of their files, in order."""
    bodies = [_body(step) for steps in turns for step in steps if isinstance(step, Request)]
    systems = [m for body in bodies for m in body["messages"] if m["role"] == "system"][:1]
    declared: list[Any] = next((body["tools"] for body in bodies if body.get("tools")), [])
    texts = {
        SYSTEM: "".join(_content(m).rstrip("\n") + "\n" for m in systems),
        TOOLS: json.dumps(declared, ensure_ascii=False, indent=2) + "\n",
    }
    known: dict[str, Any] = {}
    for number, steps in enumerate(turns, 1):
        lines: list[str] = []
        for step in steps:
            lines += [*_step_lines(step, known), ""]
            if isinstance(step, Request):
                known = _body(step)
        texts[turn_file(number)] = clean("\n".join(lines).rstrip("\n")) + "\n"
    return texts


def turn_file(number: int) -> str:
    """The name of the file of a turn."""
    return f"turn-{number:03}.txt"


def is_ours(name: str) -> bool:
    """Whether a file of that name is one of the texts."""
    number = name.removeprefix("turn-").removesuffix(".txt")
    return name in {SYSTEM, TOOLS} or (number.isdigit() and name == turn_file(int(number)))


def differing(kept: Mapping[str, str], today: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the texts that are not the same, those that only one side has among them."""
    names = [*today, *(name for name in kept if name not in today)]
    return tuple(name for name in names if kept.get(name) != today.get(name))


def difference(folder: str, name: str, kept: str | None, today: str | None) -> tuple[Piece, ...]:
    """What is new about a text, as a unified diff for people."""
    lines = difflib.unified_diff(
        (kept or "").splitlines(),
        (today or "").splitlines(),
        f"{folder}/{name}" if kept is not None else "(not kept)",
        f"{name} today" if today is not None else "(gone)",
        lineterm="",
    )
    styles: dict[str, Style] = {"+": "green", "-": "red", "@": "cyan"}
    return tuple(Piece(f"{line}\n", styles.get(line[:1], "")) for line in lines)


def _step_lines(step: Step, known: dict[str, Any]) -> Iterator[str]:
    match step:
        case Request():
            yield from _request_lines(_body(step), known)
        case Called(title=title, verdict=verdict):
            yield f"call: {title} · {verdict}"
        case Ended(turn=turn, outcome=outcome, left=left):
            yield f"end: {_outcome_text(turn, outcome)}"
            if left:
                yield f"  {left} of the recorded answers were not asked for"


def _request_lines(body: dict[str, Any], known: dict[str, Any]) -> Iterator[str]:
    """What is new about a request beside the one before it: its parameters, its tools, its messages."""
    yield "request"
    for key in (*body, *(key for key in known if key not in body)):
        if key not in {"messages", "tools"} and body.get(key) != known.get(key):
            yield f"  {key}: {json.dumps(body.get(key), ensure_ascii=False)}"
    tools, before = _names(body), _names(known)
    if tools != before:
        yield f"  tools: {', '.join(tools) or 'none'}"
    messages, old = body["messages"], known.get("messages", [])
    same = next((n for n, (a, b) in enumerate(zip(messages, old)) if a != b), min(len(messages), len(old)))  # noqa: B905
    if same:
        yield f"  {same} message{'s' * (same > 1)} as before"
    if same < len(old):
        yield f"  {len(old) - same} of before no longer there"
    for message in messages[same:]:
        yield from _message_lines(message)


def _message_lines(message: dict[str, Any]) -> Iterator[str]:
    if message["role"] == "system":
        yield f"  system: {SYSTEM}"
        return
    yield f"  {message['role']}:"
    for line in _content(message).splitlines():
        yield f"    {line}".rstrip()
    for call in message.get("tool_calls", ()):
        yield f"    → {call['function']['name']} {call['function']['arguments']}"


def _content(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return (
        content if isinstance(content, str) else "\n".join(part.get("text", "(picture)") for part in content)
    )


def _body(request: Request) -> dict[str, Any]:
    body: dict[str, Any] = msgspec.json.decode(request.body)
    return body


def _names(body: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", ())]


def _outcome_text(turn: Turn, outcome: Outcome) -> str:
    match outcome:
        case Answered():
            why = turn_stopped(turn)
            return f"answered, stopped: {why}" if why else "answered"
        case Cancelled():
            return "cancelled"
        case Failed(shown=shown):
            return f"failed: {shown}"
