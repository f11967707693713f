"""A failed try and those before it in, whether, when and with what to try again out."""

import re
from typing import Any

import msgspec

from minime.core.model.failures import Failure

BUSY_STATUSES = frozenset({408, 429, 500, 502, 503, 504, 529})

TOOL_KEYS = frozenset({"tools", "tool_choice", "parallel_tool_calls"})

ONLY_THOUGHT = "[mm: your last answer held a thought and nothing else; give the answer itself now]"
NO_NAME = "[mm: your last answer called a tool without its name; call one of those you have, by its name]"


class Tries(msgspec.Struct, frozen=True):
    """What was tried again for one answer: how often because the connection was dropped, because neither a
    word nor a call came, and because the server was busy; the seconds spent on its loading; whether the tools
    were left out; and the note that the model is given behind the question."""

    dropped: int = 0
    wordless: int = 0
    busy: int = 0
    loading: float = 0.0
    toolless: bool = False
    note: str = ""


class Again(msgspec.Struct, frozen=True):
    """Try again after `seconds`; `notice` tells the user, if it is anything to tell."""

    seconds: float
    tries: Tries
    notice: str = ""


def next_try(
    failed: Failure, tries: Tries, *, waits: tuple[float, ...], watchdog: float, shown: bool, tools: bool
) -> Again | None:
    """The next try; None: the failure stands.

    `waits` are the growing pauses, in seconds, for a server that is busy; `watchdog` bounds what a server
    may ask for (0: nothing does). Nothing is tried again once words were `shown`. `tools`: some were offered.
    """
    if shown:
        return None
    match failed.kind:
        case "dropped" if not tries.dropped:
            return Again(0.0, msgspec.structs.replace(tries, dropped=1))
        case "thinking" if not tries.wordless:
            return Again(0.0, msgspec.structs.replace(tries, wordless=1, note=ONLY_THOUGHT))
        case "nameless" if not tries.wordless:
            return Again(0.0, msgspec.structs.replace(tries, wordless=1, note=NO_NAME))
        case "no-tools" if tools and not tries.toolless:
            notice = f"going on without tools: {failed.shown}"
            return Again(0.0, msgspec.structs.replace(tries, toolless=True), notice)
        case "loading" if waits and (not watchdog or tries.loading + waits[0] <= watchdog):
            notice = "" if tries.loading else "the server is still loading its model: waiting"
            return Again(waits[0], msgspec.structs.replace(tries, loading=tries.loading + waits[0]), notice)
        case "busy" | "server" if tries.busy < len(waits) and failed.status in BUSY_STATUSES:
            seconds = max(waits[tries.busy], failed.retry_after)
            if watchdog and seconds > watchdog:
                return None
            again = msgspec.structs.replace(tries, busy=tries.busy + 1)
            return Again(
                seconds, again, f"{re.split('[:;]', failed.shown)[0]}: trying again in {seconds:g} s"
            )
        case _:
            return None


def pause_asked(retry_after: str, date: str) -> float:
    """The pause that a `Retry-After` header asks for, in seconds; 0 when it asks for none. One that names a
    moment is read against the `Date` header of the same answer."""
    if retry_after.strip().isdecimal():
        return float(retry_after)
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, (parsedate_to_datetime(retry_after) - parsedate_to_datetime(date)).total_seconds())
    except (ValueError, TypeError):
        return 0.0


def model_asked(body: bytes) -> str:
    """The name of the model in the body of a request; empty when it has none."""
    name = _mapping(body).get("model")
    return name if isinstance(name, str) else ""


def without_tools(body: bytes) -> bytes:
    """The body of the same request, offering no tools."""
    wanted = {key: value for key, value in _mapping(body).items() if key not in TOOL_KEYS}
    return msgspec.json.encode(wanted)


def with_note(body: bytes, note: str) -> bytes:
    """The body of the same request with `note` at the end of its last message: a message of its own would
    break the order of roles that templates want. It stands in this one request and in no history."""
    asked = _mapping(body)
    *before, last = asked["messages"]
    content = last.get("content")
    match content:
        case str():
            content = f"{content}\n\n{note}"
        case [*parts]:
            content = [*parts, {"type": "text", "text": note}]
        case _:
            content = note
    return msgspec.json.encode(asked | {"messages": [*before, last | {"content": content}]})


def _mapping(body: bytes) -> dict[str, Any]:
    return msgspec.json.decode(body, type=dict[str, Any])
