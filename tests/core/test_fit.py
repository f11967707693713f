"""What suits a model of which size."""

import pytest

from minime.core.config.configuration import Layer, parse_settings
from minime.core.config.fit import Fit, fit_for, names_something
from minime.core.config.settings import Settings


def test_a_served_model_gets_what_the_settings_say() -> None:
    assert fit_for(False, Settings(max_output=9)) == Fit("always", 50, 9, None, None)


def test_the_embedded_model_gets_less() -> None:
    assert fit_for(True, Settings()) == Fit("when named", 2, 160, 0.0, 1.1)


def test_what_the_user_has_set_counts_for_the_embedded_model_too() -> None:
    settings = parse_settings((Layer(source="f", values={"maxSteps": 50, "maxOutput": 500}),), {})
    assert isinstance(settings, Settings)
    assert fit_for(True, settings) == Fit("when named", 50, 500, 0.0, 1.1)


@pytest.mark.parametrize(
    "question",
    [
        "What does README.md say?",
        "what is in src/?",
        "open ./x",
        "what is wrong with /etc/hosts",
        "explain src/main and tell me more",
        "what does `parse` do",
        "run the tests",
        "Please run pytest -q",
        "List the files here.",
        "which folder is this?",
        "show the directories",
        "look at .gitignore",
        "summarise Makefile",
        "main.py",
    ],
)
def test_a_question_that_names_something(question: str) -> None:
    assert names_something(question)


@pytest.mark.parametrize(
    "question",
    [
        "Hello!",
        "Who are you?",
        "What is a closure, e.g. in Python 3.11?",
        "yes and/or no?",
        "What is TCP/IP?",
        "see https://example.com/page.html",
        "How fast is I/O?",
        "What is 3.14 times 1/2?",
        "in the long run this is fine",
        "Explain recursion. Then stop.",
        "Is node.js quick?",
    ],
)
def test_a_question_that_names_nothing(question: str) -> None:
    assert not names_something(question)
