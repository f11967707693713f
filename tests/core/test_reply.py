"""What a stream folds to: recorded ones as golden files, and each oddity of a server by itself."""

import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.events import Event, TextDelta, ThoughtDelta, UsageSeen
from minime.core.model import sse
from minime.core.model.calls import MOST_CALLS
from minime.core.model.chunks import Chunk, read_chunk
from minime.core.model.reply import Broken, Complete, Draft, Reply, add_payload, finish
from minime.core.values import Assistant, Usage

DONE = b"data: [DONE]\n\n"
STREAMS = Path(__file__).parent.parent / "data" / "streams"
RECORDED = sorted(path.name for path in STREAMS.iterdir())
TOOLS = frozenset({"read_file", "write_file", "search", "list_files"})


def fold_bytes(
    stream: bytes, size: int = 0, tools: frozenset[str] = TOOLS, secrets: tuple[str, ...] = ()
) -> tuple[Reply, tuple[Event, ...]]:
    """The reply, and all events in order, of a stream that comes in pieces of `size` bytes (0: whole)."""
    size = size or len(stream) or 1
    return fold_pieces([stream[at : at + size] for at in range(0, len(stream), size)], tools, secrets)


def fold_pieces(
    pieces: list[bytes], tools: frozenset[str] = TOOLS, secrets: tuple[str, ...] = ()
) -> tuple[Reply, tuple[Event, ...]]:
    """The reply, and all events in order, of a stream that comes in these pieces."""
    state, draft = sse.SseState(), Draft(tools, secrets)
    events: list[Event] = []
    for piece in pieces:
        state, payloads = sse.feed(state, piece)
        for payload in payloads:
            draft, more = add_payload(draft, payload)
            events += more
    for payload in sse.close(state):
        draft, more = add_payload(draft, payload)
        events += more
    reply = finish(draft)
    return reply, (*events, *(reply.late if isinstance(reply, Complete) else ()))


def stream_of(*payloads: Any) -> bytes:
    """Payloads, given as Python values, as the events of a stream."""
    return b"".join(b"data: " + json.dumps(payload).encode() + b"\n\n" for payload in payloads)


def fold(*payloads: Any, tools: frozenset[str] = TOOLS) -> Reply:
    """The reply to payloads, given as Python values."""
    return fold_bytes(stream_of(*payloads), tools=tools)[0]


