"""Servers of tools that an editor sends along, with the real `mm acp` and a real server."""

import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.support.editor import Editor, at
from tests.support.mm import only_session
from tests.support.server import ScriptedServer, calls, says

PLAIN = str(ROOT / "tests" / "data" / "mcp" / "plain_server.py")


def test_the_tools_of_an_editors_servers_are_asked_about_called_and_kept(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    told = tmp_path / "told"
    servers = [
        {"name": "plain", "command": sys.executable, "args": [PLAIN, str(told)], "env": []},
        {"type": "sse", "name": "old", "url": "http://127.0.0.1:9/sse", "headers": []},
    ]
    script = [calls(("plain__say_it", {"text": "hi"})), says("It says hi.")]
    with ScriptedServer(script) as server, Editor(cwd=project, env=at(server)) as editor:
        offered = editor.initialize()["agentCapabilities"]["mcpCapabilities"]
        assert offered == {"http": True, "sse": False}
        id = str(editor.call("session/new", cwd=str(project), mcpServers=servers)["sessionId"])
        asked = editor.ask(id, "Say hi.")
        assert editor.result(asked, within=60)["stopReason"] == "end_turn"
        assert editor.said(id).startswith("the editor's MCP server old is left out: it speaks SSE")
        permission = editor.asked()["params"]["toolCall"]
        assert (permission["title"], permission["kind"]) == ("call plain say_it text=hi", "other")
        names = [tool["function"]["name"] for tool in server.requests[0].json["tools"]]
        assert names[-4:] == ["plain__say_it", "plain__say_it_2", "plain__environment", "plain__die"]
        assert editor.prompt(id, "/tools") == "end_turn"
        assert "plain · 4 tools" in editor.said(id)
    call, result = only_session(project)["messages"][2:4]
    assert call["tool_calls"][0]["function"]["name"] == "plain__say_it"
    assert result["content"] == "say it: hi"
