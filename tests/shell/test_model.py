"""One model over real HTTP: what it is sent, what comes of each answer, and when it is asked again."""

import asyncio
import gzip
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from minime.core.events import Event, Notice, TextDelta, ThoughtDelta, UsageSeen
from minime.core.model.failures import Failure
from minime.core.model.servers import Server
from minime.core.values import Assistant, Usage
from minime.shell.model import silence
from minime.shell.model.model import Model, ModelFailed
from tests.support.server import (
    Answer,
    Body,
    Drop,
    Raw,
    Reset,
    ScriptedServer,
    Silence,
    Stream,
    calls,
    chunk,
    closing,
    fails,
    says,
    thinks,
)

GZIP = (("Content-Encoding", "gzip"),)
STREAMS = Path(__file__).parent.parent / "data" / "streams"
BODY = b'{"model":"tiny","messages":[{"role":"user","content":"hi"}],"tools":[{}],"stream":true}'
TOOLS = frozenset({"read_file"})
LONG = 30.0
T = TypeVar("T")


class Heard(msgspec.Struct):
    """What came of one question."""

    answer: Assistant | None
    failure: Failure | None
    events: tuple[Event, ...]
    server: ScriptedServer

    @property
    def words(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, TextDelta)]

    @property
    def notices(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Notice)]


def with_model(server: ScriptedServer, use: Callable[[Model], Awaitable[T]], **options: Any) -> T:
    """What `use` makes of a model at `server`, which is closed behind it."""

    async def run() -> T:
        settings: dict[str, Any] = {"watchdog": LONG, "waits": (0.01, 0.02), "url": server.url} | options
        model = Model(Server("ollama", settings.pop("url")), **settings)
        try:
            return await use(model)
        finally:
            await model.close()

    return asyncio.run(run())


def ask(*script: Answer, body: bytes = BODY, models: tuple[str, ...] = ("tiny",), **options: Any) -> Heard:
    events: list[Event] = []

    async def question(model: Model) -> Assistant | Failure:
        try:
            return await model.ask(body, TOOLS, events.append)
        except ModelFailed as failed:
            return failed.failure

    with ScriptedServer(script, models=models) as server:
        came = with_model(server, question, **options)
    if isinstance(came, Assistant):
        return Heard(came, None, tuple(events), server)
    return Heard(None, came, tuple(events), server)


def failed(*script: Answer, **options: Any) -> Failure:
    heard = ask(*script, **options)
    assert heard.failure is not None, heard
    assert heard.server.left == 0
    return heard.failure


def test_an_answer_comes_piece_by_piece_and_whole_at_the_end() -> None:
    heard = ask(says("It ", "is."))
    usage = Usage(prompt_tokens=10, completion_tokens=5, total_tokens=15)
    assert heard.events == (TextDelta("It "), TextDelta("is."), UsageSeen(usage))
    assert heard.answer is not None
    assert (heard.answer.content, heard.answer.model, heard.answer.usage) == ("It is.", "tiny", usage)
    assert heard.answer.seconds > 0


def test_the_body_is_sent_as_it_is_with_key_and_headers() -> None:
    heard = ask(says("x"), api_key=" k3y \n", headers={"X-Team": "a", "User-Agent": "me"})
    (request,) = heard.server.requests
    assert (request.method, request.path, request.body) == ("POST", "/v1/chat/completions", BODY)
    sent = {name: request.headers[name] for name in ("authorization", "x-team", "user-agent", "content-type")}
    assert sent == {
        "authorization": "Bearer k3y",
        "x-team": "a",
        "user-agent": "me",
        "content-type": "application/json",
    }
    assert "authorization" not in ask(says("x")).server.requests[0].headers