def delta(finish_reason: str | None = None, **keys: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": keys, "finish_reason": finish_reason}]}


def calling(finish_reason: str | None = None, **call: Any) -> dict[str, Any]:
    return delta(finish_reason, tool_calls=[call])


STOP = delta("stop")


def answer(*payloads: Any) -> Assistant:
    reply = fold(*payloads)
    assert isinstance(reply, Complete)
    return reply.assistant


def called(*payloads: Any) -> list[tuple[str, str, str]]:
    return [(c.id, c.function.name, c.function.arguments) for c in answer(*payloads, STOP).tool_calls]


def shown(events: tuple[Event, ...], kind: type[TextDelta] | type[ThoughtDelta]) -> str:
    return "".join(event.text for event in events if isinstance(event, kind))


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_stream_folds_to_its_golden_reply(name: str, golden: Callable[[str], object]) -> None:
    reply, _ = fold_bytes((STREAMS / name).read_bytes())
    text = msgspec.json.format(msgspec.json.encode(reply), indent=2).decode() + "\n"
    assert text == golden(f"reply/{name.partition('.')[0]}.json")


@pytest.mark.parametrize("name", RECORDED)
def test_reads_of_any_size_fold_to_the_same(name: str) -> None:
    stream = (STREAMS / name).read_bytes()
    whole = fold_bytes(stream)
    assert fold_bytes(stream, 1) == whole
    assert fold_bytes(stream, 7) == whole
    for lines in (b"\r\n", b"\r"):
        assert fold_bytes(stream.replace(b"\r\n", b"\n").replace(b"\n", lines), 1) == whole


@given(st.sampled_from(RECORDED), st.lists(st.integers(0, 20_000), max_size=20))
def test_reads_that_end_anywhere_fold_to_the_same(name: str, ends: list[int]) -> None:
    stream = (STREAMS / name).read_bytes()
    places = sorted({0, *(end % len(stream) for end in ends if stream), len(stream)})
    pieces = [stream[start:end] for start, end in itertools.pairwise(places)]
    assert fold_pieces(pieces) == fold_bytes(stream)


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_stream_cut_anywhere_is_never_taken_for_a_whole_one_with_less(name: str) -> None:
    stream = (STREAMS / name).read_bytes()
    whole, _ = fold_bytes(stream)
    words = whole.assistant.content if isinstance(whole, Complete) else ""
    for place in range(0, len(stream), 13):
        reply, _ = fold_bytes(stream[:place])
        assert isinstance(reply, Broken) or reply.assistant.content == words


@pytest.mark.parametrize("name", RECORDED)
def test_what_was_shown_is_what_is_kept(name: str) -> None:
    reply, events = fold_bytes((STREAMS / name).read_bytes())
    if isinstance(reply, Complete):
        assert shown(events, TextDelta) == reply.assistant.content
        assert shown(events, ThoughtDelta).strip() == reply.assistant.reasoning_content


@given(st.lists(st.text(max_size=8), max_size=8), st.booleans())
def test_any_words_arrive_as_they_are_shown_and_can_be_stored(pieces: list[str], tools: bool) -> None:
    stream = stream_of(*(delta(content=p) for p in (*pieces, ".")))
    reply, events = fold_bytes(stream + DONE, tools=TOOLS if tools else frozenset())
    if isinstance(reply, Complete) and "</think" not in "".join(pieces):
        assert shown(events, TextDelta) == reply.assistant.content
    assert msgspec.json.encode(reply)


@given(st.binary(max_size=80))
def test_no_bytes_whatever_raise(stream: bytes) -> None:
    fold_bytes(b"data: " + stream + b"\n\n" + b'data: {"choices":' + stream + b"\n\n")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([
                "choices",
                "delta",
                "message",
                "content",
                "tool_calls",
                "function",
                "function_call",
                "name",
                "id",
                "index",
                "arguments",
                "usage",
                "error",
                "finish_reason",
                "reasoning",
                "prompt_tokens",
            ]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(
    st.sampled_from(("content", "text", "reasoning", "thinking", "tool_calls", "function_call", "role")),
    JSON,
    st.sampled_from(("index", "message", "finish_reason", "text", "logprobs")),
    JSON,
    st.sampled_from(("model", "object", "error", "id")),
    JSON,
)
def test_a_payload_that_is_nothing_but_words_reads_as_it_does_beside_other_keys(
    key: str, value: Any, choice_key: str, choice_value: Any, top_key: str, top_value: Any
) -> None:
    choice = {"index": 0, "delta": {"content": "hi", key: value}, choice_key: choice_value}
    payload = {"choices": [choice], top_key: top_value}
    # An empty usage says nothing, and is read by the way for all payloads that say more than words.
    beside = read_chunk(json.dumps(payload | {"usage": {}}).encode())
    alone = read_chunk(json.dumps(payload).encode())
    assert type(alone) is type(beside)
    if isinstance(alone, Chunk):
        assert alone == beside


@given(st.lists(JSON, max_size=4), st.lists(JSON, max_size=4))
def test_no_json_whatever_raises(payloads: list[Any], deltas: list[Any]) -> None:
    msgspec.json.encode(fold(*payloads, *({"choices": [{"delta": inner}]} for inner in deltas), STOP))


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "thinking"])
def test_a_thought_is_kept_apart_under_any_of_its_names(key: str) -> None:
    found = answer(delta(**{key: "hm, "}), delta(**{key: "yes"}), delta(content="Hi"), STOP)
    assert (found.reasoning_content, found.content) == ("hm, yes", "Hi")


