"""mm beside a real server: the engine of llama.cpp, a real model, its own refusals, nothing scripted.

Its window is 512 tokens, and agent.yaml says that it is 4,096: mm learns the truth by a refusal in the
middle of a conversation.
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from minime.core.codec import decode, encode
from minime.core.turn import Turn
from minime.core.values import Assistant, Session, Tool, Usage, User, tool_call
from minime.shell.model.embedded import Embedded, find_weights, has_engine, start
from tests.support.mm import Visitor, session_files
from tests.support.values import talked

WEIGHTS = find_weights(os.environ)
pytestmark = pytest.mark.skipif(
    WEIGHTS is None or not has_engine(),
    reason="the engine or the weights are not installed (uv sync brings both)",
)
WINDOW = 512
REPORT = "It rained in the north, and the sun shone in the south.\n" * 45
AGENT = """\
instruction: Answer in one short sentence.
contextWindow: 4096
temperature: 0
maxOutput: 40
tools: [read_file]
"""


@pytest.fixture
def server() -> Iterator[Embedded]:
    assert WEIGHTS is not None
    started = asyncio.run(start(WEIGHTS, template=False, context_window=WINDOW))
    assert isinstance(started, Embedded), started
    yield started
    started.close()


def earlier() -> Session:
    """A conversation that takes more than the whole window, most of it the result of a tool."""
    read = tool_call("a", "read_file", '{"path": "weather.txt"}')
    counted = Usage(prompt_tokens=920, completion_tokens=8, total_tokens=928)
    return talked(
        Turn((User("What is the capital of France?"), Assistant("The capital of France is Paris."))),
        Turn((
            User("What was the weather like?"),
            Assistant("", (read,)),
            Tool("a", REPORT),
            Assistant("There was rain in the north.", usage=counted),
        )),
    )


def test_a_window_smaller_than_was_said_costs_one_summary_and_no_word(
    server: Embedded, tmp_path: Path
) -> None:  # K15
    (tmp_path / "agent.yaml").write_text(AGENT)
    before = earlier()
    file = tmp_path / ".mm" / "sessions" / f"{before.id}.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(encode(before))
    env = {"MM_BASE_URL": server.server.base_url, "MM_API_KEY": server.api_key}
    with Visitor("--continue", cwd=tmp_path, env=env) as person:
        person.prompt(1)
        person.type("/context")
        person.see("of 4,096 tokens used")
        person.prompt(2)
        person.type("What is the capital of Spain?")
        person.see("compact", within=60)
        person.see("\n(compacted: 2 turns|compaction failed: )", within=60)
        person.prompt(3)
        person.type("/context")
        person.see("of 512 tokens used")
        person.prompt(4)
        person.type("/quit")
        assert person.leave() == 0
        screen = person.screen
    [file] = session_files(tmp_path)
    after = decode(file.read_bytes())
    if "compaction failed" in screen:
        # A model of this size may ramble where it calculates otherwise by a hair: then nothing may have changed.
        assert after.messages[1:] == before.messages[1:]
        assert [record.kind for record in after.errors] == ["compaction", "generation"]
        pytest.skip("the small model wrote no summary that ends, on this machine")
    summed_up, summary, question, answer = after.messages[1:]
    assert isinstance(summed_up, User)
    assert summed_up.compacted == 2
    assert isinstance(summary, Assistant)
    assert summary.content
    assert question == User("What is the capital of Spain?")
    assert isinstance(answer, Assistant)
    assert answer.content
    assert answer.usage is not None
    assert answer.usage.prompt_tokens < WINDOW
    assert after.errors == ()
    assert after.pending is None
