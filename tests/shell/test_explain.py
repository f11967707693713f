"""`mm explain`: what went wrong, in words, and a change of agent.yaml that is made only when one says so."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime import cli
from minime.core.codec import encode
from minime.core.config.config_change import changed_text
from minime.core.events import Failed
from minime.core.session import settle
from minime.core.values import Session
from minime.shell.config.yaml_file import Yaml, parse_yaml
from tests.support.mm import Visitor
from tests.support.server import Answer, ScriptedServer, fails, says
from tests.support.values import ID, NOW, hello_turn, question, talked

SILENT = (
    "Ollama was silent for 120 s in the middle of its answer: raise watchdogTimeout in agent.yaml (now 120s; "
    "0 waits for ever)"
)
MOON = "the moon is full"
Ran = tuple[int, str, str]
Mm = Callable[..., Ran]


@pytest.fixture
def mm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Mm:
    def run(*words: str) -> Ran:
        code = cli.run([*words, "--project", str(tmp_path)])
        return (code, *capsys.readouterr())

    return run


def keep(project: Path, *lines: str) -> Path:
    session: Session = talked(hello_turn())
    for line in lines:
        session = settle(session, question(), Failed(line, "raw sk-geheim-123"), NOW)
    folder = project / ".mm" / "sessions"
    folder.mkdir(parents=True)
    file = folder / f"{ID}.json"
    file.write_bytes(encode(session))
    return file


def test_what_went_wrong_is_said_and_nobody_there_changes_nothing(tmp_path: Path, mm: Mm) -> None:
    file = keep(tmp_path, SILENT, MOON)
    before = file.read_bytes()
    code, out, err = mm("explain", "1")
    assert (code, err) == (0, "nothing changed\n")
    assert "it means  The server took the request" in out
    assert f"no rule knows this one; mm explain {ID} --ask has the model look at it" in out
    assert out.endswith("--- /dev/null\n+++ agent.yaml\n@@ -0,0 +1 @@\n+watchdogTimeout: 240s\n")
    assert not (tmp_path / "agent.yaml").exists()
    assert file.read_bytes() == before


def test_the_change_is_made_on_consent_and_not_proposed_again(tmp_path: Path, mm: Mm) -> None:
    keep(tmp_path, SILENT)
    config = tmp_path / "agent.yaml"
    config.write_text("# mine\napiKey: sk-secret-1\nwatchdogTimeout: 100s # short\nmaxSteps: 9\n")
    config.chmod(0o640)
    code, out, _ = mm("explain", "1", "--yes")
    assert code == 0
    assert "-watchdogTimeout: 100s # short\n+watchdogTimeout: 240s # short\n" in out
    assert "sk-secret" not in out
    assert config.read_text() == "# mine\napiKey: sk-secret-1\nwatchdogTimeout: 240s # short\nmaxSteps: 9\n"
    assert config.stat().st_mode & 0o777 == 0o640
    assert "This change" not in mm("explain", "1")[1]


def test_the_file_below_mm_and_one_named_by_config_are_changed_in_their_place(tmp_path: Path, mm: Mm) -> None:
    keep(tmp_path, SILENT)
    below, named = tmp_path / ".mm" / "agent.yaml", tmp_path / "other.yaml"
    below.write_text("seed: 1\n")
    named.write_text("seed: 2\n")
    assert mm("explain", "1", "--yes", "--config", str(named))[0] == 0
    assert mm("explain", "1", "--yes")[0] == 0
    assert below.read_text() == "seed: 1\nwatchdogTimeout: 240s\n"
    assert named.read_text() == "seed: 2\nwatchdogTimeout: 240s\n"


def test_a_file_that_leads_out_of_the_project_is_not_written(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, mm: Mm
) -> None:
    keep(tmp_path, SILENT)
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "agent.yaml"
    elsewhere.write_text("seed: 1\n")
    (tmp_path / "agent.yaml").symlink_to(elsewhere)
    code, _, err = mm("explain", "1", "--yes")
    assert code == 1
    assert "it is a link that leads out of the project" in err
    assert elsewhere.read_text() == "seed: 1\n"


def test_for_a_script_findings_and_change_are_json(tmp_path: Path, mm: Mm) -> None:
    keep(tmp_path, SILENT, SILENT)
    told = json.loads(mm("explain", "last", "--json")[1])
    assert (told["id"], told["change"]) == (ID, {"watchdogTimeout": "240s"})
    assert told["findings"][0]["count"] == 2


def test_a_conversation_without_errors_and_one_that_is_not_there(tmp_path: Path, mm: Mm) -> None:
    keep(tmp_path)
    assert mm("explain", "1")[:2] == (0, f"{ID} · What is 2 + 2? · 0 errors\n")
    assert mm("explain", "7")[0] == 1


def test_a_broken_configuration_is_told_first(tmp_path: Path, mm: Mm) -> None:
    keep(tmp_path, SILENT)
    (tmp_path / "agent.yaml").write_text("modle: x\n")
    code, out, err = mm("explain", "1")
    assert (code, out) == (2, "")
    assert "agent.yaml:1: modle" in err


@pytest.fixture
def asked(tmp_path: Path, mm: Mm, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Ran, Any]]:
    def ask(answer: Answer, *words: str) -> tuple[Ran, Any]:
        with ScriptedServer([answer]) as server:
            monkeypatch.setenv("MM_BASE_URL", server.url)
            monkeypatch.setenv("MM_MODEL", "tiny")
            monkeypatch.setenv("MM_API_KEY", "sk-geheim-123")
            ran = mm("explain", "1", "--ask", *words)
            return ran, server.requests

    return ask


def test_the_model_is_shown_errors_and_configuration_without_secrets(
    tmp_path: Path, asked: Callable[..., tuple[Ran, Any]]
) -> None:
    file = keep(tmp_path, MOON)
    before = file.read_bytes()
    proposal = (
        "It waits.\n```yaml\nwatchdogTimeout: 5m\npermissions: [{tool: run_command, do: allow}]\nseed: x\n```"
    )
    (code, out, err), [request] = asked(says(proposal), "--yes")
    body = request.json
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert not body.get("tools")
    question = body["messages"][1]["content"]
    assert MOON in question
    assert "watchdogTimeout:" in question
    assert "geheim" not in json.dumps(body)
    assert "***" in question
    assert code == 0
    assert "It waits." in out
    assert "not taken, since it is for you to decide: permissions" in err
    assert "not taken: agent.yaml: seed" in err
    assert (tmp_path / "agent.yaml").read_text() == "watchdogTimeout: 5m\n"
    assert file.read_bytes() == before


def test_a_model_without_a_proposal_leaves_that_of_the_rules(
    tmp_path: Path, asked: Callable[..., tuple[Ran, Any]]
) -> None:
    keep(tmp_path, SILENT)
    (_, out, _), _ = asked(says("It was slow."))
    assert "It was slow." in out
    assert out.endswith("+watchdogTimeout: 240s\n")


def test_a_model_that_does_not_answer_is_told_in_one_line(
    tmp_path: Path, asked: Callable[..., tuple[Ran, Any]]
) -> None:
    keep(tmp_path, SILENT)
    (code, _, err), _ = asked(fails(400, "no"))
    assert code == 1
    assert err.startswith("mm: ")
    assert not (tmp_path / "agent.yaml").exists()


def test_a_person_at_the_terminal_is_asked(tmp_path: Path) -> None:
    keep(tmp_path, SILENT)
    with Visitor("explain", "1", "--project", str(tmp_path), cwd=tmp_path) as visitor:
        visitor.see(r"Change agent\.yaml\? \[y/N\]")
        visitor.type("y")
        visitor.see("it holds from the next start on")
        assert visitor.leave() == 0
    assert (tmp_path / "agent.yaml").read_text() == "watchdogTimeout: 240s\n"


values = st.one_of(
    st.integers(-(10**6), 10**6),
    st.booleans(),
    st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=12),
    st.lists(st.text("ab: #'-", max_size=5), max_size=3),
)
keys = st.sampled_from(["model", "maxSteps", "seed", "stop", "instruction", "x"])
LINES = st.sampled_from([
    "# a comment", "", "model: a # b", "maxSteps: 9", "stop:", "stop: [a]", "instruction: |", "  indented", "- item",
    "  - item", "seed: 1", "x: {a: 1}",
])  # fmt: skip


@given(st.lists(LINES, max_size=8), st.dictionaries(keys, values, max_size=3))
def test_a_changed_file_says_what_it_said_and_the_change(lines: list[str], changes: dict[str, Any]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    before = parse_yaml(text.encode())
    if isinstance(before, Yaml):
        after = parse_yaml(changed_text(text, changes).encode())
        assert isinstance(after, Yaml)
        assert after.values == {**before.values, **changes}