def test_tool_calls_and_thoughts_arrive() -> None:
    heard = ask(calls(("read_file", {"path": "a"}), ("read_file", {"path": "b"})))
    assert heard.answer is not None
    assert [call.function.arguments for call in heard.answer.tool_calls] == ['{"path": "a"}', '{"path": "b"}']
    thought = ask(thinks("hm", "Yes."))
    assert thought.answer is not None
    assert thought.events[:2] == (ThoughtDelta("hm"), TextDelta("Yes."))
    assert thought.answer.reasoning_content == "hm"


@pytest.mark.parametrize("name", ["llamacpp-words.sse", "llamacpp-call.sse", "ollama-thought.sse"])
def test_a_recorded_stream_is_answered_in_small_packets(name: str) -> None:
    stream = (STREAMS / name).read_bytes()
    heard = ask(Stream(tuple(stream[place : place + 50] for place in range(0, len(stream), 50))))
    assert heard.answer is not None
    assert heard.answer.usage is not None


def test_one_connection_serves_many_questions() -> None:
    async def twice(model: Model) -> list[str]:
        return [(await model.ask(BODY, TOOLS, lambda _: None)).content for _ in range(3)]

    with ScriptedServer([says("a"), says("b"), says("c")]) as server:
        assert with_model(server, twice) == ["a", "b", "c"]
        assert server.connections == 1


def test_a_model_outlives_its_event_loop_and_its_closing() -> None:
    with ScriptedServer([says("a"), says("b"), says("c")]) as server:
        model = Model(Server("other", server.url))

        async def question(*, last: bool) -> str:
            answer = await model.ask(BODY, TOOLS, lambda _: None)
            if last:
                await model.close()
            return answer.content

        assert [asyncio.run(question(last=True)) for _ in range(3)] == ["a", "b", "c"]


def test_a_whole_body_instead_of_a_stream_is_an_answer() -> None:  # S24
    heard = ask(Body((STREAMS / "llamacpp-call-whole.json").read_bytes()))
    assert heard.answer is not None
    assert heard.answer.tool_calls[0].function.name == "read_file"


def test_a_connection_dropped_before_the_first_byte_is_tried_once_more_at_once() -> None:
    for drop in (Drop(), Reset()):
        heard = ask(drop, says("x"))
        assert (heard.words, heard.notices) == (["x"], [])
    assert failed(Drop(), Drop()).kind == "dropped"


def test_a_kept_alive_connection_that_the_server_dropped_is_replaced() -> None:
    async def twice(model: Model) -> list[str]:
        return [(await model.ask(BODY, TOOLS, lambda _: None)).content for _ in range(2)]

    with ScriptedServer([says("a"), Drop(), says("b")]) as server:
        assert with_model(server, twice) == ["a", "b"]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])  # N06
def test_a_busy_server_is_asked_two_times_more(status: int) -> None:
    heard = ask(fails(status, "oh"), fails(status, "oh"), says("x"))
    assert heard.words == ["x"]
    assert len(heard.notices) == 2
    assert failed(*[fails(status, "oh")] * 3).kind in {"busy", "server"}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 501])  # N06
def test_a_refusal_is_not_asked_again(status: int) -> None:
    assert failed(fails(status, "no")).status == status


def test_llama_cpp_answers_mistakes_of_ours_with_500_and_is_not_asked_again() -> None:
    assert failed(fails(500, "Failed to parse tools: Expected 'tools' to be an array")).kind == "request"


def test_retry_after_is_honoured_within_the_watchdog() -> None:
    began = time.monotonic()
    assert ask(fails(429, "slow", (("Retry-After", "1"),)), says("x")).words == ["x"]
    assert time.monotonic() - began >= 1
    assert failed(fails(429, "slow", (("Retry-After", "3600"),))).retry_after == 3600


def test_a_server_that_loads_its_model_is_waited_for() -> None:
    heard = ask(*[fails(503, "Loading model")] * 4, says("x"))
    assert (heard.words, len(heard.notices)) == (["x"], 1)
    assert "loading" in heard.notices[0]


