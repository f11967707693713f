"""Events and outcomes as pieces of text: lines only grow, and each begins where it should."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.events import (
    Answered,
    Cancelled,
    Event,
    Failed,
    Notice,
    Outcome,
    TextDelta,
    ThoughtDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    UsageSeen,
)
from minime.core.screen import (
    DIFF_LINES,
    DIFF_WIDTH,
    Piece,
    Pieces,
    Screen,
    call_title,
    diff_pieces,
    errors_pieces,
    message_pieces,
    pending_text,
    plain,
    resumed_pieces,
    show_event,
    show_outcome,
    tools_text,
    undone_text,
)
from minime.core.session import settle, with_pending
from minime.core.turn import Turn, stopped
from minime.core.values import Assistant, Diff, Tool, Usage, User, tool_call
from tests.support.values import LATER, fresh, hello_turn, question, talked, tool_turn

CALL = tool_call("a", "read_file", '{"path": "main.py"}')
START, FINISH = ToolStarted(CALL, "read main.py"), ToolFinished(Tool("a", "text"))
FAILED = ToolFinished(Tool("a", "no such file: main.py\nmore", failed=True))


def shown(*events: Event, outcome: Outcome | None = None, turn: Turn | None = None) -> str:
    screen, pieces = Screen(), ()
    for event in events:
        screen, more = show_event(screen, event)
        pieces += more  # type: ignore[assignment]
    end: Pieces = () if outcome is None else show_outcome(screen, turn or hello_turn(), outcome, 50)
    return plain(pieces + end)


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ((TextDelta("It "), TextDelta("is.")), "It is.\n"),
        ((TextDelta("It is.\n"),), "It is.\n"),
        ((ThoughtDelta("hm"), TextDelta("Yes.")), "hm\nYes.\n"),
        ((ThoughtDelta("hm\n"), TextDelta("Yes.")), "hm\nYes.\n"),
        ((START, FINISH, TextDelta("Yes.")), "  · read main.py ✓\nYes.\n"),
        ((TextDelta("Look:"), START, FAILED), "Look:\n  · read main.py ✗ no such file: main.py\n"),
        ((START, ToolProgress("a", "one"), FINISH), "  · read main.py\none\n  ✓\n"),
        (
            (START, ToolProgress("a", "one\n"), ToolProgress("a", "two\n"), FINISH),
            "  · read main.py\none\ntwo\n  ✓\n",
        ),
        ((TextDelta("a"), Notice("careful"), TextDelta("b")), "a\ncareful\nb\n"),
        ((UsageSeen(Usage(1, 2, 3)),), ""),
    ],
)
def test_what_a_turn_shows(events: tuple[Event, ...], text: str) -> None:
    assert shown(*events, outcome=Answered()) == text


@pytest.mark.parametrize(
    ("outcome", "turn", "line"),
    [
        (Failed("no server", "raw"), question(), "no server\n"),
        (Cancelled(), question(), "cancelled\n"),
        (Answered(), stopped(tool_turn(), "steps"), "stopped after 50 tool rounds (maxSteps in agent.yaml); ask again to go on\n"),
        (Answered(), stopped(hello_turn(), "length"), "the answer was cut at its output limit (maxOutput in agent.yaml)\n"),
    ],
)  # fmt: skip
def test_an_end_that_is_no_answer_is_a_line_of_its_own(outcome: Outcome, turn: Turn, line: str) -> None:
    assert shown(TextDelta("half"), outcome=outcome, turn=turn) == f"half\n{line}"


events = st.one_of(
    st.builds(TextDelta, st.text("ab\n", min_size=1, max_size=4)),
    st.builds(ThoughtDelta, st.text("ab\n", min_size=1, max_size=4)),
    st.builds(ToolProgress, st.just("a"), st.text("ab\n", min_size=1, max_size=4)),
    st.sampled_from((START, FINISH, FAILED, Notice("note"))),
)


@given(st.lists(events, max_size=12))
def test_all_words_of_the_answer_are_shown_in_order_and_the_end_closes_the_line(
    happened: list[Event],
) -> None:
    screen, answer, everything = Screen(), "", ""
    for event in happened:
        screen, pieces = show_event(screen, event)
        answer += "".join(piece.text for piece in pieces if piece.answer)
        everything += plain(pieces)
    everything += plain(show_outcome(screen, hello_turn(), Answered(), 50))
    said = "".join(event.text for event in happened if isinstance(event, TextDelta))
    assert answer.replace("\n", "") == said.replace("\n", "")
    assert not everything or everything.endswith("\n")


def test_a_diff_is_coloured_by_line_and_shown_before_the_question_of_consent() -> None:
    diff = Diff("main.py", "a\nb\nc\n", "a\nB\nc\n")
    assert diff_pieces(diff)[1:] == (
        Piece("     a\n", "dim"), Piece("    -b\n", "red"), Piece("    +B\n", "green"), Piece("     c\n", "dim"),
    )  # fmt: skip
    _, pieces = show_event(Screen(), ToolStarted(CALL, "edit main.py", diff))
    assert plain(pieces).startswith("  · edit main.py\n    @@")


def test_a_long_diff_is_cut_and_says_so() -> None:
    text = plain(diff_pieces(Diff("new.py", None, "x\n" * 500)))
    assert len(text.splitlines()) == DIFF_LINES + 1
    assert text.endswith(f"    … {501 - DIFF_LINES} more lines\n")
    wide = plain(diff_pieces(Diff("new.py", None, "x" * 200_000)))
    assert len(wide) < 2 * DIFF_WIDTH
    assert wide.endswith(" … 198,001 more characters\n")


def test_the_report_of_a_resumed_session_names_trouble_and_what_is_unfinished() -> None:
    session = settle(talked(hello_turn()), Turn(tool_turn().messages[:3]), Failed("no"), LATER)
    assert plain(resumed_pieces(session, "2026-09-16 10:17")) == (
        f"resumed {session.id} · 1 turn · last used 2026-09-16 10:17 · ⚠️ 1 error\n"
        "› What is 2 + 2?\n4.\n"
        '⚠️ unfinished: 1 tool call done for "What does main.py do?" · /retry goes on from there\n'
    )


def test_a_pending_turn_counts_its_calls() -> None:
    session = with_pending(fresh(), Turn(tool_turn().messages[:3]), LATER, "running")
    assert session.pending is not None
    assert (
        pending_text(session.pending)
        == '⚠️ unfinished: 1 tool call done for "What does main.py do?" · /retry goes on from there'
    )


def test_what_was_taken_back_is_named_with_the_files_that_stay() -> None:
    gone = (User("Say hello."), Assistant("ok"))
    assert undone_text(gone, ()) == 'taken back: "Say hello."'
    assert undone_text(gone, ("a.py", "b.py")) == (
        'taken back: "Say hello."; the files it changed stay as they are: a.py, b.py'
    )


def test_a_conversation_for_reading_shows_each_call_in_a_line_and_no_system_prompt() -> None:
    refused = tool_call("b", "run_command", '{"command": "rm -r x"}')
    turn = Turn((
        User("q\nq2"),
        Assistant("Look.\n", (CALL, refused)),
        Tool("a", "t"),
        Tool("b", "refused", failed=True),
        Assistant("x"),
    ))
    assert plain(message_pieces(talked(turn).messages)) == (
        "› q\nq2\nLook.\n  · read main.py ✓\n  · run rm -r x ✗ refused\nx\n"
    )


def test_a_summary_is_no_question_of_the_persons() -> None:
    assert plain(message_pieces((User("Summarise.", compacted=3), Assistant("It was so.")))) == (
        "› (summary of earlier turns)\nIt was so.\n"
    )


def test_a_call_that_makes_no_sense_is_shown_in_its_own_words() -> None:
    assert call_title(tool_call("a", "open\nfile", '{"x"')) == 'open file {"x"'


def test_error_records_are_shown_with_their_time_question_and_raw_words() -> None:
    session = settle(talked(hello_turn()), question(), Failed("no server", "refused\nby all"), LATER)
    assert plain(errors_pieces(session, ("10:17",))) == (
        '10:17  generation · after 1 turn · "and test.py?"\n    no server\n    refused\n    by all\n'
    )
    assert plain(errors_pieces(fresh(), ())) == "no errors in this conversation\n"


def test_the_tools_are_listed_in_a_line_each() -> None:
    assert tools_text(("read_file", "search")).splitlines()[0].startswith("read_file  Read")
    assert tools_text(()) == "no tools (tools in agent.yaml)"
