"""An answer in Markdown on a terminal: the same lines however the text came, none wider than the screen."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from minime.core.cells import cut, head, width
from minime.core.markdown.inline import REACH, Span, read
from minime.core.markdown.page import Page, add, finish, rendered
from minime.core.markdown.wrapping import wrapped
from minime.core.pieces import Pieces, plain


def spans(text: str) -> list[Span]:
    found, rest = read(text, complete=True)
    assert rest == ""
    joined: list[Span] = []
    for span in found:
        if joined and joined[-1].style == span.style:
            joined[-1] = Span(joined[-1].text + span.text, span.style)
        else:
            joined.append(span)
    return joined


def letters(pieces: Pieces) -> list[tuple[str, str, str]]:
    """Each character with how it looks."""
    return [(letter, piece.style, piece.language) for piece in pieces for letter in piece.text]


def shown(text: str, columns: int = 40) -> str:
    return plain(rendered(text, columns))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("plain", [Span("plain")]),
        ("a **b** c", [Span("a "), Span("b", "bold"), Span(" c")]),
        ("*a* _b_", [Span("a", "italic"), Span(" "), Span("b", "italic")]),
        ("***a***", [Span("a", "bold italic")]),
        ("**a *b* c**", [Span("a ", "bold"), Span("b", "bold italic"), Span(" c", "bold")]),
        ("**a *b***", [Span("a ", "bold"), Span("b", "bold italic")]),
        ("*a **b** c*", [Span("a ", "italic"), Span("b", "italic bold"), Span(" c", "italic")]),
        ("这是**重要**的", [Span("这是"), Span("重要", "bold"), Span("的")]),
        ("~~a~~ ~b~", [Span("a", "strike"), Span(" ~b~")]),
        ("`a*b*`", [Span("a*b*", "cyan")]),
        ("`` a`b ``", [Span("a`b", "cyan")]),
        ("**a `*` b**", [Span("a ", "bold"), Span("*", "bold cyan"), Span(" b", "bold")]),
        ("[a](u) [u](u)", [Span("a", "underline"), Span(" (u)", "dim"), Span(" "), Span("u", "underline")]),
        ("![a](u(1))", [Span("a", "underline"), Span(" (u(1))", "dim")]),
        ("<https://a.b>", [Span("https://a.b", "underline")]),
        (r"\*a\* \d", [Span(r"*a* \d")]),
        # Not meant as marks.
        ("2 * 3 * 4", [Span("2 * 3 * 4")]),
        ("2*3*4", [Span("2*3*4")]),
        ("snake_case_name", [Span("snake_case_name")]),
        ("__init__", [Span("__init__")]),
        ("**a", [Span("**a")]),
        ("`a", [Span("`a")]),
        ("a[1] [b] ![", [Span("a[1] [b] ![")]),
        ("List<int> a < b", [Span("List<int> a < b")]),
        ("[bold]x[/bold]", [Span("[bold]x[/bold]")]),
        ("*" + "a" * REACH + "*", [Span("*" + "a" * REACH + "*")]),
    ],
)
def test_what_marks_in_a_line_mean(text: str, found: list[Span]) -> None:
    assert spans(text) == found


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# A\n## B ##\n#c", "A\nB\n#c\n"),
        ("\n\na\n\n\n\nb\n\n", "a\n\nb\n\n"),
        ("- a\n  - b\n* c\n1. d\n", "• a\n  • b\n• c\n1. d\n"),
        ("- [ ] a\n", "• [ ] a\n"),
        (
            "- aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii\n",
            "• aaaa bbbb cccc dddd eeee ffff gggg\n  hhhh iiii\n",
        ),
        (
            "10. aaaa bbbb cccc dddd eeee ffff gggg hhhh\n",
            "10. aaaa bbbb cccc dddd eeee ffff gggg\n    hhhh\n",
        ),
        ("> a\n>\n> > b\n", "│ a\n│\n│ │ b\n"),
        ("***\n", "─" * 40 + "\n"),
        ("```py\na  =  **b**\n\n```\n*c*", "```py\na  =  **b**\n\n```\nc\n"),
        ("~~~\n```\n~~~\na", "~~~\n```\n~~~\na\n"),
        ("1. a\n   ```\n   x\n     y\n   ```\n", "1. a\n   ```\n   x\n     y\n   ```\n"),
        ("> ```\n> *a*\nb *c*", "│ ```\n│ *a*\nb c\n"),
        ("```a``` b", "a b\n"),
        ("    a *b*\n", "    a *b*\n"),
        ("one\ntwo\n", "one\ntwo\n"),
        ("x" * 100 + " y", "x" * 40 + "\n" + "x" * 40 + "\n" + "x" * 20 + " y\n"),
        ("中" * 25, "中" * 20 + "\n" + "中" * 5 + "\n"),
        ("a\u202eb\u2066", "ab\n"),
        ("```\na\u202eb\n", "```\na\\u202eb\n"),
        ("|a|b|\n|-|-|\n|1|*2*|\nx", "a │ b\n──┼──\n1 │ 2\nx\n"),
        ("|a|b|\n|-:|:-:|\n|111|222|\n|3|\n", "  a │  b\n────┼────\n111 │ 222\n  3 │\n"),
        ("|a|\nb\n", "|a|\nb\n"),
        ("|a|\n|b|\n|-|\n", "|a|\nb\n─\n"),
        ("| `x|y` | a\\|b |\n|--|--|\n| 1<br>2 | 3 |", "x|y │ a|b\n────┼────\n1   │ 3\n2   │\n"),
    ],
)
def test_what_lines_look_like(text: str, lines: str) -> None:
    assert "\n".join(line.rstrip() for line in shown(text).split("\n")) == lines


def test_a_table_that_is_too_wide_folds_in_its_cells_with_a_gap_around_the_rows_that_do() -> None:
    table = (
        "| name | what it is |\n|---|---|\n| one | " + "word " * 12 + "|\n| two | short |\n| three | x |\n"
    )
    lines = shown(table).splitlines()
    assert [line.rstrip() for line in lines] == [
        "name  │ what it is",
        "──────┼─────────────────────────────────",
        "one   │ word word word word word word",
        "      │ word word word word word word",
        "      │",
        "two   │ short",
        "three │ x",
    ]
    assert max(map(width, lines)) <= 40


def test_a_table_without_room_is_told_row_by_row() -> None:
    table = (
        "|"
        + "|".join(f"name {n}" for n in range(9))
        + "|\n|"
        + "-|" * 9
        + "\n|"
        + "|".join("123456789")
        + "|\n"
    )
    assert shown(table).splitlines()[:2] == ["name 0: 1", "name 1: 2"]


markdown = st.lists(
    st.one_of(
        st.sampled_from((
            "\n", "\n\n", " ", "    ", "# ", "- ", "1. ", "> ", "```", "```py\n", "~~~", "|", "|-|-|\n", "| a | b |\n", "*", "**", "_",
            "__", "`", "``", "[", "](", ")", "![", "<", ">", "\\", "~~", "---", "===", "word", "two words", "中文字", "é", "e\u0301",
            "👩\u200d👩\u200d👧", "⚠\ufe0f", "\u202e", "\t", "[bold]", "x" * 90, "مرحبا", "https://a.b/c_d_e", "<br>", "|:-:|\n",
        )),
        st.text("ab *_`|>-#", max_size=6),
    ),
    max_size=30,
)  # fmt: skip


@given(markdown, st.data(), st.integers(1, 60))
@example(["a" * REACH, "*b", "*"], None, 20)
def test_however_an_answer_comes_the_screen_shows_the_same(
    parts: list[str], data: st.DataObject | None, columns: int
) -> None:
    text = "".join(parts)
    page, pieces = Page(), ()
    start = 0
    while start < len(text):
        size = 1 if data is None else data.draw(st.integers(1, 9))
        page, more = add(page, text[start : start + size], columns)
        pieces += more  # type: ignore[assignment]
        start += size
    assert letters(pieces + finish(page, columns)) == letters(rendered(text, columns))


@given(markdown, st.integers(10, 60))
def test_no_word_is_lost_and_the_end_is_the_beginning_of_a_line(parts: list[str], columns: int) -> None:
    text = "".join(parts)
    out = shown(text, columns)
    assert not out or out.endswith("\n")
    if any(mark in text for mark in ("```", "~~~", "    ", "\t")):
        return  # code stands as it is
    assert all(width(line) <= columns for line in out.split("\n"))
    if not any(mark in text for mark in ("<br>", "|", "(", ")")):
        assert [letter for letter in out if letter.isalnum()] == [
            letter for letter in text if letter.isalnum()
        ]


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("中文", 4), ("e\u0301", 1), ("⚠\ufe0f", 2), ("", 0), ("a\u200db", 2)]
)
def test_the_columns_that_a_text_takes(text: str, columns: int) -> None:
    assert width(text) == columns


@given(st.text(), st.integers(0, 20))
def test_a_cut_text_fits(text: str, columns: int) -> None:
    assert width(cut(text, columns)) <= columns


def test_a_text_that_fits_is_its_own_beginning() -> None:
    assert head("é", 1) == "é"
    assert head("éé", 1) == "é"


@pytest.mark.parametrize(
    ("text", "screen"),
    [
        pytest.param("a | b\n", "a | b\n", id="a row that is alone is words"),
        pytest.param("| a | b\n|---|---\n| c | d\n", "a │ b\n──┼──\nc │ d\n", id="rows without a bar at their end"),
        pytest.param("*a \\* b*\n", "a * b\n", id="a mark behind a backslash closes nothing"),
        pytest.param("[a](b\n", "[a](b\n", id="an address without its end"),
        pytest.param("x !\n", "x !\n", id="a mark of exclamation"),
        pytest.param("-\n", "• \n", id="an item without words"),
        pytest.param("12\n", "12\n", id="a number is no item"),
        pytest.param("word " + "x" * 80 + "\n", "word\n" + "x" * 40 + "\n" + "x" * 40 + "\n", id="a word as long as two lines"),
        pytest.param("a  \tb\n", "a    b\n", id="a gap of a tab"),
    ],
)  # fmt: skip
def test_what_is_not_quite_a_mark_is_shown_as_it_is(text: str, screen: str) -> None:
    assert shown(text) == screen


def test_a_table_that_is_too_wide_becomes_records_with_a_line_between() -> None:
    names = [f"column{n}" for n in range(12)]
    rows = "\n".join(f"| {' | '.join(row)} |" for row in (names, ["-"] * 12, ["x"] * 12, ["y"] * 12))
    lines = shown(rows + "\n", 20).splitlines()
    assert lines[0] == "column0: x"
    assert lines[12] == "─" * 20
    assert lines[13] == "column0: y"


def test_columns_share_what_is_left_to_the_last() -> None:
    cells = ("a" * 30, "b" * 30, "c" * 30)
    rows = "\n".join(f"| {' | '.join(row)} |" for row in (cells, ("-",) * 3, cells))
    assert max(map(width, shown(rows + "\n", 40).splitlines())) == 40


def test_what_may_still_become_a_fence_or_an_item_waits_for_its_line() -> None:
    for begun in ("``", "-", "~~~p", "> ``"):
        page, pieces = add(Page(), begun, 40)
        assert plain(pieces).strip("│ ") == "", begun
        assert plain(finish(page, 40)) != ""


def test_a_letter_wider_than_the_terminal_is_shown_all_the_same_and_gaps_add_up() -> None:
    assert [plain(line) for line in wrapped((Span("宽"),), 1)] == ["宽"]
    assert [plain(line) for line in wrapped((Span("a "), Span(" b")), 20)] == ["a  b"]


def test_a_mark_at_the_end_of_what_has_come_waits_for_more() -> None:
    for begun in ("a \\", "a `", "a ``x`", "a !", "a ["):
        assert read(begun, complete=False)[1] != "", begun
        assert "".join(span.text for span in read(begun, complete=True)[0]) == begun


def test_a_row_in_a_quote_is_words_and_a_number_waits_for_its_item() -> None:
    assert shown("> | a | b\n") == "│ | a | b\n"
    for begun in ("1", "+", "12."):
        page, pieces = add(Page(), begun, 40)
        assert plain(pieces) == ""
        assert plain(finish(page, 40)).strip() != ""


def test_a_run_of_another_length_neither_closes_nor_nests() -> None:
    assert spans("*a **** b*") == [Span("a **** b", "italic")]
    assert spans("**a*b***")[0].style == "bold"
