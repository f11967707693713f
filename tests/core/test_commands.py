"""A typed line to what it asks for."""

import pytest

from minime.core.commands import COMMANDS, Nothing, Question, Slash, Unknown, help_text, parse_command


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("", Nothing()),
        ("  \n", Nothing()),
        (" why? ", Question("why?")),
        ("/help", Slash("help", "")),
        ("/resume  2 ", Slash("resume", "2")),
        ("/title a new  name", Slash("title", "a new  name")),
        ("/exit", Slash("quit", "")),
        ("/rename Sums", Slash("title", "Sums")),
        ("/etc/hosts is wrong", Question("/etc/hosts is wrong")),
        ("// is a comment", Question("// is a comment")),
        ("what is /help?", Question("what is /help?")),
        ("1/2", Question("1/2")),
    ],
)
def test_a_line_is_a_command_a_question_or_nothing(line: str, command: object) -> None:
    assert parse_command(line) == command


@pytest.mark.parametrize(
    ("line", "nearest"), [("/resum 2", "/resume"), ("/sesions", "/sessions"), ("/quitt", "/quit")]
)
def test_an_unknown_command_names_the_nearest_and_is_no_question(line: str, nearest: str) -> None:
    command = parse_command(line)
    assert isinstance(command, Unknown)
    assert nearest in command.message


def test_a_word_like_no_command_points_to_the_help() -> None:
    assert parse_command("/zzzz") == Unknown("unknown command /zzzz: /help lists them")


def test_the_help_names_every_command_within_80_columns() -> None:
    text = help_text()
    assert all(f"\n/{entry.name}" in text for entry in COMMANDS)
    assert all(len(line) <= 80 for line in text.splitlines())
