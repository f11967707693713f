"""The verbs about the configuration, as a person meets them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.config.agent_yaml import KEYS, agent_yaml_template
from minime.core.config.config_schema import config_schema
from minime.core.config.configuration import Layer, parse_settings
from minime.core.config.settings import Settings
from minime.shell.config.yaml_file import Yaml, parse_yaml
from minime.shell.verbs import init, schema_config, show_config
from tests.support.schema import accepts

ROOT = Path(__file__).parent.parent.parent
WHOLE = ROOT / "tests" / "data" / "config" / "whole.yaml"


class Said:
    """What a verb said: `say` to stdout, `warn` to stderr."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.err: list[str] = []

    def say(self, line: str) -> None:
        self.out.append(line)

    def warn(self, line: str) -> None:
        self.err.append(line)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home" / "project").mkdir(parents=True)
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def project(environ: dict[str, str]) -> Path:
    return Path(environ["HOME"]) / "project"


def values_of(text: str) -> dict[str, Any]:
    parsed = parse_yaml(text.encode())
    assert isinstance(parsed, Yaml), parsed
    return parsed.values


def uncommented(template: str) -> str:
    return re.sub(r"^# ?", "", template, flags=re.MULTILINE)


def test_init_writes_a_file_that_is_valid_as_it_stands(project: Path, environ: dict[str, str]) -> None:
    said = Said()
    assert init(project, say=said.say, warn=said.warn) == 0
    assert said.out == [
        f"wrote {project}/agent.yaml: every key is a comment, take the # before one away to set it"
    ]
    assert show_config(project, environ=environ, say=said.say, warn=said.warn) == 0
    assert said.err == []
    assert (project / "agent.yaml").read_text(encoding="utf-8") == agent_yaml_template()


def test_init_never_writes_over_a_file(project: Path) -> None:
    (project / "agent.yaml").write_text("model: mine", encoding="utf-8")
    said = Said()
    assert init(project, say=said.say, warn=said.warn) == 1
    assert (project / "agent.yaml").read_text(encoding="utf-8") == "model: mine"
    assert "is there already and stays as it is" in said.err[0]


def test_init_does_not_write_through_a_link_that_leads_nowhere(project: Path, tmp_path: Path) -> None:
    (project / "agent.yaml").symlink_to(tmp_path / "elsewhere")
    assert init(project, say=Said().say, warn=Said().warn) == 1
    assert not (tmp_path / "elsewhere").exists()


def test_init_tells_why_it_cannot_write(tmp_path: Path) -> None:
    said = Said()
    assert init(tmp_path / "gone", say=said.say, warn=said.warn) == 1
    assert said.err == [f"cannot write {tmp_path}/gone/agent.yaml: No such file or directory"]


def test_the_template_without_its_comment_marks_sets_every_key(golden: Any) -> None:
    template = agent_yaml_template()
    assert template == golden("cli/init.yaml")
    values = values_of(uncommented(template))
    assert list(values) == [key.name for key in KEYS]
    assert values["compaction"] == {"auto": True, "threshold": 0.8, "keep": 2}
    assert accepts(config_schema(), values)
    settings = parse_settings((Layer(source="agent.yaml", values=values),), {})
    assert isinstance(settings, Settings)


def test_the_defaults_in_the_template_are_the_defaults() -> None:
    values = values_of(uncommented(agent_yaml_template()))
    examples = "model baseUrl apiKey instruction contextWindow maxOutput temperature topP seed stop"
    no_default = {*examples.split(), "reasoningEffort", "permissions"}
    said = {key: value for key, value in values.items() if key not in no_default}
    settings = parse_settings((Layer(source="agent.yaml", values=said),), {})
    assert isinstance(settings, Settings)
    for key in KEYS:
        if key.name not in no_default:
            assert getattr(settings, key.field) == getattr(Settings(), key.field)


