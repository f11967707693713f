"""The official Python SDK as the editor of the real `mm acp`: its typed models take all that mm sends."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from acp import PROTOCOL_VERSION, RequestError, spawn_agent_process, text_block
from acp.client.connection import ClientSideConnection
from acp.schema import AllowedOutcome, RequestPermissionResponse

from tests.support.editor import at
from tests.support.mm import environment, session_files
from tests.support.server import ScriptedServer, Stream, calls, chunk, says

WRITE = calls(("write_file", {"path": "a.txt", "content": "new\n"}))


class Person:
    """Sees all that is shown, and allows what is asked."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.asked: list[Any] = []

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.seen.append(update)

    async def request_permission(
        self, options: Any, session_id: str, tool_call: Any, **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append(tool_call)
        return RequestPermissionResponse(
            outcome=AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        )

    def on_connect(self, conn: Any) -> None:
        """Nothing to do."""

    @property
    def kinds(self) -> list[str]:
        """The kinds of what was shown."""
        return [update.session_update for update in self.seen]

    async def until(self, true: Callable[[], bool]) -> None:
        """Waits for updates: the SDK answers a request before it has handed over the updates before it (25)."""
        for _ in range(500):
            if true():
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"did not come; seen: {self.kinds}")


@asynccontextmanager
async def visit(project: Path, env: dict[str, str]) -> AsyncIterator[tuple[ClientSideConnection, Person]]:
    """A connection to a new mm."""
    person = Person()
    command = (sys.executable, "-m", "minime", "acp")
    async with spawn_agent_process(person, *command, env=environment(env), cwd=project) as (  # type: ignore[arg-type]
        connection,
        _,
    ):
        answer = await connection.initialize(protocol_version=PROTOCOL_VERSION)
        assert answer.protocol_version == PROTOCOL_VERSION
        assert answer.agent_info is not None
        assert answer.agent_info.name == "mm"
        yield connection, person


async def test_a_conversation_from_its_beginning_to_its_deletion(tmp_path: Path) -> None:  # 25, A01, A02
    cwd = str(tmp_path)
    slow = Stream((chunk({"content": "It "}), 20.0))
    with ScriptedServer([WRITE, says("Written."), slow, says("Resumed.")]) as server:
        async with visit(tmp_path, at(server)) as (editor, person):
            new = await editor.new_session(cwd=cwd, mcp_servers=[])
            assert new.modes is not None
            assert new.modes.current_mode_id == "ask"
            id = new.session_id
            done = await editor.prompt(session_id=id, prompt=[text_block("Write it.")])
            assert done.stop_reason == "end_turn"
            await person.until(lambda: "agent_message_chunk" in person.kinds)
            assert len(person.asked) == 1
            assert person.kinds.index("tool_call") < person.kinds.index("tool_call_update")
            assert (tmp_path / "a.txt").read_text() == "new\n"
            await editor.set_session_mode(session_id=id, mode_id="read-only")
            talk = asyncio.create_task(editor.prompt(session_id=id, prompt=[text_block("Talk.")]))
            await person.until(lambda: person.kinds.count("agent_message_chunk") == 2)
            await editor.cancel(session_id=id)
            assert (await talk).stop_reason == "cancelled"
            await editor.close_session(session_id=id)
            with pytest.raises(RequestError) as closed:
                await editor.prompt(session_id=id, prompt=[text_block("There?")])
            assert closed.value.code == -32002
        async with visit(tmp_path, at(server)) as (editor, person):
            listed = await editor.list_sessions(cwd=cwd)
            assert [(row.session_id, row.title) for row in listed.sessions] == [(id, "Write it.")]
            await editor.load_session(cwd=cwd, session_id=id, mcp_servers=[])
            await person.until(lambda: person.kinds.count("agent_message_chunk") == 2)
            assert [kind for kind in person.kinds if "commands" not in kind and "info" not in kind] == [
                "user_message_chunk", "tool_call", "agent_message_chunk", "user_message_chunk",
                "agent_message_chunk",
            ]  # fmt: skip
            person.seen.clear()
            await editor.close_session(session_id=id)
            await editor.resume_session(cwd=cwd, session_id=id, mcp_servers=[])
            done = await editor.prompt(session_id=id, prompt=[text_block("And now?")])
            assert done.stop_reason == "end_turn"
            await person.until(lambda: "agent_message_chunk" in person.kinds)
            assert "user_message_chunk" not in person.kinds
            assert server.requests[-1].json["messages"][-1]["content"] == "And now?"
            with pytest.raises(RequestError) as unknown:
                await editor.load_session(cwd=cwd, session_id="nothing", mcp_servers=[])
            assert unknown.value.code == -32002
            await editor._conn.send_request("session/delete", {"sessionId": id})  # no method of its own yet
            assert (await editor.list_sessions(cwd=cwd)).sessions == []
    assert not session_files(tmp_path)
