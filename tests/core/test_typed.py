"""What is typed at the prompt, and ahead of it."""

import pytest

from minime.core.typed import Ahead, after_turn, go_on, is_open, shell_command, together, typed_ahead


@pytest.mark.parametrize(
    ("text", "goes_on"),
    [
        ("why?", False),
        ("why \\", True),
        ("C:\\\\", False),
        ("look:\n```py", True),
        ("look:\n```py\nx\n```", False),
        ("look:\n````\n```\n", True),
        ("what does ``` mean?", False),
        ("a\\\nb", False),
    ],
)
def test_a_backslash_and_an_open_fence_go_on(text: str, goes_on: bool) -> None:
    assert is_open(text) is goes_on


def test_the_backslash_of_a_question_goes_and_that_of_a_command_stays() -> None:
    assert go_on("first \\", "second") == "first\nsecond"
    assert go_on("!echo \\", "hi") == "!echo \\\nhi"
    assert go_on("```\na \\", "b") == "```\na \\\nb"


@pytest.mark.parametrize(
    ("text", "command"), [("!ls -l", "ls -l"), (" ! ls ", "ls"), ("!", ""), ("why!", None), ("", None)]
)
def test_a_line_that_begins_with_a_bang_is_a_command(text: str, command: str | None) -> None:
    assert shell_command(text) == command


@pytest.mark.parametrize(
    ("keys", "ahead"),
    [
        ("", Ahead()),
        ("go on", Ahead(rest="go on")),
        ("one\ntwo\nthr", Ahead(("one", "two"), "thr")),
        ("one\r", Ahead(("one",))),
        ("wrong\x15right words\x17\x7fx", Ahead(rest="rightx")),
        ("\x7f\x17a\x1b[D\x1bOA\x1b[1;5Cb\x1b", Ahead(rest="ab")),
        ("\x1b[200~a\rb\n\x1b[201~c\n", Ahead(("a\nb\nc",))),
        ("\x1b[200~half", Ahead(rest="half")),
        ("one\n\x04two", Ahead(("one",), ended=True)),
        ("ab\x04c", Ahead(rest="abc")),
    ],
)
def test_keys_typed_ahead_are_read_as_a_line_editor_reads_them(keys: str, ahead: Ahead) -> None:
    assert typed_ahead(keys) == ahead


def test_lines_typed_ahead_are_questions_when_the_turn_went_well_and_wait_when_not() -> None:
    ahead = Ahead(("one", "", "two"), "thr")
    well = after_turn(ahead, went_well=True, asked_for_consent=False)
    assert well == Ahead(("one", "two"), "thr")
    badly = after_turn(ahead, went_well=False, asked_for_consent=False)
    assert badly == Ahead((), "one\ntwo\nthr")


def test_an_answer_to_a_question_of_consent_is_no_question_later() -> None:
    ahead = Ahead(("Y", "a", "and then?"))
    assert after_turn(ahead, went_well=True, asked_for_consent=True) == Ahead((), "and then?")


def test_ctrl_d_in_a_turn_that_went_well_leaves_behind_it() -> None:
    assert after_turn(Ahead(ended=True), went_well=True, asked_for_consent=False).ended
    assert not after_turn(Ahead(ended=True), went_well=False, asked_for_consent=False).ended


@pytest.mark.parametrize(
    ("before", "then", "both"),
    [
        (Ahead(("one",), "tw"), Ahead(rest="o"), Ahead(("one",), "two")),
        (Ahead(("one",), "tw"), Ahead(("o", "three"), "f"), Ahead(("one", "two", "three"), "f")),
        (Ahead(ended=True), Ahead(), Ahead(ended=True)),
    ],
)
def test_what_waits_goes_on_where_it_was_left(before: Ahead, then: Ahead, both: Ahead) -> None:
    assert together(before, then) == both
