"""The session files that people and editors read, one golden file a case; each keeps every promise."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from minime.core.codec import decode, encode
from minime.core.events import Failed
from minime.core.listing import HEAD_BYTES, head_updated, is_id
from minime.core.request import build_request
from minime.core.session import new_with_archive, record_error, settle, turns
from minime.core.turn import Turn
from minime.core.values import Assistant, Diff, ErrorRecord, Session, Tool, User, tool_call
from tests.conftest import GOLDEN
from tests.support.values import (
    LATER,
    NOW,
    OTHER_STAMP,
    SYSTEM,
    fresh,
    hello_turn,
    question,
    talked,
    tool_turn,
)

Golden = Callable[[str], SnapshotAssertion]
FILES = sorted((GOLDEN / "session").glob("*.json"))


def test_each_kind_of_session_is_written_as_its_golden_file(golden: Golden) -> None:
    def text(session: Session) -> str:
        return encode(session).decode()

    failure = Failed(
        "cannot reach Ollama at http://127.0.0.1:11434/v1: is it running? start it with: ollama serve",
        "[Errno 111] Connection refused",
    )
    edit = tool_call("call_1", "edit_file", '{"path": "main.py", "old_text": "hi", "new_text": "hello"}')
    refused = tool_call("call_2", "run_command", '{"command": "python main.py"}')
    edited = Turn((
        User("Say hello instead, and run it."),
        Assistant("", (edit, refused), model="qwen3:8b"),
        Tool("call_1", "edited main.py", diff=Diff("main.py", "print('hi')\n", "print('hello')\n")),
        Tool(
            "call_2",
            "refused by the user; do not try it again, ask the user or go on another way",
            failed=True,
        ),
        Assistant("main.py says hello now. I did not run it.", model="qwen3:8b"),
    ))
    assert text(fresh()) == golden("session/fresh.json")
    assert text(talked(hello_turn())) == golden("session/one-turn.json")
    assert text(talked(tool_turn())) == golden("session/tool-call.json")
    assert text(talked(edited)) == golden("session/edit-and-refusal.json")
    assert text(settle(fresh(), question("What does main.py do?"), failure, LATER)) == golden(
        "session/failed-first-turn.json"
    )
    broken = Turn(tool_turn().messages[:3])
    assert text(settle(talked(hello_turn()), broken, failure, LATER)) == golden(
        "session/failed-after-a-tool.json"
    )
    full = talked(hello_turn())
    for number in range(1, 202):
        full = record_error(
            full,
            ErrorRecord(time=NOW, kind="generation", turns=1, question="again?", message=f"failure {number}"),
        )
    assert text(full) == golden("session/errors-at-the-cap.json")
    archive, new = new_with_archive(
        settle(talked(tool_turn()), question(), failure, LATER), OTHER_STAMP, SYSTEM
    )
    assert text(archive) == golden("session/archived.json")
    assert text(new) == golden("session/fresh-after-archive.json")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_golden_session_decodes_and_is_written_again_as_it_was(file: Path) -> None:
    data = file.read_bytes()
    assert encode(decode(data)) == data


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_golden_session_is_listed_by_its_head(file: Path) -> None:
    data = file.read_bytes()
    session = decode(data)
    assert is_id(session.id)
    assert head_updated(data[:HEAD_BYTES]) == session.updated


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_golden_session_asks_without_its_errors_and_its_pending_turn(file: Path) -> None:
    session = decode(file.read_bytes())
    sent = json.loads(build_request(session, question("next?"), "m"))["messages"]
    assert sum(m["role"] == "user" for m in sent) == turns(session) + 1
    assert not any(record.message in json.dumps(sent) for record in session.errors)
