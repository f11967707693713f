"""One HTTP answer out of the bytes that have come."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.model.http_answer import HttpAnswer, question, whole_answer

HEAD = b"HTTP/1.1 200 OK\r\nServer: x\r\n"


@pytest.mark.parametrize(
    ("received", "body"),
    [
        pytest.param(HEAD + b"Content-Length: 2\r\n\r\n{}", b"{}", id="length"),
        pytest.param(HEAD + b"content-length:2\r\n\r\n{}more", b"{}", id="bytes behind the length"),
        pytest.param(HEAD + b"Content-Length: 0\r\n\r\n", b"", id="empty"),
        pytest.param(
            HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\n\r\n", b"{}", id="chunks"
        ),
    ],
)
def test_an_answer_is_whole_exactly_with_its_last_byte(received: bytes, body: bytes) -> None:
    answer = whole_answer(received, ended=False)
    assert answer is not None
    assert (answer.status, answer.headers["server"], answer.body) == (200, "x", body)
    if body:
        shorter = received[: received.index(b"\r\n\r\n") + 5]
        assert whole_answer(shorter, ended=True) is None


def test_without_a_length_the_end_is_the_end() -> None:
    assert whole_answer(HEAD + b"\r\n{}", ended=False) is None
    assert whole_answer(HEAD + b"\r\n{}", ended=True) == HttpAnswer(200, {"server": "x"}, b"{}")


@pytest.mark.parametrize(
    "received",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_no_answer_is_none(received: bytes) -> None:
    assert whole_answer(received, ended=True) is None


@given(st.binary(max_size=100), st.booleans(), st.booleans())
def test_no_bytes_are_too_broken(tail: bytes, ended: bool, chunked: bool) -> None:
    framing = b"Transfer-Encoding: chunked\r\n\r\n" if chunked else b""
    whole_answer(HEAD + framing + tail, ended=ended)
    whole_answer(tail, ended=ended)


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=6))
def test_chunks_carry_what_was_put_into_them(pieces: list[bytes]) -> None:
    coded = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (*pieces, b""))
    answer = whole_answer(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + coded, ended=False)
    assert answer is not None
    assert answer.body == b"".join(pieces)


def test_the_question_names_host_and_path_and_wants_the_connection_closed() -> None:
    lines = question("127.0.0.1:8080", "/v1/models").decode().split("\r\n")
    assert lines[0] == "GET /v1/models HTTP/1.1"
    assert {"Host: 127.0.0.1:8080", "Connection: close"} < set(lines)
    assert lines[-2:] == ["", ""]