def test_nothing_is_asked_again_once_words_were_shown() -> None:  # N06
    heard = ask(Stream((chunk({"content": "It"}),), end="reset"))
    assert heard.words == ["It"]
    assert heard.failure is not None
    assert heard.failure.kind == "broken-off"
    assert failed(Stream((chunk({"content": "It"}), b'data: {"error":{"code":503}}\n\n'))).kind == "server"


def test_a_thought_without_an_answer_is_asked_again_once() -> None:  # S22
    assert ask(thinks("hm"), says("x")).words == ["x"]
    assert failed(thinks("hm"), thinks("hm")).kind == "thinking"


def test_a_call_without_a_name_is_told_to_the_model_once() -> None:  # H12
    nameless = Stream((chunk({"tool_calls": [{"index": 0, "id": "", "function": {"name": ""}}]}, "stop"),))
    heard = ask(nameless, says("x"))
    assert heard.words == ["x"]
    first, second = (request.json["messages"][-1]["content"] for request in heard.server.requests)
    assert first == "hi"
    assert second.startswith("hi\n\n[mm: your last answer called a tool without its name")
    assert failed(nameless, nameless).kind == "nameless"


def test_silence_before_the_first_byte_has_five_times_the_watchdog() -> None:  # N03
    found = failed(Silence(LONG), watchdog=0.04)
    assert found.kind == "watchdog"
    assert "0.2 s before its first word" in found.shown
    assert "watchdogTimeout" in found.shown
    heard = ask(Stream((0.6, *says("x").chunks)), watchdog=0.4)
    assert heard.words == ["x"]


def test_silence_in_the_middle_is_broken_by_the_watchdog() -> None:  # N03
    heard = ask(Stream((chunk({"content": "It"}), LONG)), watchdog=0.1)
    assert heard.failure is not None
    assert "0.1 s in the middle" in heard.failure.shown


def test_comments_are_signs_of_life() -> None:  # S16
    pauses: tuple[bytes | float, ...] = (b": busy\n\n", 0.15) * 5
    assert ask(Stream((*pauses, *says("x").chunks)), watchdog=0.5).words == ["x"]


def test_time_in_which_mm_itself_was_held_up_is_no_silence_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(silence, "AWAY", 0.1)
    held_up: list[Event] = []

    async def question(model: Model) -> Assistant:
        def hold_up(event: Event) -> None:
            if not held_up:
                asyncio.get_running_loop().call_later(0.02, time.sleep, 0.8)
            held_up.append(event)

        return await model.ask(BODY, frozenset(), hold_up)

    script = [Stream((chunk({"content": "a"}), 0.2, chunk({"content": "b"}), *closing("stop")))]
    with ScriptedServer(script) as server:
        assert with_model(server, question, watchdog=0.4).content == "ab"


def test_without_a_watchdog_silence_is_waited_out() -> None:  # N03, N04
    assert ask(Stream((0.3, chunk({"content": "x"}), 0.3, *closing("stop"))), watchdog=0).words == ["x"]


def test_a_server_that_stays_open_behind_the_end_mark_is_not_waited_for() -> None:
    began = time.monotonic()
    assert ask(Stream((*says("x").chunks, LONG))).words == ["x"]
    assert time.monotonic() - began < LONG / 2


