"""`mm acp` as a process: its lines, its stdout, its end. Numbers in comments are those of public faults."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor import Editor, at, dies
from tests.support.mm import MM, environment, only_session
from tests.support.server import ScriptedServer, Silence, Stream, calls, chunk, says

NO_SERVER = {"MM_BASE_URL": "http://127.0.0.1:9/v1", "MM_MODEL": "tiny"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def editor(project: Path) -> Any:
    with Editor(cwd=project, env=NO_SERVER) as one:
        yield one


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One mm for all that an mm has to survive."""
    folder = tmp_path_factory.mktemp("lasting")
    with Editor(cwd=folder, env=NO_SERVER | {"HOME": str(folder)}) as one:
        yield one


def lives(editor: Editor) -> None:
    """mm answers still."""
    assert editor.initialize()["protocolVersion"] == 1


def test_a_fresh_home_and_a_dumb_terminal_get_the_answer_to_initialize_first(project: Path) -> None:  # 39
    with Editor(cwd=project, env={"TERM": "dumb"}) as editor:
        answer = editor.call("initialize", protocolVersion=1)
        assert editor.heard[0][1]["result"] is answer
        assert len(editor.heard) == 1
        assert answer["authMethods"]
        assert editor.leave() == 0
    assert not (project / ".mm").exists()


@pytest.mark.parametrize("version", [0, 1, 2, 65535])
def test_the_version_is_1_whatever_is_asked(lasting: Editor, version: int) -> None:
    assert lasting.call("initialize", protocolVersion=version)["protocolVersion"] == 1


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param(b"{", -32700, id="broken-A14"),
        pytest.param(b"[]", -32600, id="batch-47"),
        pytest.param(b"1", -32600, id="number-47"),
        pytest.param(b"null", -32600, id="null-47"),
        pytest.param(b'{"jsonrpc":"2.0","id":NaN,"method":"initialize"}', -32700, id="nan-43"),
        pytest.param(b'{"jsonrpc":"2.0","id":null,"method":"\xff\xfe"}', -32700, id="not-utf8-44"),
        pytest.param(b'{"jsonrpc":"2.0","id":null,"method":"_mine/x"}', -32601, id="extension-49"),
        pytest.param(b'{"jsonrpc":"2.0","id":null,"method":"session/new","params":[]}', -32602, id="params"),
        pytest.param(b"[" * 100_000, -32700, id="deep"),
    ],
)
def test_a_line_that_is_none_is_answered_and_mm_lives(lasting: Editor, line: bytes, code: int) -> None:
    lasting.heard.clear()
    lasting.write(line + b"\n")
    assert lasting.error(None)["code"] == code
    lives(lasting)


def test_lines_come_in_every_shape_that_a_pipe_gives_them(editor: Editor) -> None:  # 42, 44, 48
    whole = json.dumps(editor.message("initialize", protocolVersion=1)).encode()
    for byte in whole + b"\r\n":
        editor.write(bytes([byte]))
    editor.result(1)
    editor.write(b"\n  \r\n")
    editor.send(editor.message("session/list"), editor.message("session/list"))
    editor.result(2)
    editor.result(3)
    editor.write(b'{"jsonrpc":"2.0","id":"\\ud83d\\ude97\\u2028","method":"session\\/list"}\n')
    answer = editor.wait(lambda m: m.get("id") == "\N{AUTOMOBILE}\u2028")
    assert answer["result"] == {"sessions": []}


def test_a_lone_surrogate_is_replaced_on_the_way_in(project: Path) -> None:  # 43
    with ScriptedServer([says("a \ufffd b")]) as server, Editor(cwd=project, env=at(server)) as editor:
        assert editor.prompt(editor.new(project), "\ud800 and \U0001f697") == "end_turn"
        assert server.requests[0].json["messages"][-1]["content"] == "\ufffd and \U0001f697"


def test_a_line_of_8_mib_is_a_prompt_like_any_other(project: Path) -> None:  # 40
    words = "abcdefgh" * (1 << 20)
    with ScriptedServer([says("Long.")]) as server, Editor(cwd=project, env=at(server)) as editor:
        assert editor.prompt(editor.new(project), words) == "end_turn"
        assert server.requests[0].json["messages"][-1]["content"] == words


def test_a_file_for_stdin_is_read_to_its_end(project: Path) -> None:
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
        {"jsonrpc": "2.0", "id": 2, "method": "session/list"},
    ]
    file = project / "lines"
    file.write_text("\n".join(json.dumps(one) for one in asked))  # no newline behind the last
    with file.open("rb") as lines, Editor(cwd=project, env=NO_SERVER, stdin=lines.fileno()) as editor:
        assert editor.gone() == 0
        assert [m["id"] for m in editor.messages] == [1, 2]


NOISY = """
import os, subprocess, sys, warnings
from minime.core.acp import machine
from minime.__main__ import main

before = machine.open_session

def noisy(*rest):
    print("a library prints")
    os.write(1, b"and writes to descriptor 1\\n")
    subprocess.run(["echo", "and a child does"])
    warnings.warn("and warns")
    return before(*rest)

machine.open_session = noisy
sys.exit(main())
"""


def test_what_others_print_never_reaches_stdout(project: Path) -> None:  # 39, A08
    program = (sys.executable, "-c", NOISY)
    with Editor(cwd=project, env=NO_SERVER, program=program) as editor:
        editor.new(project)
        editor.leave()
        for words in ("a library prints", "descriptor 1", "a child does", "and warns"):
            assert words in editor.errors


