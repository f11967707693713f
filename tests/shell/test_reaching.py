"""Which model answers, with real servers on loopback: found, listed, chosen, and its window asked for."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from minime.core.config.settings import Settings
from minime.core.events import Answered, Event, Outcome, UsageSeen
from minime.core.model.offers import Choice, chosen
from minime.core.model.servers import Known, Server
from minime.core.model.windows import Window
from minime.core.session import new_session
from minime.core.turn import start
from minime.core.values import Session, ToolCall
from minime.shell import clock
from minime.shell.agent import Agent
from minime.shell.loop import run_turn
from minime.shell.model import embedded, servers, windows
from minime.shell.tools.tools import Ready
from tests.support.server import Body, ScriptedServer, Stream, closing, says

PROPS = Body(b'{"default_generation_settings": {"n_ctx": 24576}}')


@pytest.fixture
def ollama() -> Iterator[ScriptedServer]:
    with ScriptedServer(models=("qwen3:8b", "gemma3:4b")) as server:
        yield server


@pytest.fixture
def studio() -> Iterator[ScriptedServer]:
    with ScriptedServer(models=("gemma3:4b", "phi-4")) as server:
        yield server


@pytest.fixture(autouse=True)
def machine(ollama: ScriptedServer, studio: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine has these two servers, and no engine for a model of its own."""
    there = (Known("ollama", "", ollama.url, "", ""), Known("lm-studio", "", studio.url, "", ""))
    monkeypatch.setattr(servers, "find_server", partial(servers.find_server, there, within=10.0))
    monkeypatch.setattr(servers, "find_servers", partial(servers.find_servers, there, within=10.0))
    monkeypatch.setattr(windows, "ask_window", partial(windows.ask_window, within=20.0))
    monkeypatch.setattr(windows, "WITHIN", 20.0)
    monkeypatch.setattr(embedded, "has_engine", lambda: False)


def agent(folder: Path, **keys: object) -> Agent:
    return Agent(Settings(**keys), folder, folder, {})  # type: ignore[arg-type]


async def ask(agent: Agent) -> tuple[Session, Outcome, list[Event]]:
    """One question to the agent: the session it stands behind, how it ended, what was told."""
    events: list[Event] = []

    async def consent(call: ToolCall, ready: Ready) -> str:
        return ""

    session = new_session(clock.stamp(), agent.system, "")
    hands = agent.hands(session, consent, lambda turn: None)
    _, outcome = await run_turn(session, start("hello"), hands, events.append, agent.tool_names, 5)
    return session, outcome, events


async def until(true: Callable[[], bool], then: threading.Event | None = None) -> None:
    """Waits until something is true, and tells the server."""
    async with asyncio.timeout(20):
        while not true():
            await asyncio.sleep(0.01)
    if then is not None:
        then.set()


async def test_the_model_that_was_chosen_is_found_on_the_server_that_has_it(
    studio: ScriptedServer, tmp_path: Path
) -> None:
    mine = agent(tmp_path, model="phi-4")
    assert await mine.reach.glance() == ("phi-4", Server("lm-studio", studio.url))
    studio.add(says("Hi."))
    await ask(mine)
    assert studio.requests[0].json["model"] == "phi-4"
    await mine.close()


async def test_all_models_are_listed_and_another_answers_from_the_next_question_on(
    ollama: ScriptedServer, studio: ScriptedServer, tmp_path: Path
) -> None:
    mine = agent(tmp_path, api_key="sesame-key")
    ollama.add(says("One."))
    studio.add(says("Two."))
    await ask(mine)
    there = await mine.reach.choices()
    assert [choice.label for choice in there] == [
        "qwen3:8b",
        "gemma3:4b",
        "gemma3:4b on LM Studio",
        "phi-4",
    ]
    meant = chosen(there, "gemma3:4b on LM Studio", None)
    assert isinstance(meant, Choice)
    mine.use_model(meant)
    await ask(mine)
    assert ollama.requests[0].json["model"] == "qwen3:8b"
    assert studio.requests[0].json["model"] == "gemma3:4b"
    await mine.close()


async def test_a_key_goes_to_the_server_that_it_was_set_for_and_to_no_other(
    ollama: ScriptedServer, studio: ScriptedServer, tmp_path: Path
) -> None:
    with ScriptedServer([says("One.")], models=("mine",)) as own:
        mine = agent(tmp_path, base_url=f"{own.url}/", api_key="sesame-key", headers={"X-Team": "blue"})
        await ask(mine)
        assert own.requests[0].headers["authorization"] == "Bearer sesame-key"
        there = await mine.reach.choices()
        assert [choice.label for choice in there][:2] == ["mine", "qwen3:8b"]
        meant = chosen(there, "phi-4", None)
        assert isinstance(meant, Choice)
        mine.use_model(meant)
        studio.add(says("Two."))
        await ask(mine)
    for request in (*studio.requests, *studio.others, *ollama.others):
        assert not {"authorization", "x-team"} & set(request.headers)
    assert studio.requests[0].json["model"] == "phi-4"
    await mine.close()