@pytest.mark.parametrize("end", ["cut", "reset"])
def test_a_connection_lost_behind_the_finish_reason_is_no_loss(end: Any) -> None:
    assert ask(Stream((chunk({"content": "x"}, "stop"), 0.05), end=end)).words == ["x"]


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        pytest.param(Stream((chunk({"content": "x"}),)), "broken-off", "broke off", id="S14"),
        pytest.param(Stream((chunk({"content": "x"}),), end="cut"), "broken-off", "broke off", id="cut"),
        pytest.param(says(), "empty", "without a word", id="empty"),
        pytest.param(Body(b""), "empty", "sent an empty answer", id="nothing"),
        pytest.param(Stream((b'error: {"message":"boom"}\n\n',)), "server", "boom", id="S15"),
        pytest.param(
            Body(b"<title>Hi</title>", content_type="text/html"), "address", "a web page", id="page"
        ),
        pytest.param(Body(b"", 302, (("Location", "/login"),)), "address", "to /login", id="redirect"),
        pytest.param(Raw(b"SSH-2.0-OpenSSH_9\r\n\r\n"), "address", "does not speak HTTP", id="not HTTP"),
        pytest.param(fails(401, "no"), "key", "MM_API_KEY", id="key"),
        pytest.param(fails(400, "exceeds the context size"), "overflow", "contextWindow", id="overflow"),
        pytest.param(
            Body((STREAMS / "llamacpp-overflow.json").read_bytes(), 400), "overflow", "8,192", id="recorded"
        ),
    ],
)
def test_a_failure_has_its_kind_and_a_line_with_the_way_out(answer: Answer, kind: str, words: str) -> None:
    found = failed(answer)
    assert (found.kind, words in found.shown) == (kind, True), found


def test_a_missing_model_is_named_with_those_that_are_there() -> None:  # N02
    found = failed(fails(404, 'model "tiny" not found'), models=("qwen3:8b", "llama3.2:3b"))
    assert 'the model "tiny": fetch it with: ollama pull tiny' in found.shown
    assert found.shown.endswith("qwen3:8b, llama3.2:3b")


def test_a_server_that_is_not_there_is_named_with_its_start_command() -> None:  # N01
    with ScriptedServer() as server:
        url = server.url
    found = failed(url=url)
    assert found.kind == "unreachable"
    assert url in found.shown
    assert "ollama serve" in found.shown


@pytest.mark.parametrize(
    "options",
    [
        {"url": "no-scheme/v1"},
        {"url": "http://[::1/v1"},
        {"url": "ftp://127.0.0.1/v1"},
        {"api_key": "kéy-12345"},
        {"api_key": "key\n12345"},
        {"headers": {"X-Bad": "a\nb"}},
        {"headers": {"X Bad": "a"}},
    ],
)
def test_settings_that_make_no_request_fail_with_a_line(options: dict[str, Any]) -> None:
    found = failed(**options)
    assert (found.kind, "12345" in repr(found)) == ("address", False)


def test_plain_http_behind_https_is_said() -> None:
    with ScriptedServer() as server:
        url = server.url.replace("http:", "https:")
        heard = ask(url=url)
    assert heard.failure is not None
    assert "no secure connection" in heard.failure.shown


def test_a_model_without_tools_goes_on_without_them_and_says_so_once() -> None:  # N08
    notices: list[Event] = []

    async def twice(model: Model) -> list[str]:
        return [(await model.ask(BODY, TOOLS, notices.append)).content for _ in range(2)]

    with ScriptedServer([fails(400, "tiny does not support tools"), says("a"), says("b")]) as server:
        assert with_model(server, twice) == ["a", "b"]
        assert ["tools" in request.json for request in server.requests] == [True, False, False]
    (notice,) = [event for event in notices if isinstance(event, Notice)]
    assert notice.text.startswith("going on without tools")


def test_a_secret_is_masked_in_lines_raw_errors_and_answers() -> None:
    options: dict[str, Any] = {"api_key": "sk-abcdef", "secrets": ("t0p-secret",)}
    found = failed(fails(400, "sk-abcdef and t0p-secret are bad"), **options)
    assert "*** and *** are bad" in found.shown
    assert ask(says("it is t0p-", "secret"), **options).words == ["it is ", "***"]


def test_an_endless_answer_is_given_up() -> None:
    line = b": " + b"x" * 10_000 + b"\n\n"
    assert "had no end" in failed(Stream((line,) * 200), most_bytes=1_000_000).shown


def test_the_models_of_a_server_are_listed() -> None:
    with ScriptedServer(models=("a", "b")) as server:
        assert with_model(server, lambda model: model.models()) == ("a", "b")
    with ScriptedServer(models=fails(401, "no")) as server, pytest.raises(ModelFailed) as caught:
        with_model(server, lambda model: model.models())
    assert caught.value.failure.kind == "key"


