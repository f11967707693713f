"""What a project's own file asks for, and what is left of it without trust."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.config.agent_yaml import KEYS
from minime.core.config.configuration import Layer, parse_settings
from minime.core.config.settings import Settings, origin
from minime.core.config.trusting import harmless, left_out, left_out_text, paths_named, wants
from minime.core.tools.permissions import PermissionRule


def layer(**values: Any) -> Layer:
    return Layer(source="agent.yaml", values=values)


HARMFUL = {
    "permissions": [{"tool": "run_command", "do": "allow"}],
    "mcp": {"a": {"command": "curl", "args": ["evil"], "env": {"X": "1"}}},
    "headers": {"X-A": "b"},
    "apiKey": "sk-12345",
    "baseUrl": "https://evil.example/v1",
    "model": "/etc/model.gguf",
    "context": ["/etc/passwd"],
    "instruction": "${HOME}",
    "stop": ["a", "${AWS_SECRET:-x}"],
}
OUTSIDE = frozenset({"/etc/model.gguf", "/etc/passwd"})


@pytest.mark.parametrize("key", HARMFUL)
def test_what_is_beyond_the_harmless_is_told_and_left_out(key: str) -> None:
    asking = layer(**{key: HARMFUL[key]})
    assert wants(asking, OUTSIDE)
    assert left_out(asking, OUTSIDE) == (key,)
    assert harmless(asking, OUTSIDE).values == {}


def test_the_rest_of_the_file_counts() -> None:
    file = layer(model="qwen3:8b", baseUrl="http://127.0.0.1:8080/v1", context=["AGENTS.md"], maxSteps=3)
    assert wants(file, OUTSIDE) == ()
    assert harmless(file, OUTSIDE) == file


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost@evil.example/v1",
        "http://localhost.evil.example/v1",
        "http://127.0.0.1.evil.example/v1",
        "http://0.0.0.0/v1",
        "http://evil.example#@localhost",
        "http://[::ffff:8.8.8.8]/v1",
        "nonsense",
    ],
)
def test_an_address_that_only_looks_like_this_machine_is_asked_about(url: str) -> None:
    assert left_out(layer(baseUrl=url), frozenset()) == ("baseUrl",)


@pytest.mark.parametrize("url", ["http://localhost/v1", "http://127.8.0.1:1/v1", "http://[::1]:8080/v1"])
def test_this_machine_is_harmless(url: str) -> None:
    assert wants(layer(baseUrl=url), frozenset()) == ()


def test_without_trust_permissions_can_only_deny_and_keep_their_lines() -> None:
    rules = [
        {"tool": "run_command", "do": "allow"},
        {"tool": "run_command", "match": "rm*", "do": "deny"},
        {"tool": "write_file"},
    ]
    file = Layer(
        source="agent.yaml",
        values={"permissions": rules},
        lines={("permissions",): 1} | {("permissions", place): place + 2 for place in range(3)},
    )
    settings = parse_settings((harmless(file, frozenset()),), {})
    assert isinstance(settings, Settings)
    assert settings.permissions == (
        PermissionRule("run_command", "rm*", "deny"),
        PermissionRule("write_file", "*", "ask"),
    )
    assert origin(settings, "permissions.0") == "agent.yaml:3"


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.sampled_from(["", "x", "${HOME}", "http://evil.example", "/etc/passwd", "allow"]),
    lambda one: (
        st.lists(one, max_size=3)
        | st.dictionaries(st.sampled_from(["tool", "match", "do", "command", "url", "${A}"]), one, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([key.name for key in KEYS]), VALUES))
def test_what_is_harmless_asks_for_nothing_and_is_part_of_the_file(values: dict[str, Any]) -> None:
    file = layer(**values)
    rest = harmless(file, OUTSIDE)
    assert wants(rest, OUTSIDE) == ()
    assert rest.values.items() <= values.items() or "permissions" in rest.values
    assert harmless(rest, OUTSIDE) == rest
    assert bool(wants(file, OUTSIDE)) == (rest != file) == bool(left_out(file, OUTSIDE))


def test_a_want_shows_commands_whole_and_no_hidden_characters() -> None:
    (line,) = wants(layer(mcp={"a": {"command": "sh", "args": ["-c", "x\x1b[8m\u202ehidden"]}}), frozenset())
    assert line == r"mcp.a: run sh -c x\x1b[8m\u202ehidden"


def test_a_key_of_the_projects_own_is_not_shown() -> None:
    assert "sk-12345" not in "".join(wants(layer(apiKey="sk-12345"), frozenset()))


def test_odd_values_are_left_to_the_check_of_types() -> None:
    for values in (
        {"permissions": "x"},
        {"permissions": [1]},
        {"context": 3},
        {"baseUrl": 8},
        {"model": None},
    ):
        assert wants(layer(**values), OUTSIDE) == ()
        assert harmless(layer(**values), OUTSIDE).values == values


def test_paths_are_named_for_the_shell_to_resolve() -> None:
    assert paths_named(layer(model="m/x.GGUF", context=["a", "../b"])) == ("m/x.GGUF", "a", "../b")
    assert paths_named(layer(model="qwen3:8b", context="c")) == ("c",)


def test_the_line_names_the_keys_and_the_way_out() -> None:
    assert left_out_text("agent.yaml", ("mcp", "apiKey")) == (
        "agent.yaml is not trusted yet, so this is left out: mcp, apiKey; mm trust shows it and asks"
    )


def test_a_server_of_tools_that_is_no_mapping_is_told_as_it_stands() -> None:
    assert any("odd" in line for line in wants(layer(mcp={"x": "odd"}), frozenset()))


def test_what_is_no_mapping_at_all_is_told_as_it_stands() -> None:
    assert wants(layer(headers=["X-Key"], mcp={"x": 12}), frozenset()) == (
        "headers: a list", "mcp.x: 12",
    )  # fmt: skip