async def test_the_same_model_under_another_name_of_this_machine_is_listed_once(
    ollama: ScriptedServer, tmp_path: Path
) -> None:
    mine = agent(tmp_path, base_url=ollama.url.replace("127.0.0.1", "localhost"))
    labels = [choice.label for choice in await mine.reach.choices()]
    assert labels == ["qwen3:8b", "gemma3:4b", "gemma3:4b on LM Studio", "phi-4"]


async def test_the_usage_carries_the_window_that_the_server_tells(tmp_path: Path) -> None:
    models = Body(b'{"data": [{"id": "tiny", "owned_by": "llamacpp"}]}')
    told = threading.Event()
    answer = Stream((told, *says("Hi.").chunks))
    with ScriptedServer([answer], models=models, routes={"/props": PROPS}) as server:
        mine = agent(tmp_path, base_url=server.url)
        asked = asyncio.create_task(ask(mine))
        await until(lambda: mine.window.firm, told)
        _, _, events = await asked
        assert [(e.window, e.origin) for e in events if isinstance(e, UsageSeen)] == [
            (24576, "told by llama.cpp")
        ]
        assert mine.window == Window(24576, "told by llama.cpp")
        await mine.close()


async def test_the_window_of_a_model_that_is_loaded_by_the_first_question_is_asked_again(
    ollama: ScriptedServer, tmp_path: Path
) -> None:
    mine = agent(tmp_path)
    assert mine.window.origin == "assumed"
    loaded, told = threading.Event(), threading.Event()
    ollama.add(Stream((loaded, *says("Hi.").chunks[:2], told, *closing("stop"))))
    asked = asyncio.create_task(ask(mine))
    await until(lambda: len(ollama.others) >= 3)  # the list, then both pages that tell a window
    await mine.reach.settled()
    assert mine.window.origin == "assumed"
    ollama.route("/api/ps", Body(b'{"models": [{"name": "qwen3:8b", "context_length": 32768}]}'))
    loaded.set()
    await until(lambda: mine.window.firm, told)
    _, _, events = await asked
    assert [e.window for e in events if isinstance(e, UsageSeen)] == [32768]
    await mine.close()


async def test_a_window_that_was_set_is_not_asked_for(tmp_path: Path) -> None:
    with ScriptedServer([says("Hi.")]) as server:
        mine = agent(
            tmp_path,
            base_url=server.url,
            model="tiny",
            context_window=16384,
            origins={"contextWindow": "agent.yaml:2"},
        )
        await ask(mine)
        assert mine.window == Window(16384, "agent.yaml:2")
        assert not server.others
        await mine.close()


async def test_a_server_that_is_slow_to_tell_its_window_keeps_no_question_waiting(tmp_path: Path) -> None:
    never = threading.Event()
    with ScriptedServer([says("Hi.")], models=Stream((never,))) as server:
        mine = agent(tmp_path, base_url=server.url, model="tiny")
        begun = asyncio.get_running_loop().time()
        _, outcome, _ = await ask(mine)
        assert isinstance(outcome, Answered)
        assert asyncio.get_running_loop().time() - begun < 15  # of the 20 s that the page would have
        assert mine.window == Window(8192, "assumed", firm=False)
        await mine.close()
        never.set()


async def test_what_can_be_told_before_a_question_is_told_by_a_survey(
    ollama: ScriptedServer, tmp_path: Path
) -> None:
    ollama.route("/api/ps", Body(b'{"models": [{"name": "qwen3:8b", "context_length": 32768}]}'))
    mine = agent(tmp_path)
    model, models, window = await mine.reach.survey()
    assert (model, models[-1], window) == ("qwen3:8b", "phi-4", Window(32768, "told by Ollama"))
    mine.use_model("gemma3:4b on LM Studio")
    assert await mine.reach.describe() == "gemma3:4b on LM Studio"
    other = agent(tmp_path)
    other.use_model("gemma3:4b on LM Studio")  # chosen before a session was opened anew
    assert await other.reach.describe() == "gemma3:4b on LM Studio"
    mine.use_model("weights/tiny.gguf")
    assert await mine.reach.describe() == "tiny, embedded"
    unset = agent(tmp_path)
    assert unset.reach.name == ""
    assert await unset.reach.describe() == "qwen3:8b on Ollama"
    assert unset.reach.name == "qwen3:8b", "what was said at the start is said above the prompt"
