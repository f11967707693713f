"""Layers in, settings or problems out."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.config.agent_yaml import KEYS
from minime.core.config.config_text import MASK, config_text
from minime.core.config.configuration import (
    Layer,
    Problem,
    environment_layers,
    option_layers,
    parse_settings,
    problem_text,
)
from minime.core.config.expansion import Expanded, Malformed, Unset, expand, variables_in
from minime.core.config.reading import parse_duration
from minime.core.config.settings import (
    DEFAULT_INSTRUCTION,
    TOOL_NAMES,
    Compaction,
    McpCommand,
    McpUrl,
    Settings,
    is_secret,
    origin,
    secret_names,
    secrets,
    valued_paths,
)
from minime.core.config.shapes import shown as shape_shown
from minime.core.tools.permissions import PermissionRule
from minime.core.tools.toolbox import TOOLS


def file(source: str = "agent.yaml", /, **values: Any) -> Layer:
    return Layer(
        source=source, values=values, lines={(key,): line for line, key in enumerate(values, start=1)}
    )


def parsed(*layers: Layer, **environ: str) -> Settings:
    settings = parse_settings(layers, environ)
    assert isinstance(settings, Settings), settings
    return settings


def faults(*layers: Layer, **environ: str) -> list[str]:
    problems = parse_settings(layers, environ)
    assert isinstance(problems, tuple), problems
    return [problem_text(problem) for problem in problems]


def test_without_any_layer_the_defaults_hold() -> None:
    settings = parsed()
    assert settings.model is None
    assert settings.watchdog_timeout == 120.0
    assert settings.tools == TOOL_NAMES
    assert {settings.origins[key.name] for key in KEYS} == {"default"}


def test_the_tool_names_are_those_of_the_toolbox() -> None:
    assert set(TOOL_NAMES) == {tool.name for tool in TOOLS}


def test_every_key_has_a_field_of_settings() -> None:
    assert [key.field for key in KEYS] == [
        field for field in Settings.__struct_fields__ if field not in {"mode", "origins", "variables"}
    ]


def test_the_default_instruction_is_short() -> None:
    assert 50 < len(DEFAULT_INSTRUCTION.split()) < 200


def test_later_layers_go_before_earlier_ones_key_by_top_level_key() -> None:
    user = file("~/.config/mm/agent.yaml", model="a", maxSteps=7, compaction={"auto": False})
    project = file(model="b", compaction={"keep": 3})
    settings = parsed(
        user,
        project,
        *environment_layers({"MM_MODEL": "c", "MM_BASE_URL": ""}),
        *option_layers({"model": "d", "mode": "auto", "config": None}),
    )
    assert (settings.model, settings.mode, settings.max_steps) == ("d", "auto", 7)
    assert settings.compaction == Compaction(auto=True, keep=3)
    assert origin(settings, "model") == "option --model"
    assert origin(settings, "maxSteps") == "~/.config/mm/agent.yaml:2"
    assert origin(settings, "baseUrl") == "default"
    assert origin(settings, "compaction.auto") == "default"


def test_the_environment_goes_before_the_file() -> None:
    settings = parsed(file(model="a"), *environment_layers({"MM_MODEL": " c\n"}))
    assert (settings.model, origin(settings, "model")) == ("c", "environment MM_MODEL")


def test_the_users_permissions_come_before_the_projects() -> None:
    user = file("mine", permissions=[{"tool": "run_command", "match": "rm*", "do": "deny"}])
    project = file(permissions=[{"tool": "run_command"}])
    settings = parsed(user, project)
    assert settings.permissions == (
        PermissionRule("run_command", "rm*", "deny"),
        PermissionRule("run_command", "*", "ask"),
    )
    assert (origin(settings, "permissions.0"), origin(settings, "permissions.1")) == ("mine", "agent.yaml")


def test_a_key_with_nothing_behind_it_says_nothing() -> None:
    assert parsed(file("mine", model="a", headers={"A": "1"}), file(model=None, headers=None)).model == "a"
    assert parsed(file("mine", apiKey="sk-12345"), file(apiKey="${KEY:-}")).api_key == "sk-12345"


def test_an_empty_instruction_is_one() -> None:
    assert parsed(file(instruction="")).instruction == ""


def test_every_kind_of_value_is_read() -> None:
    settings = parsed(
        file(
            model="m",
            baseUrl="https://host/v1/",
            stop="END",
            temperature=1,
            watchdogTimeout="500ms",
            contextWindow=4096.0,
            permissions=[{"tool": "mcp_thing"}],
            mcp={
                "git": {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}},
                "web": {"url": "https://host/mcp?x=1", "headers": {"X-Key": "k"}},
            },
        )
    )
    assert settings.base_url == "https://host/v1"
    assert settings.stop == ("END",)
    assert (settings.temperature, settings.watchdog_timeout, settings.context_window) == (1.0, 0.5, 4096)
    assert settings.mcp["git"] == McpCommand("npx", ("-y", "x"), {"A": "1"})
    assert settings.mcp["web"] == McpUrl("https://host/mcp?x=1", {"X-Key": "k"})


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"maxStep": 3}, "agent.yaml:1: maxStep: unknown key; did you mean maxSteps?"),
        ({"base_url": "x"}, "agent.yaml:1: base_url: unknown key; did you mean baseUrl?"),
        ({"sessions": {"enable": True}}, "agent.yaml:1: sessions.enable: unknown key; did you mean enabled?"),
        (
            {"mode": "auto"},
            "agent.yaml:1: mode: unknown key; the mode is an option: --mode ask|auto-edit|auto|",
        ),
        ({"temperature": "hot"}, 'agent.yaml:1: temperature: expected a number from 0 to 2, found "hot"'),
        ({"temperature": 3}, "agent.yaml:1: temperature: expected a number from 0 to 2, found 3"),
        (
            {"temperature": float("nan")},
            "agent.yaml:1: temperature: expected a number from 0 to 2, found nan",
        ),
        ({"temperature": True}, "agent.yaml:1: temperature: expected a number from 0 to 2, found true"),
        ({"seed": "1e3"}, 'found "1e3", which is text to YAML; write it without an exponent'),
        ({"topP": "0.5"}, 'found "0.5", which is text to YAML; write it without quotes'),
        ({"maxSteps": 2.5}, "expected a whole number from 0 to 10000, found 2.5"),
        ({"maxSteps": 10**400}, "found a very large number"),
        ({"model": 8}, "agent.yaml:1: model: expected text, found 8; write it in quotes"),
        ({"model": 45045}, "expected text, found 45045; write it in quotes"),
        (
            {"instruction": False},
            "found false; YAML reads yes, no, on and off as true and false, so write it in",
        ),
        ({"model": "a\x1b]0;x\x07"}, "expected one line of text without control characters"),
        ({"model": "a\ud83d"}, "expected one line of text without control characters"),
        ({"sessions": {"enabled": "yes"}}, 'expected true or false, found "yes"; take the quotes away'),
        ({"sessions": True}, "agent.yaml:1: sessions: expected a mapping with enabled, resume, found true"),
        (
            {"watchdogTimeout": "3h"},
            "expected a duration such as 500ms, 30s, 2m or seconds as a number, a day",
        ),
        ({"commandTimeout": 0}, "above 0 and a day at most, found 0"),
        ({"tools": ["raed_file"]}, 'found "raed_file"; did you mean read_file?'),
        ({"tools": "read_file"}, "agent.yaml:1: tools: expected a list"),
        ({"tools": [None]}, "tools[0]: expected one of read_file"),
        ({"permissions": [{"tool": "run_comand"}]}, "there is no tool run_comand; did you mean run_command?"),
        (
            {"permissions": [{"tool": "x", "do": False}]},
            "permissions[0].do: expected one of ask, allow, deny",
        ),
        ({"permissions": [{"match": "x"}]}, "agent.yaml:1: permissions[0]: tool must be given"),
        ({"baseUrl": "localhost:8080"}, "expected an address that begins with http:// or https://"),
        ({"baseUrl": "http://a:b@host/v1"}, "expected an address without user name and password"),
        ({"baseUrl": "http://host/v1?x=1"}, "expected an address without ? and #"),
        ({"baseUrl": "http://[::1/v1"}, "expected an address that begins with"),
        ({"headers": {"X": "a\r\nY: b"}}, "headers.X: expected printable ASCII characters in one line"),
        ({"headers": {"X Y": "a"}}, "headers.X Y: not a name that can stand here"),
        ({"headers": {"X": None}}, "headers.X: expected text of printable ASCII characters, found nothing"),
        ({"mcp": {"a": {"command": "x", "url": "http://x"}}}, "mcp.a: expected either command"),
        ({"mcp": {"a": {}}}, "mcp.a: expected either command"),
        (
            {"compaction": {"threshold": 80}},
            "compaction.threshold: expected a number from 0.1 to 1, found 80",
        ),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_fault_names_its_place_and_what_was_expected(values: dict[str, Any], fault: str) -> None:
    (line,) = faults(file(**values))
    assert line.startswith("agent.yaml:1: ")
    assert fault in line
    assert line.isprintable()


def test_all_faults_are_told_at_once() -> None:
    assert len(faults(file(maxStep=1, model=2), *environment_layers({"MM_BASE_URL": "nonsense"}))) == 3


def test_a_key_of_the_wrong_type_is_not_shown_where_it_may_be_secret() -> None:
    (line,) = faults(file(apiKey=12345678))
    assert "12345678" not in line
    (line,) = faults(file(apiKey="${KEY}"), KEY="geheim\n1")
    assert "geheim" not in line
    (line,) = faults(file(maxSteps="${KEY}"), KEY="geheim")
    assert "geheim" not in line


def test_variables_are_filled_in_where_numbers_belong_too() -> None:
    settings = parsed(
        file(contextWindow="${CTX:-8192}", temperature="${T}", sessions={"enabled": "${ON}"}),
        T="0.5",
        ON="false",
    )
    assert (settings.context_window, settings.temperature, settings.sessions.enabled) == (8192, 0.5, False)


def test_an_unset_variable_is_named_with_its_key() -> None:
    for environ in ({}, {"KEY": ""}):
        assert faults(file(apiKey="${KEY}"), **environ) == [
            "agent.yaml:1: apiKey: the variable KEY is not set; set it, or give a default: ${KEY:-default}"
        ]


def test_variables_are_filled_in_in_files_only() -> None:
    settings = parsed(*environment_layers({"MM_MODEL": "${HOME}"}), HOME="/root")
    assert settings.model == "${HOME}"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("a ${A} b", Expanded("a x b", ("A",))),
        ("${B:-d}${A:-d}", Expanded("dx", ("A",))),
        ("${B:-}", Expanded("")),
        ("$${A} $A", Expanded("${A} $A")),
        ("${B}", Unset("B")),
        ("${a b}", Malformed("${a b}")),
        ("${A:-${B}}", Malformed("${A:-${B}}")),
    ],
)
def test_expansion(text: str, result: object) -> None:
    assert expand(text, {"A": "x", "B": ""}) == result


@given(st.text(alphabet="ab$"))
def test_a_text_without_a_brace_stays_as_it_is(text: str) -> None:
    assert expand(text, {}) == Expanded(text)


def test_what_a_variable_holds_is_not_filled_in_again() -> None:
    assert expand("${A}", {"A": "${B}", "B": "x"}) == Expanded("${B}", ("A",))


def test_variables_are_found_at_every_level() -> None:
    assert variables_in({"a": [{"b": "${X}"}, "${Y:-z}"], "${Z}": 1}) == ("X", "Y", "Z")
    assert variables_in("$${X}") == ()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("500ms", 0.5), ("30s", 30.0), ("2m", 120.0), (1.5, 1.5), (0, 0.0), ("90", 90.0), (" 1 s ", 1.0)],
)
def test_durations(text: object, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "s", "-1s", -1, True, None, [], "1h", "1e3s", float("inf"), 10**400, "9999m"]
)
def test_what_is_no_duration(text: object) -> None:
    assert parse_duration(text) is None


SECRET = file(
    apiKey="${KEY}",
    headers={"Authorization": "Bearer ${TOK}", "User-Agent": "mm-test-agent"},
    mcp={
        "git": {
            "command": "x",
            "args": ["--token=${ARG}"],
            "env": {"GITHUB": "${GH}", "PATH": "${PATH}", "A_TOKEN": "written-down", "PLAIN": "visible"},
        }
    },
)
ENVIRON = {"KEY": "key-0123", "TOK": "tok-0123", "ARG": "arg-0123", "GH": "gh-01234", "PATH": "/usr/bin:/bin"}


def test_secrets_are_the_texts_to_be_masked_the_longest_first() -> None:
    found = secrets(parsed(SECRET, **ENVIRON))
    assert {"key-0123", "tok-0123", "Bearer tok-0123", "arg-0123", "gh-01234", "written-down"} <= set(found)
    assert not {"/usr/bin:/bin", "visible", "mm-test-agent"} & set(found)
    assert list(found) == sorted(found, key=len, reverse=True)


def test_the_variables_that_held_secrets_are_named() -> None:
    assert set(secret_names(parsed(SECRET, **ENVIRON))) == {"MM_API_KEY", "KEY", "TOK", "ARG", "GH"}


def test_words_that_stand_for_no_key_are_no_secrets() -> None:
    assert secrets(parsed(*environment_layers({"MM_API_KEY": "ollama"}))) == ()
    assert secrets(parsed(file(apiKey="abc"))) == ()


def test_no_secret_is_shown() -> None:
    text = config_text(parsed(SECRET, **ENVIRON))
    for secret in secrets(parsed(SECRET, **ENVIRON)):
        assert secret not in text
    assert "visible" in text


def test_problems_render_without_a_line_too() -> None:
    assert problem_text(Problem("option --model", 0, "model", "no")) == "option --model: model: no"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([key.name for key in KEYS]) | st.text(max_size=9), VALUES, max_size=5))
def test_whatever_a_file_says_there_are_settings_or_lines_for_people(values: dict[str, Any]) -> None:
    result = parse_settings((Layer(source="agent.yaml", values=values),), {})
    if isinstance(result, Settings):
        assert "(default)" in config_text(result)
    else:
        assert result
        assert all(problem_text(problem).isprintable() for problem in result)


def test_what_is_no_secret_by_its_place_is_shown() -> None:
    assert not is_secret(Settings(), "baseUrl")
    assert shape_shown(None) == "nothing"


def test_the_address_and_headers_of_a_server_of_tools_can_hold_secrets() -> None:
    settings = Settings(mcp={"web": McpUrl("https://e.org/mcp", {"X-Key": "s3cret-key"})})
    assert ("mcp.web.headers.X-Key", "s3cret-key") in valued_paths(settings)
    assert ("mcp.web.url", "https://e.org/mcp") in valued_paths(settings)
    assert "s3cret-key" in secrets(settings)
    text = config_text(settings)
    assert f"https://e.org/mcp X-Key={MASK}" in text
    assert "s3cret-key" not in text


def test_a_single_text_stands_for_a_list_of_one() -> None:
    for said, stop in (("END", ("END",)), ("", ())):
        read = parse_settings((file(stop=said),), {})
        assert isinstance(read, Settings)
        assert read.stop == stop


def test_a_list_of_one_may_come_from_a_variable() -> None:
    read = parse_settings((file(stop="${END}"),), {"END": "stop here"})
    assert isinstance(read, Settings)
    assert read.stop == ("stop here",)


def test_a_mapping_that_was_set_to_nothing_is_shown_as_such() -> None:
    assert "{}" in config_text(Settings(headers={}, origins={"headers": "agent.yaml:1"}))
