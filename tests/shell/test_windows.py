"""The asking for context windows, against real servers on loopback."""

import asyncio
from functools import partial

import pytest

from minime.core.model.servers import Kind, Server
from minime.core.model.windows import Window
from minime.shell.model import windows as windows_module
from minime.shell.model.model import Model
from minime.shell.model.windows import Windows, ask_window
from tests.conftest import ROOT
from tests.support.server import Body, Drop, Raw, Reset, ScriptedServer, Silence


def page(name: str) -> Body:
    return Body((ROOT / "tests" / "data" / "windows" / f"{name}.json").read_bytes())


def model_at(server: ScriptedServer, kind: Kind) -> Model:
    return Model(Server(kind, server.url), api_key="sesame-key")


async def test_the_running_model_goes_before_what_it_is_to_be_loaded_with() -> None:
    routes = {"/api/ps": page("ollama-running"), "/api/show": page("ollama-show")}
    with ScriptedServer(routes=routes) as server:
        model = model_at(server, "ollama")
        assert await ask_window(model, "qwen3:8b", within=20.0) == Window(16384, "told by Ollama")
        assert [other.path for other in server.others] == ["/api/ps"]
        assert server.others[0].headers["authorization"] == "Bearer sesame-key"
        assert await ask_window(model, "qwen3-long", within=20.0) == Window(
            12288, "told by Ollama", firm=False
        )
        assert server.others[-1].json == {"model": "qwen3-long"}
        await model.close()


async def test_a_server_at_any_port_is_recognised_and_then_asked_its_own_way() -> None:
    models = Body(b'{"data": [{"id": "tiny", "owned_by": "llamacpp"}]}')
    with ScriptedServer(models=models, routes={"/props": page("llamacpp-props")}) as server:
        model = model_at(server, "other")
        assert await ask_window(model, "tiny", within=20.0) == Window(8192, "told by llama.cpp")
        await model.close()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Body(b"", 404), id="no such page"),
        pytest.param(Body(b"not json"), id="not JSON"),
        pytest.param(Body(b"[]" * 3_000_000), id="too much"),
        pytest.param(Raw(b"SSH-2.0\r\n"), id="not HTTP"),
        pytest.param(Drop(), id="closes"),
        pytest.param(Reset(), id="resets"),
        pytest.param(Silence(30), id="says nothing"),
    ],
)
async def test_a_wrong_or_slow_answer_is_none(answer: Body | Raw | Drop | Reset | Silence) -> None:
    routes = {"/api/ps": answer, "/api/show": answer}
    with ScriptedServer(routes=routes) as server:
        model = model_at(server, "ollama")
        begun = asyncio.get_running_loop().time()
        assert await ask_window(model, "tiny", within=0.3) is None
        assert asyncio.get_running_loop().time() - begun < 15
        await model.close()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows_module, "WITHIN", 20.0)
    monkeypatch.setattr(windows_module, "ask_window", partial(ask_window, within=20.0))


@pytest.mark.usefixtures("patient")
async def test_each_model_is_asked_once_and_once_more_when_it_is_loaded_and_not_known_for_sure() -> None:
    with ScriptedServer(routes={"/api/ps": page("ollama-running"), "/api/show": Body(b"{}")}) as server:
        model, windows = model_at(server, "ollama"), Windows()
        for _ in range(3):
            windows.ask(model, "qwen3:8b")
            windows.ask(model, "qwen3:8b", loaded=True)
            await windows.wait()
        assert windows.known(model.server, "qwen3:8b").tokens == 16384
        assert len(server.others) == 1
        for _ in range(3):
            windows.ask(model, "absent")
            await windows.wait()
        assert windows.known(model.server, "absent") == Window(4096, "assumed", firm=False)
        assert len(server.others) == 3
        for _ in range(3):
            windows.ask(model, "absent", loaded=True)
            await windows.wait()
        assert len(server.others) == 5
        await windows.close()
        await model.close()
