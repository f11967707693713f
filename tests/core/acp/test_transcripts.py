"""Whole conversations with an editor, one golden file a case: what it says, what mm writes, what is done."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion

from minime.core.acp.inputs import CannotOpen, CompactionEnded, Ended, ModelsFound
from minime.core.events import (
    Answered,
    Cancelled,
    Compacted,
    CompactionFailed,
    CompactionProgress,
    CompactionStarted,
    Failed,
    Notice,
    TextDelta,
    ThoughtDelta,
    ToolProgress,
    ToolRunning,
)
from minime.core.session import settle
from minime.core.turn import Turn
from minime.core.values import Assistant, Diff, ErrorRecord, Tool, Usage, User, tool_call
from tests.conftest import GOLDEN
from tests.support.acp import TURN_UPDATES, Conversation
from tests.support.values import ID, LATER, OTHER_ID, PIXEL, hello_turn, talked, tool_turn

Golden = Callable[[str], SnapshotAssertion]
UNREACHABLE = Failed(
    "cannot reach Ollama at http://127.0.0.1:11434/v1: is it running? start it with: ollama serve",
    "[Errno 111] Connection refused",
    "unreachable",
)
EDIT = tool_call("call_1", "edit_file", '{"path": "main.py", "old_text": "hi", "new_text": "hello"}')
MAKE = tool_call("call_2", "run_command", '{"command": "make test"}')
READ = tool_call("call_1", "read_file", '{"path": "main.py", "offset": 3}')
SUMMARY = Assistant("- main.py prints hi.", model="qwen3:8b")


def _initialize() -> Conversation:
    talk = Conversation(client={})
    talk.ask("initialize", protocolVersion=65535, clientCapabilities={"auth": {"terminal": True}})
    return talk


def _first_prompt() -> Conversation:
    talk = Conversation(window=8192)
    talk.new()
    talk.prompt("What is 2 + 2?")
    talk.happen(ThoughtDelta("Easy."))
    talk.answer("4.", Usage(31, 3, 34))
    return talk


def _permission() -> Conversation:
    talk = Conversation()
    talk.new()
    talk.prompt("Run the tests, twice.")
    for number in ("1", "2"):
        call = tool_call(f"call_{number}", "run_command", '{"command": "make test"}')
        talk.start(call)
        if number == "1":
            talk.permit("allow-always")
        talk.happen(ToolRunning(call.id), ToolProgress(call.id, "ok\n"))
        talk.finish(Tool(call.id, "ok\n(exit status 0)"), run=False)
    talk.start(tool_call("call_3", "run_command", '{"command": "rm -r build"}'))
    talk.permit("reject")
    talk.finish(Tool("call_3", "refused by the user", failed=True), run=False)
    talk.answer("All passed, twice.")
    return talk


def _edit() -> Conversation:
    talk = Conversation()
    talk.new()
    talk.prompt("Say hello, and make a file for it.")
    diff = Diff("main.py", "print('hi')\n", "print('hello')\n")
    talk.start(EDIT, diff)
    talk.permit("allow")
    talk.finish(Tool("call_1", "edited main.py", diff=diff))
    made = Diff("new.py", None, "print('hello')\n")
    talk.start(
        tool_call("call_2", "write_file", '{"path": "new.py", "content": "print(\'hello\')\\n"}'), made
    )
    talk.permit("allow")
    talk.finish(Tool("call_2", "wrote new.py", diff=made))
    talk.answer("Done.")
    return talk


def _terminal() -> Conversation:
    talk = Conversation(client={"_meta": {"terminal_output": True}}, mode="auto")
    talk.new()
    talk.prompt("Run the tests.")
    talk.start(MAKE)
    talk.happen(ToolRunning("call_2"), ToolProgress("call_2", "1 failed\n"))
    talk.finish(Tool("call_2", "1 failed\n(exit status 2)", failed=True), run=False)
    talk.answer("One failed.")
    return talk


def _load() -> Conversation:
    talk = Conversation()
    edited = Turn((
        User("Say hello.\n\nmain.py:\n```\nprint('hi')\n```", typed="Say hello."),
        Assistant("I change it.", (EDIT,), model="qwen3:8b"),
        Tool("call_1", "edited main.py", diff=Diff("main.py", "print('hi')\n", "print('hello')\n")),
        Assistant("And test it.", (MAKE,)),
        Tool("call_2", "1 failed\n(exit status 2)", failed=True),
        Assistant("One test failed."),
    ))
    talk.disk[ID] = talked(tool_turn(), edited)
    talk.ask("session/load", sessionId=ID, cwd="/w", mcpServers=[])
    return talk


def _load_compacted() -> Conversation:
    """A summary, an error on record, an unfinished turn."""
    talk = Conversation(client={"session": {"notices": {}}})
    session = settle(talked(hello_turn()), Turn(tool_turn().messages[:3]), UNREACHABLE, LATER)
    system, *rest = session.messages
    summary = (User("(summary)", compacted=14), Assistant("Earlier we built a parser."))
    session = msgspec.structs.replace(
        session,
        messages=(system, *summary, *rest),
        errors=(*session.errors, ErrorRecord(time=LATER, kind="resume", turns=1, message="no session 7")),
    )
    talk.disk[ID] = session
    talk.ask("session/load", sessionId=ID, cwd="/w", mcpServers=[])
    return talk


def _load_damaged() -> Conversation:
    talk = Conversation()
    talk.disk[ID] = CannotOpen(
        -32603, f"cannot read session {ID}: it ends in the middle (byte 812)", "byte 812"
    )
    talk.ask("session/load", sessionId=ID, cwd="/w", mcpServers=[])
    talk.ask("session/load", sessionId="../../etc/passwd", cwd="/w", mcpServers=[])
    talk.ask("session/load", sessionId=OTHER_ID, cwd="/w", mcpServers=[])
    return talk


def _new_with_archive() -> Conversation:
    talk = Conversation()
    talk.disk[ID] = settle(talked(tool_turn()), Turn((User("and test.py?"),)), UNREACHABLE, LATER)
    talk.ask("session/load", sessionId=ID, cwd="/w", mcpServers=[])
    talk.mark()
    talk.prompt("/new")
    talk.prompt("/new")
    talk.prompt("/errors")
    return talk


def _again() -> Conversation:
    """A turn that broke off goes on; the last question again, once in vain; a turn taken back; a copy; a
    question that failed."""
    talk = Conversation()
    talk.disk[ID] = settle(talked(hello_turn()), Turn(tool_turn().messages[:3]), UNREACHABLE, LATER)
    talk.ask("session/load", sessionId=ID, cwd="/w", mcpServers=[])
    talk.mark()
    talk.prompt("/retry")
    talk.answer("It prints hi.")
    talk.prompt("/retry")
    talk.end(UNREACHABLE)
    talk.prompt("/retry")
    talk.answer("It prints hi, I say.")
    talk.prompt("/fork")
    talk.prompt("/undo")
    talk.prompt("/undo")
    talk.prompt("/undo")
    talk.prompt("/retry")
    talk.prompt("And now?")
    talk.end(UNREACHABLE)
    talk.prompt("/retry")
    talk.answer("Now it does.")
    return talk


def _archive_not_saved() -> Conversation:
    talk = Conversation()
    talk.disk[ID] = talked(hello_turn())
    talk.ask("session/load", sessionId=ID, cwd="/w", mcpServers=[])
    talk.mark()
    talk.disk_full = "cannot save the session in /w/.mm/sessions: no space left on device"
    talk.prompt("/new")
    talk.prompt("/fork")
    talk.disk_full = ""
    talk.prompt("What is 2 + 2?")
    talk.answer("Still 4.")
    return talk


def _cancel() -> Conversation:
    """Idle, in the middle of an answer, in a question of consent, in a command."""
    talk = Conversation()
    id = talk.new()
    talk.tell("session/cancel", sessionId=id)
    talk.prompt("Tell me a story.")
    talk.happen(TextDelta("Once upon"))
    talk.tell("session/cancel", sessionId=id)
    talk.grow(Assistant("Once upon", stopped="cancelled"))
    talk.end(Cancelled())
    for permitted in (False, True):
        talk.prompt("Run the tests.")
        talk.start(MAKE)
        if permitted:
            talk.permit("allow")
            talk.happen(ToolRunning("call_2"))
        talk.tell("session/cancel", sessionId=id)
        talk.finish(Tool("call_2", "cancelled by the user", failed=True), run=False, keep=False)
        talk.end(Cancelled())
    return talk


def _failed() -> Conversation:
    talk = Conversation()
    talk.new()
    talk.prompt("What is 2 + 2?")
    talk.end(UNREACHABLE)
    talk.prompt("What is 2 + 2?")
    talk.end(Failed("the key was refused: check apiKey in agent.yaml", "401 Unauthorized", "key"))
    talk.prompt("What is in main.py?")
    talk.start(READ)
    talk.finish(Tool("call_1", "print('hi')\n"))
    talk.end(UNREACHABLE)
    talk.prompt("Are you there?")
    talk.answer("Yes.")
    return talk


def _queued() -> Conversation:
    talk = Conversation()
    id = talk.new()
    talk.prompt("One?")
    talk.prompt("/title Counting")
    talk.prompt("Two?")
    talk.answer("1.")
    talk.prompt("Three?")
    talk.tell("session/cancel", sessionId=id)
    talk.end(Cancelled())
    return talk


def _two_sessions() -> Conversation:
    talk = Conversation()
    one, two = talk.new(), talk.new("/other")
    talk.prompt("Run the tests.", id=one)
    talk.start(MAKE, id=one)
    talk.prompt("What is 2 + 2?", id=two)
    talk.answer("4.", id=two)
    talk.permit("allow")
    talk.finish(Tool("call_2", "(exit status 0)"), id=one)
    talk.answer("Passed.", id=one)
    return talk


def _choices() -> Conversation:
    talk = Conversation()
    id = talk.new()
    talk.feed(ModelsFound(id, "qwen3:8b", ("qwen3:8b", "llama3.2:3b"), 32768))
    talk.ask("session/set_mode", sessionId=id, modeId="auto-edit")
    talk.ask("session/set_config_option", sessionId=id, configId="mode", value="read-only")
    talk.ask("session/set_config_option", sessionId=id, configId="model", value="llama3.2:3b")
    talk.ask("session/set_mode", sessionId=id, modeId="yolo")
    talk.ask("session/set_config_option", sessionId=id, configId="model", value="gpt-9")
    talk.ask("session/set_config_option", sessionId=id, configId="colour", value="red")
    talk.prompt("/mode auto")
    return talk


def _kept() -> Conversation:
    """List, close, delete."""
    talk = Conversation()
    id = talk.new()
    talk.ask("session/list", cwd="/w")
    talk.prompt("What is 2 + 2?")
    talk.answer("4.")
    talk.ask("session/list")
    talk.ask("session/list", cursor="7")
    talk.prompt("And 3 + 3?")
    talk.ask("session/close", sessionId=id)
    talk.end(Cancelled())
    talk.ask("session/close", sessionId=id)
    talk.ask("session/load", sessionId=id, cwd="/w")
    talk.prompt("Are you there?")
    talk.ask("session/delete", sessionId=id)
    talk.end(Cancelled())
    talk.ask("session/delete", sessionId=id)
    talk.ask("session/list", cwd="/w")
    return talk


def _resources() -> Conversation:
    talk = Conversation()
    talk.new()
    talk.prompt(
        "Compare",
        {"type": "resource_link", "uri": "file:///w/my%20file.py#L10-20", "name": "my file.py"},
        "and",
        {"type": "resource", "resource": {"uri": "file:///w/a.py", "text": "print('a')\n"}},
        {"type": "image", "mimeType": "image/png", "data": "aGk="},
    )
    talk.answer("They differ.")
    talk.prompt(
        "And this?", {"type": "image", "mimeType": "image/png", "data": PIXEL, "uri": "file:///w/a.png"}
    )
    talk.answer("A dot.")
    talk.prompt({"type": "resource_link", "uri": "https://example.org/", "name": "a page"})
    talk.answer("A page.")
    talk.ask("session/close", sessionId=talk.id)
    talk.ask("session/load", sessionId=talk.id, cwd="/w", mcpServers=[])
    return talk


def _commands() -> Conversation:
    talk = Conversation()
    talk.new()
    for line in (
        "/help",
        "/title My work",
        "/title",
        "/context",
        "/tools",
        "/permissions",
        "/sessions",
        "/export",
        "/quit",
        "/hlep",
    ):
        talk.prompt(line)
    talk.prompt("/etc/hosts is wrong")
    talk.answer("Is it?")
    talk.prompt("/export html talk.html")
    talk.prompt("/export pdf")
    return talk


def _compaction() -> Conversation:
    """By hand and unasked, to an editor that shows compactions: done, failed, cancelled."""
    talk = Conversation(client={"session": {"compaction": {}}}, window=8192)
    talk.disk[ID] = talked(tool_turn(), hello_turn(), hello_turn())
    talk.ask("session/load", sessionId=ID, cwd="/w", mcpServers=[])
    talk.prompt("/compact the file names")
    talk.happen(CompactionStarted(1), CompactionProgress("- main.py "), CompactionProgress("prints hi."))
    talk.happen(Compacted(4, 1, 2, 412, 123, SUMMARY))
    talk.feed(CompactionEnded(ID, Answered()))
    talk.prompt("/compact")
    talk.happen(Notice("nothing to compact: the newest turns stay as they are"))
    talk.feed(CompactionEnded(ID, Answered()))
    talk.prompt("What is 3 + 3?")
    talk.happen(CompactionStarted(2), CompactionFailed("compaction failed: the model wrote no summary"))
    talk.answer("6.")
    talk.prompt("/compact")
    talk.happen(CompactionStarted(3), CompactionProgress("- The"))
    talk.tell("session/cancel", sessionId=ID)
    talk.feed(CompactionEnded(ID, Cancelled()))
    return talk


def _compaction_in_words() -> Conversation:
    """To an editor that knows nothing of compactions; one in the middle of a turn that fails stays."""
    talk = Conversation(window=8192)
    talk.disk[ID] = talked(tool_turn(), hello_turn(), hello_turn())
    talk.ask("session/load", sessionId=ID, cwd="/w", mcpServers=[])
    talk.prompt("What is 3 + 3?")
    talk.happen(CompactionStarted(1), Compacted(4, 1, 2, 412, 123, SUMMARY))
    talk.end(UNREACHABLE)
    talk.prompt("/compact")
    failed = Failed("compaction failed: the server failed (500)", "500 Internal Server Error", "server")
    talk.happen(CompactionStarted(2), CompactionFailed(failed.shown, failed.raw, failed.kind))
    talk.feed(CompactionEnded(ID, failed))
    return talk


def _bad_input() -> Conversation:
    talk = Conversation()
    for line in (
        b'{"jsonrpc": "2.0", "id": 1, "met',
        b"[]",
        b"null",
        b"17",
        b'"\xff\xfe"',
        b"",
        b"   \r\n",
        b'{"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": {"cwd": NaN}}',
        b'{"jsonrpc": "2.0", "id": true, "method": "initialize", "params": {}}',
        b'{"jsonrpc": "1.0", "id": 2, "method": "initialize"}',
        b'{"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": []}',
        b'{"jsonrpc": "2.0", "id": 4, "method": "initialize", "params": {"protocolVersion": "one"}}',
        b'{"jsonrpc": "2.0", "id": 5, "method": "session/fly", "params": {}}',
        b'{"jsonrpc": "2.0", "id": 6, "method": "_ext", "params": {}}',
        b'{"jsonrpc": "2.0", "id": "a\\ud800", "method": "session/new", "params": {"cwd": "w"}}',
        b'{"jsonrpc": "2.0", "id": 7, "method": "session/new", "params": {"cwd": 7}}',
        b'{"jsonrpc": "2.0", "id": 8, "method": "session/load", "params": {"cwd": "/w"}}',
        b'{"jsonrpc": "2.0", "id": 9, "method": "session/prompt", "params": {"sessionId": "x", "prompt": []}}',
        b'{"jsonrpc": "2.0", "method": "_ext/told", "params": []}',
        b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "what?"}}',
        b'{"jsonrpc": "2.0", "id": 99, "result": {}}',
    ):
        talk.raw(line)
    talk.methods[10] = "initialize"
    talk.raw(b'{"jsonrpc": "2.0", "id": 10, "method": "initialize", "params": {"protocolVersion": 1}}\r\n')
    return talk


def _notices() -> Conversation:
    talk = Conversation(client={"session": {"notices": {}}})
    talk.new(mcpServers=[{"type": "sse", "name": "files", "url": "http://h/sse", "headers": []}])
    talk.prompt("What is 2 + 2?")
    talk.disk_full = "cannot save the session in /w/.mm/sessions: no space left on device"
    talk.answer("4, and then", stopped="length")
    return talk


def _end_of_input() -> Conversation:
    talk = Conversation()
    talk.new()
    talk.prompt("Tell me a story.")
    talk.prompt("And another.")
    talk.happen(TextDelta("Once"))
    talk.feed(Ended())
    talk.grow(Assistant("Once", stopped="cancelled"))
    talk.end(Cancelled())
    return talk


CASES: dict[str, Callable[[], Conversation]] = {
    "initialize": _initialize,
    "first-prompt": _first_prompt,
    "permission": _permission,
    "edit": _edit,
    "terminal": _terminal,
    "load": _load,
    "load-compacted-with-errors": _load_compacted,
    "load-refused": _load_damaged,
    "new-with-archive": _new_with_archive,
    "archive-not-saved": _archive_not_saved,
    "retry-undo-fork": _again,
    "cancel": _cancel,
    "failed": _failed,
    "queued": _queued,
    "two-sessions": _two_sessions,
    "modes-and-options": _choices,
    "list-close-delete": _kept,
    "resources": _resources,
    "slash-commands": _commands,
    "compaction": _compaction,
    "compaction-in-words": _compaction_in_words,
    "bad-input": _bad_input,
    "notices": _notices,
    "end-of-input": _end_of_input,
}
FILES = sorted((GOLDEN / "acp").glob("*.txt"))
EACH_FILE = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


@pytest.mark.parametrize("name", CASES)
def test_each_conversation_goes_as_its_golden_file(golden: Golden, name: str) -> None:
    assert CASES[name]().text == golden(f"acp/{name}.txt")


@EACH_FILE
def test_each_request_of_a_golden_file_is_answered_once(file: Path) -> None:
    requests = (said for said in _heard(file) if "method" in said and said.get("id", True) is not True)
    asked = [str(said["id"]).replace("\ud800", "\ufffd") for said in requests]
    answered = [str(said["id"]) for said in _written(file) if "method" not in said and said["id"] is not None]
    assert sorted(answered) == sorted(asked)


@EACH_FILE
def test_nothing_of_a_turn_stands_behind_its_answer_in_a_golden_file(file: Path) -> None:
    running: dict[str, set[int]] = {}
    sessions: dict[int, str] = {}
    loading: set[str] = set()
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("> {"):
            try:
                said = json.loads(line[2:])
            except ValueError:
                continue
            if not isinstance(said.get("params"), dict):
                continue
            if said.get("method") == "session/prompt":
                sessions[said["id"]] = said["params"]["sessionId"]
                running.setdefault(said["params"]["sessionId"], set()).add(said["id"])
            elif said.get("method") == "session/load" and "sessionId" in said["params"]:
                sessions[said["id"]] = said["params"]["sessionId"]
                loading.add(said["params"]["sessionId"])
        elif line.startswith("< "):
            said = json.loads(line[2:])
            if said.get("method") == "session/update":
                id, kind = said["params"]["sessionId"], said["params"]["update"]["sessionUpdate"]
                if kind in TURN_UPDATES:
                    assert running.get(id) or id in loading, line
            elif "method" not in said and said["id"] in sessions:
                id = sessions[said["id"]]
                running.get(id, set()).discard(said["id"])
                loading.discard(id)


def _heard(file: Path) -> Iterator[dict[str, Any]]:
    """What the editor said, as far as it is JSON."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("> {"):
            with suppress(ValueError):
                yield json.loads(line[2:].removesuffix("\\r"), parse_constant=refuse)


def _written(file: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line[2:])
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("< ")
    ]
