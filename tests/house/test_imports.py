"""What `mm` imports for what it does: start-up is quick because little is loaded, and this says what."""

import json
import subprocess
import sys
from pathlib import Path

from minime import cli
from minime.__main__ import VERBS
from tests.support.mm import Visitor, environment, session_files
from tests.support.server import ScriptedServer, says

HEAVY = {"asyncio", "cyclopts", "httpx", "mcp", "msgspec", "pydantic", "pygments", "rich", "yaml"}
PROGRAM = """
import json, sys
from pathlib import Path
from minime.__main__ import main
programs = {"os.exec", "os.fork", "os.posix_spawn", "os.system", "subprocess.Popen"}
sys.addaudithook(lambda event, _: event not in programs or sys.modules.setdefault("program started", None))
status = main(sys.argv[2:])
Path(sys.argv[1]).write_text(json.dumps(sorted(sys.modules)))
sys.exit(status)
"""
AT_PROMPT = """
import json, sys, threading
from pathlib import Path
from minime.__main__ import main
class Behind(threading.Thread):
    def start(self):
        if self.name == "mm-warm":  # loads the rest while the person types
            Path(sys.argv[1]).write_text(json.dumps(sorted(sys.modules)))
        super().start()
threading.Thread = Behind
sys.exit(main([]))
"""


def loaded_by(*words: str, folder: Path, env: dict[str, str] | None = None, stdin: bytes = b"") -> set[str]:
    """The modules that are loaded when `mm` with these words is done, and `program started` if one was."""
    report = folder / "modules"
    subprocess.run(
        [sys.executable, "-c", PROGRAM, str(report), *words],
        cwd=folder,
        env=environment(env),
        input=stdin,
        capture_output=True,
        check=True,
        timeout=60,
    )
    return set(json.loads(report.read_text(encoding="utf-8")))


def test_the_version_needs_nothing_heavy(tmp_path: Path) -> None:  # P06
    assert not HEAVY & loaded_by("--version", folder=tmp_path)


def test_a_question_needs_the_http_client_and_neither_yaml_nor_rich_nor_the_cli_library(
    tmp_path: Path,
) -> None:
    with ScriptedServer([says("Hi.")]) as server:
        loaded = loaded_by("hello", folder=tmp_path, env={"MM_BASE_URL": server.url, "MM_MODEL": "tiny"})
        assert len(server.requests) == 1
    assert HEAVY & loaded == {"asyncio", "httpx", "msgspec"}
    assert not {"click", "httpx._main", "minime.cli", "minime.shell.terminal"} & loaded


def test_the_prompt_needs_neither_the_http_client_nor_rich_nor_yaml_nor_the_cli_library(
    tmp_path: Path,
) -> None:
    report = tmp_path / "modules"
    with ScriptedServer() as server:
        env = {"MM_BASE_URL": server.url, "MM_MODEL": "tiny"}
        program = (sys.executable, "-c", AT_PROMPT, str(report))
        with Visitor(cwd=tmp_path, env=env, program=program) as mm:
            mm.prompt(1)
            mm.press("d")
            assert mm.leave() == 0
        assert server.requests == []
    loaded = set(json.loads(report.read_text(encoding="utf-8")))
    assert HEAVY & loaded == {"asyncio", "msgspec"}


def test_the_answer_to_an_editor_needs_no_http_client_no_yaml_and_nothing_of_a_session(
    tmp_path: Path,
) -> None:
    hello = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}\n'
    loaded = loaded_by("acp", folder=tmp_path, stdin=hello)
    assert HEAVY & loaded == {"asyncio", "msgspec"}
    needless = ("agent", "loop", "store", "model.model", "tools.tools", "terminal")
    assert not {f"minime.shell.{name}" for name in needless} & loaded
    assert "minime.cli" not in loaded


def test_the_list_of_sessions_needs_no_http_client_no_event_loop_and_no_other_program(
    tmp_path: Path,
) -> None:  # P05
    with ScriptedServer([says("Hi.")]) as server:
        loaded_by("hello", folder=tmp_path, env={"MM_BASE_URL": server.url, "MM_MODEL": "tiny"})
    assert len(session_files(tmp_path)) == 1
    loaded = loaded_by("sessions", folder=tmp_path)
    assert HEAVY & loaded == {"cyclopts", "msgspec"}
    assert "program started" not in loaded


def test_words_without_options_are_a_question_for_the_door_exactly_when_they_are_for_the_cli_library() -> (
    None
):
    verbs = {name for name in cli.app if not name.startswith("-")}
    assert verbs
    assert verbs <= VERBS, "a verb that the door does not know would be asked as a question"
