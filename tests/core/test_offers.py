"""The models of all servers as one list: labels, what a typed name means, how the list looks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.model.offers import Choice, choices, choices_text, chosen, place_text, server_line
from minime.core.model.servers import Offer, Server

OLLAMA = Server("ollama", "http://127.0.0.1:11434/v1")
STUDIO = Server("lm-studio", "http://127.0.0.1:1234/v1")
MUTE = Server("other", "http://10.0.0.7/v1")
THERE = choices((
    Offer(OLLAMA, ("qwen3:8b", "qwen3:latest", "gemma3:4b")),
    Offer(STUDIO, ("gemma3:4b", "phi-4")),
))

names = st.lists(st.text("ab:", min_size=1, max_size=3), max_size=4, unique=True).map(tuple)


def test_a_name_that_two_servers_have_is_told_apart_by_its_server() -> None:
    assert [choice.label for choice in THERE] == [
        "qwen3:8b",
        "qwen3:latest",
        "gemma3:4b",
        "gemma3:4b on LM Studio",
        "phi-4",
    ]


@given(offers=st.lists(st.tuples(st.sampled_from([OLLAMA, STUDIO, MUTE]), names), max_size=3))
def test_each_label_means_its_own_model(offers: list[tuple[Server, tuple[str, ...]]]) -> None:
    there = choices(tuple(Offer(server, models) for server, models in offers))
    for choice in there:
        assert chosen(there, choice.label, None) == choice


@pytest.mark.parametrize(
    ("wanted", "name", "server"),
    [
        ("qwen3:8b", "qwen3:8b", OLLAMA),
        (" qwen3 ", "qwen3:latest", OLLAMA),
        ("gemma3:4b", "gemma3:4b", OLLAMA),
        ("gemma3:4b on LM Studio", "gemma3:4b", STUDIO),
        ("PHI", "phi-4", STUDIO),
        ("weights/tiny.gguf", "weights/tiny.gguf", Server("embedded", "")),
    ],
)
def test_a_model_is_meant_by_its_label_or_a_piece_that_only_it_has(
    wanted: str, name: str, server: Server
) -> None:
    meant = chosen(THERE, wanted, OLLAMA)
    assert isinstance(meant, Choice)
    assert (meant.name, meant.server) == (name, server)


def test_an_unknown_name_is_told_the_nearest_and_one_of_several_all_of_them() -> None:
    assert chosen(THERE, "qwen2:8b", OLLAMA) == (
        "no model 'qwen2:8b' here: did you mean qwen3:8b? /model lists those that are there"
    )
    assert chosen(THERE, "zzz", OLLAMA) == "no model 'zzz' here: /model lists those that are there"
    assert chosen(THERE, "gemma", OLLAMA) == ("'gemma' may be gemma3:4b, gemma3:4b on LM Studio: which one?")


def test_a_server_that_lists_nothing_is_believed_to_have_any_model() -> None:
    assert chosen(THERE, "mine", MUTE) == Choice("mine", "mine", MUTE)


def test_the_list_stands_by_server_with_a_star_before_the_model_in_use() -> None:
    assert choices_text(THERE, "gemma3:4b", STUDIO).splitlines() == [
        "Ollama · http://127.0.0.1:11434/v1",
        "  qwen3:8b",
        "  qwen3:latest",
        "  gemma3:4b",
        "LM Studio · http://127.0.0.1:1234/v1",
        "* gemma3:4b on LM Studio",
        "  phi-4",
    ]
    assert "* qwen3:latest" in choices_text(THERE, "qwen3", OLLAMA)
    assert choices_text((), "", None) == ""


def test_the_model_in_use_stands_in_the_list_even_where_its_server_does_not_name_it() -> None:
    assert choices_text(THERE, "mine", STUDIO).splitlines()[4:6] == [
        "LM Studio · http://127.0.0.1:1234/v1",
        "* mine",
    ]
    assert choices_text(THERE, "mine", MUTE).splitlines()[:3] == [
        "http://10.0.0.7/v1",
        "* mine",
        "Ollama · http://127.0.0.1:11434/v1",
    ]


def test_the_embedded_model_has_no_address() -> None:
    embedded = Server("embedded", "")
    assert (server_line(embedded), place_text(embedded)) == ("Embedded", ", embedded")


def test_a_model_that_is_listed_twice_is_one() -> None:
    assert len(choices((Offer(MUTE, ("a", "a", "a", "a")),))) <= 3
    assert [c.label for c in choices((Offer(MUTE, ("a",)), Offer(MUTE, ("a",)), Offer(MUTE, ("a",))))] == [
        "a", "a at http://10.0.0.7/v1",
    ]  # fmt: skip
