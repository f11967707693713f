"""Sessions and turns for tests, and hypothesis strategies for them."""

from datetime import UTC, datetime
from typing import Any

import msgspec
from hypothesis import strategies as st

from minime.core.session import append_turn, new_session
from minime.core.turn import Turn
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
from tests.support.talks import (
    ID,
    LATER,
    NOW,
    OTHER_ID,
    OTHER_STAMP,
    PIXEL,
    STAMP,
    SYSTEM,
    fresh,
    hello_turn,
    question,
    talked,
    tool_turn,
)

__all__ = [
    "ID",
    "LATER",
    "NOW",
    "OTHER_ID",
    "OTHER_STAMP",
    "PIXEL",
    "STAMP",
    "SYSTEM",
    "fresh",
    "hello_turn",
    "question",
    "talked",
    "tool_turn",
]

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
