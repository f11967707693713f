"""The line above the prompt."""

from minime.core.budget import Budget
from minime.core.status import status_text
from tests.support.values import hello_turn, talked

SESSION = talked(hello_turn())


def test_it_tells_the_model_the_room_and_the_session() -> None:
    line = status_text(SESSION, Budget(window=8192), "qwen3:8b", "ask", 200)
    assert line == f"qwen3:8b · 1% of 8,192 tokens (~48) · {SESSION.id}"


def test_another_mode_than_asking_is_told() -> None:
    assert " · auto mode · " in status_text(SESSION, Budget(), "tiny", "auto", 200)


def test_what_does_not_fit_is_left_out() -> None:
    assert status_text(SESSION, Budget(), "tiny", "ask", 30) == "tiny · ~48 tokens"
    assert status_text(SESSION, Budget(), "tiny-and-long", "ask", 8) == "tiny-an…"
