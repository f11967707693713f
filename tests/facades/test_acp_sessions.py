"""Conversations that an editor finds again through the real `mm acp`. Numbers are those of public faults."""

import json
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from minime.core.codec import decode, encode
from minime.core.session import append_turn, new_session
from minime.core.turn import Turn
from minime.core.values import Assistant, Session, Stamp, Tool, User, tool_call
from tests.support.editor import Editor, at
from tests.support.mm import session_files
from tests.support.server import ScriptedServer, calls, says, thinks
from tests.support.values import ID, NOW, OTHER_ID, hello_turn, talked, tool_turn

NO_SERVER = {"MM_BASE_URL": "http://127.0.0.1:9/v1", "MM_MODEL": "tiny"}
WRITE = calls(("write_file", {"path": "a.txt", "content": "new\n"}))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "main.py").write_text("print('hi')\n")
    return folder


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """One mm for many projects, as an editor has it."""
    folder = tmp_path_factory.mktemp("one")
    with Editor(cwd=folder, env=NO_SERVER | {"HOME": str(folder)}) as editor:
        yield editor


@pytest.fixture
def editor(one: Editor) -> Editor:
    """The one mm, with nothing open and nothing heard yet: the tests keep theirs under the same ids."""
    for id in (ID, OTHER_ID):
        one.call("session/close", sessionId=id)
    one.heard.clear()
    return one


def keep(project: Path, *sessions: Session | bytes, id: str = ID) -> None:
    """Puts sessions where mm keeps them."""
    folder = project / ".mm" / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    for one in sessions:
        name = id if isinstance(one, bytes) else one.id
        (folder / f"{name}.json").write_bytes(one if isinstance(one, bytes) else encode(one))


def files(project: Path) -> dict[str, tuple[bytes, int]]:
    """All that is below a folder, with the times of its last changes."""
    return {str(p): (p.read_bytes(), p.stat().st_mtime_ns) for p in project.rglob("*") if p.is_file()}


def test_a_thread_is_all_there_in_a_new_process_behind_a_crash(project: Path) -> None:  # 1, 9-12, A01-A04
    (project / "AGENTS.md").write_text("Never tell.")
    script = [WRITE, calls(("run_command", {"command": "echo hi"}), first_id=2), thinks("Hm.", "It is done.")]
    with ScriptedServer(script) as server, Editor(cwd=project, env=at(server)) as editor:
        id = editor.new(project)
        assert editor.prompt(id, "Write it.") == "end_turn"
        editor.kill()
        live = {u["toolCallId"]: u for u in editor.updates(id) if u["sessionUpdate"] == "tool_call"}
    (project / "a.txt").write_text("changed since\n")
    before = files(project)
    with Editor(cwd=project, env=NO_SERVER) as editor:
        answer = editor.load(id, project)
        assert {"modes", "configOptions"} <= set(answer)
        ended = editor.place(editor.response(1))
        assert editor.kinds(id) == [
            "user_message_chunk", "tool_call", "tool_call", "agent_thought_chunk", "agent_message_chunk",
        ]  # fmt: skip
        assert editor.said(id, "user_message_chunk") == "Write it."
        assert editor.said(id, "agent_thought_chunk") == "Hm."
        assert editor.said(id) == "It is done."
        edit, command = (u for u in editor.updates(id) if u["sessionUpdate"] == "tool_call")
        for again in (edit, command):
            first = live[again["toolCallId"]]
            assert again["status"] == "completed"
            for key in ("title", "name", "kind", "rawInput"):
                assert again[key] == first[key]
        assert edit["content"] == live[edit["toolCallId"]]["content"]
        assert edit["locations"] == [{"path": str(project / "a.txt")}]
        assert command["content"][0]["content"]["text"].startswith("hi\n")
        assert command["rawOutput"].startswith("hi\n")
        assert editor.shown(id, "session_info_update")["title"] == "Write it."
        assert editor.shown(id, "available_commands_update")
        assert "Never tell" not in json.dumps(editor.messages)
        time.sleep(0.2)
        assert not editor.kinds(id, ended)  # 3
    assert files(project) == before


