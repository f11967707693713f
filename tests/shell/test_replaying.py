"""A recorded conversation through the agent of today: nothing is asked, nothing is run, all that changed shows."""

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion

from minime.core.codec import decode, encode
from minime.core.config.settings import Settings
from minime.core.replays import Ended, Request, differing, is_ours, recorded_turns, replay_texts
from minime.core.tools.permissions import PermissionRule
from minime.core.turn import SAME_CALL_STOPPED, Turn
from minime.core.values import Assistant, Session, System, Tool, User, tool_call
from minime.shell.replaying import replay, replayed
from tests.support.mm import run_mm, session_files
from tests.support.server import ScriptedServer, calls, says
from tests.support.values import ID, SYSTEM, hello_turn, talked, tool_turn


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "talk.json").write_bytes(encode(talked(hello_turn(), tool_turn())))
    return folder


def put_through(project: Path, *, update: bool = False) -> int:
    return replay(
        project / "talk.json", project / "kept", project, {"HOME": str(project)}, config=None, update=update
    )


async def texts(session: Session, settings: Settings | None = None, system: str = SYSTEM) -> dict[str, str]:
    """What is kept of a session."""
    turns = tuple(recorded_turns(session))
    return replay_texts(await replayed(turns, system, settings or Settings(), session.model))


async def test_the_requests_are_those_that_the_recorded_agent_has_sent(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("print('hi')\n")
    script = [
        calls(("read_file", {"path": "main.py"}), ("run_command", {"command": "echo hi"})),
        says("It says hi."),
    ]
    with ScriptedServer([*script, says("Yes.")]) as server:
        env = {"MM_BASE_URL": server.url, "MM_MODEL": "qwen3:8b"}
        assert run_mm("--yes", "What is it?", cwd=tmp_path, env=env).returncode == 0
        assert run_mm("--continue", "Really?", cwd=tmp_path, env=env).returncode == 0
        sent = [request.json for request in server.requests if request.json]
    session = decode(session_files(tmp_path)[0].read_bytes())
    system = session.messages[0]
    assert isinstance(system, System)
    steps = await replayed(tuple(recorded_turns(session)), system.content, Settings(), session.model)
    flat = [step for turn in steps for step in turn]
    assert [json.loads(step.body) for step in flat if isinstance(step, Request)] == sent
    ends = [step.turn.messages for step in flat if isinstance(step, Ended)]
    assert sum(ends, ()) == session.messages[1:]


def test_what_is_kept_is_the_same_until_something_changes(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert put_through(project) == 1
    assert "nothing is kept in" in capsys.readouterr().err
    assert put_through(project, update=True) == 0
    (project / "kept" / "README").write_text("mine")
    names = ["README", "system.md", "tools.json", "turn-001.txt", "turn-002.txt"]
    assert sorted(path.name for path in (project / "kept").iterdir()) == names
    capsys.readouterr()
    assert put_through(project) == 0
    assert capsys.readouterr() == (f"2 turns, 3 requests, 1 tool call: all as kept in {project}/kept\n", "")
    (project / "AGENTS.md").write_text("Be brief.")
    (project / "talk.json").write_bytes(encode(talked(hello_turn())))
    assert put_through(project) == 1
    told = capsys.readouterr()
    assert "+The project's AGENTS.md says:" in told.out.splitlines()
    assert "+++ (gone)" in told.out.splitlines()
    assert f"not as kept in {project}/kept: system.md, turn-002.txt" in told.err
    assert put_through(project, update=True) == 0
    assert put_through(project) == 0
    assert sorted(path.name for path in (project / "kept").iterdir()) == [
        n for n in names if n != "turn-002.txt"
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        (b"", "empty"),
        (b"{}", "not a session file"),
        (encode(talked()), "no turn to replay"),
    ],
)
def test_a_file_that_is_no_recording_is_told_and_nothing_is_kept(
    project: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, reason: str
) -> None:
    (project / "talk.json").unlink()
    if content is not None:
        (project / "talk.json").write_bytes(content)
    assert put_through(project, update=True) == 1
    assert reason in capsys.readouterr().err
    assert not (project / "kept").exists()


@pytest.mark.parametrize(
    ("settings", "system", "changed"),
    [
        (Settings(), SYSTEM + " And brief.", ["system.md"]),
        (Settings(tools=("read_file",)), SYSTEM, ["tools.json", "turn-001.txt"]),
        (Settings(tools=()), SYSTEM, ["tools.json", "turn-001.txt", "turn-002.txt"]),
        (Settings(temperature=0.5), SYSTEM, ["turn-001.txt"]),
        (Settings(model="other"), SYSTEM, ["turn-001.txt"]),
        (Settings(permissions=(PermissionRule("read_file", "*", "deny"),)), SYSTEM, ["turn-002.txt"]),
        (Settings(max_steps=1), SYSTEM, ["turn-002.txt"]),
    ],
    ids=["system prompt", "fewer tools", "no tools", "temperature", "model", "permission", "bound on rounds"],
)
async def test_each_change_shows_where_it_bites(settings: Settings, system: str, changed: list[str]) -> None:
    session = talked(hello_turn(), tool_turn())
    assert list(differing(await texts(session), await texts(session, settings, system))) == changed


async def test_a_turn_that_mm_stopped_is_stopped_again_and_its_warnings_are_not_doubled(
    tmp_path: Path,
) -> None:
    script = [calls(("run_command", {"command": "true"})) for _ in range(SAME_CALL_STOPPED)]
    with ScriptedServer(script) as server:
        env = {"MM_BASE_URL": server.url, "MM_MODEL": "qwen3:8b"}
        assert run_mm("--yes", "Go on.", cwd=tmp_path, env=env).returncode == 1
    session = decode(session_files(tmp_path)[0].read_bytes())
    [[*_, end]] = await replayed(tuple(recorded_turns(session)), SYSTEM, Settings(), session.model)
    assert isinstance(end, Ended)
    assert end.turn.messages == session.messages[1:]
    assert end.left == 0


async def test_a_recording_with_gaps_is_put_through_as_far_as_it_goes(
    golden: Callable[[str], SnapshotAssertion],
) -> None:
    gaps = Turn((
        User("q"),
        Assistant("", (tool_call("a", "read_file", '{"path": "x"}'), tool_call("b", "fly", "{}"))),
        Tool("a", "text\n"),
    ))
    stopped = Turn((User("again"), Assistant("I beg", stopped="cancelled"), Assistant("never asked for")))
    session = talked(hello_turn(), gaps, stopped)
    summary = (User("(summary)", compacted=3), Assistant("We spoke."))
    session = msgspec.structs.replace(
        session, messages=(session.messages[0], *summary, *session.messages[1:])
    )
    kept = await texts(session)
    assert kept["system.md"] == f"{SYSTEM}\n"
    shown = "\n".join(kept[name] for name in kept if name.startswith("turn-"))
    assert shown == golden("replay/gaps.txt")


async def test_a_turn_with_a_tool_as_it_is_kept(golden: Callable[[str], SnapshotAssertion]) -> None:
    assert (await texts(talked(tool_turn())))["turn-001.txt"] == golden("replay/tool-call.txt")


def test_only_files_of_a_replay_are_taken_for_one() -> None:
    assert all(map(is_ours, ("system.md", "tools.json", "turn-001.txt", "turn-1000.txt")))
    assert not any(
        map(is_ours, ("turn-1.txt", "turn-.txt", "turn-001.md", "README", "turn-0x1.txt", f"{ID}.json"))
    )