def test_the_same_thought_in_two_fields_and_tags_is_shown_once() -> None:  # S21
    stream = [delta(reasoning="hm", reasoning_content="hm"), delta(content="<think>hm</think>Hi"), STOP]
    reply, events = fold_bytes(stream_of(*stream))
    assert isinstance(reply, Complete)
    assert (reply.assistant.reasoning_content, shown(events, ThoughtDelta)) == ("hm", "hm")
    assert (reply.assistant.content, shown(events, TextDelta)) == ("Hi", "Hi")


def test_parts_of_a_content_are_joined() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "Hi"},
    ]
    found = answer(delta(content=parts), STOP)
    assert (found.reasoning_content, found.content) == ("hm", "Hi")


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        pytest.param(
            [{"id": "a", "function": {"name": "f", "arguments": '{"p"'}}, {"function": {"arguments": ":1}"}}],
            [("a", "f", '{"p":1}')],
            id="S01 without index",
        ),
        pytest.param(
            [
                {"id": "a", "function": {"name": "f", "arguments": "{}"}},
                {"id": "b", "function": {"name": "f", "arguments": "{}"}},
            ],
            [("a", "f", "{}"), ("b", "f", "{}")],
            id="S01 a new id is a new call",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"p":'}},
                {"index": 1, "id": "b", "function": {"name": "g", "arguments": '{"q":'}},
                {"index": 0, "function": {"arguments": "1}"}},
                {"index": 1, "function": {"arguments": "2}"}},
            ],
            [("a", "f", '{"p":1}'), ("b", "g", '{"q":2}')],
            id="S03 interleaved",
        ),
        pytest.param(
            [{"index": 0, "id": "a", "function": {"name": "f", "arguments": {"p": 1}}}],
            [("a", "f", '{"p":1}')],
            id="S05 arguments as an object",
        ),
        pytest.param([{"id": "a", "function": {"name": "f"}}], [("a", "f", "{}")], id="S06 missing"),
        pytest.param(
            [{"id": "a", "function": {"name": "f", "arguments": ""}}], [("a", "f", "{}")], id="S06 empty"
        ),
        pytest.param(
            [{"id": "a", "function": {"name": "f", "arguments": None}}], [("a", "f", "{}")], id="S06 null"
        ),
        pytest.param(
            [{"id": "a", "function": {"name": "f", "arguments": '{"a":'}}],
            [("a", "f", '{"a":')],
            id="S07 malformed arguments stay as they are",
        ),
        pytest.param(
            [
                {"id": "", "function": {"name": "f", "arguments": "{}"}},
                {"id": "", "function": {"name": "g", "arguments": "{}"}},
            ],
            [("call_1", "f", "{}"), ("call_2", "g", "{}")],
            id="S08 empty ids",
        ),
        pytest.param(
            [
                {"index": 0, "id": "call_1", "function": {"name": "f", "arguments": "{}"}},
                {"index": 1, "id": "call_1", "function": {"name": "f", "arguments": "{}"}},
                {"index": 2, "function": {"name": "f", "arguments": "{}"}},
            ],
            [("call_1", "f", "{}"), ("call_2", "f", "{}"), ("call_3", "f", "{}")],
            id="S08 the same id",
        ),
        pytest.param(
            [
                {"index": 0, "function": {"name": "f", "arguments": "{}"}},
                {"index": 0, "function": {"name": "f", "arguments": '{"p":1}'}},
            ],
            [("call_1", "f", "{}"), ("call_2", "f", '{"p":1}')],
            id="every call numbered 0",
        ),
        pytest.param(
            [
                {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"p"'}},
                {"index": 0, "id": "a", "function": {"name": "f", "arguments": ":1}"}},
            ],
            [("a", "f", '{"p":1}')],
            id="name and id repeated",
        ),
        pytest.param(
            [
                {"index": 0, "id": "", "function": {"name": "", "arguments": "{}"}},
                {"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}},
            ],
            [("b", "g", "{}")],
            id="H12 no name",
        ),
        pytest.param([{"name": "f", "arguments": "{}"}], [("call_1", "f", "{}")], id="flat"),
    ],
)
def test_tool_calls_come_together_from_their_pieces(
    pieces: list[dict[str, Any]], expected: list[tuple[str, str, str]]
) -> None:
    assert called(*(calling(**piece) for piece in pieces)) == expected