def test_two_thousand_turns_are_replayed_whole_and_in_order(project: Path, editor: Editor) -> None:  # 2, 20
    session = new_session(Stamp(NOW, ID), "You are mm.", "tiny")
    messages: list[Any] = []
    for number in range(2_000):
        messages += [
            User(f"question {number}"),
            Assistant("", tool_calls=(tool_call(f"c{number}", "read_file", '{"path": "main.py"}'),)),
            Tool(f"c{number}", f"result {number}"),
            Assistant(f"answer {number}"),
        ]
    first = append_turn(session, Turn((User("question 0"), Assistant("x"))), NOW)
    keep(project, msgspec.structs.replace(first, messages=(*session.messages, *messages)))
    editor.load(ID, project)
    seen = [u for u in editor.updates(ID) if u["sessionUpdate"] in {
        "user_message_chunk", "tool_call", "agent_message_chunk"}]  # fmt: skip
    assert len(seen) == 6_000
    for number in range(2_000):
        asked, called, answered = seen[3 * number : 3 * number + 3]
        assert asked["content"]["text"] == f"question {number}"
        assert called["rawOutput"] == f"result {number}"
        assert answered["content"]["text"] == f"answer {number}"


def test_a_session_loads_each_time_it_is_asked_for(project: Path, editor: Editor) -> None:  # 5, A13
    keep(project, talked(tool_turn(), hello_turn()))
    shown = []
    for place in range(3):
        before = len(editor.heard)
        editor.load(ID, project)
        shown.append(editor.kinds(ID, before))
        if place == 1:
            assert editor.call("session/close", sessionId=ID) == {}
    assert shown[0]
    assert shown == [shown[0]] * 3


def test_a_session_that_was_never_used_loads_and_is_in_no_list(project: Path) -> None:  # 6
    with Editor(cwd=project, env=NO_SERVER) as editor:
        id = editor.new(project)
    with Editor(cwd=project, env=NO_SERVER) as editor:
        editor.load(id, project)
        assert not editor.kinds(id)
        assert editor.call("session/list", cwd=str(project)) == {"sessions": []}


STRANGE = ["nothing", "../../etc/passwd", "a/b", "\0", "x" * 10_000, "", f"{ID}.json", f"{ID}\n", OTHER_ID]


def test_an_id_that_is_none_of_ours_is_refused_and_the_disk_untouched(project: Path, editor: Editor) -> None:
    keep(project, talked(hello_turn()))  # 6, 7, 20b, A12
    before = files(project)
    for id in STRANGE:
        for method in ("session/load", "session/resume"):
            assert editor.refused(method, sessionId=id, cwd=str(project), mcpServers=[])["code"] == -32002
        assert editor.error(editor.ask(id, "Hello?"))["code"] == -32002
        assert editor.call("session/close", sessionId=id) == {}
    assert files(project) == before


DAMAGED = {
    "not JSON-8": b'{"version": 1, "id": "',
    "from tomorrow": b'{"version": 99, "id": "%s"}' % ID.encode(),
    "another's": encode(msgspec.structs.replace(talked(hello_turn()), id=OTHER_ID)),
    "not ours": b'{"hello": "world"}',
}


def test_a_damaged_file_is_told_and_left_alone(project: Path, editor: Editor) -> None:  # 8
    for what, data in DAMAGED.items():
        keep(project, data)
        before = files(project)
        refused = editor.refused("session/load", sessionId=ID, cwd=str(project), mcpServers=[])
        assert refused["code"] == -32603, what
        assert ID in refused["message"], what
        [row] = editor.call("session/list", cwd=str(project))["sessions"]
        assert row["title"].startswith("damaged: "), what
        assert files(project) == before, what


def test_a_load_during_a_prompt_is_refused_and_the_turn_unharmed(project: Path) -> None:  # A13
    with (
        ScriptedServer([WRITE, says("Done.")]) as server,
        Editor(cwd=project, env=at(server), permit=None) as editor,
    ):
        id = editor.new(project)
        asked = editor.ask(id, "Write.")
        question = editor.asked()
        refused = editor.refused("session/load", sessionId=id, cwd=str(project), mcpServers=[])
        assert refused["code"] == -32600
        editor.answer(question, "allow")
        assert editor.result(asked) == {"stopReason": "end_turn"}