def test_a_command_writes_into_the_protocol_and_nowhere_else(project: Path) -> None:  # 39
    loud = calls(("run_command", {"command": "echo one; echo two >&2; printf '\\033]0;title\\007'"}))
    with ScriptedServer([loud, says("Done.")]) as server, Editor(cwd=project, env=at(server)) as editor:
        id = editor.new(project)
        assert editor.prompt(id, "Go.") == "end_turn"
        assert editor.shown(id, "tool_call_update", status="completed")["rawOutput"].startswith("one\ntwo\n")
        assert "one" not in editor.errors


def test_the_end_of_input_ends_an_idle_mm_at_once(editor: Editor) -> None:  # 45
    editor.initialize()
    assert editor.leave(1.0) == 0


ENDINGS = {
    "end of input-45": Editor.hang_up,
    "SIGTERM-46": lambda editor: editor.process.send_signal(signal.SIGTERM),
    "SIGHUP-46": lambda editor: editor.process.send_signal(signal.SIGHUP),
    "SIGINT-46": lambda editor: editor.process.send_signal(signal.SIGINT),
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_an_end_in_a_turn_saves_it_as_cancelled_and_leaves_no_child(project: Path, ending: Any) -> None:
    slow = calls(("run_command", {"command": "echo $$ > pid; sleep 60"}))
    with ScriptedServer([slow]) as server, Editor(cwd=project, env=at(server)) as editor:
        id = editor.new(project)
        editor.ask(id, "Sleep.")
        pid = running(editor, project)
        ending(editor)
        assert editor.gone(2.0) == 0
        assert "Traceback" not in editor.errors
        assert dies(pid)
    kept = only_session(project)["messages"]
    assert [m["role"] for m in kept] == ["system", "user", "assistant", "tool"]
    assert kept[-1]["content"] == "cancelled by the user"
    assert only_session(project)["errors"] == []


def test_a_killed_mm_leaves_no_child_and_a_whole_file(project: Path) -> None:  # 46
    script = [
        calls(("list_directory", {})),
        calls(("run_command", {"command": "echo $$ > pid; sleep 60"}), first_id=2),
    ]
    with ScriptedServer(script) as server, Editor(cwd=project, env=at(server)) as editor:
        editor.ask(editor.new(project), "Sleep.")
        pid = running(editor, project)
        editor.kill()
        assert dies(pid)
    assert [m["role"] for m in only_session(project)["pending"]["messages"]] == ["user", "assistant", "tool"]


def test_an_editor_that_does_not_read_cannot_hold_mm_up(project: Path) -> None:  # 45
    flood = Stream((*(chunk({"content": "x" * 1000}),) * 400, 20.0))
    with ScriptedServer([flood]) as server:
        process = subprocess.Popen(
            [*MM, "acp"],
            cwd=project,
            env=environment(at(server)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        new = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": str(project)}}
        process.stdin.write(json.dumps(new).encode() + b"\n")
        process.stdin.flush()
        id = json.loads(process.stdout.readline())["result"]["sessionId"]
        prompt = {"sessionId": id, "prompt": [{"type": "text", "text": "Flood."}]}
        asked = {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": prompt}
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        process.stdin.flush()
        deadline = time.monotonic() + 10
        while not server.requests and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(2.0) == 0
        assert b"Traceback" not in process.stderr.read()
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()
    assert only_session(project)["messages"][-1]["stopped"] == "cancelled"


def test_an_editor_that_closed_its_end_ends_mm_and_the_turn_is_saved(project: Path) -> None:  # 45
    flood = Stream((*(chunk({"content": "x"}), 0.05) * 100, 20.0))
    with ScriptedServer([flood]) as server, Editor(cwd=project, env=at(server)) as editor:
        id = editor.new(project)
        editor.ask(id, "Flood.")
        editor.shown(id, "agent_message_chunk")
        os.dup2(os.open(os.devnull, os.O_RDONLY), editor.process.stdout.fileno())  # type: ignore[union-attr]
        assert editor.gone(3.0) == 0
    assert only_session(project)["messages"][-1]["stopped"] == "cancelled"


def test_a_closed_stderr_is_no_trouble(project: Path) -> None:
    shell = ("/bin/sh", "-c", f'exec {sys.executable} -m minime "$@" 2>&-', "sh")
    with Editor(cwd=project, env=NO_SERVER, program=shell) as editor:
        lives(editor)
        editor.new(project)


def test_prompt_and_end_of_input_in_one_write_end_in_time(project: Path) -> None:
    with ScriptedServer([Silence(20)]) as server, Editor(cwd=project, env=at(server)) as editor:
        id = editor.new(project)
        editor.ask(id, "Think.")
        assert editor.leave(2.0) == 0


def test_a_missing_configuration_or_folder_is_one_line_and_no_traceback(project: Path) -> None:
    with Editor("--project", str(project / "nowhere"), cwd=project) as editor:
        assert editor.gone(5) == 2
        assert "there is no such folder" in editor.errors
    with Editor("--config", str(project / "none.yaml"), cwd=project) as editor:  # A10
        lives(editor)
        refused = editor.refused("session/new", cwd=str(project), mcpServers=[])
        assert refused["code"] == -32603
        assert "none.yaml" in refused["message"]


def running(editor: Editor, project: Path) -> int:
    """The process of a command that has written its number to the file `pid`."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if (project / "pid").exists() and (said := (project / "pid").read_text().strip()):
            return int(said)
        time.sleep(0.01)
    raise AssertionError(f"no command ran; heard {editor.messages[-3:]}")
