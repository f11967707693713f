"""The line that tells what is awaited: it comes when nothing else does, and fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.cells import width
from minime.core.events import (
    Compacted,
    CompactionProgress,
    CompactionStarted,
    Event,
    Notice,
    TextDelta,
    ThoughtDelta,
    ToolFinished,
    ToolProgress,
    ToolRunning,
)
from minime.core.values import Assistant, Tool
from minime.core.waiting import QUIET, Waiting, notice, waiting_text


def after(*happened: tuple[float, Event]) -> Waiting:
    waiting = Waiting()
    for moment, event in happened:
        waiting = notice(waiting, event, moment)
    return waiting


def said(waiting: Waiting, now: float, room: int = 60, unsettled: str = "") -> str:
    """The line without its moving first letter."""
    return waiting_text(waiting, now, room, unsettled)[2:]


THOUGHT = [(number / 10, ThoughtDelta(f"word{number} ")) for number in range(1, 21)]
SUMMARY = [(5 + number / 10, CompactionProgress("x")) for number in range(20)]


@pytest.mark.parametrize(
    ("happened", "now", "line"),
    [
        ((), 3.2, "3 s"),
        (((0.5, TextDelta("It")),), 2.0, "1 s"),
        (((0.5, ToolRunning("a")),), 65.6, "1 min 5 s"),
        (((1.0, ToolRunning("a")), (2.0, ToolProgress("a", "one\ntwo\n"))), 4.0, "3 s · two"),
        (((1.0, ToolRunning("a")), (2.0, ToolFinished(Tool("a", "x")))), 4.0, "2 s"),
        (THOUGHT, 2.1, "thinking 2 s · ~10 tokens/s · …ord17 word18 word19 word20"),
        (((4.0, CompactionStarted(3)), *SUMMARY), 7.0, "compacting 3 turns 3 s · ~10 tokens/s"),
        (((4.0, CompactionStarted(3)), (5.0, Compacted(1, 1, 1, 9, 1, Assistant("")))), 6.0, "1 s"),
    ],
)
def test_what_is_awaited(happened: tuple[tuple[float, Event], ...], now: float, line: str) -> None:
    assert said(after(*happened), now) == line


def test_nothing_is_said_just_after_something_came_or_without_room() -> None:
    answered = after((1.0, TextDelta("It")))
    assert said(answered, 1.0 + QUIET / 2) == ""
    assert said(answered, 5.0, room=5) == ""


def test_words_that_are_not_down_yet_are_shown_in_front() -> None:
    line = waiting_text(after((1.0, TextDelta("unfinished"))), 4.0, 30, "unfinished")
    assert line.startswith("unfinished ")
    assert line.endswith(" 3 s")


@given(
    st.sampled_from((
        ThoughtDelta("中文 a"),
        TextDelta("b"),
        ToolRunning("a"),
        ToolProgress("a", "x" * 99),
        Notice("n"),
    )),
    st.integers(0, 80),
    st.text(max_size=50),
    st.floats(0, 5000),
)
def test_the_line_fits_and_is_one(event: Event, room: int, unsettled: str, passed: float) -> None:
    line = waiting_text(after((0.0, event)), passed, room, unsettled)
    assert width(line) <= room
    assert "\n" not in line
