"""Whether a model takes images, asked of real servers on loopback."""

import pytest

from minime.core.model.servers import Kind, Server
from minime.shell.model.model import Model
from minime.shell.model.sight import sees
from tests.support.server import Body, Drop, ScriptedServer

OLLAMA = {"/api/show": Body(b'{"capabilities": ["completion", "vision"]}')}
LLAMA_CPP = {"/props": Body(b'{"modalities": {"vision": true}}')}
BY_ITS_LIST = Body(b'{"data": [{"id": "tiny", "owned_by": "llamacpp"}]}')


@pytest.mark.parametrize(
    ("kind", "routes", "models", "told"),
    [
        ("ollama", OLLAMA, ("tiny",), True),
        ("llama.cpp", LLAMA_CPP, ("tiny",), True),
        ("other", LLAMA_CPP, BY_ITS_LIST, True),
        ("other", {}, ("tiny",), None),
        ("ollama", {"/api/show": Drop()}, ("tiny",), None),
        ("ollama", {}, ("tiny",), None),
        ("embedded", {}, ("tiny",), False),
    ],
)
async def test_each_server_is_asked_its_own_way(
    kind: Kind, routes: dict[str, Body], models: tuple[str, ...] | Body, told: bool | None
) -> None:
    with ScriptedServer(routes=routes, models=models) as server:
        model = Model(Server(kind, server.url))
        assert await sees(model, "tiny") is told
        await model.close()