def test_several_pieces_in_one_chunk_and_the_older_function_call_are_read() -> None:
    function = {"name": "f", "arguments": "{}"}
    both = delta(function_call=function, tool_calls=[{"id": "a", "function": function}])
    assert called(both) == [("a", "f", "{}")]
    older = [{"name": "f", "arguments": '{"p"'}, {"arguments": ":1}"}]
    assert called(*(delta(function_call=piece) for piece in older)) == [("call_1", "f", '{"p":1}')]


@pytest.mark.parametrize("reason", ["stop", "tool_calls", "end", "EOS", 7])  # S11, S13
def test_calls_count_whatever_the_finish_reason_says(reason: str) -> None:
    found = answer(calling(reason, id="a", function={"name": "f", "arguments": "{}"}))
    assert (len(found.tool_calls), found.stopped) == (1, "")


def test_a_finish_reason_of_calls_without_any_ends_the_text() -> None:  # S12
    assert answer(delta(content="Hi"), delta("tool_calls")).content == "Hi"


def test_chunks_without_choices_or_content_are_passed_over() -> None:  # S13
    found = answer(
        {}, {"choices": []}, {"choices": None}, [], 7, delta(content=None), delta(content="Hi"), STOP
    )
    assert found.content == "Hi"


def test_usage_comes_from_any_chunk_and_is_told_at_the_end() -> None:
    usage = Usage(prompt_tokens=3, completion_tokens=2, total_tokens=5)
    counts = {"prompt_tokens": 3, "completion_tokens": 2.0, "total_tokens": None}
    reply = fold(delta(content="Hi"), STOP, {"choices": [], "usage": counts})
    assert isinstance(reply, Complete)
    assert (reply.assistant.usage, reply.late) == (usage, (UsageSeen(usage),))
    assert answer(delta(content="Hi"), STOP | {"usage": None}).usage is None


def test_a_stream_ends_well_with_a_finish_reason_or_the_end_mark_only() -> None:  # S14
    words = stream_of(delta(content="Hi"))
    assert fold_bytes(words)[0] == Broken("early")
    assert isinstance(fold_bytes(words + DONE)[0], Complete)
    assert isinstance(fold(delta("stop", content="Hi")), Complete)
    assert fold(calling(id="a", function={"name": "f", "arguments": "{}"})) == Broken("early")


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(b'data: {"error":{"message":"boom"}}\n\n', id="S15 data"),
        pytest.param(b'error: {"message":"boom"}\n\n', id="S15 error line"),
        pytest.param(b'{"error":{"message":"boom"}}\n', id="S15 bare JSON"),
        pytest.param(b'event: error\ndata: {"message":"boom"}\n\n', id="error event"),
        pytest.param(b'data: {"object":"error","message":"boom","code":400}\n\n', id="vllm"),
        pytest.param(b"error: boom\n\n", id="no JSON"),
    ],
)
def test_an_error_in_the_middle_of_a_stream_breaks_it(error: bytes) -> None:
    words = stream_of(delta(content="Hi"))
    reply, events = fold_bytes(words + error + words + DONE)
    assert isinstance(reply, Broken)
    assert (reply.fault, "boom" in reply.raw, shown(events, TextDelta)) == ("error", True, "Hi")


def test_a_whole_body_is_taken_for_a_stream() -> None:  # S24
    body = {"choices": [{"message": {"role": "assistant", "content": "Hi"}}], "model": "m"}
    for text in (json.dumps(body), json.dumps(body, indent=2)):
        reply, events = fold_bytes(text.encode(), 1)
        assert isinstance(reply, Complete)
        assert (reply.assistant.content, reply.assistant.model, len(events)) == ("Hi", "m", 1)


