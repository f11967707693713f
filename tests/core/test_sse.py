"""The event stream format, and what servers make of it."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.model.pieces import push
from minime.core.model.sse import SseState, close, feed


def payloads(*pieces: bytes) -> tuple[bytes, ...]:
    state = SseState()
    found: list[bytes] = []
    for piece in pieces:
        state, more = feed(state, piece)
        found += more
    return (*found, *close(state))


def byte_by_byte(stream: bytes) -> tuple[bytes, ...]:
    return payloads(*(stream[place : place + 1] for place in range(len(stream))))


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        pytest.param(b"data: a\n\ndata: b\n\n", (b"a", b"b"), id="two events"),
        pytest.param(b"data:a\n\n", (b"a",), id="no space"),
        pytest.param(b"data:  a\n\n", (b" a",), id="one space only is taken off"),
        pytest.param(b"data: a\r\n\r\ndata: b\r\n\r\n", (b"a", b"b"), id="CRLF"),
        pytest.param(b"data: a\r\rdata: b\r\r", (b"a", b"b"), id="CR"),
        pytest.param(b"data: a\ndata: b\n\n", (b"a\nb",), id="several data lines"),
        pytest.param(b": hi\n\n:\ndata: a\n: hi\n\n", (b"a",), id="S16 comments"),
        pytest.param(b"event: x\nid: 1\nretry: 5\ndata: a\n\n", (b"a",), id="other fields"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", (b"a",), id="byte order mark"),
        pytest.param(b"data: a", (b"a",), id="end without a line end"),
        pytest.param(b"data: a\n", (b"a",), id="end without a blank line"),
        pytest.param(b"data\n\ndata:\n\n\n\n", (), id="empty data"),
        pytest.param(b"", (), id="nothing"),
        pytest.param(b"data: [DONE]\n\n", (b"[DONE]",), id="end mark"),
        pytest.param(
            'data: "a\u2028b\u0085c\x0b"\n\n'.encode(), ('"a\u2028b\u0085c\x0b"'.encode(),), id="S17 U+2028"
        ),
        pytest.param(b'error: {"message":"no"}\n\n', (b'{"error": {"message":"no"}}',), id="S15 error line"),
        pytest.param(b'event: error\ndata: {"m":1}\n\n', (b'{"error": {"m":1}}',), id="S15 error event"),
        pytest.param(
            b'data: a\n\n{"error":"no"}\n\ndata: b\n\n', (b"a", b'{"error":"no"}', b"b"), id="S15 bare JSON"
        ),
        pytest.param(b'{\n  "a": [\n    1\n  ]\n}\n', (b'{\n  "a": [\n    1\n  ]\n}',), id="S24 whole body"),
        pytest.param(b'{"a":1}\n{"a":2}\n', (b'{"a":1}', b'{"a":2}'), id="JSON lines"),
        pytest.param(b"<html>\n<p>hi\n", (), id="a web page"),
    ],
)
def test_payloads_come_out_whole_however_the_stream_is_cut(
    stream: bytes, expected: tuple[bytes, ...]
) -> None:
    assert payloads(stream) == expected
    assert byte_by_byte(stream) == expected


LINES = st.sampled_from([
    b"data: x",
    b"data:",
    b"data",
    b"",
    b": c",
    b"event: error",
    b"error: e",
    b'{"a":1',
    b" }",
    b"id: 7",
    b"\xff",
])
STREAMS = st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"])), max_size=12).map(
    lambda lines: b"".join(line + end for line, end in lines)
)


@given(STREAMS, st.data())
def test_the_cuts_between_reads_do_not_matter(stream: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    pieces = [stream[a:b] for a, b in itertools.pairwise([0, *cuts, len(stream)])]
    assert payloads(*pieces) == payloads(stream) == byte_by_byte(stream)


def test_a_state_can_be_fed_twice_as_the_value_it_is() -> None:
    state, _ = feed(SseState(), b"data: a")
    assert feed(state, b"b\n\n")[1] == (b"ab",)
    assert feed(state, b"c\n\n")[1] == (b"ac",)


@given(st.lists(st.text(max_size=9)))
def test_pieces_joined_are_the_text_and_stay_few(texts: list[str]) -> None:
    pieces: tuple[str, ...] = ()
    for text in texts:
        pieces = push(pieces, text)
    assert "".join(pieces) == "".join(texts)
    assert all(len(a) >= 2 * len(b) for a, b in itertools.pairwise(pieces))


def test_a_long_line_in_many_reads_is_kept_in_few_pieces() -> None:
    state = SseState()
    for _ in range(20_000):
        state, _ = feed(state, b"x")
    assert len(state.line) < 20
    assert close(feed(state, b"\ndata: y")[0]) == (b"y",)


def test_one_whole_event_between_two_others_is_its_payload() -> None:
    state, first = feed(SseState(), b"data: 1\n\n")
    assert (first, feed(state, b"data: 2\n\n")[1]) == ((b"1",), (b"2",))
