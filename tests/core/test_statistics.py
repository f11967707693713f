"""What each model did is counted once."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.events import Failed
from minime.core.session import settle, turns
from minime.core.statistics import Sums, bar, plus, sums_of, table_lines, time_text, total
from minime.core.turn import Turn
from minime.core.values import Assistant, Session, Tool, Usage, User, tool_call
from tests.support.values import NOW, fresh, hello_turn, question, sessions, talked, tool_turn

SWITCHED = Turn((
    User("Try again"),
    Assistant(
        "", (tool_call("c", "search", "{}"), tool_call("d", "search", "{}")), model="tiny", seconds=0.5
    ),
    Tool("c", "bad arguments", failed=True),
    Tool("d", "found"),
    Assistant("Found.", model="tiny", usage=Usage(100, 20, 120), seconds=2.0),
))


def test_a_turn_counts_for_the_model_that_answered_it() -> None:
    session = settle(talked(hello_turn(), tool_turn(), SWITCHED), question(), Failed("no"), NOW)
    tiny, qwen = sorted(sums_of(session), key=lambda sums: sums.model, reverse=True)
    assert qwen == Sums("qwen3:8b", 1, 2, 3, 243, 8, 1, 0, 2.2)
    assert tiny == Sums("tiny", 1, 1, 2, 100, 20, 2, 1, 2.5, 1)


def test_turns_behind_a_summary_count_and_an_unused_session_does_not() -> None:
    summed = Turn((User("(sum)", compacted=14), Assistant("We spoke.")))
    assert sum(one.turns for one in sums_of(talked(summed, hello_turn()))) == 15
    assert sums_of(fresh()) == ()


@given(sessions())
def test_no_turn_and_no_error_is_lost(session: Session) -> None:
    found = sums_of(msgspec.structs.replace(session, pending=None))
    assert sum(one.turns for one in found) == turns(session)
    assert sum(one.errors for one in found) == len(session.errors)


@given(st.lists(sessions(extra=False), max_size=3))
def test_the_order_of_sessions_makes_no_difference(some: list[Session]) -> None:
    parts = [one for session in some for one in sums_of(session)]
    assert total(parts) == total(reversed(parts))


def test_the_table_is_aligned_and_ends_with_all(golden: object) -> None:
    sums = total((*sums_of(talked(hello_turn(), tool_turn(), SWITCHED)), *sums_of(talked(hello_turn()))))
    text = "\n".join(table_lines(sums, 2, 120)) + "\n"
    assert text == golden("cli/stats.txt")  # type: ignore[operator]
    assert "█" not in "\n".join(table_lines(sums, 2))
    assert "█" not in "\n".join(table_lines(sums, 2, 80))
    assert max(len(line) for line in table_lines(sums, 2, 98)) < 98
    assert plus(sums[0], sums[1]).answers == 6


@pytest.mark.parametrize(
    ("share", "text"), [(0, ""), (1, "█" * 4), (0.5, "██"), (0.001, "▏"), (0.53125, "██▏")]
)
def test_a_bar_is_true_to_an_eighth(share: float, text: str) -> None:
    assert bar(share, 4) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (1.44, "1.4 s"), (99, "99 s"), (600, "10 min"), (36_000, "10.0 h")]
)
def test_times_in_words(seconds: float, text: str) -> None:
    assert time_text(seconds) == text
