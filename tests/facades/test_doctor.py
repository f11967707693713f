"""`mm doctor` as its user runs it, on a machine with the servers that a test gives it."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from minime import __version__
from tests.support.mm import STILL, run_mm, session_files
from tests.support.server import Body, ScriptedServer, calls, fails, says

Golden = Callable[[str], SnapshotAssertion]
LIST = calls(("list_directory", {"path": "."}))
RUNNING = Body(b'{"models": [{"name": "qwen3:8b", "context_length": 32768}]}')
LISTED = Body(b'{"data": [{"id": "smollm2", "owned_by": "llamacpp"}]}')
LOCALE = {"LC_ALL": "C.UTF-8"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".git").mkdir()
    return folder


def still(text: str, project: Path, **servers: ScriptedServer) -> str:
    """The screen without what differs from machine to machine."""
    text = text.replace(str(project), "/home/me/project").replace(f"({sys.executable})", "(/usr/bin/python3)")
    text = re.sub(r"on Python [\d.]+", "on Python 3.12.4", text).replace(f"mm {__version__}", "mm 0.1.0")
    for port, server in servers.items():
        text = text.replace(f":{server.port}/", f":{port.removeprefix('at')}/")
    return text


def places(**servers: ScriptedServer) -> dict[str, str]:
    named = " ".join(f"{kind.replace('_', '-')}={server.url}" for kind, server in servers.items())
    return {**LOCALE, "STILL_SERVERS": named.replace("llama-cpp", "llama.cpp")}


def test_a_machine_where_all_is_well(project: Path, golden: Golden) -> None:
    (project / "agent.yaml").write_text("model: qwen3:8b\n")
    with (
        ScriptedServer(models=("qwen3:8b", "gemma3:4b"), routes={"/api/ps": RUNNING}) as ollama,
        ScriptedServer(models=LISTED) as llama,
    ):
        done = run_mm("doctor", cwd=project, env=places(ollama=ollama, llama_cpp=llama), program=STILL)
        assert not ollama.requests
    assert (done.returncode, done.stderr) == (0, "")
    assert still(done.stdout, project, at11434=ollama, at8080=llama) == golden("doctor/well.txt")


def test_a_machine_where_not_much_is_right(project: Path, golden: Golden) -> None:
    (project / "agent.yaml").write_text("model: qwen3:9b\napiKey: sesame-key\n")
    sessions = project / ".mm" / "sessions"
    sessions.mkdir(parents=True)
    (sessions / "20260916-101530-4f2a9c1e.json").write_text('{"version": 1,')
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    with (
        ScriptedServer(models=("qwen3:8b", "gemma3:4b")) as ollama,
        ScriptedServer(models=fails(401, "no")) as studio,
        ScriptedServer(models=Body(b'{"object": "list", "data": []}')) as docker,
    ):
        env = places(ollama=ollama, docker=docker, lm_studio=studio)
        done = run_mm(
            "doctor", cwd=project, env={**env, "HTTP_PROXY": "http://me:sesame@proxy"}, program=STILL
        )
    assert (done.returncode, done.stderr) == (1, "")
    assert "sesame" not in done.stdout
    assert still(done.stdout, project, at11434=ollama, at12434=docker, at1234=studio) == golden(
        "doctor/wrong.txt"
    )
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before


def test_a_machine_with_nothing_on_it_and_a_faulty_file(project: Path, golden: Golden) -> None:
    (project / "agent.yaml").write_text("maxStep: 3\nmaxOutput: lots\n")
    done = run_mm("doctor", cwd=project, env=LOCALE, program=STILL)
    assert (done.returncode, done.stderr) == (1, "")
    assert still(done.stdout, project) == golden("doctor/nothing.txt")


def test_a_server_of_the_settings_that_does_not_answer(project: Path, golden: Golden) -> None:
    env = {**LOCALE, "MM_BASE_URL": "http://127.0.0.1:9/v1", "MM_API_KEY": "sesame-key"}
    done = run_mm("doctor", "--model", "tiny", cwd=project, env=env, program=STILL)
    assert done.returncode == 1
    assert still(done.stdout, project) == golden("doctor/unreachable.txt")


@pytest.mark.parametrize(
    ("answer", "state", "words"),
    [
        (LIST, "well", "called one when asked to"),
        (says("I am a poet."), "worth a look", "called none when asked to"),
        (fails(401, "sesame-key is no key"), "wrong", "refused the API key"),
    ],
)
def test_the_model_is_asked_for_a_tool_call_when_that_is_wished_for(
    project: Path, answer: Body, state: str, words: str
) -> None:
    with ScriptedServer([answer], models=("tiny",)) as server:
        env = {"MM_BASE_URL": server.url, "MM_API_KEY": "sesame-key"}
        done = run_mm("doctor", "--ask", "--json", cwd=project, env=env, program=STILL)
        assert [tool["function"]["name"] for tool in server.requests[0].json["tools"]] == ["list_directory"]
    report = json.loads(done.stdout)
    [tools] = [finding for finding in report["findings"] if finding["about"] == "tools"]
    assert tools["state"] == state
    assert words in tools["text"]
    assert report["well"] == (state != "wrong") == (done.returncode == 0)
    assert "sesame-key" not in done.stdout
    assert not session_files(project)


def test_conversations_that_git_knows_are_told(project: Path) -> None:
    (project / ".git" / "index").write_bytes(b"DIRC\0\0.mm/sessions/20260916-101530-4f2a9c1e.json\0")
    done = run_mm("doctor", cwd=project, env=LOCALE, program=STILL)
    assert "→ git rm -r --cached .mm" in done.stdout
