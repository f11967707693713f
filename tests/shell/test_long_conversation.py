"""Two hundred turns with a small model: what is asked always fits, and what mattered is still known."""

import json
from pathlib import Path
from typing import Any

from minime.core.config.settings import Settings
from minime.core.events import Answered, Compacted, Event
from minime.core.turn import start
from minime.core.values import ToolCall
from minime.shell.agent import Agent
from minime.shell.conversation import Conversation
from minime.shell.store import Store
from minime.shell.tools.tools import Ready
from tests.support.server import Answer, Recorded, ScriptedServer, calls, fails, says

WINDOW = 8_192
TURNS = 200
BYTES_PER_TOKEN = 3.3
"""How this server counts; mm does not know."""


class Model:
    """Answers from what it is sent alone: it calls a tool, tells what it read, sums up, and refuses what is
    over its window."""

    def __init__(self) -> None:
        self.refused = 0
        self.called = 0
        self.summaries: list[str] = []

    def __call__(self, request: Recorded) -> Answer:
        counted = int(len(request.body) / BYTES_PER_TOKEN)
        if counted > WINDOW:
            self.refused += 1
            return fails(400, f"request ({counted} tokens) exceeds the available context size ({WINDOW})")
        messages = request.json["messages"]
        last = messages[-1]
        if "tools" not in request.json:
            return self._summary(str(last["content"]), counted)
        if last["role"] == "tool":
            return says(f"It was {len(last['content'])} characters long.", prompt_tokens=counted)
        self.called += 1
        size = 3_000 if self.called % 7 else 9_000
        return calls(("read_file", {"path": f"{size}.txt"}), first_id=self.called)

    def _summary(self, asked: str, counted: int) -> Answer:
        facts = sorted({word for word in asked.split() if word.startswith("FACT-")})[:20]
        self.summaries.append(" ".join(facts))
        return says(f"- The user named {' '.join(facts)} and had files read.", prompt_tokens=counted)


async def yes(call: ToolCall, ready: Ready) -> str:
    return ""


async def test_two_hundred_turns_in_a_small_window(tmp_path: Path) -> None:
    for size in (3_000, 9_000):
        (tmp_path / f"{size}.txt").write_text("some words of it\n" * (size // 17))
    model = Model()
    done: list[Compacted] = []

    def watch(event: Event) -> None:
        if isinstance(event, Compacted):
            done.append(event)

    with ScriptedServer(model) as server:
        settings = Settings(base_url=server.url, model="tiny", context_window=WINDOW)
        agent = Agent(settings, tmp_path, tmp_path, {})
        talk = Conversation(agent, Store(tmp_path))
        for number in range(TURNS):
            _, outcome = await talk.ask(start(f"FACT-{number:03} is what I say. Read."), watch, yes)
            assert outcome == Answered()
        await agent.close()

    assert model.refused == 0, "no request was ever over the window"
    for request in server.requests:
        check(request.json["messages"])
    assert len(done) == len(model.summaries) > 3
    assert all(event.after < event.before for event in done)
    first = set(model.summaries[0].split()[:10])
    last = server.requests[-1].body.decode()
    assert all(fact in last for fact in first), "what the first summary held has reached the last request"
    [file] = (tmp_path / ".mm" / "sessions").glob("*.json")
    assert file.stat().st_size < 1_000_000
    kept = json.loads(file.read_bytes())
    check(kept["messages"])
    assert sum(m.get("compacted", 1) for m in kept["messages"] if m["role"] == "user") == TURNS
    assert kept["errors"] == []


def check(messages: list[dict[str, Any]]) -> None:
    """One system message, in front; each call has its result, each result its call."""
    assert [m["role"] == "system" for m in messages] == [True] + [False] * (len(messages) - 1)
    called = [call["id"] for m in messages for call in m.get("tool_calls", ())]
    assert called == [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    assert len(called) == len(set(called))
