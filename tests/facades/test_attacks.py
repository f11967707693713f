"""Attacks on the whole program: by a server, by a kept conversation, by another user of the machine."""

import json
import re
import shlex
import stat
import subprocess
from pathlib import Path

from tests.support.mm import MM, Visitor, environment, run_mm, session_files
from tests.support.server import Body, ScriptedServer, fails, says
from tests.support.talks import ID

EVIL = "evil\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\u202egnp\u2066x\u061c\n\x1b]8;;http://x\x1b\\q\r\U000e0041"
KEY = "sk-secret-0123456789"
STEERS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u061c\u202a-\u202e\u2066-\u2069]|\x1b(?!\\[[0-9;]*[mGK])"
)


def seen(*lines: str, cwd: Path, **env: str) -> str:
    """All that these lines of a shell send to a terminal."""
    mm = shlex.join(MM)
    script = "\n".join(line.replace("mm ", f"{mm} ") for line in lines)
    with Visitor(cwd=cwd, env={"PAGER": "cat", **env}, program=("/bin/sh", "-c", script)) as visit:
        visit.leave()
    return visit.raw.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "")


def hostile(project: Path) -> None:
    """Keeps a conversation of which every text is hostile, and a damaged one."""
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": EVIL, "arguments": json.dumps({"path": EVIL})},
    }
    diff = {"path": EVIL, "old_text": EVIL, "new_text": f"{EVIL}b"}
    folder = project / ".mm" / "sessions"
    folder.mkdir(parents=True)
    session = {
        "version": 1, "id": ID, "created": "2026-09-16T10:15:30Z", "updated": "2026-09-16T10:17:02Z",
        "title": EVIL, "model": EVIL,
        "messages": [
            {"role": "system", "content": EVIL},
            {"role": "user", "content": EVIL},
            {"role": "assistant", "content": EVIL, "model": EVIL, "reasoning_content": EVIL, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": EVIL, "diff": diff},
            {"role": "assistant", "content": EVIL},
        ],
        "errors": [
            {"time": "2026-09-16T10:20:00Z", "kind": "generation", "turns": 1, "question": EVIL, "message": EVIL, "detail": EVIL}
        ],
    }  # fmt: skip
    (folder / f"{ID}.json").write_text(json.dumps(session, ensure_ascii=False))
    (folder / f"{ID[:-1]}0.json").write_text('{"version": 1, "id": "\x1b[2J\u202e')


def test_no_verb_lets_a_kept_conversation_steer_the_terminal(tmp_path: Path) -> None:
    hostile(tmp_path)
    forms = [f"mm sessions export {ID} --format {form}" for form in ("markdown", "json")]
    text = seen(
        "mm sessions", "mm sessions check", f"mm sessions show {ID}",
        f"mm sessions show {ID} --errors", f"mm sessions show {ID} --json",
        "mm sessions search evil", "mm sessions stats", "mm errors", "mm errors --json",
        *forms, cwd=tmp_path,
    )  # fmt: skip
    assert text.count("gnp") > 20
    assert not STEERS.findall(text)
    assert "Traceback" not in text


def test_what_goes_to_a_pipe_is_what_the_file_holds(tmp_path: Path) -> None:
    hostile(tmp_path)
    shown = run_mm("sessions", "show", ID, "--json", cwd=tmp_path)
    assert shown.stdout.encode() == (tmp_path / ".mm" / "sessions" / f"{ID}.json").read_bytes()


def test_no_server_steers_the_terminal_with_its_errors_and_names(tmp_path: Path) -> None:
    with ScriptedServer([fails(400, EVIL)] * 2, models=(EVIL, "tiny")) as server:
        text = seen(
            "mm why", "mm -m other why", "mm doctor", cwd=tmp_path, MM_BASE_URL=server.url, MM_MODEL="tiny"
        )
    assert "evil" in text
    assert not STEERS.findall(text)


def test_a_key_follows_no_redirect_to_another_server(tmp_path: Path) -> None:
    with ScriptedServer([says("stolen")]) as thief:
        for status in (302, 307):
            there = (("Location", f"{thief.url}/chat/completions"),)
            with ScriptedServer([Body(b"", status, there)], models=Body(b"", status, there)) as server:
                env = {"MM_BASE_URL": server.url, "MM_MODEL": "tiny", "MM_API_KEY": KEY}
                done = run_mm("q", cwd=tmp_path, env=env)
            assert done.returncode == 1
        assert not thief.requests
    assert KEY not in done.stderr + "".join(file.read_text() for file in session_files(tmp_path))


def test_an_address_with_a_password_in_it_is_refused_and_not_repeated(tmp_path: Path) -> None:
    env = {"MM_BASE_URL": f"http://bob:{KEY}@127.0.0.1:9/v1"}
    for words in (("q",), ("config",), ("doctor",)):
        done = run_mm(*words, cwd=tmp_path, env=env)
        assert done.returncode
        assert KEY not in done.stdout + done.stderr
    (tmp_path / "agent.yaml").write_text(f"baseUrl: http://bob:{KEY}@127.0.0.1:9/v1\n")
    assert KEY not in run_mm("trust", cwd=tmp_path).stderr


def test_no_other_user_of_the_machine_reads_along(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    (project / "agent.yaml").write_text("headers: {X-A: b}\n")
    with ScriptedServer([says("ok")] * 2) as server:
        env = {"MM_BASE_URL": server.url, "MM_MODEL": "tiny", "HOME": str(home), "XDG_STATE_HOME": ""}
        for words in ("--trust why", f"sessions export last --output {project}/x.md"):
            subprocess.run(
                ["/bin/sh", "-c", f"umask 0; {shlex.join(MM)} {words}"],
                cwd=project, env=environment(env), check=True, capture_output=True, stdin=subprocess.DEVNULL,
            )  # fmt: skip
    closed = [project / ".mm", home / ".local" / "state" / "mm"]
    inside = [file for folder in closed for file in folder.rglob("*") if file.name != ".gitignore"]
    assert {file.name for file in inside} >= {"sessions", "trusted"}
    assert not [str(path) for path in (*closed, *inside) if stat.S_IMODE(path.stat().st_mode) & 0o077]
