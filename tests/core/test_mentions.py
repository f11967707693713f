"""The files that a question names with an `@`."""

import pytest

from minime.core.mentions import Given, Mention, asked, given_text, mentions, to_read
from minime.core.text import fenced
from minime.core.tools.toolbox import ReadFile
from minime.core.turn import Turn
from minime.core.values import User


def named(question: str) -> list[Mention]:
    return [readings[0] for readings in mentions(question)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does @main.py do?", [Mention("main.py", sure=True)]),
        ("Is it in @main.py?", [Mention("main.py", sure=True)]),
        ("(@a.txt), @b.txt's and @c.txt.", [Mention(f"{name}.txt", sure=True) for name in "abc"]),
        ("@src/ and @Makefile", [Mention("src/"), Mention("Makefile")]),
        ("@a.py:10-20 @b.py:7 @c.py#L3", [
            Mention("a.py", 10, 20, True), Mention("b.py", 7, 7, True), Mention("c.py", 3, 3, True),
        ]),
        ('@"my notes.txt":2-1', [Mention("my notes.txt", 2, 2, True)]),
        ("@/etc/hosts @../x @~/x", [Mention(path, sure=True) for path in ("/etc/hosts", "../x", "~/x")]),
        ("twice @a.py, @a.py", [Mention("a.py", sure=True)]),
        ("why @types/node?", [Mention("types/node")]),
    ],
)  # fmt: skip
def test_a_path_behind_an_at_is_named(question: str, expected: list[Mention]) -> None:
    assert named(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "", "@", "a @ b", "mail me@example.org", "git@example.org:x/y.git", "clone user@host:main.py",
        "what is `@main.py`?", "```\n@main.py\n```", "~~~\n@main.py", "@app.get('/main.py')", "@@main.py",
        "@app.py\ndef f(): ...", "why?\n\n  @cache.py\n  @other.py\n  async def f(): ...", "@x.py\nclass A: ...",
    ],
)  # fmt: skip
def test_an_address_a_decorator_and_code_name_no_path(question: str) -> None:
    assert named(question) == []


def test_a_sign_at_the_end_may_belong_to_the_name() -> None:
    assert mentions("see @odd. now") == ((Mention("odd"), Mention("odd.")),)


def test_a_great_text_is_read_in_no_time_and_names_a_few_files_at_most() -> None:
    assert len(mentions("@a" * 100_000 + " ".join(f"@f{n}.py" for n in range(100)))) == 20


def test_what_stands_in_a_file_goes_behind_the_question_and_is_not_what_was_typed() -> None:
    turn = asked("look at @a.py", (Given("a.py", "x = 1\n"),), "piped\n")
    assert turn == Turn((User("look at @a.py\n\na.py:\n```\nx = 1\n```\n\npiped", typed="look at @a.py"),))
    assert asked("why?", ()) == Turn((User("why?"),))


def test_nothing_in_a_file_closes_its_fence() -> None:
    assert fenced("a.md", "````\nx\n````") == "a.md:\n`````\n````\nx\n````\n`````"


def test_lines_are_read_as_named() -> None:
    assert to_read(Mention("a", 10, 20)) == ReadFile("a", 10, 11)
    assert to_read(Mention("a")) == ReadFile("a")


@pytest.mark.parametrize(
    ("text", "is_folder", "line"),
    [
        ("x\n", False, "@a · 1 line"),
        ("x\ny", False, "@a · 2 lines"),
        ("x\ny", True, "@a · a list of 2 names"),
        ("x\n… lines 1-500 of 2,000; go on with offset=501 …", False, "@a · lines 1-500 of 2,000 only"),
        ("x\n… lines 3-3 of 9 …", False, "@a · lines 3-3 of 9 only"),
    ],
)
def test_a_line_tells_what_a_question_brings_along(text: str, is_folder: bool, line: str) -> None:
    assert given_text("a", text, is_folder=is_folder) == line
