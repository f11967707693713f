"""Which files of the sessions folder are whole: a name and its bytes to a verdict, verdicts to lines."""

import re
from collections.abc import Callable
from typing import Literal

import msgspec

from minime.core.codec import Newer, Unreadable, decode
from minime.core.listing import count, is_id
from minime.core.session import is_empty, turns
from minime.core.text import one_line
from minime.core.values import Session

State = Literal["whole", "unused", "damaged", "newer", "unreadable", "leftover", "foreign"]
WRONG: tuple[State, ...] = ("damaged", "newer", "unreadable")
"""What makes a check fail; a leftover or a strange file harms no conversation."""

WAYS_OUT: dict[State, str] = {
    "damaged": "mm never writes over it; put a backup in its place, mend it, or: mm sessions delete {name}",
    "newer": "update mm to read it",
    "unreadable": "mend the permissions or the disk, then check again",
    "leftover": "of a save that was broken off; it harms nothing, and the next start of mm removes it",
    "foreign": "not a file of mm; it is left alone",
}
_LEFTOVER = re.compile(r"\.\d{8}-\d{6}-[0-9a-f]{8}\.[0-9a-f]+\.tmp")
_BESIDE = re.compile(r"\.lock|\d{8}-\d{6}-[0-9a-f]{8}\.files")


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a file is, and `why` where that needs words; `bytes` is its size, `turns` those of a session."""

    name: str
    state: State
    why: str = ""
    bytes: int = 0
    turns: int = 0


def session_id(name: str) -> str:
    """The id of the session that a file of this name holds; empty for other files."""
    stem = name.removesuffix(".json")
    return stem if name.endswith(".json") and is_id(stem) else ""


def beside(name: str) -> Verdict | None:
    """What a file is that is no session by its name; None for what mm keeps beside the sessions."""
    if _BESIDE.fullmatch(name):
        return None
    return Verdict(name, "leftover" if _LEFTOVER.fullmatch(name) else "foreign")


def judge(name: str, data: bytes, missing: Callable[[Session], tuple[str, ...]] = lambda _: ()) -> Verdict:
    """What the bytes of a session's file are worth; `missing` tells the images of it that are not there."""
    id = session_id(name)
    try:
        session = decode(data)
    except Newer as newer:
        return Verdict(id, "newer", str(newer), len(data))
    except Unreadable as error:
        return Verdict(id, "damaged", str(error), len(data))
    if session.id != id:
        return Verdict(id, "damaged", f"it holds another session, {one_line(session.id, 40)}", len(data))
    gone = missing(session)
    why = f"not there any more: {', '.join(gone)}" if gone else ""
    return Verdict(id, "unused" if is_empty(session) else "whole", why, len(data), turns(session))


def verdict_text(verdict: Verdict) -> str:
    """The line about a file, with the way out where there is something to do."""
    line = f"{verdict.state:10}  {one_line(verdict.name, 200)}"
    why = f"  {verdict.why}" if verdict.why else ""
    if verdict.state in {"whole", "unused"}:
        return f"{line}  {count(verdict.turns, 'turn'):>9}  {size_text(verdict.bytes)}{why}"
    return f"{line}{why}\n{'':10}  {WAYS_OUT[verdict.state].format(name=verdict.name)}"


def checked_text(found: dict[State, int]) -> str:
    """What a check came to, in one line."""
    sessions = sum(number for state, number in found.items() if state not in {"leftover", "foreign"})
    if not sum(found.values()):
        return "no sessions here yet"
    names: tuple[State, ...] = ("whole", "unused", *WRONG)
    parts = [f"{found[state]:,} {state}" for state in names if found.get(state)]
    nouns: tuple[tuple[State, str], ...] = (("leftover", "leftover"), ("foreign", "strange file"))
    others = [count(found[state], noun) for state, noun in nouns if found.get(state)]
    told = f"{count(sessions, 'session')}: {', '.join(parts)}" if parts else "no session"
    return " · ".join([told, *others])


def size_text(size: int) -> str:
    """`812 B`, `12 KB`, `1.4 MB`."""
    if size < 1_000:
        return f"{size} B"
    return f"{size / 1_000:,.0f} KB" if size < 999_500 else f"{size / 1_000_000:,.1f} MB"
