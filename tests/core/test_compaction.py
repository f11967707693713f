"""Older turns become a summary: what is chosen, what is asked, and the history that comes of it."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.budget import Budget, Gauge, size, tokens, used
from minime.core.compaction import Plan, compact, compacted, compacted_text, older, plan_compaction
from minime.core.request import fit
from minime.core.room import (
    Fits,
    Shorten,
    Summarise,
    TooLarge,
    make_room,
    plan_by_hand,
    shortened,
)
from minime.core.session import append_turn, call_ids, turns, undo
from minime.core.summary import summary_fault, summary_question, summary_tokens, summary_tokens_of
from minime.core.turn import Turn, start
from minime.core.values import Assistant, Session, System, Tool, User, content_text, tool_call
from tests.support.values import LATER, NOW, fresh, hello_turn, question, sessions, talked, tool_turn

SUMMARY = Assistant("- The user asked for sums.", model="qwen3:8b", seconds=2.0)
KEEPS = st.integers(0, 4)


def made(session: Session, plan: Plan, words: str = SUMMARY.content) -> Session:
    return compact(session, compacted(session, plan, Assistant(words), Budget(), LATER), LATER)


def looked(number: int, characters: int = 3_000) -> Turn:
    """A turn that reads a file of so many characters."""
    call = tool_call(f"look_{number}", "read_file", f'{{"path": "file{number}.txt"}}')
    return Turn((
        User(f"What is in file{number}.txt?"),
        Assistant("", (call,)),
        Tool(call.id, f"word{number} " * (characters // 7)),
        Assistant(f"It says word{number}."),
    ))


@given(session=sessions(), keep=KEEPS, most=st.none() | st.integers(0, 2_000))
def test_a_compaction_touches_messages_alone_and_parts_no_call_from_its_result(
    session: Session, keep: int, most: int | None
) -> None:  # K07, K08
    plan = plan_compaction(session, keep, most)
    if plan is None:
        return
    after = made(session, plan)
    everything_else: dict[str, Any] = {"messages": (), "updated": NOW}
    assert msgspec.structs.replace(after, **everything_else) == msgspec.structs.replace(
        session, **everything_else
    )
    assert after.messages[0] == session.messages[0]
    assert sum(isinstance(m, System) for m in after.messages) == 1
    assert turns(after) == turns(session)
    kept = after.messages[3:]
    assert kept == session.messages[len(session.messages) - len(kept) :]
    assert not kept or isinstance(kept[0], User)
    assert sum(isinstance(m, User) for m in kept) == plan.kept <= keep
    assert call_ids(kept) == {m.tool_call_id for m in kept if isinstance(m, Tool)}
    roles = [type(m) for m in fit(after.messages) if not isinstance(m, Tool)][1:]
    assert all(a != b or a is Assistant for a, b in pairwise(roles))
    assert most is None or size(kept) <= most or plan.kept == 0


@given(session=sessions(), keep=KEEPS)
def test_a_second_compaction_folds_the_first_in(session: Session, keep: int) -> None:  # K10
    plan = plan_compaction(session, keep)
    if plan is None:
        return
    first = made(session, plan, "- The first summary said so.")
    assert plan_compaction(first, plan.kept) is None, "a summary alone is not summed up again"
    longer = append_turn(append_turn(first, tool_turn(), LATER), hello_turn(), LATER)
    again = plan_compaction(longer, 1)
    assert again is not None
    assert again.turns == turns(longer) - 1
    question = summary_question(older(longer, again), Budget())
    assert question is not None
    _, asked = question
    assert "The first summary said so." in content_text(asked.content)
    second = made(longer, again)
    assert [m.compacted for m in second.messages if isinstance(m, User)] == [again.turns, 0]


def test_a_summary_is_a_pair_of_a_marked_question_and_words_in_the_past() -> None:  # K09
    session = talked(tool_turn(), hello_turn(), hello_turn())
    after = made(session, Plan(4, 1, 2))
    asked, summary = after.messages[1:3]
    assert isinstance(asked, User)
    assert asked.compacted == 1
    assert summary == Assistant(SUMMARY.content)
    assert after.messages[3:] == session.messages[5:], "what stays is there word for word"
    assert undo(undo(undo(after, LATER), LATER), LATER) == undo(undo(after, LATER), LATER)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_there_is_nothing_to_sum_up_in_the_newest_turns(count: int) -> None:  # K13
    session = talked(*[hello_turn()] * count)
    assert plan_compaction(session, 2) is None
    assert plan_by_hand(session, Budget(8_192, 6_553, 2_500)) is None


def test_turns_that_are_too_big_themselves_do_not_stay() -> None:
    budget = Budget(4_096, 3_276, 2_500)
    session = talked(looked(1), looked(2), looked(3))
    assert plan_by_hand(session, budget) == Plan(8, 2, 1)
    larger = talked(*(looked(number, 6_000) for number in range(3)))
    assert plan_by_hand(larger, budget) == Plan(12, 3, 0)
    assert plan_by_hand(session, Budget(32_768, 26_000, 2_500)) == Plan(4, 1, 2)
    assert plan_by_hand(session, Budget()) == Plan(4, 1, 2)


@given(
    sizes=st.lists(st.sampled_from((10, 5_000, 100_000)), min_size=1, max_size=60),
    window=st.sampled_from((2_048, 4_096, 8_192, 32_768)),
    earlier=st.booleans(),
)
def test_the_request_for_a_summary_fits_the_window_whatever_it_is_about(
    sizes: list[int], window: int, earlier: bool
) -> None:  # K05
    session = talked(*(looked(number, characters) for number, characters in enumerate(sizes)))
    if earlier:
        session = append_turn(
            made(session, Plan(4, 1, len(sizes) - 1), "- FIRST " + "x" * 900), looked(99), LATER
        )
    plan = plan_compaction(session, 0)
    assert plan is not None
    budget = Budget(window, int(window * 0.8))
    history = summary_question(older(session, plan), budget, "the file names")
    assert history is not None
    asked = content_text(history[1].content)
    assert tokens(budget.gauge, size(history)) + summary_tokens(window) <= window
    assert "the file names" in asked
    assert not earlier or "FIRST" in asked
    newest = 99 if earlier else len(sizes) - 1
    assert f"It says word{newest}." in asked, "of what does not fit the oldest is left out"


@pytest.mark.parametrize(
    ("summary", "words"),
    [
        (Assistant(""), "no summary"),
        (Assistant("  \n "), "no summary"),
        (Assistant("", (tool_call("a", "read_file", "{}"),)), "no summary"),
        (Assistant("- The user", stopped="length"), "cut"),
        (Assistant("x" * 5_000), "longer"),
        (SUMMARY, ""),
    ],
)
def test_a_bad_summary_takes_nobodys_place(summary: Assistant, words: str) -> None:  # K01
    fault = summary_fault(summary, tool_turn().messages)
    assert (words in fault) if words else not fault


def test_the_line_says_what_was_done() -> None:
    session = talked(*(looked(number) for number in range(14)))
    plan = plan_compaction(session, 2)
    assert plan is not None
    done = compacted(session, plan, SUMMARY, Budget(), LATER)
    assert compacted_text(done) == "compacted: 14 turns → 1 summary + 2 turns (~14,000 → ~2,300 tokens)"
    alone = compacted(session, Plan(56, 14, 0), SUMMARY, Budget(), LATER)
    assert compacted_text(alone).startswith("compacted: 14 turns → 1 summary (~")


def test_a_request_that_fits_goes_as_it_is() -> None:
    assert make_room(talked(looked(1, 30_000)), question(), Budget(32_768, 26_000)) == Fits()
    assert make_room(talked(looked(1, 30_000)), question(), Budget()) == Fits(), "no window is known"


def test_one_that_would_pass_the_threshold_has_older_turns_summed_up_first() -> None:
    session = talked(*(looked(number) for number in range(6)))
    room = make_room(session, question(), Budget(8_192, 6_553, 2_500))
    assert room == Summarise(Plan(16, 4, 2))
    assert make_room(session, question(), Budget(8_192, 6_553, 2_500, auto=False)) == Fits()
    assert make_room(session, question(), Budget(8_192, 6_553, 2_500), may_summarise=False) == Fits()


def test_a_turn_that_outgrows_the_window_alone_has_its_older_results_cut_short() -> None:
    turn = Turn((
        User("Read them all."),
        *looked(1).messages[1:3],
        *looked(2).messages[1:3],
        *looked(3).messages[1:3],
    ))
    budget = Budget(4_096, 3_276, 1_500)
    assert used((*fresh().messages, *turn.messages), budget) > budget.limit
    room = make_room(talked(hello_turn()), turn, budget)
    assert isinstance(room, Shorten), "a greeting is not worth a summary"
    results = [m for m in room.turn.messages if isinstance(m, Tool)]
    assert [len(result.content) <= 300 for result in results] == [True, False, False]
    assert "left out" in results[0].content
    assert results[1:] == [m for m in turn.messages if isinstance(m, Tool)][1:]
    assert make_room(talked(hello_turn()), room.turn, budget) == Fits()


@given(st.lists(st.integers(0, 9_000), min_size=1, max_size=5), st.integers(0, 30_000))
def test_cutting_results_short_keeps_every_message_and_ends(lengths: list[int], most: int) -> None:
    calls = tuple(tool_call(f"c{number}", "read_file", "{}") for number in range(len(lengths)))
    results = (Tool(call.id, "x" * length) for call, length in zip(calls, lengths, strict=True))
    turn = Turn((User("Read."), Assistant("", calls), *results))
    shorter = shortened(turn, most)
    assert [type(m) for m in shorter.messages] == [type(m) for m in turn.messages]
    assert size(shorter.messages) <= max(most, size(turn.messages) if most >= size(turn.messages) else 2_500)
    assert shortened(shorter, most) == shorter


def test_what_can_never_fit_is_told_and_nothing_is_summed_up() -> None:  # K03
    session = msgspec.structs.replace(
        talked(looked(1), looked(2), looked(3)),
        messages=(System("x" * 12_000), *talked(looked(1)).messages[1:]),
    )
    room = make_room(session, question(), Budget(2_048, 1_638, 2_500))
    assert isinstance(room, TooLarge)
    assert "contextWindow" in room.line
    question_alone = make_room(fresh(), start("x" * 40_000), Budget(4_096, 3_276, 2_500))
    assert isinstance(question_alone, TooLarge)
    assert "question" in question_alone.line


def test_a_fixed_part_over_the_threshold_does_not_bring_a_summary_with_each_turn() -> None:  # K03
    session = talked(*(looked(number, 600) for number in range(3)))
    session = msgspec.structs.replace(session, messages=(System("x" * 5_500), *session.messages[1:]))
    assert make_room(session, question(), Budget(2_400, 1_800, 0)) == Fits()


def test_a_refused_request_is_made_shorter_where_there_is_anything_to_make_shorter() -> None:
    budget = Budget(8_192, 6_000, 2_500, Gauge(4.0, 3))
    assert isinstance(make_room(talked(hello_turn(), hello_turn()), question(), budget, refused=True), Fits)
    many = talked(*[hello_turn()] * 3)
    assert make_room(many, question(), budget, refused=True) == Summarise(Plan(2, 1, 2))


def test_a_summary_may_be_no_longer_than_what_it_stands_for() -> None:
    greeting = talked(hello_turn()).messages[1:]
    assert summary_tokens_of(greeting, Budget(8_192)) == 128
    assert summary_tokens_of(looked(1, 2_000).messages, Budget(8_192)) < 1_000
    assert summary_tokens_of(looked(1, 30_000).messages, Budget(8_192)) == summary_tokens(8_192)


def test_a_window_that_has_room_for_nothing_is_asked_for_no_summary() -> None:
    turns_before = looked(1).messages
    assert summary_question(turns_before, Budget(200, 160)) is None
    little = summary_question(turns_before, Budget(512, 410))
    assert little is not None
    assert "It says word1." in content_text(little[1].content)
    assert tokens(Gauge(), size(little)) + summary_tokens(512) <= 512


def test_a_second_system_message_in_a_file_is_no_part_of_a_summary() -> None:
    asked = summary_question((System("old"), User("q"), Assistant("a")), Budget())
    assert asked is not None
    told = content_text(asked[1].content)
    assert "old" not in told
    assert "User: q\n\nAgent: a" in told


def test_an_earlier_summary_that_is_too_long_is_clipped_and_what_is_left_out_is_counted() -> None:
    summed = (User("(sum)", compacted=9), Assistant("é" * 40_000))
    rounds = tuple(m for n in range(40) for m in (User(f"question {n}"), Assistant("words " * 100)))
    asked = summary_question((*summed, *rounds), Budget(4_096, 3_000))
    assert asked is not None
    told = content_text(asked[1].content)
    assert "older messages are left out here)" in told
    assert "Summary of what came before:" in told
    assert "question 39" in told
    assert tokens(Gauge(), size(asked)) < 4_096


def test_a_summary_counts_its_turns_in_words_and_keeps_who_wrote_it_and_how_long() -> None:
    session = talked(hello_turn(), tool_turn(), hello_turn())
    plan = plan_compaction(session, 2)
    assert plan is not None
    done = compacted(session, plan, Assistant(" We spoke. ", model="m", seconds=2.5), Budget(8_192), LATER)
    assert done.summary == Assistant("We spoke.", model="m", seconds=2.5)
    whole = compact(session, done, LATER)
    assert content_text(whole.messages[1].content).count("1 turn") == 1
    assert "1 turns" not in content_text(whole.messages[1].content)
    assert whole.updated == LATER
    assert (done.before, done.after) == (
        used(session.messages, Budget(8_192)),
        used(whole.messages, Budget(8_192)),
    )
    plan = plan_compaction(session, 1)
    assert plan is not None
    done = compacted(session, plan, Assistant("We spoke."), Budget(8_192), LATER)
    assert "2 turns" in content_text(compact(session, done, LATER).messages[1].content)
    assert compacted_text(msgspec.structs.replace(done, turns=1, kept=0)).startswith(
        "compacted: 1 turn → 1 summary ("
    )


def test_a_conversation_without_a_system_prompt_is_summed_up_from_its_first_question() -> None:
    session = msgspec.structs.replace(fresh(), messages=(*hello_turn().messages, *tool_turn().messages))
    plan = plan_compaction(session, 1)
    assert plan == Plan(2, 1, 1)
    assert older(session, plan) == hello_turn().messages
    assert plan_compaction(msgspec.structs.replace(fresh(), messages=()), 1) is None


def test_a_turn_that_just_fits_is_kept_and_of_several_as_many_as_fit() -> None:
    session = talked(*[hello_turn()] * 5)
    one = size(hello_turn().messages)
    assert [
        plan.kept
        for most in (3 * one, 3 * one - 1, one, one - 1)
        if (plan := plan_compaction(session, 4, most))
    ] == [3, 2, 1, 0]
