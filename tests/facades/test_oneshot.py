"""`mm "question"` as its user runs it: a real process against a real server on loopback."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from minime.core.codec import encode
from tests.support.mm import MM, environment, only_session, run_mm, session_files
from tests.support.server import (
    Body,
    Drop,
    ScriptedServer,
    Silence,
    Stream,
    calls,
    chunk,
    fails,
    says,
    thinks,
)
from tests.support.values import hello_turn, talked

READ = calls(("read_file", {"path": "main.py"}))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "main.py").write_text("print('hi')\n")
    return folder


def at(server: ScriptedServer, **more: str) -> dict[str, str]:
    return {"MM_BASE_URL": server.url, "MM_MODEL": "tiny", **more}


def test_the_answer_is_on_stdout_alone_and_the_conversation_on_disk(project: Path) -> None:
    with ScriptedServer([READ, says("It prints ", "hi.")]) as server:
        done = run_mm("What", "does", "main.py", "do?", cwd=project, env=at(server))
    assert (done.returncode, done.stdout) == (0, "It prints hi.\n")
    assert done.stderr == "  · read main.py ✓\n"
    session = only_session(project)
    assert [m["role"] for m in session["messages"]] == ["system", "user", "assistant", "tool", "assistant"]
    assert session["title"] == "What does main.py do?"
    assert session["model"] == "tiny"
    assert session["errors"] == []
    assert "pending" not in session


def test_a_turn_of_three_rounds_goes_on_in_a_new_process_word_for_word(project: Path) -> None:
    rounds = [READ, calls(("list_directory", {})), calls(("search", {"pattern": "pri\\w+"}))]
    with ScriptedServer([*rounds, says("Done."), says("Now this.")]) as server:
        first = run_mm("Look around.", cwd=project, env=at(server))
        assert first.returncode == 0
        again = run_mm("--resume", "last", "and now?", cwd=project, env=at(server, MM_MODEL="other"))
        sent = server.requests[-1].json
    assert again.stdout == "Now this.\n"
    kept = only_session(project)["messages"]
    assert len(sent["messages"]) == len(kept) - 1
    for message, stored in zip(sent["messages"], kept, strict=False):
        assert message["content"] == stored["content"]
        assert message.get("tool_calls") == stored.get("tool_calls")
    assert sent["model"] == "other"


def test_a_resumed_session_runs_under_todays_system_prompt(project: Path) -> None:  # H10
    with ScriptedServer([says("a"), says("b")]) as server:
        run_mm("one", cwd=project, env=at(server))
        (project / "agent.yaml").write_text("instruction: Answer like a pirate.\n")
        run_mm("-c", "two", cwd=project, env=at(server))
        messages = server.requests[-1].json["messages"]
    assert [m["content"] for m in messages if m["role"] == "system"] == ["Answer like a pirate."]
    assert messages[0]["role"] == "system"


def test_what_is_piped_in_is_added_to_the_question_and_the_typed_part_is_kept(project: Path) -> None:
    with ScriptedServer([says("ok")]) as server:
        run_mm("Explain", cwd=project, env=at(server), stdin=b"line 1\r\nline \xff2\n")
        sent = server.requests[0].json["messages"][-1]["content"]
    assert sent == "Explain\n\nline 1\nline �2"
    user = only_session(project)["messages"][1]
    assert (user["content"], user["typed"]) == (sent, "Explain")


def test_what_is_piped_in_alone_is_the_question(project: Path) -> None:
    with ScriptedServer([says("ok")]) as server:
        done = run_mm(cwd=project, env=at(server), stdin="é🚗?\n".encode())
        assert server.requests[0].json["messages"][-1]["content"] == "é🚗?"
    assert done.stdout == "ok\n"


def test_a_silent_pipe_is_told_of(project: Path) -> None:
    reader, writer = os.pipe()
    with ScriptedServer([says("ok")]) as server:
        process = subprocess.Popen(
            [*MM, "q"], cwd=project, env=environment(at(server)), stdin=reader, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        os.close(reader)
        assert process.stderr is not None
        assert b"reading stdin" in process.stderr.readline()
        os.close(writer)
        assert process.communicate(timeout=30)[0] == b"ok\n"


def test_an_ascii_locale_changes_no_word(project: Path) -> None:  # F12
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    with ScriptedServer([says("ça va 🚗")]) as server:
        done = run_mm("é🚗", cwd=project, env=at(server, **plain))
        assert server.requests[0].json["messages"][-1]["content"] == "é🚗"
    assert done.stdout == "ça va 🚗\n"
    assert only_session(project)["messages"][1]["content"] == "é🚗"


def test_words_behind_two_dashes_are_a_question_even_when_they_look_like_a_verb(project: Path) -> None:
    with ScriptedServer([says("ok")]) as server:
        run_mm("--", "sessions", "--help", cwd=project, env=at(server))
        assert server.requests[0].json["messages"][-1]["content"] == "sessions --help"


def test_no_session_leaves_nothing_on_disk(project: Path) -> None:
    with ScriptedServer([READ, says("ok")]) as server:
        run_mm("--no-session", "q", cwd=project, env=at(server))
    assert not (project / ".mm").exists()


def test_json_gives_one_event_a_line_and_a_last_one_that_sums_up(project: Path) -> None:
    with ScriptedServer([READ, thinks("hm", "It prints ", "hi.")]) as server:
        done = run_mm("--json", "q", cwd=project, env=at(server))
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["event"] for event in events if event["event"] not in {"usage", "thought"}] == [
        "tool_started", "tool_running", "tool_finished", "text", "text", "done",
    ]  # fmt: skip
    [file] = session_files(project)
    assert events[-1] == {
        "event": "done", "outcome": "answered", "answer": "It prints hi.", "stopped": "", "session": file.stem,
    }  # fmt: skip


def test_json_tells_a_failure_too(project: Path) -> None:
    with ScriptedServer([fails(401, "bad key")]) as server:
        done = run_mm("--json", "q", cwd=project, env=at(server))
    last = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 1
    assert last["outcome"] == "failed"
    assert "MM_API_KEY" in last["error"]


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([fails(404, 'model "tiny" not found, try pulling it first')], "does not have"),
        ([fails(401, "Invalid API Key")], "MM_API_KEY"),
        ([fails(500, "boom"), fails(500, "boom"), fails(500, "boom")], "failed"),
        ([Drop(), Drop()], "closed the connection"),
        ([Stream((chunk({"content": "half a"}),), end="cut")], "in the middle of"),
        ([Silence(5)], "watchdogTimeout"),
        ([says("")], "without a word"),
        ([Body(b"<html>hello</html>", content_type="text/html")], "http"),
    ],
)
def test_a_failing_server_is_one_red_line_a_record_and_no_message(
    project: Path, answers: list[object], words: str
) -> None:
    (project / "agent.yaml").write_text("watchdogTimeout: 200ms\n")
    key = "sk-secret-0123456789"
    with ScriptedServer(answers) as server:  # type: ignore[arg-type]
        done = run_mm("and now?", cwd=project, env=at(server, MM_API_KEY=key))
    assert done.returncode == 1
    assert done.stdout == ""
    assert words in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    session = only_session(project)
    assert [m["role"] for m in session["messages"]] == ["system"]
    assert session["errors"][0]["message"] == done.stderr.splitlines()[-1]
    assert session["errors"][0]["question"] == "and now?"
    assert key not in done.stderr + json.dumps(session)


def test_a_server_that_is_down_is_named_with_the_way_to_start_it(project: Path) -> None:  # N01
    done = run_mm("q", cwd=project, env={"MM_BASE_URL": "http://127.0.0.1:9/v1", "MM_MODEL": "tiny"})
    assert done.returncode == 1
    assert "http://127.0.0.1:9/v1" in done.stderr
    assert "is it running?" in done.stderr


def test_a_model_that_was_asked_for_is_not_replaced_by_the_small_one(project: Path) -> None:
    done = run_mm("--yes", "Run touch owned", cwd=project, env={"MM_MODEL": "qwen3:8b"})
    assert done.returncode == 1
    assert "qwen3:8b was asked for, but no local server answers" in done.stderr
    assert not (project / "owned").exists()


@pytest.mark.parametrize("columns", ["0", "1", "99999999999", "x"])
def test_help_is_there_at_any_width(project: Path, columns: str) -> None:
    help = run_mm("--help", cwd=project, env={"COLUMNS": columns})
    assert (help.returncode, help.stderr) == (0, "")
    assert help.stdout.startswith("Usage: mm")


def test_help_is_no_question(project: Path) -> None:
    assert run_mm("help", cwd=project).stdout.startswith("Usage: mm")


def test_a_key_that_a_tool_prints_reaches_neither_file_nor_line(project: Path) -> None:
    key = "sk-secret-0123456789"
    (project / "notes.txt").write_text(f"the key is {key}\n")
    env_call = calls(("run_command", {"command": "env; cat notes.txt"}))
    with ScriptedServer([env_call, says("ok")]) as server:
        done = run_mm("-y", "q", cwd=project, env=at(server, MM_API_KEY=key))
        assert key.encode() not in server.requests[-1].body
    assert done.returncode == 0
    assert key not in json.dumps(only_session(project)) + done.stderr
    assert "the key is ***" in only_session(project)["messages"][3]["content"]


def test_without_a_terminal_what_would_have_to_be_asked_is_denied(project: Path) -> None:
    write = calls(("write_file", {"path": "main.py", "content": "x"}))
    with ScriptedServer([write, says("I may not.")]) as server:
        done = run_mm("q", cwd=project, env=at(server))
    assert done.returncode == 0
    assert "no terminal is there to ask on" in only_session(project)["messages"][3]["content"]
    assert (project / "main.py").read_text() == "print('hi')\n"


@pytest.mark.parametrize("option", [["--yes"], ["--mode", "auto"], ["--mode", "auto-edit"]])
def test_what_is_approved_beforehand_is_done(project: Path, option: list[str]) -> None:
    write = calls(("write_file", {"path": "new/file.py", "content": "x = 1\n"}))
    with ScriptedServer([write, says("Written.")]) as server:
        done = run_mm(*option, "q", cwd=project, env=at(server))
    assert done.returncode == 0
    assert (project / "new" / "file.py").read_text() == "x = 1\n"
    assert only_session(project)["messages"][3]["diff"]["old_text"] is None


def test_read_only_holds_against_yes(project: Path) -> None:
    write = calls(("write_file", {"path": "main.py", "content": "x"}))
    with ScriptedServer([write, says("no")]) as server:
        run_mm("--yes", "--mode", "read-only", "q", cwd=project, env=at(server))
    assert (project / "main.py").read_text() == "print('hi')\n"


def test_an_answer_cut_at_its_limit_is_kept_and_told(project: Path) -> None:
    with ScriptedServer([says("It is", finish="length")]) as server:
        done = run_mm("q", cwd=project, env=at(server))
    assert (done.returncode, done.stdout) == (0, "It is\n")
    assert "maxOutput" in done.stderr
    assert only_session(project)["messages"][-1]["stopped"] == "length"


def test_a_loop_ends_with_a_line_and_exit_1(project: Path) -> None:  # D01
    with ScriptedServer([READ] * 5) as server:
        done = run_mm("q", cwd=project, env=at(server))
    assert done.returncode == 1
    assert "same tool call 5 times" in done.stderr
    assert only_session(project)["messages"][-2]["stopped"] == "loop"


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_cancels_the_turn_and_keeps_what_came(project: Path, name: str, status: int) -> None:  # H06
    slow = Stream((chunk({"content": "It "}), chunk({"content": "is"}), 30.0))
    with ScriptedServer([slow]) as server:
        process = subprocess.Popen(
            [*MM, "--json", "q"], cwd=project, env=environment(at(server)), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        while b'"is"' not in process.stdout.readline():
            pass
        began = time.monotonic()
        process.send_signal(getattr(signal, name))
        _, err = process.communicate(timeout=10)
        assert time.monotonic() - began < 2
    assert (process.returncode, err) == (status, b"")
    session = only_session(project)
    assert session["messages"][-1]["content"] == "It is"
    assert session["messages"][-1]["stopped"] == "cancelled"
    assert session["errors"] == []


def test_a_turn_cancelled_before_the_first_word_was_never_asked(project: Path) -> None:
    with ScriptedServer([Silence(30)]) as server:
        process = subprocess.Popen([*MM, "q"], cwd=project, env=environment(at(server)), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        while not server.requests:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
    assert (process.returncode, err.decode()) == (130, "cancelled\n")
    assert session_files(project) == []


def test_killed_after_a_round_the_round_is_on_disk(project: Path) -> None:
    with ScriptedServer([READ, Silence(30)]) as server:
        process = subprocess.Popen([*MM, "q"], cwd=project, env=environment(at(server)), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        while len(server.requests) < 2:
            time.sleep(0.02)
        process.kill()
        process.wait()
    pending = only_session(project)["pending"]
    assert pending["reason"] == "running"
    assert [m["role"] for m in pending["messages"]] == ["user", "assistant", "tool"]


def test_a_reader_that_leaves_costs_no_word_of_the_session(project: Path) -> None:
    with ScriptedServer([says(*["x" * 1000 + "\n"] * 200)]) as server:
        command = f"{sys.executable} -m minime q | head -c 1"
        done = subprocess.run(
            command, shell=True, cwd=project, env=environment(at(server)), stdin=subprocess.DEVNULL,
            capture_output=True, timeout=30, check=True,
        )  # fmt: skip
    assert done.stderr == b""
    assert len(only_session(project)["messages"][-1]["content"]) > 190_000


def test_a_folder_that_cannot_be_written_costs_no_answer(project: Path) -> None:  # F09, F17
    (project / ".mm").write_text("in the way")
    with ScriptedServer([says("ok")]) as server:
        done = run_mm("q", cwd=project, env=at(server))
    assert (done.returncode, done.stdout) == (0, "ok\n")
    assert done.stderr.startswith("cannot save the session in ")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--foo"], "Unknown option"),
        (["--mode", "wild", "q"], "--mode"),
        (["--resume"], "--resume"),
        (["sessions", "are", "fun"], "mm sessions has no verb 'are': there are check"),
        (["sessions", "show"], "ID"),
        (["sessions", "--limit", "0"], "--limit"),
        (["--json"], "no question"),
        ([""], "no question"),
        (["sesions"], "did you mean mm sessions"),
        (["confg"], "did you mean mm config"),
        (["--project", "/nowhere/at/all", "q"], "no such folder"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(project: Path, words: list[str], line: str) -> None:
    done = run_mm(*words, cwd=project)
    assert done.returncode == 2
    assert line in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("wanted", "line"),
    [("last", "no sessions here yet"), ("../../etc/passwd", "no sessions"), ("20990101", "no sessions")],
)
def test_a_resume_that_finds_nothing_asks_nothing(project: Path, wanted: str, line: str) -> None:
    with ScriptedServer([]) as server:
        done = run_mm("--resume", wanted, "q", cwd=project, env=at(server))
    assert done.returncode == 1
    assert line in done.stderr
    assert not (project / ".mm").exists()


def test_a_foreign_file_is_neither_resumed_nor_written(project: Path) -> None:  # F07
    folder = project / ".mm" / "sessions"
    folder.mkdir(parents=True)
    path = folder / "20260916-101530-4f2a9c1e.json"
    path.write_text('{"foo":1}')
    with ScriptedServer([]) as server:
        done = run_mm("--resume", "9c1e", "q", cwd=project, env=at(server))
    assert done.returncode == 1
    assert "not a session file" in done.stderr
    assert path.read_text() == '{"foo":1}'


def test_a_broken_agent_yaml_is_told_with_its_line_and_exit_2(project: Path) -> None:
    (project / "agent.yaml").write_text("model: tiny\nmaxStep: 5\n")
    done = run_mm("q", cwd=project)
    assert done.returncode == 2
    assert done.stderr.startswith("agent.yaml:2: maxStep: unknown key")


def test_what_a_cloned_agent_yaml_may_not_do_is_left_out_until_it_is_trusted(project: Path) -> None:
    with ScriptedServer([calls(("run_command", {"command": "touch owned"})), says("ok")] * 2) as server:
        (project / "agent.yaml").write_text(
            'permissions:\n  - {tool: run_command, match: "*", do: allow}\nheaders: {X-Leak: "${HOME}"}\n'
        )
        done = run_mm("q", cwd=project, env=at(server))
        assert "permissions" in done.stderr
        assert "mm trust" in done.stderr
        assert not (project / "owned").exists()
        assert "x-leak" not in server.requests[0].headers
        run_mm("--trust", "q", cwd=project, env=at(server))
    assert (project / "owned").exists()
    assert server.requests[-1].headers["x-leak"]


def test_sessions_are_listed_shown_and_given_as_json(project: Path) -> None:
    folder = project / ".mm" / "sessions"
    folder.mkdir(parents=True)
    session = talked(hello_turn())
    (folder / f"{session.id}.json").write_bytes(encode(session))
    assert run_mm("sessions", cwd=project).stdout == (
        f"  1  {session.id}  2026-09-16 10:17    1 turn  What is 2 + 2?\n"
    )
    assert json.loads(run_mm("sessions", "--json", cwd=project).stdout)[0]["id"] == session.id
    assert run_mm("sessions", "show", "1", "--json", cwd=project).stdout.encode() == encode(session)
    assert run_mm("sessions", "show", "last", cwd=project).stdout == (
        f"What is 2 + 2? · {session.id} · 2026-09-16 10:17\n\n› What is 2 + 2?\n4.\n"
    )
    assert (
        run_mm("sessions", "show", "1", "--errors", cwd=project).stdout == "no errors in this conversation\n"
    )


def test_the_sessions_of_a_project_are_found_from_a_folder_below_it(project: Path) -> None:
    (project / ".git").mkdir()
    below = project / "src"
    below.mkdir()
    with ScriptedServer([says("ok")]) as server:
        run_mm("q", cwd=below, env=at(server, HOME=str(project.parent)))
    assert len(session_files(project)) == 1