def test_resume_replays_nothing_and_remembers_all(project: Path) -> None:  # 4
    keep(project, talked(hello_turn()))
    with ScriptedServer([says("Yes.")]) as server, Editor(cwd=project, env=at(server)) as editor:
        assert "resume" not in editor.initialize()["agentCapabilities"]["sessionCapabilities"]
        editor.call("session/resume", sessionId=ID, cwd=str(project), mcpServers=[])
        assert editor.shown(ID, "available_commands_update")
        assert not editor.kinds(ID)
        assert editor.prompt(ID, "Sure?") == "end_turn"
        assert [m["content"] for m in server.requests[0].json["messages"][1:]] == [
            "What is 2 + 2?", "4.", "Sure?",
        ]  # fmt: skip


def test_a_list_pages_without_loss_or_repeat(project: Path, editor: Editor) -> None:  # 16, 17
    wanted = []
    for number in range(120):
        moment = NOW + timedelta(seconds=number // 3)  # ties
        session = new_session(Stamp(moment, f"{moment:%Y%m%d-%H%M%S}-{number:08x}"), "You are mm.")
        keep(project, append_turn(session, hello_turn(), moment))
        wanted.append(session.id)
    found: list[str] = []
    more: dict[str, str] = {}
    pages = 0
    while True:
        page = editor.call("session/list", cwd=str(project), **more)
        pages += 1
        found += [row["sessionId"] for row in page["sessions"]]
        if "nextCursor" not in page:
            break
        more = {"cursor": page["nextCursor"]}
    assert pages > 1
    assert sorted(found) == sorted(wanted)
    assert found[-1] in wanted[:3]
    assert editor.refused("session/list", cwd=str(project), cursor="nonsense")["code"] == -32602


def test_a_folder_is_the_same_however_it_is_named(project: Path, tmp_path: Path) -> None:  # 15, 18, 19
    keep(project, talked(hello_turn()))
    (tmp_path / "link").symlink_to(project)
    (project / "sub").mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with Editor(cwd=elsewhere, env=NO_SERVER | {"HOME": str(tmp_path)}) as editor:
        for cwd in (f"{project}/", f"{project}/.", f"{tmp_path}/link", str(project / "sub")):
            [row] = editor.call("session/list", cwd=cwd)["sessions"]
            assert row["sessionId"] == ID
            assert row["cwd"] == cwd
            assert row["title"] == "What is 2 + 2?"
            assert row["updatedAt"] == "2026-09-16T10:17:02Z"
        assert editor.call("session/list")["sessions"] == []
        editor.load(ID, project)
        assert [row["sessionId"] for row in editor.call("session/list")["sessions"]] == [ID]
        assert editor.refused("session/list", cwd="sub")["code"] == -32602


def test_tools_work_in_the_folder_of_the_load(project: Path, tmp_path: Path) -> None:  # 13, 14
    keep(project, talked(hello_turn()))
    (project / "sub").mkdir()
    (project / "sub" / "here.txt").write_text("found it")
    script = [calls(("read_file", {"path": "here.txt"})), says("Read.")]
    home = {"HOME": str(tmp_path)}
    with ScriptedServer(script) as server, Editor(cwd=tmp_path, env=at(server, **home)) as editor:
        editor.load(ID, project / "sub")
        assert editor.prompt(ID, "Read it.") == "end_turn"
        assert server.requests[-1].json["messages"][-1]["content"] == "found it"


def test_close_cancels_what_runs_and_the_session_stays(project: Path) -> None:
    with (
        ScriptedServer([WRITE]) as server,
        Editor(cwd=project, env=at(server), permit=None) as editor,
    ):
        id = editor.new(project)
        asked = editor.ask(id, "Write.")
        editor.asked()
        assert editor.call("session/close", sessionId=id) == {}
        assert editor.result(asked) == {"stopReason": "cancelled"}
        assert editor.error(editor.ask(id, "Still there?"))["code"] == -32002
        editor.load(id, project)
        assert editor.said(id, "user_message_chunk") == "Write."


def test_a_deleted_session_is_gone_for_good_even_while_it_runs(project: Path, tmp_path: Path) -> None:
    keep(project, talked(hello_turn()))
    with (
        ScriptedServer([WRITE]) as server,
        Editor(cwd=tmp_path, env=at(server), permit=None) as editor,
    ):
        id = editor.new(project)
        asked = editor.ask(id, "Write.")
        editor.asked()
        for _ in range(2):
            assert editor.call("session/delete", sessionId=id) == {}
        assert editor.result(asked) == {"stopReason": "cancelled"}
        assert editor.call("session/delete", sessionId="../x") == {}
        assert [file.stem for file in session_files(project)] == [ID]
        other = tmp_path / "other"
        keep(other, talked(hello_turn()))
        assert len(editor.call("session/list", cwd=str(other))["sessions"]) == 1
        assert editor.call("session/delete", sessionId=ID) == {}  # in each place that is known
        assert not session_files(other)


def test_a_broken_configuration_is_told_at_the_session_and_not_before(project: Path) -> None:  # A10
    (project / "agent.yaml").write_text("modle: tiny\n")
    with Editor(cwd=project) as editor:
        editor.initialize()
        refused = editor.refused("session/new", cwd=str(project), mcpServers=[])
        assert refused["code"] == -32603
        assert "agent.yaml" in refused["message"]
        assert "modle" in refused["message"]
        (project / "agent.yaml").unlink()
        editor.new(project)


def test_where_sessions_are_not_kept_nothing_is_written_nor_offered(project: Path) -> None:
    (project / "agent.yaml").write_text("sessions: {enabled: false}\n")
    with ScriptedServer([says("Hi.")]) as server, Editor(cwd=project, env=at(server)) as editor:
        able = editor.initialize()["agentCapabilities"]
        assert able["loadSession"] is False
        assert not {"list", "delete", "resume"} & set(able["sessionCapabilities"])
        assert editor.prompt(editor.new(project), "Hello") == "end_turn"
        refused = editor.refused("session/load", sessionId=ID, cwd=str(project), mcpServers=[])
        assert refused["code"] == -32002
    assert not (project / ".mm").exists()


def test_a_folder_that_is_none_is_refused(project: Path, editor: Editor) -> None:  # 52
    locked = "/" + "n" * 300
    for cwd in ("relative", "", str(project / "missing"), str(project / "main.py"), locked, "/a\0b"):
        assert editor.refused("session/new", cwd=cwd, mcpServers=[])["code"] == -32602, cwd
    assert editor.refused("session/new", mcpServers=[])["code"] == -32602
    id = editor.call("session/new", cwd=str(project))["sessionId"]
    [file] = session_files(project)
    assert file.stem == id
    assert file.stat().st_mode & 0o777 == 0o600
    assert (project / ".mm").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_what_is_not_on_disk_takes_no_place_of_what_another_process_wrote_there(
    project: Path, method: str
) -> None:
    lock = project / ".mm" / "sessions" / ".lock"
    where = {"cwd": str(project), "mcpServers": []}
    with (
        ScriptedServer([says("One."), says("Two."), says("Three.")]) as server,
        Editor(cwd=project, env=at(server)) as editor,
    ):
        id = editor.new(project)
        editor.prompt(id, "First?")
        lock.unlink(missing_ok=True)
        lock.mkdir()  # no save comes through
        editor.prompt(id, "Second?")
        [file] = session_files(project)
        elsewhere = append_turn(decode(file.read_bytes()), hello_turn(), NOW)
        file.write_bytes(encode(elsewhere))
        editor.call(method, sessionId=id, **where)
        lock.rmdir()
        editor.prompt(id, "Third?")
    assert file.read_bytes() == encode(elsewhere)
    [other] = [decode(one.read_bytes()) for one in session_files(project) if one != file]
    assert [m.content for m in other.messages if isinstance(m, User)] == ["First?", "Second?", "Third?"]
