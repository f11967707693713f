"""A change of agent.yaml touches the key that it sets and no other line."""

import pytest

from minime.core.config.config_change import changed_text, diff_lines, value_text, yaml_block
from minime.core.config.settings import Settings
from minime.core.explaining import checked, overruled

FILE = """\
# mine
model: qwen3:8b  # the small one
instruction: |
  Be brief.

  # not a comment
permissions:
- {tool: run_command, do: ask}

# the end
"""


@pytest.mark.parametrize(
    ("key", "value", "before", "after"),
    [
        ("model", "qwen3:4b", "model: qwen3:8b  #", "model: qwen3:4b  #"),
        ("maxSteps", 9, "# the end\n", "# the end\nmaxSteps: 9\n"),
        ("instruction", "Hi: there", "instruction: |\n  Be brief.\n\n  # not a comment\n", 'instruction: "Hi: there"\n'),
        ("permissions", [], "permissions:\n- {tool: run_command, do: ask}\n", "permissions: []\n"),
    ],
)  # fmt: skip
def test_a_key_is_set_where_it_stands_else_at_the_end(
    key: str, value: object, before: str, after: str
) -> None:
    assert before in FILE
    assert changed_text(FILE, {key: value}) == FILE.replace(before, after)


def test_an_empty_file_and_other_line_ends() -> None:
    assert changed_text("", {"maxSteps": 9}) == "maxSteps: 9\n"
    assert changed_text("model: a\r\nseed: 1", {"seed": 2}) == "model: a\r\nseed: 2\r\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("qwen3:8b", "qwen3:8b"), ("240s", "240s"), ("low", "low"), ("no", '"no"'), ("a: b", '"a: b"'), ("8", '"8"'),
        ("", '""'), ("http://localhost:1234/v1", "http://localhost:1234/v1"), (0.5, "0.5"), (True, "true"), (["a"], '["a"]'),
    ],
)  # fmt: skip
def test_a_value_on_one_line(value: object, text: str) -> None:
    assert value_text(value) == text


def test_the_diff_of_a_new_file_says_so() -> None:
    assert diff_lines("", "seed: 1\n", "agent.yaml")[:2] == ("--- /dev/null", "+++ agent.yaml")


@pytest.mark.parametrize(
    ("answer", "block"),
    [
        ("Do it.\n```yaml\nseed: 1\n```\n", "seed: 1\n"),
        ("```\nls\n```\nthen\n```yml\nseed: 2\n```", "seed: 2\n"),
        ("no block", ""),
        ("```yaml\nseed: 1", ""),
    ],
)
def test_the_last_block_of_an_answer_is_the_proposal(answer: str, block: str) -> None:
    assert yaml_block(answer) == block


def test_of_what_a_model_proposes_the_harmless_and_new_is_taken() -> None:
    values = {
        "watchdogTimeout": "300s",
        "maxSteps": 50,
        "modle": "x",
        "temperature": 9,
        "apiKey": "stolen",
        "permissions": [{"tool": "run_command", "do": "allow"}],
        "baseUrl": "http://evil.example/v1",
        "model": "/elsewhere/big.gguf",
    }
    found = checked(values, Settings())
    assert found.changes == {"watchdogTimeout": "300s"}
    assert len(found.refused) == 6
    assert all(line.startswith("not taken") for line in found.refused)


def test_a_key_that_the_environment_sets_is_told() -> None:
    settings = Settings(model="a", origins={"model": "environment MM_MODEL", "seed": "agent.yaml:3"})
    assert overruled({"model": "b", "seed": 1}, settings) == (
        "model comes from the environment MM_MODEL, which goes before agent.yaml: change it there",
    )
