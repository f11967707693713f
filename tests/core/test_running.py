import math

import pytest

from minime.core.tools.running import command_environment, command_seconds, end_text


def test_a_command_gets_no_secret_along() -> None:
    given = {"PATH": "/bin", "MM_API_KEY": "a", "TOKEN": "b", "COPY": "sk-12345", "PAGER": "less"}
    environment = command_environment(given, {"TOKEN"}, ("sk-12345", ""))
    assert environment == {
        "PATH": "/bin",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "TERM": "dumb",
    }


@pytest.mark.parametrize(
    ("asked", "configured", "seconds"),
    [
        (0, 120, 120),
        (5, 120, 5),
        (1e9, 120, 600),
        (math.inf, 900, 900),
        (math.nan, 9, 9),
        (-1, 9, 9),
        (0, 0, 0),
    ],
)
def test_the_time_of_a_command_is_the_models_wish_within_bounds(
    asked: float, configured: float, seconds: float
) -> None:
    assert command_seconds(asked, configured) == seconds


def test_the_end_of_a_command_is_told() -> None:
    assert end_text(0, "exit", 9) == "exit status 0"
    assert end_text(-9, "exit", 9) == "ended by signal 9"
    assert end_text(-15, "timeout", 120.0) == "timed out after 120 s and was ended"
    assert end_text(-15, "stop", 120.0) == "stopped"
