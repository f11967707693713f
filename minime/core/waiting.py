"""What a turn is at while nothing new comes onto the screen: one line that says so and goes away again."""

from typing import Literal

import msgspec

from minime.core.cells import cut, head, unturned, width
from minime.core.events import (
    Compacted,
    CompactionFailed,
    CompactionProgress,
    CompactionStarted,
    Event,
    TextDelta,
    ThoughtDelta,
    ToolFinished,
    ToolProgress,
    ToolRunning,
)
from minime.core.listing import count
from minime.core.text import one_line, seconds_text

QUIET = 0.3
"""Seconds without anything new after which the line appears."""

TICK = 0.1
FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
TAIL = 400

Doing = Literal["waiting", "thinking", "answering", "running", "compacting"]


class Waiting(msgspec.Struct, frozen=True):
    """What is being done since when (seconds), how many pieces have come, and the newest words of them;
    `first` and `heard` are when the first and the last one came."""

    doing: Doing = "waiting"
    since: float = 0.0
    heard: float = 0.0
    first: float = 0.0
    pieces: int = 0
    words: str = ""
    about: str = ""


def notice(waiting: Waiting, event: Event, now: float) -> Waiting:
    """What is being done once `event` has happened."""
    match event:
        case ThoughtDelta(text=text):
            return _more(waiting, "thinking", text, now)
        case TextDelta():
            return _more(waiting, "answering", "", now)
        case CompactionProgress():
            return _more(waiting, "compacting", "", now)
        case ToolProgress(text=text):
            return msgspec.structs.replace(waiting, heard=now, words=(waiting.words + text)[-TAIL:])
        case ToolRunning():
            return Waiting("running", now, now)
        case CompactionStarted(turns=turns):
            return Waiting("compacting", now, 0.0, about=f"compacting {count(turns, 'turn')} ")
        case ToolFinished() | Compacted() | CompactionFailed():
            return Waiting("waiting", now, now)
        case _:
            return msgspec.structs.replace(waiting, heard=now)


def waiting_text(waiting: Waiting, now: float, room: int, unsettled: str = "") -> str:
    """The line, on at most `room` columns; empty when something came just now, or there is no room. The words
    that are `unsettled` stand in it, so that nothing which has come is kept from the person for long."""
    hides = waiting.doing in {"thinking", "compacting"}
    if room < 8 or (now - waiting.heard < QUIET and not hides):
        return ""
    passed = now - waiting.since
    frame = FRAMES[int(now / TICK) % len(FRAMES)]
    about = "thinking " if waiting.doing == "thinking" else waiting.about
    line = f"{frame} {about}{seconds_text(int(passed))}"
    streamed = now - waiting.first
    if waiting.pieces >= 10 and streamed >= 1:
        line += f" · ~{waiting.pieces / streamed:.0f} tokens/s"
    if unsettled and width(line) + 6 >= room:
        return cut(line, room)
    if unsettled:
        return f"{_end_of(unsettled, room - width(line) - 1)} {line}"
    words = _last_words(waiting, room - width(line) - 4)
    return cut(f"{line} · {words}" if words else line, room)


def _more(waiting: Waiting, doing: Doing, text: str, now: float) -> Waiting:
    if waiting.doing != doing:
        return Waiting(doing, now, now, now, 1, text[-TAIL:])
    words = (waiting.words + text)[-TAIL:]
    first = waiting.first if waiting.pieces else now
    return msgspec.structs.replace(waiting, heard=now, first=first, pieces=waiting.pieces + 1, words=words)


def _last_words(waiting: Waiting, room: int) -> str:
    """The newest words: the end of a thought, the last line of a command."""
    text = waiting.words
    if waiting.doing == "running":
        text = text.rstrip("\n").rpartition("\n")[2]
    words = one_line(text, TAIL)
    if room < 12 or not words:
        return ""
    return cut(unturned(words), room) if waiting.doing == "running" else _end_of(words, room)


def _end_of(text: str, room: int) -> str:
    """The end of a text that has more than `room` columns."""
    words = unturned(one_line(text[-TAIL:], TAIL))
    return words if width(words) <= room else "…" + head(words[::-1], room - 1)[::-1].lstrip()