def test_config_shows_each_value_with_its_place_and_no_secret(
    project: Path, environ: dict[str, str], golden: Any
) -> None:
    own = Path(environ["HOME"]) / ".config" / "mm" / "agent.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(
        "apiKey: ${MY_KEY}\nheaders:\n  Authorization: Bearer ${MY_KEY}\n  User-Agent: mm\npermissions:\n"
        '  - {tool: run_command, match: "git status*", do: allow}\n'
        'mcp:\n  git: {command: npx, args: [-y, a server], env: {GITHUB_TOKEN: "${MY_KEY}", MODE: quick}}\n',
        encoding="utf-8",
    )
    (project / "agent.yaml").write_text(
        "model: qwen3:8b\ninstruction: |\n  You are careful.\n  Answer briefly.\nsessions: {resume: true}\n"
        "permissions:\n  - {tool: run_command, match: rm*, do: deny}\nwatchdogTimeout: 500ms\n",
        encoding="utf-8",
    )
    said = Said()
    environ |= {"MY_KEY": "sk-geheim-123", "MM_BASE_URL": "http://127.0.0.1:8080/v1"}
    assert (
        show_config(project, environ=environ, options={"mode": "auto-edit"}, say=said.say, warn=said.warn)
        == 0
    )
    text = "\n".join(said.out) + "\n"
    assert "geheim" not in text
    assert text == golden("cli/config.txt")


def test_config_without_a_file_shows_the_defaults(
    project: Path, environ: dict[str, str], golden: Any
) -> None:
    said = Said()
    assert show_config(project, environ=environ, say=said.say, warn=said.warn) == 0
    assert "\n".join(said.out) + "\n" == golden("cli/config-defaults.txt")


def test_config_tells_each_fault_and_ends_with_two(
    project: Path, environ: dict[str, str], golden: Any
) -> None:
    faults = (ROOT / "tests" / "data" / "config" / "faults.yaml").read_bytes()
    (project / "agent.yaml").write_bytes(faults)
    said = Said()
    assert show_config(project, environ=environ, trust=True, say=said.say, warn=said.warn) == 2
    assert said.out == []
    assert "\n".join(said.err) + "\n" == golden("cli/config-faults.txt")


def test_the_schema_accepts_a_whole_file_and_is_json(golden: Any) -> None:
    said = Said()
    assert schema_config(said.say) == 0
    assert "\n".join(said.out) + "\n" == golden("cli/schema-config.json")
    assert accepts(json.loads(said.out[0]), values_of(WHOLE.read_text(encoding="utf-8")))


WORDS = st.sampled_from(["", "1s", "x", "ask", "read_file", "http://h/v1"])
SOME = st.none() | st.booleans() | st.integers(-5, 100_000) | st.floats(-2, 3) | WORDS
INNER = st.sampled_from(["enabled", "resume", "auto", "threshold", "keep", "command", "url", "env", "A"])
NESTED = st.recursive(
    SOME, lambda one: st.lists(one, max_size=2) | st.dictionaries(INNER, one, max_size=2), max_leaves=4
)


@given(st.sampled_from(KEYS), NESTED)
def test_what_mm_accepts_the_schema_accepts(key: Any, value: Any) -> None:
    values = {key.name: value}
    if isinstance(parse_settings((Layer(source="agent.yaml", values=values),), {}), Settings):
        assert accepts(config_schema(), values)


@pytest.mark.parametrize(
    "values",
    [
        {"maxStep": 1},
        {"model": 8},
        {"temperature": "hot"},
        {"temperature": 3},
        {"sessions": {"enable": True}},
        {"permissions": [{"do": "allow"}]},
        {"tools": ["cat"]},
        {"watchdogTimeout": "3h"},
        {"baseUrl": "localhost"},
        {"headers": {"a b": "c"}},
        {"commandTimeout": 0},
    ],
    ids=str,
)
def test_what_mm_refuses_the_schema_refuses(values: dict[str, Any]) -> None:
    assert not accepts(config_schema(), values)
    assert not isinstance(parse_settings((Layer(source="agent.yaml", values=values),), {}), Settings)


def test_every_key_is_documented_with_its_meaning_and_default() -> None:
    page = (ROOT / "docs" / "reference" / "agent-yaml.md").read_text(encoding="utf-8")
    for key in KEYS:
        section = re.search(rf"^### `{key.name}`\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
        assert section is not None, key.name
        assert f"Default: {key.default}." in section[1], key.name
        assert "```yaml" in section[1], key.name


def test_every_example_of_the_documentation_is_valid() -> None:
    page = (ROOT / "docs" / "reference" / "agent-yaml.md").read_text(encoding="utf-8")
    examples = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert len(examples) >= len(KEYS)
    for example in examples:
        values = values_of(example)
        result = parse_settings(
            (Layer(source="example", values=values),), {"GITHUB_TOKEN": "x", "TEAM_KEY": "y"}
        )
        assert isinstance(result, Settings), result
        assert accepts(config_schema(), values), example
