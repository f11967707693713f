"""What a person types at the real prompt, at a real pseudo-terminal: keys, files, commands of their own."""

import stat
import sys
import termios
import time
from pathlib import Path

import pytest

from tests.facades.test_terminal import past, visit
from tests.support.mm import Visitor, only_session, run_mm, session_files
from tests.support.server import Answer, ScriptedServer, Stream, calls, chunk, says

EDIT = calls(("edit_file", {"path": "main.py", "old_text": "hi", "new_text": "hello"}))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "main.py").write_text("print('hi')\n")
    (folder / "src" / "tool.py").write_text("x = 1\ny = 2\n")
    (folder / ".gitignore").write_text("ignored.txt\n")
    (folder / "ignored.txt").write_text("z\n")
    return folder


def slow(*rest: str) -> Stream:
    """An answer that takes its time, so that something can be typed meanwhile."""
    return Stream((chunk({"content": "Well"}), 1.0, *says(*rest).chunks))


def question(server: ScriptedServer, place: int = -1) -> str:
    text: str = server.requests[place].json["messages"][-1]["content"]
    return text


def leave(mm: Visitor) -> None:
    mm.press("d")
    assert mm.leave() == 0


def test_a_file_and_a_folder_named_with_an_at_go_with_the_question(project: Path) -> None:
    with ScriptedServer([says("Seen.")]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type("Compare @src/tool.py:2 with @src/ and mail me@example.org")
        mm.see("@src/tool.py · lines 2-2 of 2 only")
        mm.see("@src/ · a list of 1 names?")
        mm.see("Seen.")
        mm.prompt(2)
        leave(mm)
        sent = question(server)
    assert sent.startswith("Compare @src/tool.py:2 with")
    assert "src/tool.py:\n```\ny = 2\n" in sent
    assert "x = 1" not in sent
    assert "tool.py\n```" in sent
    session = only_session(project)
    assert session["messages"][1]["typed"] == "Compare @src/tool.py:2 with @src/ and mail me@example.org"
    assert session["title"].startswith("Compare @src/tool.py:2")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("look at @mian.py", "no such file or folder: mian.py; there is main.py"),
        ("look at @src/nothing", "no such file or folder: src/nothing"),
        ("look at @../other.txt", "outside the project"),
        ("look at @main.py:7", "main.py has 1 lines; there is no line 7"),
    ],
)
def test_a_file_that_is_not_to_be_had_is_told_of_and_nothing_is_sent(
    project: Path, line: str, told: str
) -> None:
    with ScriptedServer([]) as server:
        done = run_mm(line, cwd=project, env={"MM_BASE_URL": server.url, "MM_MODEL": "tiny"})
        assert server.requests == []
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "nothing was sent" in done.stderr
    assert session_files(project) == []


