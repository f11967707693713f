"""Whether a model takes images, as servers tell it."""

import json
from typing import Any

import pytest

from minime.core.model.servers import Kind, Server
from minime.core.model.sight import blind_text, read_sight, sight_page
from minime.core.model.windows import Page


@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        ("ollama", {"capabilities": ["completion", "vision"]}, True),
        ("ollama", {"capabilities": ["completion", "tools"]}, False),
        ("ollama", {"details": {}}, None),
        ("llama.cpp", {"modalities": {"vision": True, "audio": False}}, True),
        ("llama.cpp", {"modalities": {"vision": False}}, False),
        ("llama.cpp", {"model_path": "a.gguf"}, None),
        ("lm-studio", {"data": [{"id": "other", "type": "vlm"}, {"id": "m", "type": "llm"}]}, False),
        ("lm-studio", {"data": [{"id": "m", "type": "vlm"}]}, True),
        ("lm-studio", {"data": [{"id": "m", "type": "embeddings"}]}, None),
        ("lm-studio", {"data": []}, None),
        ("ollama", [], None),
    ],
)
def test_a_page_tells_whether_the_model_sees(kind: Kind, body: Any, told: bool | None) -> None:
    page = sight_page(Server(kind, "http://127.0.0.1:1/v1"), "m")
    assert page is not None
    assert read_sight("m", page, json.dumps(body).encode()) is told


@pytest.mark.parametrize("kind", ["docker", "vllm", "other", "embedded"])
def test_other_servers_have_no_such_page(kind: Kind) -> None:
    assert sight_page(Server(kind, "http://127.0.0.1:1/v1"), "m") is None


def test_a_page_that_is_no_json_tells_nothing() -> None:
    page = sight_page(Server("ollama", "http://127.0.0.1:1/v1"), "m")
    assert page is not None
    assert read_sight("m", page, b"<html>") is None


def test_the_person_is_told_what_the_model_reads() -> None:
    assert blind_text("m") == "m takes no images: it reads their names and sizes"


def test_a_page_about_something_else_tells_nothing() -> None:
    assert read_sight("m", Page("models", "http://127.0.0.1:1/v1/models"), b"{}") is None
