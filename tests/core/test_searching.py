"""What was looked for is found where it stands, and nowhere else."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.codec import encode
from minime.core.events import Failed
from minime.core.searching import Hit, Wanted, hit_text, hits, may_hold, new_search
from minime.core.session import settle, with_title
from minime.core.turn import Turn
from minime.core.values import Assistant, Pending, Session, Tool, User, tool_call
from tests.support.values import ID, LATER, NOW, hello_turn, question, sessions, talked, texts, tool_turn


def found(session: Session, wanted: Wanted) -> list[Hit]:
    search = new_search(wanted)
    assert not isinstance(search, str), search
    return list(hits(session, wanted, search))


def places(session: Session, text: str, **more: bool | str) -> list[tuple[int, str, int]]:
    return [(hit.turn, hit.role, hit.line) for hit in found(session, Wanted(text, **more))]  # type: ignore[arg-type]


FAILED = settle(
    talked(hello_turn(), tool_turn()), question("and Test.py?"), Failed("no answer", "line 1\nTIMEOUT"), NOW
)


def test_a_hit_says_turn_speaker_and_line_and_capitals_do_not_matter() -> None:
    assert places(FAILED, "MAIN.PY") == [(2, "user", 1), (2, "call", 1)]
    assert places(FAILED, "print") == [(2, "result", 1), (2, "assistant", 1)]
    assert places(FAILED, "i should") == [(2, "thought", 1)]
    assert places(FAILED, "timeout") == [(2, "error", 4)]
    assert places(FAILED, "test.py") == [(2, "error", 1)]
    assert found(FAILED, Wanted("prints"))[0] == Hit(ID, 2, "assistant", 1, "It prints hi.")


def test_the_system_prompt_is_nobodys_words() -> None:
    assert places(FAILED, "coding agent") == []


def test_a_title_of_the_users_own_is_found_and_one_that_repeats_the_question_is_not() -> None:
    assert places(FAILED, "2 + 2") == [(1, "user", 1)]
    assert places(with_title(FAILED, "Sums: 2 + 2"), "2 + 2") == [(0, "title", 1), (1, "user", 1)]


def test_a_search_is_bounded_to_a_tool_or_to_the_errors() -> None:
    assert places(FAILED, "i", tool="read_file") == [(2, "call", 1), (2, "result", 1)]
    assert places(FAILED, "i", tool="write_file") == []
    assert places(FAILED, "i", errors=True) == [(2, "error", 3), (2, "error", 4)]


def test_a_summary_counts_for_the_turns_that_it_stands_for_and_an_unfinished_turn_follows() -> None:
    summed = Turn((User("(sum)", compacted=14), Assistant("We spoke of parsers.")))
    session = talked(summed, hello_turn())
    rounds = (
        User("go"),
        Assistant("", (tool_call("c", "search", '{"pattern": "parser"}'),)),
        Tool("c", "a.py"),
    )
    session = msgspec.structs.replace(session, pending=Pending(LATER, "failed", rounds))
    assert places(session, "parser") == [(14, "summary", 1), (16, "call", 1)]
    assert places(session, "4.") == [(15, "assistant", 1)]
    assert found(session, Wanted("a.py"))[0].unfinished


def test_a_regular_expression_is_one_only_when_asked_for() -> None:
    assert places(FAILED, "pr.nt") == []
    assert places(FAILED, r"pr.nts\b", regex=True) == [(2, "assistant", 1)]


@pytest.mark.parametrize("wanted", [Wanted("("), Wanted("[a")])
def test_a_text_with_brackets_is_a_text_and_a_broken_expression_is_told(wanted: Wanted) -> None:
    assert not isinstance(new_search(wanted), str)
    told = new_search(msgspec.structs.replace(wanted, regex=True))
    assert isinstance(told, str)
    assert told.startswith("not a regular expression: ")


@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_is_not_looked_for(text: str) -> None:
    assert new_search(Wanted(text)) == "nothing to look for: give a word"


def test_a_long_line_is_cut_around_what_was_found_and_steers_no_terminal() -> None:
    line = "x" * 5000 + " \x1b[31mneedle\x1b[0m " + "y" * 5000
    [hit] = found(talked(Turn((User(line), Assistant("ok")))), Wanted("needle"))
    assert len(hit.text) < 200
    assert " needle " in hit.text
    assert "\x1b" not in hit.text


@pytest.mark.parametrize(
    ("hit", "text"),
    [
        (Hit(ID, 3, "user", 2, "why?"), "  turn 3 · you · line 2: why?"),
        (Hit(ID, 3, "result", 9, "a.py", tool="search"), "  turn 3 · search result · line 9: a.py"),
        (Hit(ID, 2, "error", 1, "no"), "  after turn 2 · error · line 1: no"),
        (Hit(ID, 0, "title", 1, "Sums"), "  title: Sums"),
        (
            Hit(ID, 4, "call", 1, "x", tool="", unfinished=True),
            "  turn 4 · tool call · line 1 · unfinished: x",
        ),
    ],
)
def test_a_hit_in_words(hit: Hit, text: str) -> None:
    assert hit_text(hit) == text


@given(sessions(extra=False), st.data())
def test_the_bytes_of_a_file_never_hide_a_hit(session: Session, data: st.DataObject) -> None:
    said = [m.content for m in session.messages if isinstance(m, Assistant | Tool) and m.content.strip()]
    line = data.draw(
        st.sampled_from([one for text in said for one in text.splitlines() if one.strip()] or ["x"])
    )
    start = data.draw(st.integers(0, len(line)))
    piece = line[start : start + data.draw(st.integers(1, 12))]
    wanted = Wanted(data.draw(st.sampled_from([piece, piece.upper(), piece.lower()])), tool="", errors=False)
    search = new_search(wanted)
    if not isinstance(search, str) and any(hits(session, wanted, search)):
        assert may_hold(encode(session), wanted)


@given(texts)
def test_each_word_of_an_argument_is_found(text: str) -> None:
    arguments = msgspec.json.encode({"command": text}).decode()
    turn = Turn((User("q"), Assistant("", (tool_call("c", "run_command", arguments),)), Tool("c", "done")))
    for word in text.split():
        wanted = Wanted(word, tool="run_command")
        session = talked(turn)
        assert found(session, wanted), word
        assert may_hold(encode(session), wanted)


def test_a_file_without_the_words_is_not_decoded() -> None:
    data = encode(FAILED)
    assert not may_hold(data, Wanted("elephant"))
    assert not may_hold(encode(talked(hello_turn())), Wanted("4", errors=True))
    assert may_hold(data, Wanted("e.*t", regex=True))
    assert may_hold(encode(talked(Turn((User("300 \u212a"), Assistant("ok"))))), Wanted("300 k"))


def test_arguments_are_searched_as_a_person_would_write_them() -> None:
    calls = (tool_call("a", "search", '{"most": 12, "pattern": "x"}'), tool_call("b", "search", '["odd"]'))
    session = talked(Turn((User("go"), Assistant("", calls), Tool("a", "r"), Tool("b", "r"))))
    assert places(session, "most: 12") == [(1, "call", 1)]
    assert places(session, '["odd"]') == [(1, "call", 1)]
