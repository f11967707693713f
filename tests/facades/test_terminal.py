"""The interactive terminal, visited by a scripted person at a real pseudo-terminal."""

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from minime.core.codec import encode
from tests.support.mm import STILL, Visitor, only_session, session_files
from tests.support.server import Answer, Body, ScriptedServer, Silence, Stream, calls, chunk, fails, says
from tests.support.values import hello_turn, talked, tool_turn

Golden = Callable[[str], SnapshotAssertion]
READ = calls(("read_file", {"path": "main.py"}))
EDIT = calls(("edit_file", {"path": "main.py", "old_text": "hi", "new_text": "hello"}))
RUN = calls(("run_command", {"command": "echo one two"}))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "main.py").write_text("print('hi')\n")
    return folder


def visit(project: Path, server: ScriptedServer, *words: str, **env: str) -> Visitor:
    return Visitor(*words, cwd=project, env={"MM_BASE_URL": server.url, "MM_MODEL": "tiny", **env})


def still(project: Path, server: ScriptedServer, *words: str) -> Visitor:
    return Visitor(*words, cwd=project, env={"MM_BASE_URL": server.url, "MM_MODEL": "tiny"}, program=STILL)


def past(project: Path) -> str:
    """Puts a session of before on disk: its id."""
    folder = project / ".mm" / "sessions"
    folder.mkdir(parents=True)
    session = talked(tool_turn(), hello_turn())
    (folder / f"{session.id}.json").write_bytes(encode(session))
    return session.id


def test_a_whole_visit(project: Path, golden: Golden) -> None:
    past(project)
    answers: list[Answer] = [
        READ,
        says("It prints hi."),
        EDIT,
        RUN,
        says("Done: it says\n", "hello now."),
        fails(401, "no"),
    ]
    with ScriptedServer(answers) as server, still(project, server) as mm:
        mm.prompt(1)
        mm.type("What does main.py do?")
        mm.prompt(2)
        mm.type("Say hello instead, and run it.")
        mm.see("every edit_file.*›$")
        mm.type("y")
        mm.see("echo one ….*›$")
        mm.type("e")
        mm.see("why not ›$")
        mm.type("not now")
        mm.prompt(3)
        mm.type("/sesions")
        mm.prompt(4)
        mm.type("/sessions")
        mm.prompt(5)
        mm.type("and now?")
        mm.prompt(6)
        mm.type("/errors")
        mm.prompt(7)
        mm.type("/resume 2")
        mm.prompt(8)
        mm.type("/quit")
        assert mm.leave() == 0
        screen = mm.screen.replace(f":{server.port}/", ":11434/")
    assert screen + "\n" == golden("terminal/visit.txt")


def test_the_commands_of_the_terminal(project: Path, golden: Golden) -> None:
    with (
        ScriptedServer([says("4.", prompt_tokens=120)], models=("tiny", "large")) as server,
        still(project, server) as mm,
    ):
        lines = (
            "/help", "/tools", "/context", "/mode", "/mode wild", "/mode read-only", "/permissions", "/title", "/errors",
            "/sessions", "/new", "/model", "What is 2 + 2?", "/context", "/title Sums", "/sessions", "/model large", "/new",
        )  # fmt: skip
        for count, line in enumerate(lines, start=1):
            mm.prompt(count)
            mm.type(line)
        mm.prompt(len(lines) + 1)
        mm.press("d")
        assert mm.leave() == 0
        screen = mm.screen.replace(f":{server.port}/", ":11434/")
    assert screen + "\n" == golden("terminal/commands.txt")


def test_models_of_all_servers_are_listed_and_any_can_answer(project: Path, golden: Golden) -> None:
    listed = Body(
        b'{"data": [{"id": "gemma3:4b", "owned_by": "llamacpp"}, {"id": "smollm2", "owned_by": "llamacpp"}]}'
    )
    props = Body(b'{"default_generation_settings": {"n_ctx": 16384}}')
    with (
        ScriptedServer([says("One.")], models=("qwen3:8b", "gemma3:4b")) as ollama,
        ScriptedServer([says("Two.")], models=listed, routes={"/props": props}) as llama,
    ):
        env = {"STILL_SERVERS": f"ollama={ollama.url} llama.cpp={llama.url}"}
        with Visitor(cwd=project, env=env, program=STILL) as mm:
            lines = (
                "/model", "Hello?", "/model smolm", "/model gemma3:4b on llama.cpp", "/model smol", "/context",
                "Hello again?", "/model",
            )  # fmt: skip
            for count, line in enumerate(lines, start=1):
                mm.prompt(count)
                mm.type(line)
            mm.prompt(len(lines) + 1)
            mm.press("d")
            assert mm.leave() == 0
            screen = mm.screen
    screen = screen.replace(f":{ollama.port}/", ":11434/").replace(f":{llama.port}/", ":8080/")
    assert screen + "\n" == golden("terminal/models.txt")
    assert [request.json["model"] for request in ollama.requests + llama.requests] == ["qwen3:8b", "smollm2"]


