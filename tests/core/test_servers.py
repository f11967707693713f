"""Which server answered, what models it offers, which of them is asked, and whether it is on this machine."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.model.servers import (
    KNOWN,
    Server,
    choose_model,
    is_loopback,
    known,
    parse_models,
    recognise,
    server_at,
    server_name,
)


def listed(*entries: object) -> bytes:
    return json.dumps({"object": "list", "data": entries}).encode()


@pytest.mark.parametrize(
    ("body", "models"),
    [
        pytest.param(listed({"id": "a"}, {"id": "b"}), ("a", "b"), id="data"),
        pytest.param(b'{"models": [{"name": "a"}, {"model": "b"}]}', ("a", "b"), id="models"),
        pytest.param(b'{"models": [{"name": "no"}], "data": [{"id": "a"}]}', ("a",), id="both"),
        pytest.param(b'["a", "b", "a"]', ("a", "b"), id="a bare list with a name twice"),
        pytest.param(listed({"id": ""}, {"id": 3}, {}, None, {"id": "a"}), ("a",), id="odd entries"),
        pytest.param(
            listed({"id": "nomic-embed-text"}, {"id": "qwen3"}), ("qwen3", "nomic-embed-text"), id="embedding"
        ),
        pytest.param(b'{"data": null}', (), id="null"),
        pytest.param(b"<html>", (), id="html"),
        pytest.param(b'{"data": [{"id": "a\\ud83d"}]}', (), id="a lone surrogate"),
        pytest.param(b"[" * 5000, (), id="nested without end"),
        pytest.param(b"", (), id="empty"),
    ],
)
def test_models_are_read_off_whatever_a_server_lists(body: bytes, models: tuple[str, ...]) -> None:
    assert parse_models(body) == models


@given(st.binary(max_size=200))
def test_no_list_of_models_is_too_broken_to_be_read(body: bytes) -> None:
    assert isinstance(parse_models(body), tuple)
    assert recognise("vllm", {}, body) == "other"


@pytest.mark.parametrize(
    ("expected", "headers", "body", "kind"),
    [
        ("llama.cpp", {"server": "llama.cpp"}, listed({"id": "a"}), "llama.cpp"),
        ("llama.cpp", {}, listed({"id": "a", "owned_by": "llamacpp"}), "llama.cpp"),
        ("llama.cpp", {}, listed({"id": "a", "owned_by": "me"}), "other"),
        ("vllm", {"server": "uvicorn"}, listed({"id": "a", "owned_by": "vllm"}), "vllm"),
        ("vllm", {"server": "uvicorn"}, listed({"id": "a"}), "other"),
        ("vllm", {"server": "llama.cpp"}, listed({"id": "a"}), "llama.cpp"),
        ("llama.cpp", {}, listed({"id": "a", "owned_by": "vllm"}), "vllm"),
        ("ollama", {}, listed({"id": "a", "owned_by": "somebody"}), "ollama"),
        ("lm-studio", {}, listed({"id": "a", "owned_by": "organization_owner"}), "lm-studio"),
        ("docker", {}, listed({"id": "a", "owned_by": None}), "docker"),
    ],
)
def test_a_server_is_known_by_its_answer_and_by_its_port_only_where_that_is_its_own(
    expected: str, headers: dict[str, str], body: bytes, kind: str
) -> None:
    assert recognise(expected, headers, body) == kind  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("http://localhost:11434/v1/", Server("ollama", "http://localhost:11434/v1")),
        (" http://10.0.0.7:11434/v1 ", Server("ollama", "http://10.0.0.7:11434/v1")),
        ("http://127.0.0.1:8080/v1", Server("llama.cpp", "http://127.0.0.1:8080/v1")),
        ("http://example.org:8080/v1", Server("other", "http://example.org:8080/v1")),
        ("http://localhost:12434/engines/v1", Server("docker", "http://localhost:12434/engines/v1")),
        ("https://api.example.org", Server("other", "https://api.example.org")),
        ("http://host:port/v1", Server("other", "http://host:port/v1")),
    ],
)
def test_an_address_is_kept_as_written_but_for_its_ends(url: str, server: Server) -> None:
    assert server_at(url) == server


def test_the_known_servers_are_found_again_by_their_own_address() -> None:
    assert [server_at(entry.base_url).kind for entry in KNOWN] == [entry.kind for entry in KNOWN]
    assert [server_name(entry.kind) for entry in KNOWN] == [entry.name for entry in KNOWN]
    assert known("embedded") is None
    assert server_name("embedded") == "the embedded model"
    assert server_name("other") == "the server"


def test_the_configured_model_is_asked_else_the_first_that_is_there() -> None:
    assert choose_model("mine", ("a", "b")) == "mine"
    assert choose_model(None, ("a", "b")) == "a"
    assert choose_model("", ("a",)) == "a"
    assert choose_model(None, ()) is None


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.0.0.1/v1", True),
        ("http://127.8.9.1:80", True),
        ("http://[::1]:8080/v1", True),
        ("http://0.0.0.0:8080/v1", False),
        ("http://127.0.0.1@example.org/v1", False),
        ("http://127.0.0.1.example.org/v1", False),
        ("http://localhost.example.org/v1", False),
        ("http://[::1/v1", False),
        ("", False),
    ],
)
def test_only_this_machine_is_loopback(url: str, here: bool) -> None:
    assert is_loopback(url) is here
