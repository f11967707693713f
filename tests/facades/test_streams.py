"""The streams and the folder that mm is given, in any state: a result, or one clear line and exit 1."""

import re
import shlex
import subprocess
from pathlib import Path

import msgspec
import pytest

from minime.core.codec import encode
from minime.core.session import with_title
from minime.core.turn import Turn
from minime.core.values import Assistant, User
from tests.support.mm import MM, environment, only_session
from tests.support.server import ScriptedServer, calls, says
from tests.support.values import hello_turn, talked

COMMAND = shlex.join(MM)
needs_dev_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="a Linux device")
READ = calls(("read_file", {"path": "main.py"}))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "main.py").write_text("print('hi')\n")
    return folder


def shell(line: str, cwd: Path, server: ScriptedServer | None = None) -> subprocess.CompletedProcess[str]:
    """A line of shell with `mm` in it, run to its end without a terminal."""
    env = environment({"MM_BASE_URL": server.url, "MM_MODEL": "tiny"} if server else {})
    done = subprocess.run(
        ["/bin/sh", "-c", re.sub(r"\bmm\b", lambda _: COMMAND, line)],
        cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert "Exception ignored" not in done.stderr, done.stderr
    return done


@pytest.mark.parametrize(
    "closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", pytest.param("2>/dev/full", marks=needs_dev_full)]
)
def test_a_stream_that_is_closed_costs_no_word_of_the_session(project: Path, closed: str) -> None:
    with ScriptedServer([READ, says("It prints hi.")]) as server:
        done = shell(f"mm what {closed}", project, server)
    assert done.returncode == 0
    assert done.stdout == ("" if ">&-" in closed.split() else "It prints hi.\n")
    assert only_session(project)["messages"][-1]["content"] == "It prints hi."


@needs_dev_full
@pytest.mark.parametrize("words", ["what", "--json what"])
def test_an_answer_that_could_not_be_written_is_told_and_kept(project: Path, words: str) -> None:
    with ScriptedServer([READ, says("It prints hi.")]) as server:
        done = shell(f"mm {words} >/dev/full", project, server)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        1,
        "mm: cannot write the output: No space left on device",
    )
    session = only_session(project)
    assert session["messages"][-1]["content"] == "It prints hi."
    assert session["errors"] == []


@needs_dev_full
@pytest.mark.parametrize("words", ["--version", "sessions", "schema session"])
def test_a_verb_whose_output_is_lost_ends_with_one_line_and_1(project: Path, words: str) -> None:
    (project / ".mm" / "sessions").mkdir(parents=True)
    session = talked(hello_turn())
    (project / ".mm" / "sessions" / f"{session.id}.json").write_bytes(encode(session))
    done = shell(f"mm {words} >/dev/full", project)
    assert (done.returncode, done.stderr) == (1, "mm: cannot write the output: No space left on device\n")
    assert shell(f"mm {words} >&-", project).returncode == 0


@pytest.mark.parametrize("words", ["what", "sessions", "--mode ask what"])
def test_a_folder_that_was_removed_is_one_line(tmp_path: Path, words: str) -> None:
    (tmp_path / "gone").mkdir()
    done = shell(f"cd gone; rm -r ../gone; mm {words}", tmp_path)
    assert done.returncode == 1
    assert done.stderr == "mm: the current folder has been removed; cd to one that is there\n"


@pytest.mark.parametrize("words", ["sessions", "sessions show 1", "sessions show 1 --errors"])
def test_a_session_from_elsewhere_cannot_steer_the_terminal(project: Path, words: str) -> None:  # T02
    turn = Turn((User("\x1b[31mq"), Assistant("\x1b]52;c;AAAA\x07\x9b5ma")))
    session = with_title(talked(turn), "\x1b[31mred\x9b5m\r\u202etitle")
    record = {"time": "2026-09-16T10:20:00Z", "kind": "generation", "turns": 1, "message": "\x1b[2Jm"}
    written = msgspec.json.decode(encode(session)) | {"errors": [record | {"detail": "\x1b[8md"}]}
    (project / ".mm" / "sessions").mkdir(parents=True)
    (project / ".mm" / "sessions" / f"{session.id}.json").write_bytes(msgspec.json.encode(written))
    done = shell(f"mm {words}", project)
    assert done.returncode == 0
    assert "\n" in done.stdout
    assert done.stdout.replace("\n", "").replace("\N{VARIATION SELECTOR-16}", "").isprintable()