@pytest.mark.parametrize("answer", [Silence(LONG), Stream((chunk({"content": "x"}), LONG))])
def test_cancelling_ends_the_request_at_once(answer: Answer) -> None:
    with ScriptedServer([answer]) as server:

        async def cancelled(model: Model) -> float:
            task = asyncio.create_task(model.ask(BODY, TOOLS, lambda _: None))
            while not server.requests:
                await asyncio.sleep(0.01)
            began = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return time.monotonic() - began

        assert with_model(server, cancelled) < LONG / 10
        ended = time.monotonic() + LONG / 2
        while not server.hangups and time.monotonic() < ended:
            time.sleep(0.01)
        assert server.hangups == 1


def test_a_fault_of_the_listener_is_not_taken_for_one_of_the_server() -> None:
    def broken(_: Event) -> None:
        raise BrokenPipeError("stdout is closed")

    with ScriptedServer([says("x")]) as server, pytest.raises(BrokenPipeError):
        with_model(server, lambda model: model.ask(BODY, TOOLS, broken))


def test_a_proxy_of_the_environment_is_none_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:  # N07
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask(says("x")).words == ["x"]


def test_a_long_stream_is_answered_whole() -> None:
    piece = chunk({"content": "word "})
    heard = ask(Stream((*(piece * 100 for _ in range(200)), *closing("stop"))))
    assert heard.answer is not None
    assert (len(heard.answer.content), len(heard.words)) == (100_000, 20_000)


def test_nothing_heavy_is_imported_before_a_question() -> None:
    code = "import sys, minime.shell.model.model; print('httpx' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


@pytest.mark.parametrize("cut", [1, 7, 10_000])
def test_an_answer_that_comes_compressed_unasked_is_read(cut: int) -> None:
    packed = gzip.compress(b"".join(piece for piece in says("It ", "is.").chunks if isinstance(piece, bytes)))
    pieces = tuple(packed[start : start + cut] for start in range(0, len(packed), cut))
    heard = ask(Stream(pieces, headers=GZIP))
    assert heard.answer is not None
    assert heard.answer.content == "It is."


@pytest.mark.parametrize("status", [200, 400])
def test_a_few_bytes_that_stand_for_gigabytes_fill_no_memory(status: int) -> None:
    bomb = gzip.compress(bytes(50_000_000), 9)
    tracemalloc.start()
    heard = ask(Body(bomb, status, GZIP), most_bytes=1_000_000)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert heard.failure is not None
    assert most < 20_000_000


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "\x1b[31m"])
def test_an_encoding_that_is_not_known_is_a_failure_and_no_garbage(encoding: str) -> None:
    packed = gzip.compress(gzip.compress(bytes(1_000_000)))
    answers = [Body(packed, headers=(("Content-Encoding", encoding),))] * 3
    heard = ask(*answers)
    assert heard.answer is None
    assert heard.failure is not None


async def test_what_one_read_unpacks_can_be_cancelled_in_the_middle() -> None:
    bomb = gzip.compress(chunk({"content": "a"}) * 100_000, 1)
    with ScriptedServer([Body(bomb, 200, GZIP)]) as server:
        model = Model(Server("ollama", server.url), watchdog=LONG)

        def cancel(_: Event) -> None:
            asyncio.get_running_loop().call_soon(asking.cancel)

        asking = asyncio.ensure_future(model.ask(BODY, TOOLS, cancel))
        with pytest.raises(asyncio.CancelledError):
            await asking
        await model.close()


@pytest.mark.parametrize(
    ("proxy", "why"),
    [
        ("socks5://127.0.0.1:1", "needs httpx[socks]"),
        ("http://127.0.0.1:99999999", "a proxy that the environment names has a port that is none"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_a_line(proxy: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    heard = ask(url="http://192.0.2.1:9/v1")
    assert heard.failure is not None
    assert heard.failure.kind == "address"
    assert why in heard.failure.shown
