"""What went wrong becomes a line that names the way out; each server's words for a fault are known."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.model.failures import LONGEST_SHOWN, MOST_RAW, Asked, cut_text, failure, no_models
from minime.core.model.refusals import LONGEST_LINE, error_text, read_refusal
from minime.core.model.retries import (
    Again,
    Tries,
    model_asked,
    next_try,
    pause_asked,
    with_note,
    without_tools,
)
from minime.core.model.servers import KNOWN, Kind, Server, parse_models
from minime.core.model.troubles import (
    BadSetting,
    BrokenOff,
    Dropped,
    Insecure,
    NoAnswer,
    NoReply,
    NotHttp,
    Status,
    TooLarge,
    Trouble,
    Unreachable,
)

REFUSALS = Path(__file__).parent.parent / "data" / "refusals"
STREAMS = Path(__file__).parent.parent / "data" / "streams"
URLS = {known.kind: known.base_url for known in KNOWN} | {
    "embedded": "http://127.0.0.1:4321/v1",
    "other": "https://models.example/v1",
}


def said(text: str) -> bytes:
    return msgspec.json.encode({"error": {"message": text}})


TROUBLES: dict[str, Trouble] = {
    "not running": Unreachable("All connection attempts failed"),
    "unknown host": Unreachable("Name or service not known", no_host=True),
    "TLS": Insecure("certificate verify failed: self-signed certificate"),
    "not HTTP": NotHttp("illegal status line"),
    "bad address": BadSetting("Request URL is missing an 'http://' or 'https://' protocol."),
    "dropped twice": Dropped("Server disconnected without sending a response."),
    "broken off": BrokenOff("peer closed connection"),
    "watchdog, first byte": NoAnswer(600, first=True),
    "watchdog": NoAnswer(120, first=False),
    "no end": TooLarge(64_000_000),
    "web page": Status(200, b"<html><title>Welcome</title></html>", page=True),
    "redirect": Status(302, location="/login"),
    "wrong path": Status(404, b"404 page not found"),
    "no model": Status(404, said('model "qwen3:8b" not found, try pulling it first')),
    "overflow": Status(400, said("request (9000 tokens) exceeds the available context size (8192 tokens)")),
    "no tools": Status(400, said("registry.ollama.ai/library/gemma:2b does not support tools")),
    "no tools, mid-stream": NoReply("error", '{"error":"tool choice requires --enable-auto-tool-choice"}'),
    "no images": Status(500, said("image input is not supported - hint: you may need to provide the mmproj")),
    "no memory": Status(500, said("model requires more system memory (5.6 GiB) than is available (3.1 GiB)")),
    "key": Status(401, said("Invalid API Key")),
    "forbidden": Status(403, said("Forbidden")),
    "loading": Status(503, said("Loading model")),
    "busy": Status(429, said("Too many requests"), retry_after=7.0),
    "server fault": Status(502, b"<html><head><title>502 Bad Gateway</title></head></html>"),
    "internal error": Status(500, said("llama runner process no longer running: 2")),
    "request fault": Status(400, said("'messages' is required")),
    "error in the stream": NoReply("error", '{"error":{"message":"unexpected EOF"}}'),
    "broken off without a word": NoReply("early"),
    "nothing came": NoReply("nothing"),
    "broken JSON": NoReply("garbled", '{"choices":[{"mess'),
    "empty": NoReply("empty"),
    "thought only": NoReply("thinking"),
    "no name": NoReply("nameless"),
    "cut at once": NoReply("cut"),
}


def asked(kind: Kind = "ollama", **more: object) -> Asked:
    base = Asked(Server(kind, URLS[kind]), "qwen3:8b", ("llama3.2:3b", "qwen3:4b"), watchdog=120.0)
    return msgspec.structs.replace(base, **more)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_each_failure_has_a_line_with_its_way_out(kind: Kind, golden: Callable[[str], object]) -> None:
    failures = {name: failure(trouble, asked(kind)) for name, trouble in TROUBLES.items()}
    failures["key, one was sent"] = failure(TROUBLES["key"], asked(kind, key_set=True))
    failures["no model, none is known"] = failure(TROUBLES["no model"], asked(kind, models=()))
    failures["no models at all"] = no_models(asked(kind).server)
    told = cut_text(kind, 4_096, 11_000)  # W02
    text = f"prompt cut without a word\n  {told}\n"
    text += "".join(f"{name} [{found.kind}]\n  {found.shown}\n" for name, found in failures.items())
    assert text == golden(f"failures/{kind}.txt")


@pytest.mark.parametrize(
    ("status", "text", "meaning", "window"),
    [
        (400, "request (108920 tokens) exceeds the available context size (8192 tokens)", "overflow", 8192),
        (
            400,
            "the request exceeds the available context size. try increasing it",
            "overflow",
            0,
        ),
        (0, "context size has been exceeded", "overflow", 0),
        (
            400,
            "This model's maximum context length is 4096 tokens. You requested 5000",
            "overflow",
            4096,
        ),
        (
            400,
            "The prompt (length 5000) is longer than the maximum model length of 4096",
            "overflow",
            4096,
        ),
        (400, "Trying to keep the first 5000 tokens when context the overflows.", "overflow", 0),
        (400, "greater than the context length (n_keep: 5000>= n_ctx: 4096)", "overflow", 4096),
        (400, "prompt too long; exceeded max context length by 12 tokens", "overflow", 0),
        (500, "input length exceeds the context length", "overflow", 0),
        (
            400,
            "The input (9999 tokens) is longer than the model's context length (4096)",
            "overflow",
            4096,
        ),
        (413, "Payload Too Large", "overflow", 0),
        (400, "registry.ollama.ai/library/gemma:2b does not support tools", "no-tools", 0),  # N08
        (500, "tools param requires --jinja flag", "no-tools", 0),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser', "no-tools", 0),
        (400, "Tool calling is not supported with this model", "no-tools", 0),
        (404, 'model "qwen3:8b" not found, try pulling it first', "no-model", 0),  # N02
        (404, "The model `x` does not exist.", "no-model", 0),
        (404, "No models loaded. Please load a model in the developer page", "no-model", 0),
        (500, "error while getting model: model not found", "no-model", 0),
        (404, "404 page not found", "path", 0),
        (404, "File Not Found", "path", 0),
        (405, "Method Not Allowed", "path", 0),
        (403, "Forbidden", "key", 0),
        (0, "Invalid API Key", "key", 0),
        (503, "Loading model", "loading", 0),
        (503, "Service Unavailable", "server", 0),
        (408, "Request Timeout", "busy", 0),
        (429, "Rate limit: 4096 tokens per minute, context length 100", "busy", 0),
        (500, "Internal Server Error", "server", 0),
        (500, "an error was encountered while running the model: unexpected EOF", "server", 0),
        (500, "Failed to parse tools: Expected 'tools' to be an array", "request", 0),
        (500, "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]", "request", 0),
        (500, "Conversation roles must alternate user/assistant", "request", 0),
        (400, "Field 'temperature': type must be number, but is string", "request", 0),
        (400, "Unable to generate parser for this template.", "request", 0),
        (0, "boom", "server", 0),
    ],
)
def test_the_words_of_every_server_are_understood(status: int, text: str, meaning: str, window: int) -> None:
    found = read_refusal(status, said(text))
    assert (found.meaning, found.window, found.text) == (meaning, window, text)


def test_what_servers_were_heard_to_say_has_a_line(golden: Callable[[str], object]) -> None:
    """Bodies as they came; the first word of a file's name is the status, the second the server's."""
    told: list[str] = []
    for path in sorted(REFUSALS.iterdir()):
        status, server, _ = path.name.split("-", 2)
        kind: Kind = "llama.cpp" if server == "llamacpp" else "other"
        found = failure(Status(int(status), path.read_bytes()), asked(kind, models=()))
        told.append(f"{path.stem} [{found.kind}]\n  {found.shown}\n")
    assert "".join(told) == golden("failures/recorded.txt")


def test_an_error_in_a_stream_is_read_by_the_status_that_it_carries() -> None:
    assert read_refusal(0, b'{"error":{"code":401,"message":"no"}}').meaning == "key"
    recorded = read_refusal(0, (STREAMS / "llamacpp-overflow.json").read_bytes())
    assert (recorded.meaning, recorded.window) == ("overflow", 8192)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"error":"no"}', "no"),
        (b'{"error":{"message":"no","type":"x"}}', "no"),
        (b'{"error":{"error":{"message":"no"}}}', "no"),
        (b'{"message":"no"}', "no"),
        (b'{"detail":"no"}', "no"),
        (b'{"detail":[{"loc":["body","messages"],"msg":"Field required"}]}', "body.messages: Field required"),
        (b'{"errors":[{"message":"a"},{"message":"b"}]}', "a; b"),
        (b'[{"error":{"message":"no"}}]', "no"),
        (b'{"error":{"message":"{\\"error\\":{\\"message\\":\\"inner\\"}}"}}', "inner"),
        (b'{"error":{"message":"","type":"internal_server_error"}}', "internal_server_error"),
        (b'{"error":{"message":"a\\nb \\u001b[31mc"}}', "a b c"),
        (b'{"error":{"message":"\\ud83d"}}', "\ufffd"),
        (b"<html><head><title>502 Bad Gateway</title></head>", "502 Bad Gateway"),
        (b"<p>oh <b>no</b></p>", "oh no"),
        (b"plain\r\ntext", "plain text"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"{}", ""),
        (b"", ""),
    ],
)
def test_an_error_body_of_any_shape_becomes_one_line(body: bytes, text: str) -> None:
    assert error_text(body) == text


@given(st.integers(0, 600), st.binary(max_size=400), st.sampled_from(get_args(Kind)))
def test_any_answer_becomes_one_line_of_bounded_length(status: int, body: bytes, kind: Kind) -> None:
    found = failure(Status(status, body), asked(kind))
    assert found.shown
    assert found.shown.splitlines() == [found.shown]
    assert len(found.shown) <= LONGEST_SHOWN
    assert len(error_text(body)) <= LONGEST_LINE


def test_the_raw_error_is_bounded_and_kept_only_where_it_says_more() -> None:
    assert len(failure(Status(400, b"x" * 9_000), asked()).raw) == MOST_RAW
    assert failure(Status(400, b"bad"), asked()).raw == ""
    assert "type" in failure(Status(400, b'{"error":{"message":"bad","type":"t"}}'), asked()).raw


def test_no_secret_and_no_password_of_an_address_is_shown() -> None:
    server = Server("other", "http://me:pa55word@models.example/v1")
    found = failure(
        Status(400, said("the key sk-12345 is bad")), Asked(server, key_set=True, secrets=("sk-12345",))
    )
    assert "sk-12345" not in repr(found)
    assert "***" in found.shown
    assert "pa55word" not in repr(failure(Unreachable(), Asked(server)))


def test_an_address_without_v1_is_asked_about() -> None:
    found = failure(Status(404, b"not found"), asked(server=Server("other", "http://models.example")))
    assert "is /v1 missing" in found.shown


def test_many_models_are_named_in_part() -> None:
    found = failure(TROUBLES["no model"], asked(models=tuple(f"m{n}" for n in range(20))))
    assert "m0, m1" in found.shown
    assert found.shown.endswith("12 more")


NONE_YET = Tries()


def tried(
    name: str, tries: Tries = NONE_YET, watchdog: float = 120.0, *, shown: bool = False, tools: bool = True
) -> Again | None:
    failed = failure(TROUBLES[name], asked())
    return next_try(failed, tries, waits=(1.0, 3.0), watchdog=watchdog, shown=shown, tools=tools)


def pauses(name: str, watchdog: float = 120.0, *, shown: bool = False, tools: bool = True) -> list[float]:
    """How long each next try waits for a failure that comes again and again, at most ten times."""
    tries, found = Tries(), list[float]()
    while len(found) < 10 and (again := tried(name, tries, watchdog, shown=shown, tools=tools)):
        found.append(again.seconds)
        tries = again.tries
    return found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dropped twice", [0.0]),
        ("thought only", [0.0]),  # S22
        ("no name", [0.0]),  # H12
        ("no tools", [0.0]),  # N08
        ("server fault", [1.0, 3.0]),  # N06
        ("busy", [7.0, 7.0]),
        ("loading", [1.0] * 10),
        *(
            (name, [])
            for name in ("key", "overflow", "no model", "request fault", "empty", "broken off", "watchdog")
        ),
        ("error in the stream", []),
    ],
)
def test_only_what_may_pass_is_tried_again(name: str, expected: list[float]) -> None:
    assert pauses(name) == expected
    assert pauses(name, shown=True) == []


def test_a_server_may_not_ask_for_more_patience_than_the_watchdog_has() -> None:
    assert pauses("busy", watchdog=5.0) == []
    assert pauses("busy", watchdog=0.0) == [7.0, 7.0]
    assert pauses("loading", watchdog=3.0) == [1.0] * 3
    assert pauses("no tools", tools=False) == []


def test_waiting_is_told_once_for_loading_and_each_time_for_a_busy_server() -> None:
    loading = tried("loading")
    assert loading is not None
    assert "loading" in loading.notice
    again = tried("loading", loading.tries)
    assert again is not None
    assert again.notice == ""
    busy = tried("busy")
    assert busy is not None
    assert busy.notice == "Ollama has too much to do (429): trying again in 7 s"


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        ("7", "", 7.0),
        ("", "", 0.0),
        ("soon", "", 0.0),
        ("-7", "", 0.0),
        ("Tue, 01 Dec 2026 10:00:30 GMT", "Tue, 01 Dec 2026 10:00:00 GMT", 30.0),
        ("Tue, 01 Dec 2026 10:00:00 GMT", "Tue, 01 Dec 2026 10:00:30 GMT", 0.0),
        ("Tue, 01 Dec 2026 10:00:00 GMT", "", 0.0),
    ],
)
def test_a_pause_is_asked_for_in_seconds_or_by_the_clock(value: str, date: str, seconds: float) -> None:
    assert pause_asked(value, date) == seconds


def test_a_request_without_tools_is_otherwise_the_same() -> None:
    body = b'{"model":"m","messages":[{"role":"user"}],"tools":[1],"tool_choice":"auto","stream":true}'
    assert without_tools(body) == b'{"model":"m","messages":[{"role":"user"}],"stream":true}'
    assert model_asked(body) == "m"
    assert model_asked(b"{}") == ""


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("hi", "hi\n\nnote"),
        (
            [{"type": "text", "text": "hi"}],
            [{"type": "text", "text": "hi"}, {"type": "text", "text": "note"}],
        ),
        (None, "note"),
    ],
)
def test_a_note_to_the_model_stands_behind_the_last_message(content: object, expected: object) -> None:
    before = {"role": "system", "content": "You are"}
    body = msgspec.json.encode({"model": "m", "messages": [before, {"role": "tool", "content": content}]})
    noted = msgspec.json.decode(with_note(body, "note"))
    assert noted == {"model": "m", "messages": [before, {"role": "tool", "content": expected}]}


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b'{"object":"list","data":[{"id":"a"},{"id":"b"},{"id":"a"}]}', ("a", "b")),
        (b'{"models":[{"name":"a"},{"model":"b"},{}]}', ("a", "b")),
        (b'["a", 7, null]', ("a",)),
        (b'{"data":null}', ()),
        (b"<html>", ()),
        (b"", ()),
    ],
)
def test_the_names_of_the_models_are_read(body: bytes, names: tuple[str, ...]) -> None:
    assert parse_models(body) == names


def test_words_that_lie_too_deep_in_an_error_are_not_looked_for() -> None:
    deep: object = "words"
    for _ in range(9):
        deep = {"error": deep}
    assert error_text(json.dumps(deep).encode()) == ""


def test_the_status_of_an_error_within_an_error_counts() -> None:
    body = b'{"error": {"error": {"message": "no such model: x", "code": 404}}}'
    assert read_refusal(0, body).meaning == "no-model"
