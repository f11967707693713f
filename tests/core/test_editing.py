import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.tools.editing import DIFF_LIMIT, CannotEdit, Edited, hunk, replace_text
from minime.core.values import Diff

LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12).map("\n".join)


def why(text: str, old: str, new: str = "new", everywhere: bool = False) -> str:
    problem = replace_text(text, old, new, everywhere)
    assert isinstance(problem, CannotEdit)
    return problem.why


def test_text_that_occurs_once_is_replaced() -> None:
    assert replace_text("a b c", "b", "x", False) == Edited("a x c", 1)


def test_text_that_occurs_more_than_once_is_replaced_only_when_all_is_asked_for() -> None:
    assert why("a b a b a", "a").startswith("old_text was found 3 times")
    assert why("aaa", "aa").startswith("old_text was found 2 times")
    assert replace_text("a b a b a", "a", "x", True) == Edited("x b x b x", 3)


@pytest.mark.parametrize(
    ("text", "old", "new", "after"),
    [
        ("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n", "x\r\ny\r\nc\r\n"),
        ("a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
        ("a\r\nb\nc\n", "b\nc", "x", "a\r\nx\n"),
        ("a\r\nb\nc\n", "a\nb", "x\ny", "x\r\ny\nc\n"),
    ],
)
def test_line_ends_of_the_file_are_kept(text: str, old: str, new: str, after: str) -> None:
    assert replace_text(text, old, new, False) == Edited(after, 1)


def test_an_edit_that_is_none_is_refused() -> None:
    assert "old_text is empty" in why("a", "")
    assert "the same" in why("a", "a", "a")


def test_text_that_is_not_there_is_refused_with_a_hint_where_it_may_be() -> None:
    assert why("a\n", "b") == "old_text was not found; it must be exactly as in the file: read it again"
    assert "stands at line 2" in why("x\n    def f():\n        pass\n", "def f():\n    pass")


@given(LINES, LINES, LINES)
def test_a_replaced_text_is_what_it_was_before_and_after(before: str, old: str, after: str) -> None:
    text = f"{before}<{old}>{after}"
    edited = replace_text(text, f"<{old}>", "!", False)
    assert edited == Edited(f"{before}!{after}", 1)


@given(LINES, LINES)
def test_a_hunk_put_in_place_of_the_old_lines_gives_the_new_text(before: str, after: str) -> None:
    diff = hunk("a", before, after)
    assert diff.old_text is not None
    places = [i for i in range(len(before) + 1) if before.startswith(diff.old_text, i)]
    assert any(before[:i] + diff.new_text + before[i + len(diff.old_text) :] == after for i in places)


def test_a_hunk_shows_three_lines_around_what_changed() -> None:
    before = "".join(f"{n}\n" for n in range(100))
    diff = hunk("a.py", before, before.replace("50\n", "fifty\n"))
    assert diff == Diff("a.py", "47\n48\n49\n50\n51\n52\n53\n", "47\n48\n49\nfifty\n51\n52\n53\n")


def test_a_new_file_has_no_old_text() -> None:
    assert hunk("a.py", None, "x\r\n") == Diff("a.py", None, "x\n")


def test_a_long_hunk_is_cut_at_a_line_and_says_so() -> None:
    new = hunk("a", None, "0123456789\n" * 10_000).new_text
    assert len(new) < DIFF_LIMIT + 100
    kept, cut = new.count("0123456789\n"), new.splitlines()[-1]
    assert cut == f"… {10_000 - kept:,} more lines …"
    assert len(hunk("a", None, "x" * 100_000).new_text) <= DIFF_LIMIT
