"""The search for a local server, against real ones on loopback."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from minime.core.model.servers import Kind, Known, Offer, Server
from minime.shell.model.servers import find_server
from tests.support.server import Body, Drop, Raw, ScriptedServer, Silence, Stream

GENEROUS = 5.0
"""Seconds; for tests that are not about the time."""


def known(kind: Kind, url: str) -> Known:
    return Known(kind, kind, url, "", "")


@pytest.fixture
def closed() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    return f"http://127.0.0.1:{port}/v1"


@pytest.fixture
def mute() -> Iterator[str]:
    """A port that accepts and then never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


async def test_the_first_in_order_wins_among_those_that_answer(closed: str) -> None:
    with ScriptedServer(models=("b", "c")) as second, ScriptedServer(models=("d",)) as third:
        found = await find_server(
            (known("ollama", closed), known("docker", second.url), known("lm-studio", third.url)),
            within=GENEROUS,
        )
    assert found == Offer(Server("docker", second.url), ("b", "c"))


async def test_a_slower_server_that_stands_first_still_wins() -> None:
    listing = b'{"data": [{"id": "slow"}]}'
    slow = Stream((0.15, listing), content_type="application/json")
    with ScriptedServer(models=slow) as first, ScriptedServer(models=("quick",)) as second:
        found = await find_server((known("ollama", first.url), known("docker", second.url)), within=GENEROUS)
    assert found is not None
    assert found.models == ("slow",)


async def test_where_nothing_listens_the_answer_is_none_at_once(closed: str) -> None:
    begun = time.monotonic()
    assert await find_server((known("ollama", closed),) * 5, within=GENEROUS) is None
    assert time.monotonic() - begun < 1


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Raw(b"SSH-2.0-OpenSSH_9.2\r\n"), id="not HTTP"),
        pytest.param(Drop(), id="closes at once"),
        pytest.param(Body(b"<html>hello</html>", content_type="text/html"), id="a web page"),
        pytest.param(Body(b'{"error": "no"}', 404), id="another API"),
        pytest.param(Body(b'{"data": [{"id": "a"}]}', 401), id="wants a key"),
        pytest.param(Body(b'{"data": []}'), id="has no model"),
        pytest.param(Body(b"", 302, (("location", "http://example.org/"),)), id="sends elsewhere"),
        pytest.param(Stream((b'{"data": [', 0.01), end="cut"), id="breaks off"),
    ],
)
async def test_what_is_no_model_server_is_passed_over(answer: Body | Raw | Drop | Stream) -> None:
    with ScriptedServer(models=answer) as stranger, ScriptedServer(models=("a",)) as server:
        found = await find_server((known("vllm", stranger.url), known("ollama", server.url)), within=GENEROUS)
    assert found == Offer(Server("ollama", server.url), ("a",))


async def test_silence_costs_no_more_than_the_limit_and_hides_nobody(mute: str) -> None:
    with ScriptedServer(models=Silence(30)) as silent, ScriptedServer(models=("a",)) as server:
        candidates = (known("ollama", mute), known("docker", silent.url), known("vllm", server.url))
        begun = time.monotonic()
        found = await find_server(candidates, within=1.0)
        took = time.monotonic() - begun
    assert found is not None
    assert found.models == ("a",)
    assert took < 2


async def test_a_body_without_end_is_not_swallowed() -> None:
    endless = Stream((b"[" + b'"x",' * 1_200_000,), content_type="application/json")
    with ScriptedServer(models=endless) as server:
        assert await find_server((known("ollama", server.url),), within=GENEROUS) is None


async def test_a_proxy_of_the_environment_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:  # N07
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, closed)
    with ScriptedServer(models=("a",)) as server:
        assert await find_server((known("ollama", server.url),), within=GENEROUS) is not None


async def test_the_answer_corrects_what_the_port_suggests() -> None:
    answer = Body(b'{"data": [{"id": "a", "owned_by": "llamacpp"}]}', headers=(("server", "llama.cpp"),))
    with ScriptedServer(models=answer) as server:
        found = await find_server((known("vllm", server.url),), within=GENEROUS)
    assert found == Offer(Server("llama.cpp", server.url), ("a",))


async def test_nothing_of_the_search_is_left_behind(mute: str) -> None:
    before = set(threading.enumerate())  # some of other tests may end meanwhile
    assert await find_server((known("ollama", mute),), within=0.1) is None
    assert set(threading.enumerate()) <= before
