"""Lines of JSON-RPC: what is read of them, and what goes out."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from minime.core.acp.wire import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    MOST_BYTES,
    PARSE_ERROR,
    Blank,
    Fault,
    Malformed,
    Message,
    Notification,
    Request,
    Response,
    read_line,
    write_fault,
    write_response,
)
from tests.support.values import plain_json, texts

CALL = {"jsonrpc": "2.0", "id": 1, "method": "m"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"m"}\n', Request(1, "m", {}), id="plain"),
        pytest.param(b'{"jsonrpc":"2.0","id":"a","method":"m","params":null}', Request("a", "m", {}), id="no params"),
        pytest.param(b' {"jsonrpc":"2.0","id":1,"method":"m"}\r\n', Request(1, "m", {}), id="acp-44 CRLF"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"session\\/list"}', Request(1, "session/list", {}), id="acp-48"),
        pytest.param(
            b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\\ud800"}}', Request(1, "m", {"a": "\ufffd"}), id="acp-43"
        ),
        pytest.param(
            b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"x\xe2\x80\xa8y"}}',
            Request(1, "m", {"a": "x\u2028y"}),
            id="acp-42",
        ),
        pytest.param(b'{"jsonrpc":"2.0","method":"m","params":[]}', Notification("m", {}), id="no answer to a notification"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"result":{"a":1}}', Response(1, {"a": 1}), id="response"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"error":{}}', Response(1, None), id="error response"),
        pytest.param(b'{"jsonrpc":"2.0","id":null,"error":{}}', Response(None, None), id="no answer to an answer"),
        pytest.param(b" \r\n", Blank(), id="blank"),
    ],
)  # fmt: skip
def test_a_line_is_read_as_it_is_meant(line: bytes, message: Message) -> None:
    assert read_line(line) == message


@pytest.mark.parametrize(
    ("line", "code", "id"),
    [
        pytest.param(b"[]", INVALID_REQUEST, None, id="acp-47 batch"),
        pytest.param(b"1", INVALID_REQUEST, None, id="acp-47 number"),
        pytest.param(b"null", INVALID_REQUEST, None, id="acp-47 null"),
        pytest.param(b'{"jsonrpc"', PARSE_ERROR, None, id="broken"),
        pytest.param(b'"\xff"', PARSE_ERROR, None, id="invalid UTF-8"),
        pytest.param(
            b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":NaN}}', PARSE_ERROR, None, id="NaN"
        ),
        pytest.param(b"[" * 100_000, PARSE_ERROR, None, id="deep"),
        pytest.param(b'{"jsonrpc":"2.0","id":{},"method":"m"}', INVALID_REQUEST, None, id="id an object"),
        pytest.param(b'{"jsonrpc":"2.0","id":true,"method":"m"}', INVALID_REQUEST, None, id="id a boolean"),
        pytest.param(b'{"jsonrpc":"2.0","id":4}', INVALID_REQUEST, 4, id="no method"),
        pytest.param(b'{"id":4,"method":"m"}', INVALID_REQUEST, 4, id="no version"),
        pytest.param(
            b'{"jsonrpc":"2.0","id":4,"method":"m","params":[1]}', INVALID_PARAMS, 4, id="params a list"
        ),
    ],
)
def test_a_line_that_is_no_message_says_why(line: bytes, code: int, id: object) -> None:
    said = read_line(line)
    assert isinstance(said, Malformed)
    assert (said.fault.code, said.id) == (code, id)


def test_a_line_that_is_much_too_long_is_not_parsed() -> None:
    said = read_line(b"x" * (MOST_BYTES + 1))
    assert isinstance(said, Malformed)
    assert said.fault.code == INVALID_REQUEST


@given(plain_json, texts)
def test_what_goes_out_is_one_ascii_line_that_reads_back(value: Any, id: str) -> None:
    line = write_response(id, {"value": value})
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"jsonrpc": "2.0", "id": id, "result": {"value": value}}


@given(st.text(alphabet='a"\\/u0 \n\x01é\x80“漢\u2028\uffff\U0001f697\U0010ffff'))
@example("“\\")
@example('é\\u00e9\\"')
def test_letters_that_are_not_ascii_go_out_as_their_escapes(text: str) -> None:
    # acp-42
    message = {"jsonrpc": "2.0", "id": 1, "result": text}
    assert write_response(1, text) == json.dumps(message, separators=(",", ":")).encode() + b"\n"


def test_what_no_file_could_hold_goes_out_all_the_same() -> None:
    line = write_response(1, {"a\ud800": ["\udcff", float("nan"), 2**70]})
    assert json.loads(line)["result"] == {"a\ufffd": ["\ufffd", None, 2**70]}


def test_the_message_of_an_error_is_one_line_and_not_too_long() -> None:
    message = json.loads(write_fault(1, Fault(-32603, "one\ntwo\t" + "x" * 10_000)))["error"]["message"]
    assert message.startswith("one two x")
    assert len(message) == 2_000
