"""Older turns become a summary in the real `mm`: one question, the terminal, an editor."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from minime.core.codec import encode
from minime.core.values import Session
from tests.core.test_compaction import looked
from tests.support.editor import Editor, at
from tests.support.mm import STILL, Visitor, run_mm
from tests.support.server import ScriptedServer, Silence, Stream, chunk, fails, says
from tests.support.values import ID, hello_turn, talked

Golden = Callable[[str], SnapshotAssertion]
SMALL = "contextWindow: 8192\n"
LONG = talked(*(looked(number) for number in range(6)))
SHORT = talked(hello_turn(), hello_turn(), hello_turn(), hello_turn())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".mm" / "sessions").mkdir(parents=True)
    (folder / "agent.yaml").write_text(SMALL)
    return folder


def put(project: Path, session: Session) -> None:
    file(project).write_bytes(encode(session))


def file(project: Path) -> Path:
    return project / ".mm" / "sessions" / f"{ID}.json"


def kept(project: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(file(project).read_bytes())
    return read


def summed_up(project: Path) -> list[int]:
    return [m.get("compacted", 0) for m in kept(project)["messages"] if m["role"] == "user"]


def test_one_question_sums_up_first_and_answers_alone_on_stdout(project: Path) -> None:
    put(project, LONG)
    with ScriptedServer([says("- The user looked."), says("Seven.")]) as server:
        done = run_mm("--resume", ID, "How many?", cwd=project, env=at(server))
    assert (done.returncode, done.stdout) == (0, "Seven.\n")
    assert "compacting 4 turns …" in done.stderr
    assert "compacted: 6 turns → 1 summary + 2 turns" in done.stderr
    assert summed_up(project) == [4, 0, 0, 0]
    [asked, again] = [request.json for request in server.requests]
    assert "tools" not in asked
    assert [m["role"] for m in asked["messages"]] == ["system", "user"]
    assert "- The user looked." in json.dumps(again["messages"])
    assert "word0" not in json.dumps(again["messages"])


def test_the_events_tell_of_it_in_json(project: Path) -> None:
    put(project, LONG)
    with ScriptedServer([says("- The ", "user."), says("Seven.", prompt_tokens=2_000)]) as server:
        done = run_mm("--json", "--resume", ID, "How many?", cwd=project, env=at(server))
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["event"] for event in events if event["event"] != "usage"]
    assert kinds == ["compaction_started", *["compaction_progress"] * 2, "compacted", "text", "done"]
    assert events[-1]["outcome"] == "answered"


def test_a_summary_that_fails_is_on_record_and_the_turn_goes_on(project: Path) -> None:  # K06
    put(project, LONG)
    with ScriptedServer([fails(400, "no"), says("Seven.")]) as server:
        done = run_mm("--resume", ID, "How many?", cwd=project, env=at(server))
    assert (done.returncode, done.stdout) == (0, "Seven.\n")
    assert "compaction failed" in done.stderr
    [record] = kept(project)["errors"]
    assert record["kind"] == "compaction"
    assert record["question"] == "How many?"
    assert summed_up(project) == [0] * 7


def test_compact_in_the_terminal(project: Path, golden: Golden) -> None:
    put(project, SHORT)
    slow = Stream((chunk({"content": "- The"}), 30.0))
    with (
        ScriptedServer([fails(400, "no"), slow, says("- The user asked for sums.")]) as server,
        Visitor("--resume", ID, cwd=project, env=at(server), program=STILL) as mm,
    ):
        mm.prompt(2)
        mm.type("/compact")
        mm.prompt(3)
        mm.type("/compact")
        mm.see(r"compacting 2 turns +\d")
        mm.press("c")
        mm.prompt(4)
        assert summed_up(project) == [0] * 4, "cancelled and failed ones change nothing"
        mm.type("/compact what the sums were")
        mm.prompt(5)
        mm.type("/compact")
        mm.prompt(6)
        mm.type("/context")
        mm.prompt(7)
        assert mm.screen.replace(server.url, "http://127.0.0.1:11434/v1") + "\n" == golden(
            "terminal/compact.txt"
        )
    assert summed_up(project) == [2, 0, 0]
    assert [record["kind"] for record in kept(project)["errors"]] == ["compaction"]
    assert "what the sums were" in json.dumps(server.requests[2].json)


def test_a_summary_is_on_disk_before_the_turn_goes_on(project: Path) -> None:  # K11
    put(project, LONG)
    with (
        ScriptedServer([says("- The user looked."), Silence(30.0)]) as server,
        Visitor("--resume", ID, "How many?", cwd=project, env=at(server)) as mm,
    ):
        mm.see("compacted: 6 turns")
        assert mm.child.pid
        mm.child.kill(signal.SIGKILL)
        mm.leave()
    assert summed_up(project) == [4, 0, 0]


def test_compact_in_an_editor(project: Path) -> None:
    put(project, SHORT)
    with (
        ScriptedServer([says("- The user ", "asked for sums.")]) as server,
        Editor(cwd=project, env=at(server)) as editor,
    ):
        editor.initialize(session={"compaction": {}})
        editor.load(ID, project)
        assert editor.prompt(ID, "/compact") == "end_turn"
        assert summed_up(project) == [2, 0, 0]
    shown = [u for u in editor.updates(ID) if u["sessionUpdate"].startswith("compaction")]
    assert [u.get("status") for u in shown] == ["in_progress", None, None, "completed"]
    assert shown[-1]["summary"] == [{"type": "text", "text": "- The user asked for sums."}]
