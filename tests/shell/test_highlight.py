"""Code in colours: no character changes, and a text of many lines is one."""

import pytest

from minime.shell.highlight import Highlighter


def colours(language: str, *lines: str) -> list[list[tuple[str, str]]]:
    """The coloured pieces of each line."""
    highlighter = Highlighter(language)
    return [[piece for piece in highlighter.line(line) if piece[1]] for line in lines]


def test_what_a_line_of_code_says_has_its_colour() -> None:
    assert colours("python", "def f(x):  # why") == [[("def", "magenta"), ("f", "blue"), ("# why", "dim")]]


def test_a_text_of_many_lines_is_one_and_ends_where_it_ends() -> None:
    lines = colours("python", 'x = """a', "if b:", 'c"""', "if d:")
    assert lines[1] == [("if b:", "green")]
    assert lines[3] == [("if", "magenta")]
    assert colours("c", "/* if", "if (a)", "*/ int b;")[1] == [("if (a)", "dim")]


@pytest.mark.parametrize("language", ["python", "go", "sh", "json", "html", "diff", "nothing-known", "py{x}"])
@pytest.mark.parametrize(
    "line", ["", "  \tif x:\t# a", "'''", "<a b='c'>", "+new", "\\", "中文 = 'é'", "x" * 2_000]
)
def test_no_character_changes(language: str, line: str) -> None:
    highlighter = Highlighter(language)
    for _ in range(3):
        assert "".join(text for text, _ in highlighter.line(line)) == line
