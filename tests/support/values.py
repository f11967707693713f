"""Sessions and turns for tests: one constant moment, ids that can be read, hypothesis strategies."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from hypothesis import strategies as st

from minime.core.session import append_turn, new_session
from minime.core.turn import Turn, start
from minime.core.values import (
    Assistant,
    Diff,
    ErrorRecord,
    Pending,
    Session,
    Stamp,
    Tool,
    Usage,
    User,
    tool_call,
)

NOW = datetime(2026, 9, 16, 10, 15, 30, tzinfo=UTC)
LATER = NOW + timedelta(seconds=92)
ID = "20260916-101530-4f2a9c1e"
OTHER_ID = "20260916-102000-00c0ffee"
STAMP = Stamp(NOW, ID)
OTHER_STAMP = Stamp(NOW + timedelta(seconds=270), OTHER_ID)
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


texts = st.text(st.characters(codec="utf-8"), max_size=40)
words = st.text("abcxyz_é🚗", min_size=1, max_size=8)
times = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)).map(
    lambda moment: moment.replace(microsecond=0, tzinfo=UTC)
)
plain_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
# Keys that no version of ours has, so that they are unknown at every level.
unknown_keys = st.dictionaries(words.map(lambda word: f"x-{word}"), plain_json, max_size=2)


@st.composite
def turns(draw: st.DrawFn, *, extra: bool = False) -> Turn:
    """A whole turn: a question, some rounds of tools, an answer."""
    extras = unknown_keys if extra else st.just({})
    messages: list[Any] = [User(draw(texts), typed=draw(texts), extra=draw(extras))]
    for number in range(draw(st.integers(0, 3))):
        calls = tuple(
            tool_call(
                f"call_{number}_{i}", draw(words), draw(st.sampled_from(("{}", '{"path": "a"}', "{bad")))
            )
            for i in range(draw(st.integers(1, 2)))
        )
        messages.append(Assistant(draw(texts), calls, reasoning_content=draw(texts), extra=draw(extras)))
        messages += [
            Tool(
                call.id,
                draw(texts),
                failed=draw(st.booleans()),
                diff=draw(st.none() | diffs),
                extra=draw(extras),
            )
            for call in calls
        ]
    messages.append(
        Assistant(draw(texts.filter(str.strip)), usage=draw(st.none() | usages), seconds=draw(seconds))
    )
    return Turn(tuple(messages))


diffs = st.builds(Diff, path=words, old_text=st.none() | texts, new_text=texts)
usages = st.builds(Usage, st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
seconds = st.integers(0, 10**6).map(lambda n: n / 8)
records = st.builds(
    ErrorRecord,
    time=times,
    kind=st.sampled_from(("generation", "compaction", "resume")),
    turns=st.integers(0, 1000),
    question=texts,
    message=texts,
    detail=texts,
)


@st.composite
def sessions(draw: st.DrawFn, *, extra: bool = True) -> Session:
    """A conversation as a file may hold it, unknown keys included."""
    extras = unknown_keys if extra else st.just({})
    session = new_session(Stamp(draw(times), ID), draw(texts), draw(words))
    for turn in draw(st.lists(turns(extra=extra), max_size=3)):
        session = append_turn(session, turn, draw(times))
    pending = draw(st.none() | turns(extra=extra))
    return msgspec.structs.replace(
        session,
        title=draw(texts),
        errors=tuple(draw(st.lists(records, max_size=3))),
        pending=None if pending is None else Pending(draw(times), "failed", pending.messages),
        extra=draw(extras),
    )