def test_a_launch_leaves_no_trace(project: Path) -> None:
    with ScriptedServer([]) as server, visit(project, server) as mm:
        for count, line in enumerate(("/sessions", "/help", "/errors", ""), start=1):
            mm.prompt(count)
            mm.type(line)
        mm.prompt(5)
        mm.press("d")
        assert mm.leave() == 0
    assert not (project / ".mm").exists()


def test_ctrl_c_ends_the_turn_and_not_mm(project: Path) -> None:
    slow = Stream((chunk({"content": "It is a long"}), 30.0))
    with ScriptedServer([slow, says("Yes.")]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type("tell me")
        mm.see("It is a long")
        began = time.monotonic()
        mm.press("c")
        mm.see("cancelled")
        assert time.monotonic() - began < 2
        mm.prompt(2)
        mm.type("go on?")
        mm.see("Yes.")
        mm.prompt(3)
        messages = server.requests[-1].json["messages"]
        mm.press("d")
        assert mm.leave() == 0
    assert [m["content"] for m in messages[1:]] == ["tell me", "It is a long", "go on?"]
    assert only_session(project)["messages"][2]["stopped"] == "cancelled"


def test_ctrl_c_before_the_first_word_takes_the_question_back(project: Path) -> None:
    with ScriptedServer([Silence(30)]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type("tell me")
        while not server.requests:
            time.sleep(0.02)
        mm.press("c")
        mm.prompt(2)
        mm.press("d")
        assert mm.leave() == 0
    assert session_files(project) == []


def test_ctrl_c_in_a_command_ends_its_processes(project: Path) -> None:  # H07
    sleeper = calls(("run_command", {"command": "echo $$ > pid; sleep 100"}))
    with ScriptedServer([sleeper]) as server, visit(project, server, "--mode", "auto") as mm:
        mm.prompt(1)
        mm.type("sleep")
        pid = project / "pid"
        while not (pid.exists() and pid.read_text().endswith("\n")):
            time.sleep(0.02)
        mm.press("c")
        mm.prompt(2)
        assert not Path(f"/proc/{pid.read_text().strip()}").exists()
        mm.press("d")
        mm.leave()
    assert only_session(project)["messages"][-1]["content"] == "cancelled by the user"


def test_ctrl_c_at_a_question_of_consent_cancels_the_turn_and_changes_nothing(project: Path) -> None:
    with ScriptedServer([EDIT]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type("edit it")
        mm.see("allow")
        mm.press("c")
        mm.see("\n  ✗ cancelled by the user")
        mm.prompt(2)
        mm.press("d")
        assert mm.leave() == 0
    assert (project / "main.py").read_text() == "print('hi')\n"


def test_ctrl_c_at_the_prompt_hints_and_twice_leaves(project: Path) -> None:
    with ScriptedServer([]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.press("c")
        mm.see("Ctrl-C again")
        mm.prompt(2)
        mm.press("c")
        assert mm.leave() == 0


@pytest.mark.parametrize(("typed", "changed"), [("y", True), ("a", True), ("n", False), ("", False)])
def test_the_answers_to_a_question_of_consent(project: Path, typed: str, changed: bool) -> None:
    with ScriptedServer([EDIT, says("ok.")]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type("edit it")
        mm.see("allow")
        assert "-print('hi')" in mm.screen
        assert "+print('hello')" in mm.screen
        mm.type(typed)
        mm.prompt(2)
        mm.press("d")
        mm.leave()
    assert (project / "main.py").read_text() == ("print('hello')\n" if changed else "print('hi')\n")


def test_always_covers_the_first_two_words_until_it_is_taken_back(project: Path) -> None:
    one, other = (calls(("run_command", {"command": f"echo one {word}"})) for word in ("two", "three"))
    script = [one, says("ok."), other, says("ok."), other, says("ok.")]
    with ScriptedServer(script) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type("first")
        mm.see("lways")
        mm.type("a")
        mm.prompt(2)
        mm.type("second")
        mm.prompt(3)
        assert mm.screen.count("allow?") == 1
        mm.type("/permissions")
        mm.see("echo one\n")
        mm.prompt(4)
        mm.type("/permissions clear")
        mm.prompt(5)
        mm.type("third")
        mm.see("allow\\?(.|\n)*allow\\?")
        mm.type("n")
        mm.prompt(6)
        mm.press("d")
        mm.leave()


def test_a_command_that_does_not_fit_in_its_title_stands_whole_above_the_question(project: Path) -> None:
    hidden = calls(("run_command", {"command": "ls\n" + "true " * 40 + "&& touch made\u202e"}))
    with ScriptedServer([hidden, says("ok.")]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type("list")
        mm.see(r"&& touch made\\u202e\n +allow\?")
        mm.type("n")
        mm.prompt(2)
        mm.press("d")
        mm.leave()
    assert not (project / "made").exists()


def test_what_was_typed_before_the_question_is_no_answer_to_it(project: Path) -> None:
    slow_edit = Stream((1.0, *EDIT.chunks))
    with ScriptedServer([slow_edit, says("ok.")]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type("edit it")
        while not server.requests:
            time.sleep(0.02)
        mm.type("y")
        mm.see("allow")
        time.sleep(0.5)
        assert (project / "main.py").read_text() == "print('hi')\n"
        mm.type("n")
        mm.prompt(2)
        mm.press("d")
        mm.leave()


def test_the_terminal_closed_in_a_turn_keeps_what_came(project: Path) -> None:
    slow = Stream((chunk({"content": "It is"}), 30.0))
    with ScriptedServer([slow]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type("tell me")
        mm.see("It is")
        mm.child.kill(signal.SIGHUP)
        assert mm.leave() == 129
    assert only_session(project)["messages"][-1]["stopped"] == "cancelled"


def test_resume_goes_on_in_the_same_file(project: Path) -> None:
    id = past(project)
    with ScriptedServer([says("Hello.")]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type(f"/resume {id[-8:]}")
        mm.see("resumed .* 2 turns")
        mm.prompt(3)
        mm.type("and now?")
        mm.prompt(4)
        mm.press("d")
        mm.leave()
        assert len(server.requests[0].json["messages"]) == 8
    [file] = session_files(project)
    assert file.stem == id
    assert len(json.loads(file.read_bytes())["messages"]) == 9


def test_retry_goes_on_where_a_turn_broke_off(project: Path) -> None:  # H13
    with (
        ScriptedServer([READ, fails(401, "no"), says("It prints hi.")]) as server,
        visit(project, server) as mm,
    ):
        mm.prompt(1)
        mm.type("look")
        mm.see("wants an API key")
        mm.prompt(2)
        mm.type("/retry")
        mm.see("It prints hi.")
        mm.prompt(3)
        asked = [m["role"] for m in server.requests[-1].json["messages"]]
        mm.press("d")
        mm.leave()
    assert asked == ["system", "user", "assistant", "tool"]
    session = only_session(project)
    assert [m["role"] for m in session["messages"]] == ["system", "user", "assistant", "tool", "assistant"]
    assert "pending" not in session
    assert len(session["errors"]) == 1


def test_retry_asks_the_last_question_again_and_a_failure_brings_its_turn_back(
    project: Path,
) -> None:  # H13
    script: list[Answer] = [says("One."), fails(401, "no"), says("Two.")]
    with ScriptedServer(script) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type("say it")
        mm.prompt(2)
        mm.type("/retry")
        mm.see("wants an API key")
        mm.prompt(3)
        assert only_session(project)["messages"][-1]["content"] == "One."
        mm.type("/retry")
        mm.see("Two.")
        mm.prompt(4)
        assert [m["content"] for m in server.requests[-1].json["messages"]][1:] == ["say it"]
        mm.press("d")
        mm.leave()
    assert [m["content"] for m in only_session(project)["messages"]][1:] == ["say it", "Two."]


def test_retry_asks_a_question_again_that_has_just_failed(project: Path) -> None:
    script: list[Answer] = [says("One."), fails(401, "no"), says("Two.")]
    with ScriptedServer(script) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type("say it")
        mm.prompt(2)
        mm.type("and now?")
        mm.see("wants an API key")
        mm.prompt(3)
        mm.type("/retry")
        mm.see("Two.")
        mm.prompt(4)
        mm.press("d")
        mm.leave()
    assert [m["content"] for m in only_session(project)["messages"]][1:] == [
        "say it", "One.", "and now?", "Two.",
    ]  # fmt: skip


def test_undo_takes_a_turn_back_and_fork_goes_another_way(project: Path) -> None:
    id = past(project)
    script = [says("Left.")]
    with ScriptedServer(script) as server, visit(project, server, "--resume", id) as mm:
        mm.see("resumed")
        mm.type("/fork")
        mm.see("stays as it is")
        mm.type("/undo")
        mm.see('taken back: "What is 2 \\+ 2')
        mm.type("which way?")
        mm.see("Left.\n\n.*\n›$")
        mm.type("/new")
        mm.see("left ")
        mm.type("/fork")
        mm.see("this one is empty")
        mm.press("d")
        mm.leave()
    first, second = session_files(project)
    assert first.stem == id
    assert len(json.loads(first.read_bytes())["messages"]) == 7
    assert [m["content"] for m in json.loads(second.read_bytes())["messages"]][-3:] == [
        "It prints hi.",
        "which way?",
        "Left.",
    ]


def test_a_damaged_file_is_told_of_and_recorded_and_the_conversation_goes_on(project: Path) -> None:  # F03
    id = past(project)
    file = session_files(project)[0]
    file.write_bytes(file.read_bytes()[:500])
    damaged = file.read_bytes()
    with ScriptedServer([says("Hello.")]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type(f"/resume {id}")
        mm.see("cannot read session .* truncated")
        mm.prompt(2)
        mm.type("hello?")
        mm.prompt(3)
        mm.press("d")
        mm.leave()
    assert file.read_bytes() == damaged
    [new] = [json.loads(f.read_bytes()) for f in session_files(project) if f != file]
    assert [(e["kind"], e["turns"]) for e in new["errors"]] == [("resume", 0)]


def test_a_first_question_at_the_command_line_of_a_resumed_session(project: Path) -> None:
    past(project)
    with ScriptedServer([]) as server, visit(project, server, "-c") as mm:
        mm.see("resumed")
        mm.prompt(2)
        mm.press("d")
        assert mm.leave() == 0


def test_a_project_that_asks_for_more_is_trusted_after_a_question(project: Path) -> None:
    (project / "agent.yaml").write_text('permissions:\n  - {tool: run_command, match: "echo*", do: allow}\n')
    with ScriptedServer([RUN, says("ok.")]) as server, visit(project, server) as mm:
        mm.see("Trust it as it is")
        mm.type("y")
        mm.prompt(1)
        mm.type("run it")
        mm.prompt(2)
        assert "allow?" not in mm.screen
        mm.press("d")
        mm.leave()
    with ScriptedServer([]) as server, visit(project, server) as mm:
        mm.prompt(1)
        assert "Trust" not in mm.screen
        mm.press("d")
        mm.leave()


def test_lines_typed_before_come_back_with_the_arrow_key_in_another_launch(project: Path) -> None:
    with ScriptedServer([says("One."), says("Two.")]) as server:
        with visit(project, server) as mm:
            mm.prompt(1)
            mm.type("first question")
            mm.prompt(2)
            mm.press("d")
            mm.leave()
        with visit(project, server) as mm:
            mm.prompt(1)
            mm.child.send(b"\x1b[A\r")
            mm.see("Two.")
            mm.prompt(2)
            mm.press("d")
            mm.leave()
        assert server.requests[1].json["messages"][-1]["content"] == "first question"


def test_what_is_pasted_is_one_question_whole(project: Path) -> None:
    with ScriptedServer([says("Seen.")]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.child.send(b"\x1b[200~Traceback:\n  File x.py\nValueError\x1b[201~")
        mm.see("ValueError")
        mm.child.send(b"\r")
        mm.see("Seen.")
        mm.prompt(2)
        mm.press("d")
        mm.leave()
        assert server.requests[0].json["messages"][-1]["content"] == "Traceback:\n  File x.py\nValueError"


@pytest.mark.parametrize("columns", [40, 80, 160])
def test_colour_is_used_on_a_terminal_and_not_where_it_is_not_wanted(project: Path, columns: int) -> None:
    env = {"MM_BASE_URL": "", "MM_MODEL": "tiny"}
    with ScriptedServer([READ, says("It prints hi.")]) as server:
        env["MM_BASE_URL"] = server.url
        with Visitor(cwd=project, env={**env, "NO_COLOR": ""}, columns=columns) as mm:
            mm.prompt(1)
            mm.type("look")
            mm.prompt(2)
            assert b"\x1b[36m" in mm.raw
            mm.press("d")
            mm.leave()


def test_without_colour_no_style_is_written(project: Path) -> None:
    with ScriptedServer([READ, says("It prints hi.")]) as server, visit(project, server, TERM="dumb") as mm:
        mm.prompt(1)
        mm.type("look")
        mm.prompt(2)
        assert b"\x1b[3" not in mm.raw
        mm.press("d")
        mm.leave()