@pytest.mark.parametrize(
    ("payloads", "fault"),
    [
        pytest.param([], "nothing", id="nothing"),
        pytest.param([STOP], "empty", id="H05 empty"),
        pytest.param([delta(content=" \n"), STOP], "empty", id="white space"),
        pytest.param([calling(id="", function={"name": ""}), STOP], "nameless", id="H12 no name"),
        pytest.param([delta(reasoning="hm"), STOP], "thinking", id="S22"),
        pytest.param([delta(content="<think>hm</think>\n"), STOP], "thinking", id="S22 tags"),
        pytest.param([delta(content="<think>hm"), delta("length")], "cut", id="cut in its thought"),
        pytest.param([calling(id="a", function={"name": "wri"}), delta("length")], "cut", id="cut in a name"),
    ],
)
def test_a_reply_without_words_or_calls_is_none(payloads: list[Any], fault: str) -> None:
    reply = fold(*payloads)
    assert isinstance(reply, Broken)
    assert reply.fault == fault


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
def test_a_cut_answer_is_marked(reason: str) -> None:  # W04
    found = answer(calling(id="a", function={"name": "f", "arguments": '{"p'}), delta(reason, content="Hi"))
    assert (found.stopped, found.content, found.tool_calls[0].function.arguments) == ("length", "Hi", '{"p')


def test_a_call_written_as_text_becomes_one_and_is_never_shown() -> None:  # S09
    pieces = ["<tool", '_call>{"name":"read_file",', '"arguments":{"path":"a"}}', "</tool_call>"]
    stream = stream_of(*(delta(content=p) for p in pieces))
    reply, events = fold_bytes(stream + DONE)
    assert isinstance(reply, Complete)
    assert reply.assistant.tool_calls[0].id == "call_1"
    assert (reply.assistant.content, events) == ("", ())


def test_a_text_that_only_looked_like_a_call_is_shown_late_and_whole() -> None:
    text = '{"name": "read_file", "arguments": {}} is how a call looks'
    reply, events = fold_bytes(stream_of(delta("stop", content=text)))
    assert isinstance(reply, Complete)
    assert (reply.assistant.content, shown(events, TextDelta)) == (text, text)


def test_beside_native_calls_or_without_tools_a_text_stays_text() -> None:
    text = '{"name":"read_file","arguments":{}}'
    native = calling(id="a", function={"name": "search", "arguments": "{}"})
    assert answer(delta(content=text), native, STOP).content == text
    reply = fold(delta("stop", content=text), tools=frozenset())
    assert isinstance(reply, Complete)
    assert reply.assistant.content == text


def test_words_are_cleaned_also_across_pieces() -> None:  # T01, T02, T03
    pieces = ["a\x1b", "[31", "mred\x1b[0m", "\x00\x07 \ud83d", "\ude97 \ud83d", "!\r", "\nb", "\ud83d"]
    reply, events = fold_bytes(stream_of(*(delta(content=p) for p in pieces)) + DONE)
    assert isinstance(reply, Complete)
    assert reply.assistant.content == shown(events, TextDelta) == "ared 🚗 \ufffd!\nb\ufffd"
    call = answer(calling(id="\ud83da", function={"name": "f\x1b[0m", "arguments": '{"p":"\ud83d"}'}), STOP)
    (found,) = call.tool_calls
    assert (found.id, found.function.name, found.function.arguments) == ("\ufffda", "f", '{"p":"\ufffd"}')


def test_secrets_are_masked_in_words_thoughts_and_arguments() -> None:
    payloads = [
        delta(reasoning="it is s3cr"),
        delta(reasoning="et-key"),
        delta(content="s3cret"),
        delta(content="-key!"),
        calling(id="a", function={"name": "f", "arguments": '{"k":"s3cret-key"}'}),
        STOP,
    ]
    reply, events = fold_bytes(stream_of(*payloads), secrets=("s3cret-key",))
    assert isinstance(reply, Complete)
    assert reply.assistant.content == "***!"
    assert "s3cret-key" not in repr((reply, events))


