"""Prompts to the real `mm acp`: what is shown, cancelling, consent, failures. Numbers are those of public faults."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.facades.test_acp_process import running
from tests.support.editor import Editor, at, dies, link
from tests.support.mm import only_session
from tests.support.server import Body, ScriptedServer, Silence, Stream, calls, chunk, fails, says

WRITE = calls(("write_file", {"path": "a.txt", "content": "new\n"}))
SLEEP = calls(("run_command", {"command": "echo $$ > pid; sleep 60"}))
NEVER = Stream((chunk({"content": "It "}), 20.0))


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
    with Editor(cwd=folder, env={"HOME": str(folder)}) as editor:
        yield editor


@pytest.fixture
def visit(one: Editor) -> Any:
    """The one mm, in a project whose model answers from a script."""

    @contextmanager
    def visit(project: Path, server: ScriptedServer, permit: str | None = "allow") -> Iterator[Editor]:
        (project / "agent.yaml").write_text(f"baseUrl: {server.url}\nmodel: tiny\n")
        one.heard.clear()
        one.permit = permit
        yield one

    return visit


def test_a_turn_shows_all_in_order_before_its_answer_and_nothing_behind_it(
    project: Path,
) -> None:  # 19, 21-27
    script = [
        calls(("write_file", {"path": "a.txt", "content": "new\n"}), text="So: "),
        calls(("run_command", {"command": "false"}), first_id=2),
        says("It ", "is written."),
    ]
    with ScriptedServer(script) as server, Editor(cwd=project, env=at(server)) as editor:
        id = editor.new(project)
        opened = editor.came(editor.response(1))
        assert editor.prompt(id, "Write it.") == "end_turn"
        ended = editor.place(editor.response(2))
        assert editor.shown(id, "available_commands_update")
        told = editor.wait(lambda m: "availableCommands" in str(m))
        assert editor.came(told) - opened >= 0.05  # 24
        time.sleep(0.2)
        assert not editor.kinds(id, ended)
        assert "user_message_chunk" not in editor.kinds(id)
        assert editor.said(id) == "So: It is written."
        first, second = (u for u in editor.updates(id) if u["sessionUpdate"] == "tool_call")
        assert first["status"] == second["status"] == "pending"
        assert first["content"] == [
            {"type": "diff", "path": str(project / "a.txt"), "oldText": None, "newText": "new\n"}
        ]  # 54
        seen = [u.get("toolCallId") for u in editor.updates(id) if u.get("status") == "failed"]
        assert seen == ["call_2"]
        asked = editor.place(editor.asked())
        assert editor.place(editor.wait(lambda m: first in (m.get("params") or {}).values())) < asked
        info = editor.shown(id, "session_info_update")
        assert info["title"] == "Write it."
        assert info["updatedAt"].endswith("Z")


def test_prompt_and_cancel_in_one_write_is_cancelled_at_once(visit: Any, project: Path) -> None:  # 30
    with ScriptedServer([says("Here.")]) as server, visit(project, server) as editor:
        id = editor.new(project)
        prompt = editor.message("session/prompt", sessionId=id, prompt=[{"type": "text", "text": "x"}])
        cancel = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": id, "_meta": {}}}
        editor.send(prompt, cancel)
        assert editor.result(prompt["id"], 1.0) == {"stopReason": "cancelled"}
        assert editor.prompt(id, "And now?") == "end_turn"  # 31
    assert [m["content"] for m in only_session(project)["messages"][1:]] == ["And now?", "Here."]


def test_a_cancelled_answer_is_kept_and_the_next_prompt_goes_on(
    visit: Any, project: Path
) -> None:  # 29, 31-33, A05-A07
    script = [NEVER, says("Yes."), says("Again.")]
    with ScriptedServer(script) as server, visit(project, server) as editor:
        id = editor.new(project)
        editor.cancel(id)  # idle: nothing
        asked = editor.ask(id, "Talk.")
        editor.shown(id, "agent_message_chunk")
        editor.cancel(id)
        editor.cancel(id)
        assert editor.result(asked, 1.0) == {"stopReason": "cancelled"}
        assert editor.prompt(id, "Go on?") == "end_turn"
        editor.cancel(id)
        assert editor.prompt(id, "Again?") == "end_turn"
        assert [m["role"] for m in server.requests[-1].json["messages"]] == [
            "system", *["user", "assistant"] * 2, "user",
        ]  # fmt: skip


def test_cancel_ends_a_command_and_all_that_it_started(visit: Any, project: Path) -> None:  # 28, 35
    with ScriptedServer([SLEEP, says("Well.")]) as server, visit(project, server) as editor:
        id = editor.new(project)
        asked = editor.ask(id, "Sleep.")
        pid = running(editor, project)
        began = time.monotonic()
        editor.notify("$/cancel_request", requestId=asked)
        assert editor.result(asked, 2.0) == {"stopReason": "cancelled"}
        assert time.monotonic() - began < 1.0
        assert dies(pid, 0.5)
        assert editor.shown(id, "tool_call_update", status="failed")["toolCallId"] == "call_1"
        assert editor.prompt(id, "And?") == "end_turn"
        sent = server.requests[-1].json["messages"]
        assert {"role": "tool", "tool_call_id": "call_1", "content": "cancelled by the user"} in sent


@pytest.mark.parametrize("way", ["never answered-34", "cancelled-56"])
def test_an_open_question_of_consent_does_not_outlive_the_prompt(visit: Any, project: Path, way: str) -> None:
    with (
        ScriptedServer([WRITE, says("Well.")]) as server,
        visit(project, server, None) as editor,
    ):
        id = editor.new(project)
        asked = editor.ask(id, "Write.")
        question = editor.asked()
        kinds = {option["kind"] for option in question["params"]["options"]}
        assert {"allow_once", "reject_once"} <= kinds
        if way == "cancelled-56":
            editor.answer(question, None)
        else:
            editor.cancel(id)
        assert editor.result(asked, 1.0) == {"stopReason": "cancelled"}
        editor.answer(question, "allow")  # too late
        assert editor.prompt(id, "And?") == "end_turn"
    assert not (project / "a.txt").exists()


def test_a_refusal_is_a_failed_tool_and_the_turn_goes_on(visit: Any, project: Path) -> None:  # 27
    with (
        ScriptedServer([WRITE, says("Then not.")]) as server,
        visit(project, server, "reject") as editor,
    ):
        id = editor.new(project)
        assert editor.prompt(id, "Write.") == "end_turn"
        assert editor.shown(id, "tool_call_update", status="failed")["rawOutput"]
        assert "in_progress" not in [u.get("status") for u in editor.updates(id)]
    assert not (project / "a.txt").exists()


def test_what_is_always_allowed_is_not_asked_again(visit: Any, project: Path) -> None:  # 55
    script = [
        calls(("run_command", {"command": "git status"})),
        calls(("run_command", {"command": "git status -s"}), first_id=2),
        says("Done."),
    ]
    with (
        ScriptedServer(script) as server,
        visit(project, server, "allow-always") as editor,
    ):
        assert editor.prompt(editor.new(project), "Look.") == "end_turn"
        asked = [m for m in editor.messages if m.get("method") == "session/request_permission"]
        assert len(asked) == 1


def test_a_mode_set_during_a_turn_holds_from_the_next_call_on(visit: Any, project: Path) -> None:  # 38
    later = calls(("write_file", {"path": "b.txt", "content": "b"}), first_id=2)
    with (
        ScriptedServer([WRITE, later, says("Done.")]) as server,
        visit(project, server, None) as editor,
    ):
        id = editor.new(project)
        asked = editor.ask(id, "Write both.")
        question = editor.asked()
        assert editor.call("session/set_mode", sessionId=id, modeId="auto-edit") == {}
        editor.answer(question, "allow")
        assert editor.result(asked) == {"stopReason": "end_turn"}
        assert len([m for m in editor.messages if m.get("method") == "session/request_permission"]) == 1
    assert (project / "b.txt").read_text() == "b"


def test_prompts_to_a_busy_session_wait_their_turn(visit: Any, project: Path) -> None:  # 36
    slow = Stream((0.4, *says("One.").chunks))
    with ScriptedServer([slow, says("Two."), says("Three.")]) as server:
        with visit(project, server) as editor:
            id = editor.new(project)
            asked = [editor.ask(id, word) for word in ("one", "two", "three")]
            assert [editor.result(one)["stopReason"] for one in asked] == ["end_turn"] * 3
            places = [editor.place(editor.response(one)) for one in asked]
            assert places == sorted(places)
        assert [r.json["messages"][-1]["content"] for r in server.requests] == ["one", "two", "three"]


def test_cancel_ends_the_prompts_that_wait_too(visit: Any, project: Path) -> None:  # 36
    with ScriptedServer([NEVER]) as server, visit(project, server) as editor:
        id = editor.new(project)
        asked = [editor.ask(id, word) for word in ("one", "two")]
        editor.shown(id, "agent_message_chunk")
        editor.cancel(id)
        assert [editor.result(one, 1.0)["stopReason"] for one in asked] == ["cancelled"] * 2


def test_a_question_of_consent_in_one_session_holds_up_no_other(visit: Any, project: Path) -> None:  # 37
    with (
        ScriptedServer([WRITE, says("Two."), says("One.")]) as server,
        visit(project, server, None) as editor,
    ):
        first, second = editor.new(project), editor.new(project)
        waiting = editor.ask(first, "Write.")
        question = editor.asked()
        assert editor.prompt(second, "Say.") == "end_turn"
        editor.answer(question, "allow")
        assert editor.result(waiting)["stopReason"] == "end_turn"
        assert editor.said(first) == "One."
        assert editor.said(second) == "Two."


FAILURES: dict[str, tuple[Any, int]] = {
    "no such model-57": (fails(404, "model 'tiny' not found"), -32603),
    "key refused-57-58": (fails(401, "invalid api key"), -32000),
    "an error in the stream-57": (Stream((b'data: {"error": {"message": "out of memory"}}\n\n',)), -32603),
    "not HTTP-57": (Body(b"<html>hello</html>", 200, content_type="text/html"), -32603),
}


def test_a_failed_turn_is_an_error_and_on_record(visit: Any, project: Path) -> None:
    with ScriptedServer() as server, visit(project, server) as editor:
        for what, (answer, code) in FAILURES.items():
            server.add(answer, says("Better."))
            id = editor.new(project)
            error = editor.error(editor.ask(id, "Say."))
            assert error["code"] == code, what
            assert error["message"], what
            assert error["data"]["kind"], what
            [record] = kept(project, id)["errors"]
            assert record["kind"] == "generation", what
            assert record["message"] == error["message"], what
            assert editor.prompt(id, "Say it.") == "end_turn", what
            assert [m["role"] for m in kept(project, id)["messages"]] == ["system", "user", "assistant"], what
        server.close()
        error = editor.error(editor.ask(editor.new(project), "Say."))
        assert error["code"] == -32603
        assert f"127.0.0.1:{server.port}" in error["message"]


def test_whatever_is_linked_or_embedded_reaches_the_model_as_something(
    visit: Any, project: Path
) -> None:  # 50, 51
    (project / "a file.txt").write_text("\n".join(f"line {number}" for number in range(1, 31)))
    (project / "folder").mkdir()
    (project / "folder" / "inner.txt").write_text("x")
    locked = project / ("n" * 300)
    blocks = [
        link(f"{project.as_uri()}/a%20file.txt#L10-12"),
        link(f"{project.as_uri()}/folder"),
        link(f"{project.as_uri()}/missing.txt"),
        link(locked.as_uri() + "/" + "n" * 300),
        link("https://example.org/page", "the page"),
        {"type": "resource", "resource": {"uri": "file:///other.txt", "text": "embedded words"}},
        {"type": "resource", "resource": {"uri": "file:///b.bin", "blob": "AAAA"}},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    ]
    with ScriptedServer([says("I see.")]) as server, visit(project, server) as editor:
        id = editor.new(project)
        assert editor.prompt(id, *blocks) == "end_turn"
        [message] = [m for m in server.requests[0].json["messages"] if m["role"] == "user"]
    read = message["content"]
    for words in ("line 10", "line 12", "inner.txt", "missing.txt", "https://example.org/page",
                  "embedded words", "b.bin", "image/png"):  # fmt: skip
        assert words in read, words
    assert "line 9\n" not in read
    assert "line 13" not in read


def test_additional_directories_are_within_reach_and_others_are_not(
    visit: Any, project: Path, tmp_path: Path
) -> None:
    also, other = tmp_path / "also", tmp_path / "other"
    for folder in (also, other):
        folder.mkdir()
        (folder / "words.txt").write_text(f"words of {folder.name}")
    script = [
        calls(
            ("read_file", {"path": str(also / "words.txt")}),
            ("read_file", {"path": str(other / "words.txt")}),
        ),
        says("Read."),
    ]
    with ScriptedServer(script) as server, visit(project, server) as editor:
        id = editor.new(project, additionalDirectories=[str(also)])
        assert editor.prompt(id, "Read both.") == "end_turn"
        first, second = (m for m in server.requests[-1].json["messages"] if m["role"] == "tool")
    assert "words of also" in first["content"]
    assert "words of other" not in second["content"]


def test_slash_commands_are_advertised_and_answered_without_the_model(
    visit: Any, project: Path
) -> None:  # 60
    with ScriptedServer() as server, visit(project, server) as editor:
        id = editor.new(project)
        offered = editor.shown(id, "available_commands_update")["availableCommands"]
        for command in offered:
            assert not command["name"].startswith("/")
        assert editor.prompt(id, "/help") == "end_turn"
        assert editor.prompt(id, "/hlep") == "end_turn"
        assert "/help" in editor.said(id).rpartition("hlep")[2]
        assert not server.requests


def test_a_silent_server_is_cancelled_within_a_second(visit: Any, project: Path) -> None:
    with ScriptedServer([Silence(30)]) as server, visit(project, server) as editor:
        id = editor.new(project)
        asked = editor.ask(id, "Say.")
        deadline = time.monotonic() + 10
        while not server.requests and time.monotonic() < deadline:
            time.sleep(0.01)
        editor.cancel(id)
        assert editor.result(asked, 1.0) == {"stopReason": "cancelled"}
    assert not [m for m in only_session(project)["messages"] if m["role"] == "user"]


def kept(project: Path, id: str) -> dict[str, Any]:
    """A session as it is on disk."""
    read: dict[str, Any] = json.loads((project / ".mm" / "sessions" / f"{id}.json").read_bytes())
    return read
