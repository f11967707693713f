"""The verbs of a conversation."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.codec import decode, encode
from minime.core.events import Answered, Cancelled, Failed
from minime.core.request import build_request
from minime.core.session import (
    append_turn,
    changed_files,
    failed_line,
    fork,
    is_empty,
    last_exchange,
    new_session,
    new_with_archive,
    record_error,
    settle,
    settle_retry,
    to_retry,
    turns,
    unanswered,
    undo,
    with_fresh_call_ids,
    with_pending,
    with_system,
)
from minime.core.turn import Turn, grow, start
from minime.core.values import Assistant, Diff, ErrorRecord, Session, Stamp, System, Tool, User, tool_call
from tests.support.values import (
    LATER,
    NOW,
    OTHER_ID,
    OTHER_STAMP,
    STAMP,
    fresh,
    hello_turn,
    question,
    records,
    sessions,
    talked,
    tool_turn,
)
from tests.support.values import turns as drawn_turns

FAILURE = Failed("cannot reach http://localhost:11434/v1: start the server with `ollama serve`", "refused")

MUCH_LATER = LATER + timedelta(hours=1)


def test_a_new_session_holds_the_system_prompt_alone_and_is_empty() -> None:
    session = new_session(STAMP, "be brief")
    assert session.messages == (System("be brief"),)
    assert is_empty(session)


def test_the_first_question_gives_the_title_and_later_ones_do_not() -> None:
    assert talked(tool_turn(), hello_turn()).title == "What does main.py do?"


def test_a_title_is_the_first_line_with_words_cut_at_80_characters() -> None:
    session = append_turn(fresh(), grow(start("\n\n  " + "word " * 40 + "\nmore"), Assistant("x")), LATER)
    assert len(session.title) <= 80
    assert session.title.startswith("word word")
    assert session.title.endswith("…")


def test_the_title_is_what_was_typed_where_mm_added_to_it() -> None:
    session = append_turn(fresh(), grow(start("why?\n\n<file>", typed="why?"), Assistant("x")), LATER)
    assert session.title == "why?"


def test_a_system_prompt_replaces_the_stored_one_and_stays_single_and_first() -> None:  # H10
    session = with_system(with_system(talked(hello_turn()), "B"), "C")
    assert [m for m in session.messages if isinstance(m, System)] == [System("C")]
    assert session.messages[0] == System("C")


def test_an_answered_turn_joins_whole_and_removes_what_was_pending() -> None:
    before = with_pending(fresh(), tool_turn(), NOW, "failed")
    after = settle(before, hello_turn(), Answered(), LATER)
    assert after.messages == fresh().messages + hello_turn().messages
    assert after.pending is None
    assert (after.updated, after.model) == (LATER, "qwen3:8b")


@given(sessions(), drawn_turns(), records)
def test_a_failed_turn_leaves_the_history_as_it_was(
    session: Session, turn: Turn, record: ErrorRecord
) -> None:
    failure = Failed(record.message, record.detail)
    after = settle(session, turn, failure, LATER)
    assert after.messages == session.messages
    assert after.errors[-1].message == record.message
    assert after.errors[:-1] == session.errors


def test_three_failed_turns_leave_three_records_and_no_question() -> None:  # H11
    session = talked(hello_turn())
    for _ in range(3):
        session = settle(session, question(), FAILURE, LATER)
    assert session.messages == talked(hello_turn()).messages
    assert [(e.kind, e.turns, e.question, e.detail) for e in session.errors] == [
        ("generation", 1, "and test.py?", "refused")
    ] * 3


def test_a_failed_first_turn_gives_the_title_and_keeps_the_system_message() -> None:
    session = settle(fresh(), question(), FAILURE, LATER)
    assert session.title == "and test.py?"
    assert session.messages == fresh().messages
    assert not is_empty(session)


def test_the_raw_error_is_left_out_where_it_says_no_more_than_the_line() -> None:
    assert failed_line(fresh(), "resume", Failed("no", "no"), NOW).errors[0].detail == ""


def test_a_turn_that_fails_after_tools_have_run_leaves_its_rounds_pending() -> None:
    broken = Turn(tool_turn().messages[:3])
    session = settle(fresh(), broken, FAILURE, LATER)
    assert session.pending is not None
    assert session.pending.messages == broken.messages
    assert session.pending.reason == "failed"


def test_a_round_with_an_open_call_is_not_pending() -> None:
    half = Turn(tool_turn().messages[:2])
    assert with_pending(fresh(), half, NOW, "running") == fresh()


def test_a_turn_cancelled_before_anything_came_was_never_asked() -> None:
    assert settle(fresh(), question(), Cancelled(), LATER) == fresh()


def test_a_cancelled_turn_keeps_its_partial_answer_marked() -> None:  # H06
    turn = grow(question(), Assistant("It is a", stopped="cancelled"))
    session = settle(fresh(), turn, Cancelled(), LATER)
    assert session.messages[-1] == Assistant("It is a", stopped="cancelled")
    assert session.errors == ()


def test_a_turn_cancelled_in_a_tool_gives_each_open_call_a_result() -> None:
    calls = (tool_call("a", "read_file", "{}"), tool_call("b", "run_command", "{}"))
    turn = grow(question(), Assistant("", calls), Tool("a", "text"))
    session = settle(fresh(), turn, Cancelled(), LATER)
    assert session.messages[-1] == Tool("b", "cancelled by the user", failed=True)
    assert session.messages[2] == Assistant("", calls, stopped="cancelled")


def test_of_201_errors_the_newest_200_stay() -> None:  # H14
    session = fresh()
    for number in range(1, 202):
        session = record_error(
            session, ErrorRecord(time=NOW, kind="generation", turns=0, message=f"#{number}")
        )
    assert len(session.errors) == 200
    assert session.errors[0].message == "#2"
    assert session.errors[-1].message == "#201"


@given(sessions(), records)
def test_errors_change_neither_the_history_nor_the_next_request(
    session: Session, record: ErrorRecord
) -> None:
    after = record_error(session, record)
    assert after.messages == session.messages
    assert build_request(after, question(), "m") == build_request(session, question(), "m")


@given(sessions(), st.text(max_size=5))
def test_an_archive_and_its_fresh_session_hold_together_all_that_there_was(
    session: Session, system: str
) -> None:
    archive, new = new_with_archive(session, OTHER_STAMP, system)
    assert archive == msgspec.structs.replace(session, id=OTHER_ID)
    assert new.id == session.id
    assert new.messages == (System(system),)
    assert (new.errors, new.pending, new.title) == ((), None, "")
    assert decode(encode(archive)) == archive


def test_a_fork_is_the_same_conversation_under_another_id() -> None:
    session = settle(talked(tool_turn()), question(), FAILURE, LATER)
    other = fork(session, OTHER_STAMP)
    assert (other.id, other.created) == (OTHER_ID, OTHER_STAMP.now)
    assert (other.messages, other.errors, other.title) == (session.messages, session.errors, session.title)


def test_undo_takes_the_last_turn_out_and_nothing_else() -> None:
    session = talked(tool_turn(), hello_turn())
    assert undo(session, LATER).messages == talked(tool_turn()).messages
    assert undo(undo(session, LATER), LATER).messages == fresh().messages


def test_undo_stops_at_a_summary_and_at_the_beginning() -> None:
    summed = msgspec.structs.replace(
        fresh(), messages=(System("s"), User("sum", compacted=3), Assistant("…"))
    )
    assert undo(summed, LATER) is summed
    assert undo(fresh(), LATER) == fresh()


def test_the_files_that_a_turn_changed_are_told_once_each() -> None:
    diff = Diff("main.py", "a", "b")
    results = (
        Tool("1", "x", diff=diff),
        Tool("2", "x", diff=diff),
        Tool("3", "x", failed=True, diff=Diff("no", "", "")),
    )
    assert changed_files((User("q"), *results)) == ("main.py",)


def test_a_retry_takes_up_the_unfinished_turn_where_there_is_one() -> None:
    broken = Turn(tool_turn().messages[:3])
    session = settle(talked(hello_turn()), broken, FAILURE, LATER)
    assert to_retry(session, LATER) == (session, broken)


def test_a_retry_asks_the_last_question_again_in_place_of_its_turn() -> None:
    found = to_retry(talked(hello_turn(), tool_turn()), LATER)
    assert found is not None
    before, turn = found
    assert before.messages == talked(hello_turn()).messages
    assert turn.messages == (User("What does main.py do?"),)
    assert to_retry(fresh(), LATER) is None


def test_a_retry_asks_the_question_that_has_just_failed_before_any_other() -> None:
    before = talked(hello_turn())
    failed = settle(before, question("and now?"), Failed("no", "no"), LATER)
    again = unanswered(failed, question("and now?"), Failed("no", "no"))
    assert again == question("and now?")
    assert to_retry(failed, LATER, again) == (failed, question("and now?"))
    rounds = Turn(tool_turn().messages[:3])
    unfinished = settle(before, rounds, Failed("no", "no"), LATER)
    assert unanswered(unfinished, rounds, Failed("no", "no")) is None
    assert unanswered(settle(before, hello_turn(), Answered(), LATER), hello_turn(), Answered()) is None
    older = settle(unfinished, question("and now?"), Failed("no", "no"), LATER)
    assert unanswered(older, question("and now?"), Failed("no", "no")) == question("and now?")


def test_turns_counts_questions_those_behind_a_summary_included() -> None:
    session = msgspec.structs.replace(
        fresh(), messages=(User("summary", compacted=14), Assistant("…"), User("a"), Assistant("b"))
    )
    assert turns(session) == 15


def test_the_last_exchange_begins_with_the_newest_question() -> None:
    assert last_exchange(talked(tool_turn(), hello_turn())) == hello_turn().messages
    assert last_exchange(fresh()) == ()


@pytest.mark.parametrize("ids", [("call_1", "call_1"), ("", ""), ("a", "call_2")])
def test_call_ids_that_repeat_in_a_session_are_renamed_on_entry(ids: tuple[str, str]) -> None:  # S08
    answer = Assistant("", tuple(tool_call(id, "read_file", "{}") for id in ids))
    renamed = with_fresh_call_ids(answer, frozenset({"call_1", "a"}))
    new = [call.id for call in renamed.tool_calls]
    assert len(set(new)) == 2
    assert all(new)
    assert not set(new) & {"call_1", "a"}


def test_call_ids_that_are_new_stay() -> None:
    answer = tool_turn().messages[1]
    assert isinstance(answer, Assistant)
    assert with_fresh_call_ids(answer, frozenset()) == answer


def test_the_stamp_gives_id_and_time() -> None:
    session = new_session(Stamp(NOW, OTHER_ID), "s")
    assert (session.id, session.created, session.updated) == (OTHER_ID, NOW, NOW)


def test_a_retry_that_is_cancelled_leaves_the_turn_that_it_was_to_replace() -> None:
    session = talked(hello_turn(), tool_turn())
    found = to_retry(session, LATER)
    assert found is not None
    beside, turn = found
    running = with_pending(session, Turn(tool_turn().messages[:3]), LATER, "running")
    ended = settle_retry(running, beside, turn, Cancelled(), LATER)
    assert (ended.messages, ended.pending) == (session.messages, None)


def test_each_change_says_when_it_was_made() -> None:
    session = talked(hello_turn(), tool_turn())
    assert fork(session, Stamp(MUCH_LATER, OTHER_ID)).updated == MUCH_LATER
    assert undo(session, MUCH_LATER).updated == MUCH_LATER
    beside = to_retry(session, MUCH_LATER)
    assert beside is not None
    assert beside[0].updated == MUCH_LATER
    assert with_pending(session, Turn(tool_turn().messages[:3]), MUCH_LATER, "running").updated == MUCH_LATER


def test_a_turn_without_an_answer_of_a_model_leaves_the_models_name() -> None:
    session = msgspec.structs.replace(talked(hello_turn()), model="qwen3:8b")
    assert append_turn(session, Turn((User("go"),)), LATER).model == "qwen3:8b"
    assert append_turn(session, Turn((User("go"), Assistant("x", model="phi-4"))), LATER).model == "phi-4"


def test_a_failure_without_a_question_has_none_on_record() -> None:
    [record] = failed_line(fresh(), "resume", Failed("no"), NOW).errors
    assert record.question == ""


def test_calls_get_an_id_of_their_own_only_where_theirs_is_taken() -> None:
    answer = Assistant("", tuple(tool_call(id, "search", "{}") for id in ("a", "", "b", "b", "c")))
    ids = [call.id for call in with_fresh_call_ids(answer, frozenset({"a", "x"})).tool_calls]
    assert ids == ["call_3", "call_4", "b", "call_6", "c"]
    taken = frozenset({"a", "call_2", "call_3"})
    [call] = with_fresh_call_ids(Assistant("", (tool_call("a", "search", "{}"),)), taken).tool_calls
    assert call.id == "call_4"
