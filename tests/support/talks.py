"""Sessions and turns for tests: one constant moment, ids that can be read."""

from datetime import UTC, datetime, timedelta

from minime.core.session import append_turn, new_session
from minime.core.turn import Turn, start
from minime.core.values import Assistant, Session, Stamp, Tool, Usage, User, tool_call

NOW = datetime(2026, 9, 16, 10, 15, 30, tzinfo=UTC)
LATER = NOW + timedelta(seconds=92)
ID = "20260916-101530-4f2a9c1e"
OTHER_ID = "20260916-102000-00c0ffee"
STAMP = Stamp(NOW, ID)
OTHER_STAMP = Stamp(NOW + timedelta(seconds=270), OTHER_ID)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
"""A whole PNG of one pixel, in Base64."""

SYSTEM = "You are mini-me, a coding agent."


def fresh() -> Session:
    """A conversation without a question."""
    return new_session(STAMP, SYSTEM)


def hello_turn() -> Turn:
    """A question and its answer."""
    return Turn((
        User("What is 2 + 2?"),
        Assistant("4.", model="qwen3:8b", usage=Usage(31, 3, 34), seconds=0.8),
    ))


def tool_turn() -> Turn:
    """A question that takes a look into a file."""
    return Turn((
        User("What does main.py do?"),
        Assistant(
            "",
            tool_calls=(tool_call("call_1", "read_file", '{"path": "main.py"}'),),
            reasoning_content="I should read it.",
            model="qwen3:8b",
        ),
        Tool("call_1", "print('hi')\n"),
        Assistant("It prints hi.", model="qwen3:8b", usage=Usage(212, 5, 217), seconds=1.4),
    ))


def talked(*turns: Turn) -> Session:
    """A conversation of these turns."""
    session = fresh()
    for turn in turns:
        session = append_turn(session, turn, LATER)
    return session


def question(text: str = "and test.py?") -> Turn:
    """A turn that holds a question alone."""
    return start(text)