def test_at_the_prompt_too_and_the_conversation_goes_on(project: Path) -> None:
    with ScriptedServer([says("It is a decorator.")]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type("look at @mian.py")
        mm.see("nothing was sent")
        mm.prompt(2)
        mm.type("what is @functools.cache?")
        mm.see("decorator.")
        mm.prompt(3)
        leave(mm)
        assert [question(server, place) for place in range(len(server.requests))] == [
            "what is @functools.cache?"
        ]


def test_a_command_of_ones_own_runs_at_the_terminal_and_stays_out_of_the_conversation(project: Path) -> None:
    with ScriptedServer([says("Fine.")]) as server, visit(project, server, MM_API_KEY="sesame-open") as mm:
        mm.prompt(1)
        mm.type("!test -t 0 && cat main.py; echo key=$MM_API_KEY; exit 3")
        mm.see("print\\('hi'\\)\nkey=\n\\(exit status 3\\)")
        mm.prompt(2)
        mm.type("!sleep 100")
        time.sleep(0.5)
        mm.press("c")
        mm.see("\\(ended by signal 2\\)")
        mm.prompt(3)
        assert session_files(project) == []
        mm.type("and?")
        mm.prompt(4)
        leave(mm)
        assert len(server.requests) == 1
    assert [m["content"] for m in only_session(project)["messages"][1:]] == ["and?", "Fine."]


def test_a_question_goes_on_behind_a_backslash_and_in_a_fence(project: Path) -> None:
    with ScriptedServer([says("One."), says("Two.")]) as server:
        with visit(project, server) as mm:
            mm.prompt(1)
            mm.type("first \\")
            mm.see("…$")
            mm.type("second")
            mm.see("One.")
            mm.prompt(2)
            mm.type("why:")
            mm.see("Two.")
            mm.prompt(3)
            leave(mm)
        assert question(server, 0) == "first\nsecond"
        with visit(project, server) as mm:
            server.add(says("Three."))
            mm.prompt(1)
            mm.child.send(b"\x1b[A\x1b[A")  # whole, as one entry, in another launch
            mm.see("first\nsecond$")
            mm.press("u")
            mm.type("```py")
            mm.see("…$")
            mm.type("x = 1")
            mm.see("x = 1\n…$")
            mm.type("```")
            mm.see("Three.")
            mm.prompt(2)
            leave(mm)
        assert question(server) == "```py\nx = 1\n```"


def test_tab_completes_commands_sessions_and_paths_that_are_not_ignored(project: Path) -> None:
    id = past(project)
    with ScriptedServer([says("Seen.")], models=("tiny", "large")) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.child.send(b"/resu\t2026\t")
        mm.see(f"/resume {id}$")
        mm.press("u")
        mm.child.send(b"/re\t")
        mm.see("/resume +/retry\n› /re$")
        mm.press("u")
        mm.child.send(b"/model la\t")
        mm.see("/model large$")
        mm.press("u")
        mm.child.send(b"@\t")
        mm.see("src/ +main.py\n› @$")
        mm.child.send(b"s\tto\t?\r")
        mm.see("Seen.")
        mm.prompt(1)
        leave(mm)
        assert question(server).startswith("@src/tool.py ?\n\nsrc/tool.py:\n")


def test_ctrl_c_clears_a_line_with_words_on_it_and_hints_on_an_empty_one(project: Path) -> None:
    with ScriptedServer([]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.child.send(b"half a quest")
        mm.see("quest$")
        mm.press("c")
        mm.prompt(2)
        mm.press("c")
        mm.see("Ctrl-C again")
        mm.prompt(3)
        mm.child.send(b"x")
        mm.see("x$")
        mm.press("c")  # a line in between: the next one hints again
        mm.prompt(4)
        mm.press("c")
        mm.prompt(5)
        mm.press("c")
        assert mm.leave() == 0
        assert server.requests == []


def test_what_is_typed_ahead_is_asked_next_and_the_rest_waits_at_the_prompt(project: Path) -> None:
    with ScriptedServer([slow("."), says("Two."), says("Three.")]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type("first")
        mm.see("Well")
        mm.child.send(b"second\x1b[D\rthi")
        mm.see("› second\nTwo.")
        assert "thi" not in mm.screen.partition("› second")[0]
        mm.see("› thi$")
        mm.type("rd")
        mm.see("Three.")
        mm.see("\n›$")
        leave(mm)
        assert [question(server, place) for place in range(3)] == ["first", "second", "third"]


def test_what_is_typed_ahead_of_a_cancelled_turn_waits(project: Path) -> None:
    answers: list[Answer] = [Stream((chunk({"content": "Well"}), 30.0)), says("Two.")]
    with ScriptedServer(answers) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type("first")
        mm.see("Well")
        mm.type("second")
        time.sleep(0.2)
        mm.press("c")
        mm.see("› second$")
        assert len(server.requests) == 1
        mm.type("?")
        mm.see("Two.")
        mm.see("\n›$")
        leave(mm)
        assert question(server) == "second?"


def test_ctrl_d_in_a_turn_ends_mm_behind_it_and_not_the_turn(project: Path) -> None:
    with ScriptedServer([slow(" then.")]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.type("first")
        mm.see("Well")
        mm.press("d")
        assert mm.leave() == 0
    assert only_session(project)["messages"][-1]["content"] == "Well then."


def test_the_terminal_is_as_it_was_after_a_turn_a_question_of_consent_and_the_end(project: Path) -> None:
    with ScriptedServer([EDIT, says("ok.")]) as server, visit(project, server) as mm:
        before = termios.tcgetattr(mm.child.child_fd)
        mm.prompt(1)
        mm.type("edit it")
        mm.see("allow")
        flags = termios.tcgetattr(mm.child.child_fd)[3]
        assert flags & termios.ECHO
        assert flags & termios.ICANON
        mm.type("y")
        mm.prompt(2)
        mm.type("!exit 0")
        mm.prompt(3)
        leave(mm)
        assert termios.tcgetattr(mm.child.child_fd) == before
    assert (project / "main.py").read_text() == "print('hello')\n"


def test_stopped_and_resumed_the_line_is_there_again(project: Path) -> None:
    """A shell with job control starts mm; Ctrl-Z gives the terminal back to it."""
    with ScriptedServer([slow("."), says("Yes.")]) as server:
        env = {"MM_BASE_URL": server.url, "MM_MODEL": "tiny", "PS1": "SH> "}
        with Visitor("--norc", "-i", cwd=project, env=env, program=("/bin/bash",)) as shell:
            shell.see("SH>$")
            shell.type(f"{sys.executable} -m minime")
            shell.prompt(1)
            shell.child.send(b"half")
            shell.see("half$")
            shell.press("z")
            shell.see("Stopped.*\nSH>$")
            shell.type("fg")
            shell.see("\n› half$")
            shell.type(" a line")
            shell.see("Well")
            shell.press("z")
            shell.see("Stopped(.|\n)*Stopped.*\nSH>$")
            shell.type("fg")
            shell.child.send(b"next")
            shell.see("› next$")
            shell.type("?")
            shell.see("Yes.")
            shell.see("\n›$")
            shell.press("d")
            shell.see("\nSH>$")
            shell.type("exit")
            shell.leave()
        assert [question(server, place) for place in range(2)] == ["half a line", "next?"]


def test_a_window_made_smaller_keeps_the_line(project: Path) -> None:
    with ScriptedServer([says("Yes.")]) as server, visit(project, server) as mm:
        mm.prompt(1)
        mm.child.send(b"before")
        mm.see("before$")
        mm.child.setwinsize(200, 30)
        mm.type(" and after")
        mm.see("Yes.")
        mm.prompt(2)
        leave(mm)
        assert question(server) == "before and after"


def test_the_status_line_stands_above_the_prompt_when_it_has_changed(project: Path) -> None:
    with (
        ScriptedServer([says("Yes.", prompt_tokens=120)]) as server,
        visit(project, server, "--mode", "auto-edit") as mm,
    ):
        mm.prompt(1)
        assert "tokens" not in mm.screen
        mm.type("so?")
        mm.see(r"tiny · \d+% of 8,192 tokens \(~\d+\) · auto-edit mode · \d{8}-\d{6}-[0-9a-f]{8}\n›$")
        mm.type("/title")
        mm.see("so\\?\n›$")
        leave(mm)


def test_the_history_is_kept_for_its_owner_without_secrets(project: Path, tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    with (
        ScriptedServer([]) as server,
        visit(project, server, MM_API_KEY="sesame-open", XDG_STATE_HOME=state) as mm,
    ):
        for count, line in enumerate(("/title sesame-open", "/title sesame-open", " /title mine"), start=1):
            mm.prompt(count)
            mm.type(line)
        mm.prompt(4)
        leave(mm)
    file = tmp_path / "state" / "mm" / "history"
    assert file.read_text() == "/title ***\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
