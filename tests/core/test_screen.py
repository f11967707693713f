"""A conversation and what belongs to it, for reading."""

from minime.core.events import Failed
from minime.core.pieces import plain
from minime.core.screen import (
    call_title,
    errors_pieces,
    message_pieces,
    pending_text,
    resumed_pieces,
    tools_text,
    undone_text,
    verdict,
)
from minime.core.session import settle, with_pending
from minime.core.turn import Turn
from minime.core.values import Assistant, Tool, User, tool_call
from tests.support.values import LATER, fresh, hello_turn, question, talked, tool_turn

CALL = tool_call("a", "read_file", '{"path": "main.py"}')


def test_the_report_of_a_resumed_session_names_trouble_and_what_is_unfinished() -> None:
    session = settle(talked(hello_turn()), Turn(tool_turn().messages[:3]), Failed("no"), LATER)
    assert plain(resumed_pieces(session, "2026-09-16 10:17")) == (
        f"resumed {session.id} · 1 turn · 2026-09-16 10:17 · ⚠️ 1 error\n"
        "the last turn was:\n"
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


def test_an_answer_is_markdown_on_a_terminal_and_as_it_is_elsewhere() -> None:
    messages = (User("*q*"), Assistant("- **a**\n\n"))
    assert plain(message_pieces(messages, 40)) == "› *q*\n• a\n"
    assert plain(message_pieces(messages)) == "› *q*\n- **a**\n"


def test_a_command_that_failed_is_told_by_how_it_ended() -> None:
    assert plain(verdict(Tool("a", "one\ntwo\n(exit status 2)", failed=True), "  ")) == "  ✗ exit status 2"
    assert plain(verdict(Tool("a", "no such file\nmore", failed=True), "  ")) == "  ✗ no such file"
    assert plain(verdict(Tool("a", "(exit status 0)"), "  ")) == "  ✓"
