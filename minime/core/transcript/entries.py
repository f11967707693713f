"""A session to the entries of a document, as they are read: each message once, errors in their place."""

from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from minime.core.images import Kept, images_of, words_of
from minime.core.listing import count
from minime.core.session import turns
from minime.core.tools.toolbox import BadCall, action_title, past_call
from minime.core.turn import stopped_text
from minime.core.values import (
    Assistant,
    ErrorRecord,
    Message,
    Session,
    System,
    Tool,
    ToolCall,
    User,
    content_text,
    first_line,
)


class Prompt(msgspec.Struct, frozen=True):
    """The system prompt."""

    text: str


class Asked(msgspec.Struct, frozen=True):
    """A question begins the turn `number`. `added` is what mm put behind the words of the person, `images`
    what they gave along."""

    number: int
    text: str
    added: str = ""
    images: tuple[Kept, ...] = ()


class SummedUp(msgspec.Struct, frozen=True):
    """Here stood so many turns; the next answer is their summary. `text` is what stands in their place."""

    turns: int
    text: str


class Thought(msgspec.Struct, frozen=True):
    """What the model thought before it answered."""

    text: str


class Said(msgspec.Struct, frozen=True):
    """Words of the model. `stopped` says why they end before their time, empty when they do not."""

    text: str
    stopped: str = ""


class Called(msgspec.Struct, frozen=True):
    """A tool call and what came of it; None where no result was recorded."""

    call: ToolCall
    result: Tool | None


class Left(msgspec.Struct, frozen=True):
    """A result that belongs to no call."""

    result: Tool


class Wrong(msgspec.Struct, frozen=True):
    """What went wrong at this point."""

    record: ErrorRecord


class Unfinished(msgspec.Struct, frozen=True):
    """From here on: a turn that was broken off, with the rounds that were done."""

    reason: str


Spoken = Prompt | Asked | SummedUp | Thought | Said | Called | Left | Unfinished
Entry = Spoken | Wrong


def entries(session: Session) -> Iterator[Entry]:
    """The whole session: the prompt, each turn, behind it what went wrong then, and at the end a turn that
    was broken off. The errors of one place stand in the order they came."""
    errors = list(session.errors)
    seen = 0
    for entry in _of(session.messages):
        if isinstance(entry, Asked | SummedUp):
            while errors and errors[0].turns <= seen:
                yield Wrong(errors.pop(0))
            if isinstance(entry, Asked):
                seen += 1
                entry = msgspec.structs.replace(entry, number=seen)
            else:
                seen += entry.turns
        yield entry
    yield from map(Wrong, errors)
    if session.pending is not None:
        yield Unfinished(session.pending.reason)
        for entry in _of(session.pending.messages):
            yield msgspec.structs.replace(entry, number=seen + 1) if isinstance(entry, Asked) else entry


def _of(messages: tuple[Message, ...]) -> Iterator[Entry]:
    taken: set[int] = set()
    for place, message in enumerate(messages):
        match message:
            case System(content=text):
                yield Prompt(text)
            case User(compacted=turns) if turns > 0:
                yield SummedUp(turns, content_text(message.content))
            case User():
                text = message.typed or words_of(message)
                yield Asked(0, text, _added(message, text), images_of(message))
            case Assistant():
                if message.reasoning_content:
                    yield Thought(message.reasoning_content)
                if message.content or message.stopped or not message.tool_calls:
                    yield Said(message.content, message.stopped)
                if message.tool_calls:
                    yield from _calls(messages, place, message, taken)
            case Tool() if place not in taken:
                yield Left(message)
            case Tool():
                pass


def _calls(messages: tuple[Message, ...], place: int, answer: Assistant, taken: set[int]) -> Iterator[Called]:
    """Each call with the first result of its id that stands behind it, before the next question or answer."""
    waiting: dict[str, list[int]] = {}
    for behind in range(place + 1, len(messages)):
        result = messages[behind]
        if not isinstance(result, Tool):
            break
        waiting.setdefault(result.tool_call_id, []).append(behind)
    for call in answer.tool_calls:
        places = waiting.get(call.id)
        if not places:
            yield Called(call, None)
            continue
        taken.add(places[0])
        result = messages[places.pop(0)]
        yield Called(call, result if isinstance(result, Tool) else None)


def _added(user: User, typed: str) -> str:
    """What the model read beside the words that were typed."""
    if not user.typed:
        return ""
    whole = words_of(user)
    return whole.removeprefix(typed).strip("\n") if whole.startswith(typed) else whole


def title_text(session: Session) -> str:
    """The title of the document."""
    return first_line(session.title, 200) or "A conversation without a title"


def facts(session: Session) -> tuple[tuple[str, str], ...]:
    """What there is to know of the session beside its title: names and values, in the order to be shown."""
    calls = sum(len(m.tool_calls) for m in session.messages if isinstance(m, Assistant))
    size = [count(turns(session), "turn")]
    size += [count(calls, "tool call")] if calls else []
    size += [count(len(session.errors), "error")] if session.errors else []
    found = [("session", session.id), ("model", session.model), ("when", when_text(session))]
    return tuple((name, value) for name, value in [*found, ("size", ", ".join(size))] if value)


def when_text(session: Session) -> str:
    """From its first moment to its last use, in UTC: the reader may be anywhere."""
    first, last = session.created.astimezone(UTC), session.updated.astimezone(UTC)
    same = f"{first:%Y-%m-%d}" == f"{last:%Y-%m-%d}"
    end = f"{last:%H:%M}" if same else f"{last:%Y-%m-%d %H:%M}"
    return f"{first:%Y-%m-%d %H:%M} – {end} UTC"


def moment_text(moment: datetime) -> str:
    """A moment in UTC, to the minute."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def call_title(call: ToolCall) -> str:
    """What a call does, in a few words; the name of the tool where it makes no sense."""
    action = past_call(call)
    return first_line(call.function.name, 80) if isinstance(action, BadCall) else action_title(action)


def arguments_text(call: ToolCall) -> tuple[str, str]:
    """`(text, language)` of a call's arguments: laid out where they are JSON, else as they are."""
    written = call.function.arguments
    try:
        return msgspec.json.format(written, indent=2), "json"
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return written, "text"


def cut_text(stopped: str) -> str:
    """The line behind an answer that ends before its time; empty for a whole one."""
    match stopped:
        case "length" | "loop" | "cancelled":
            return stopped_text(stopped, 0)
        case "steps":
            return "stopped after too many tool rounds (maxSteps in agent.yaml)"
        case _:
            return ""


def error_head(record: ErrorRecord) -> str:
    """When and in what an error came."""
    return f"{moment_text(record.time)} · {record.kind}"