@pytest.mark.parametrize("native", [True, False])
def test_of_the_calls_beyond_the_bound_the_first_is_kept_to_tell_of_them(native: bool) -> None:
    if native:
        stream = stream_of(*(calling(index=n, id=f"c{n}", function={"name": "search"}) for n in range(500)))
    else:
        stream = stream_of(delta(content='<tool_call>{"name":"search","arguments":{}}</tool_call>' * 500))
    reply, _ = fold_bytes(stream + DONE)
    assert isinstance(reply, Complete)
    assert len({call.id for call in reply.assistant.tool_calls}) == MOST_CALLS + 1


@pytest.mark.parametrize(
    ("piece", "fault"),
    [
        pytest.param(b"{\n", "garbled", id="halves of objects"),
        pytest.param(b"data: {\n\n", "garbled", id="events of half an object"),
        pytest.param(b"data: {}\n\n", "early", id="events that say nothing"),
        pytest.param(b"error: {\n", "error", id="errors"),
        pytest.param(stream_of(delta(content='{"name"\n')), "early", id="half calls as text"),
        pytest.param(
            stream_of(calling(index=0, function={"name": "f", "arguments": "x"})), "early", id="calls"
        ),
    ],
)
def test_a_stream_of_rubbish_is_read_in_steps_of_its_length(piece: bytes, fault: str) -> None:
    def steps(times: int) -> int:
        """Calls and lines of Python that so much of it takes: unlike seconds, the same each time."""
        count = 0

        def trace(*_: object) -> Any:
            nonlocal count
            count += 1
            return trace

        before = sys.gettrace()  # that of a measurement of coverage
        sys.settrace(trace)
        try:
            reply, _ = fold_bytes(piece * times)
        finally:
            sys.settrace(before)
        assert isinstance(reply, Broken)
        assert reply.fault == fault
        return count

    steps(1)  # what is done once only
    assert steps(400) < 2.5 * steps(200)


def test_twenty_thousand_pieces_are_one_answer() -> None:
    word = stream_of(delta(content="word "))
    reply, events = fold_bytes(word * 20_000 + DONE, 4_096)
    assert isinstance(reply, Complete)
    assert (len(reply.assistant.content), len(events)) == (100_000, 20_000)


def test_a_piece_that_names_its_call_by_id_alone_goes_to_that_call() -> None:
    def piece(id: str, arguments: str, **more: str) -> dict[str, Any]:
        return {
            "choices": [{"delta": {"tool_calls": [{"id": id, "function": {"arguments": arguments, **more}}]}}]
        }

    reply = fold(
        piece("a", '{"path": ', name="read_file"),
        piece("b", '{"path": ', name="read_file"),
        piece("a", '"x"}'),
        piece("b", '"y"}'),
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    )
    assert isinstance(reply, Complete)
    assert [(c.id, c.function.arguments) for c in reply.assistant.tool_calls] == [
        ("a", '{"path": "x"}'), ("b", '{"path": "y"}'),
    ]  # fmt: skip


@pytest.mark.parametrize("first", ["", "{", '{"a": }'])
def test_a_head_that_comes_twice_begins_a_call_only_behind_a_whole_one(first: str) -> None:
    def head(arguments: str) -> dict[str, Any]:
        call = {"index": 0, "function": {"name": "read_file", "arguments": arguments}}
        return {"choices": [{"delta": {"tool_calls": [call]}}]}

    reply = fold(
        head(first), head('"path": "x"}'), {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}
    )
    assert isinstance(reply, Complete)
    assert len(reply.assistant.tool_calls) == 1


def test_an_object_that_calls_itself_an_error_is_one_and_one_call_may_stand_without_its_list() -> None:
    said = read_chunk(b'{"object": "error", "choices": [{"delta": {"content": "x"}}], "message": "no"}')
    assert type(said).__name__ == "ErrorSent"
    call = {"id": "a", "function": {"name": "search", "arguments": "{}"}}
    one = read_chunk(json.dumps({"choices": [{"delta": {"tool_calls": call}}]}).encode())
    assert isinstance(one, Chunk)
    assert [fragment.name for fragment in one.fragments] == ["search"]
