"""Tokens are estimated from bytes, and each count of a server makes the estimate better."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.budget import (
    Budget,
    Gauge,
    after_overflow,
    gauge_of,
    is_cut,
    learn,
    learn_from,
    new_budget,
    result_limit,
    shares,
    size,
    tokens,
    used,
)
from minime.core.compaction import Plan, compact, compacted
from minime.core.config.settings import Compaction
from minime.core.context_text import context_text
from minime.core.request import build_request, fit
from minime.core.session import append_turn
from minime.core.text import LIMIT
from minime.core.turn import Turn, start
from minime.core.values import Assistant, Session, Usage, User
from tests.support.values import LATER, fresh, hello_turn, sessions, talked, tool_turn


@given(session=sessions(extra=False))
def test_the_size_is_that_of_the_messages_as_they_are_sent(session: Session) -> None:
    body = build_request(session, start("next?"), "m")
    messages = fit(session.messages + start("next?").messages)
    assert 0 < len(body) - size(messages) < 100


@given(counts=st.lists(st.tuples(st.integers(1, 10**7), st.integers(0, 10**7)), max_size=8))
def test_whatever_a_server_counts_a_token_stays_one_to_six_bytes(counts: list[tuple[int, int]]) -> None:
    gauge = Gauge()
    for sent, counted in counts:
        gauge = learn(gauge, sent, counted)
        assert 1.0 <= gauge.bytes_per_token <= 6.0


def test_the_first_count_is_believed_denser_text_at_once_and_looser_text_in_steps() -> None:
    gauge = learn(Gauge(), 4_000, 1_000)
    assert gauge == Gauge(4.0, 1)
    assert learn(gauge, 4_000, 2_000) == Gauge(2.0, 2)
    assert learn(gauge, 4_800, 1_000) == Gauge(4.2, 2)
    assert learn(gauge, 4_000, 0) == gauge


def test_a_count_far_below_what_can_be_is_a_cut_prompt_and_teaches_nothing() -> None:  # W01
    assert is_cut(40_000, 4_096)
    assert not is_cut(40_000, 8_192)
    assert not is_cut(5_000, 200), "a template that leaves the tools out is no cut"
    assert not is_cut(40_000, 0), "a server that counts nothing has said nothing"
    assert learn(Gauge(4.0, 3), 40_000, 4_096) == Gauge(4.0, 3)


def test_a_count_from_before_a_summary_is_never_taken_for_what_is_there_now() -> None:  # K04
    long = Turn((User("x" * 27_000), Assistant("It is long.", usage=Usage(9_000, 5, 9_005))))
    session = append_turn(talked(hello_turn()), long, LATER)
    budget = Budget(10_000, 8_000, 0, gauge_of(session, 0))
    assert used(session.messages, budget) > budget.limit
    done = compacted(session, Plan(4, 2, 0), Assistant("Two plus two was four."), budget, LATER)
    shorter = compact(session, done, LATER)
    assert used(shorter.messages, budget) < 200
    assert (
        gauge_of(compact(session, compacted(session, Plan(2, 1, 1), Assistant("4"), budget, LATER), LATER), 0)
        == Gauge()
    )


def test_the_newest_counted_answer_of_a_turn_teaches() -> None:
    turn = tool_turn()
    sent = size(fit(fresh().messages + turn.messages[:3])) + 500
    assert learn_from(Gauge(), fresh().messages, turn.messages, 500) == learn(Gauge(), sent, 212)
    assert gauge_of(fresh(), 500) == Gauge()


@pytest.mark.parametrize(
    ("window", "answer", "limit"),
    [(10_000, 0, 8_000), (10_000, 4_000, 6_000), (4_000, 9_000, 2_000), (0, 0, 0)],
)
def test_the_limit_is_the_threshold_or_what_the_answer_leaves(window: int, answer: int, limit: int) -> None:
    assert new_budget(window, 0, Gauge(), Compaction(), answer).limit == limit


def test_a_refusal_corrects_what_was_believed() -> None:  # K15
    guess = Budget(32_768, 26_000)
    told = after_overflow(guess, 30_000, 4_096)
    assert (told.window, told.limit, told.gauge) == (4_096, 3_276, Gauge())
    untold = after_overflow(guess, 30_000)
    assert (untold.window, untold.limit) == (10_000, 7_500)
    unknown = after_overflow(Budget(), 30_000)
    assert (unknown.window, unknown.limit) == (10_000, 7_500)
    denser = after_overflow(Budget(8_192, 6_553), 18_000, 8_192)
    assert tokens(denser.gauge, 18_000) > 8_192, "there were more tokens than it seemed"


def test_a_result_gets_a_quarter_of_the_window_and_never_more_than_the_cap() -> None:
    assert result_limit(Budget()) == LIMIT
    assert result_limit(Budget(4_096)) == 3_072
    assert result_limit(Budget(1_000)) == 1_000
    assert result_limit(Budget(200_000)) == LIMIT


@given(session=sessions(extra=False), tools=st.integers(0, 5_000))
def test_the_shares_are_the_whole(session: Session, tools: int) -> None:
    budget = Budget(tools=tools, gauge=Gauge(1.0))
    assert shares(session, budget).used == used(session.messages, budget)


def test_the_context_is_a_bar_and_what_takes_the_room() -> None:
    text = context_text(talked(tool_turn()), Budget(1_000, 800, 600, Gauge(3.0, 1)), "told by llama.cpp")
    assert text.splitlines()[0].startswith("█")
    assert "of 1,000 tokens used" in text
    assert [line.split("~")[0].strip() for line in text.splitlines()[1:-2]] == [
        "system prompt",
        "tools",
        "questions",
        "answers",
        "tool results",
    ]
    assert "context window: told by llama.cpp" in text
    assert "/compact" in text
    assert "contextWindow" in context_text(fresh(), Budget(), "")


def test_a_summary_takes_its_room_with_the_question_that_it_stands_behind() -> None:
    summed = Turn((User("(sum)", compacted=3), Assistant("We spoke.")))
    taken = shares(talked(summed, hello_turn()), Budget(8_192))
    assert taken.summary == tokens(Gauge(), size(summed.messages))
    assert taken.questions == tokens(Gauge(), size(hello_turn().messages[:1]))


def test_a_window_that_nobody_has_told_is_said_to_be_assumed() -> None:
    text = context_text(talked(hello_turn()), Budget(8_192, 6_000), "assumed")
    assert "context window: assumed, the server tells none (contextWindow in agent.yaml)" in text
