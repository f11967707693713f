"""What a turn needs next is read off its messages."""

import pytest
from hypothesis import given

from minime.core.turn import (
    AskModel,
    Done,
    RunTools,
    StopTurn,
    Turn,
    answer_text,
    calls_without_result,
    cancelled,
    finished_rounds,
    grow,
    next_step,
    question_line,
    start,
    stopped,
    stopped_text,
    turn_stopped,
    with_partial,
)
from minime.core.values import Assistant, Tool, User, tool_call
from tests.support.values import question, tool_turn, turns

A = tool_call("a", "read_file", '{"path": "a"}')
B = tool_call("b", "read_file", '{"path": "b"}')


def again(times: int) -> Turn:
    """The same call, `times` times running."""
    turn = question()
    for number in range(times):
        call = tool_call(f"c{number}", "list_directory", "{}")
        turn = grow(turn, Assistant("", (call,)), Tool(call.id, "main.py"))
    return turn


def test_a_question_asks_the_model() -> None:
    assert next_step(question(), 50) == AskModel()


def test_calls_without_result_are_run_in_their_order() -> None:
    turn = grow(question(), Assistant("", (A, B)))
    assert next_step(turn, 50) == RunTools((A, B))
    assert next_step(grow(turn, Tool("a", "x")), 50) == RunTools((B,))


def test_results_go_back_to_the_model() -> None:
    assert next_step(grow(question(), Assistant("", (A,)), Tool("a", "x")), 50) == AskModel()


@pytest.mark.parametrize(
    "answer", [Assistant("done"), Assistant("do", stopped="length"), Assistant("d", stopped="cancelled")]
)
def test_an_answer_without_calls_ends_the_turn(answer: Assistant) -> None:
    assert next_step(grow(question(), answer), 50) == Done()


def test_calls_of_an_answer_cut_at_its_limit_are_not_forgotten() -> None:  # W04
    assert next_step(grow(question(), Assistant("", (A,), stopped="length")), 50) == RunTools((A,))


def test_the_same_call_five_times_running_stops_the_turn() -> None:  # D01
    assert next_step(again(4), 50) == AskModel()
    assert next_step(again(5), 50) == StopTurn("loop")


def test_other_calls_in_between_are_no_loop() -> None:
    turn = grow(again(4), Assistant("", (A,)), Tool("a", "x"))
    assert next_step(turn, 50) == AskModel()


def test_the_bound_on_rounds_stops_the_turn_and_zero_is_none() -> None:  # D02
    turn = grow(question(), Assistant("", (A,)), Tool("a", "x"), Assistant("", (B,)), Tool("b", "x"))
    assert next_step(turn, 2) == StopTurn("steps")
    assert next_step(turn, 3) == AskModel()
    assert next_step(turn, 0) == AskModel()


@given(turns())
def test_a_whole_turn_is_done_and_all_its_rounds_are_finished(turn: Turn) -> None:
    assert next_step(turn, 0) == Done()
    assert calls_without_result(turn) == ()
    rounds = finished_rounds(turn)
    assert rounds == (turn.messages[:-1] if len(turn.messages) > 2 else ())


@given(turns())
def test_finished_rounds_never_part_a_call_from_its_result(turn: Turn) -> None:
    for end in range(1, len(turn.messages) + 1):
        kept = finished_rounds(Turn(turn.messages[:end]))
        assert not kept or calls_without_result(Turn(kept)) == ()


@given(turns())
def test_a_cancelled_turn_is_done_wherever_it_was(turn: Turn) -> None:
    for end in range(2, len(turn.messages) + 1):
        kept = cancelled(Turn(turn.messages[:end]))
        assert kept is not None
        assert next_step(kept, 0) == Done()
        assert calls_without_result(kept) == ()


def test_nothing_is_kept_of_a_question_alone_or_of_mere_thought() -> None:
    assert cancelled(question()) is None
    assert with_partial(question(), "  \n", "hm") == question()


def test_the_partial_answer_keeps_its_thought() -> None:
    turn = with_partial(question(), "It", "hm")
    assert turn.messages[-1] == Assistant("It", reasoning_content="hm", stopped="cancelled")


def test_a_stopped_turn_marks_its_newest_answer() -> None:
    turn = stopped(again(2), "steps")
    assert turn_stopped(turn) == "steps"
    assert isinstance(turn.messages[-1], Tool)


def test_what_was_typed_is_the_question_in_one_line() -> None:
    turn = start("why?\n\nlong file", typed="why?\nreally")
    assert turn.messages == (User("why?\n\nlong file", typed="why?\nreally"),)
    assert question_line(turn) == "why?"
    assert start("why?", typed="why?").question.typed == ""


def test_the_answer_of_a_turn_is_its_last() -> None:
    assert answer_text(tool_turn()) == "It prints hi."
    assert answer_text(question()) == ""


@pytest.mark.parametrize(
    ("why", "words"),
    [("length", "maxOutput"), ("steps", "maxSteps"), ("loop", "5 times"), ("cancelled", "cancelled")],
)
def test_each_early_end_is_told_with_its_way_out(why: str, words: str) -> None:
    assert words in stopped_text(why, 50)  # type: ignore[arg-type]
    assert stopped_text("", 50) == ""
