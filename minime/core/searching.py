"""Words looked for in conversations: a session to the lines that hold them, each with its turn.

`may_hold` looks at a file's bytes first, so that a file without the words is never decoded.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from minime.core.text import one_line
from minime.core.values import Assistant, Message, Session, System, Tool, User, first_line, question_text

SHOWN = 160
"""Characters of a line that are shown around what was found."""

_PLAIN = re.compile(r"\w+(?: \w+)*", re.ASCII)
"""Words that stand in a file as they stand in a text: no encoder of JSON escapes any of their letters."""

_ALSO_SMALL = {"k": "\u212a".encode(), "i": "\u0130".encode()}
"""Letters outside ASCII whose small forms begin with one inside; of their bytes no small forms are known."""


class Wanted(msgspec.Struct, frozen=True):
    """What is looked for: a text, without regard to case, or a regular expression. `tool` bounds the search
    to the calls and results of one tool, `errors` to the error records."""

    text: str
    regex: bool = False
    tool: str = ""
    errors: bool = False


class Hit(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line that holds what was looked for. `turn` counts from 1 (0: the title), `line` from 1 within its
    message; `role` is user, assistant, thought, call, result, summary, error or title."""

    id: str
    turn: int
    role: str
    line: int
    text: str
    tool: str = ""
    unfinished: bool = False


Search = Callable[[str], int]
"""Where in a line the words begin; -1 where they are not."""


def new_search(wanted: Wanted) -> Search | str:
    """How a line is looked at; or what is wrong with the words."""
    if not wanted.text.strip():
        return "nothing to look for: give a word"
    if not wanted.regex:
        small = wanted.text.lower()
        return lambda line: line.lower().find(small)
    try:
        pattern = re.compile(wanted.text, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        return f"not a regular expression: {error}"

    def search(line: str) -> int:
        found = pattern.search(line)
        return found.start() if found else -1

    return search


def may_hold(data: bytes, wanted: Wanted) -> bool:
    """False where the bytes of a session's file cannot hold what is wanted."""
    if wanted.errors and b'"kind"' not in data:
        return False
    longest = "" if wanted.regex else max(_PLAIN.findall(wanted.text.lower()), key=len, default="")
    if longest.encode() in data.lower():
        return True
    return not data.isascii() and any(data.find(_ALSO_SMALL[c]) >= 0 for c in _ALSO_SMALL if c in longest)


def hits(session: Session, wanted: Wanted, search: Search) -> Iterator[Hit]:
    """The lines of the conversation that hold what is wanted, in order: the title where it is the user's
    own, the messages (not the system prompt), the unfinished turn, the error records."""
    for hit, text in _texts(session, wanted):
        for number, line in enumerate(text.splitlines(), start=1):
            place = search(line)
            if place >= 0:
                yield msgspec.structs.replace(hit, line=number, text=_around(line, place))


def _texts(session: Session, wanted: Wanted) -> Iterator[tuple[Hit, str]]:
    if not wanted.errors:
        if not wanted.tool and session.title != _first_question(session):
            yield Hit(session.id, 0, "title", 1, ""), session.title
        yield from _of_messages(session.id, session.messages, wanted.tool, 0)
        if session.pending is not None:
            turns = sum((m.compacted or 1) for m in session.messages if isinstance(m, User))
            for hit, text in _of_messages(session.id, session.pending.messages, wanted.tool, turns):
                yield msgspec.structs.replace(hit, unfinished=True), text
    if not wanted.tool:
        for record in session.errors:
            words = (record.question, record.message, record.detail)
            yield Hit(session.id, record.turns, "error", 1, ""), "\n".join(filter(None, words))


def _of_messages(id: str, messages: tuple[Message, ...], tool: str, turn: int) -> Iterator[tuple[Hit, str]]:
    names: dict[str, str] = {}
    summary = False
    for message in messages:
        match message:
            case User(compacted=compacted):
                turn += compacted or 1
                summary = bool(compacted)
                if not tool and not summary:
                    yield Hit(id, turn, "user", 1, ""), question_text(message)
            case Assistant(content=content, reasoning_content=thought, tool_calls=calls):
                if not tool:
                    yield Hit(id, turn, "thought", 1, ""), thought
                    yield Hit(id, turn, "summary" if summary else "assistant", 1, ""), content
                for call in calls:
                    names[call.id] = call.function.name
                    if tool in {"", call.function.name}:
                        hit = Hit(id, turn, "call", 1, "", tool=call.function.name)
                        yield hit, _arguments_text(call.function.arguments)
            case Tool(tool_call_id=call_id, content=content):
                name = names.get(call_id, "")
                if tool in {"", name}:
                    yield Hit(id, turn, "result", 1, "", tool=name), content
            case System():
                pass


def _arguments_text(arguments: str) -> str:
    """The arguments of a call as a person would write them; as they stand where they are no JSON object."""
    try:
        read: Any = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return arguments
    if not isinstance(read, dict):
        return arguments
    return "\n".join(
        f"{key}: {value if isinstance(value, str) else _json(value)}" for key, value in read.items()
    )


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _first_question(session: Session) -> str:
    asked = (m for m in session.messages if isinstance(m, User) and not m.compacted)
    return first_line(next((question_text(m) for m in asked), session.title))


def _around(line: str, place: int) -> str:
    """The line, or the piece of it around `place`, without what would steer a terminal."""
    start = max(0, place - SHOWN // 3) if len(line) > SHOWN else 0
    piece = one_line(line[start : start + 2 * SHOWN], SHOWN)
    return f"… {piece}" if start else piece


ROLES = {
    "user": "you",
    "assistant": "agent",
    "thought": "thought",
    "summary": "summary",
    "error": "error",
    "title": "title",
}


def hit_text(hit: Hit) -> str:
    """A hit for people: where it stands, and the line."""
    who = f"{hit.tool or 'tool'} {hit.role}" if hit.role in {"call", "result"} else ROLES[hit.role]
    turn = "title" if hit.role == "title" else f"turn {hit.turn} · {who} · line {hit.line}"
    if hit.role == "error":
        turn = f"after turn {hit.turn} · error · line {hit.line}"
    return f"  {turn}{' · unfinished' if hit.unfinished else ''}: {hit.text}"
