"""Lines of JSON-RPC 2.0 to messages and back: one message a line, UTF-8 in, ASCII out.

Whatever stands in a line becomes a message or the error that answers it; nothing raises.
Source: https://agentclientprotocol.com/protocol/v1/transports and the JSON-RPC 2.0 specification.
"""

import json
from math import isfinite
from typing import Any, NoReturn, TypeVar

import msgspec

from minime.core.text import one_line, without_surrogates

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
AUTH_REQUIRED = -32000
NOT_FOUND = -32002

MOST_BYTES = 256_000_000
"""A longer line is answered with an error and not parsed."""

_NOT_FOUR_DIGITS = tuple(bytes((lead,)) for lead in (0xC2, 0xC3, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4))
"""How letters begin in UTF-8 whose escape in Python is not that of JSON: `\\xe9`, `\\U0001f600`."""

MOST_MESSAGE = 2_000
"""Characters of an error's message; it is one line."""

Id = str | int | float | None
T = TypeVar("T")


class Request(msgspec.Struct, frozen=True):
    """Something the other side wants to be answered."""

    id: Id
    method: str
    params: dict[str, Any]


class Notification(msgspec.Struct, frozen=True):
    """Something the other side only says."""

    method: str
    params: dict[str, Any]


class Response(msgspec.Struct, frozen=True):
    """The answer to a request of ours; `result` is None where it is an error."""

    id: Id
    result: dict[str, Any] | None


class Fault(msgspec.Struct, frozen=True):
    """Why a request cannot be done. `message` is one sentence, `data` what else there is to say."""

    code: int
    message: str
    data: dict[str, Any] | None = None


class Malformed(msgspec.Struct, frozen=True):
    """A line that is no message; `fault` answers it under `id`."""

    id: Id
    fault: Fault


class Blank(msgspec.Struct, frozen=True):
    """A line with nothing in it."""


Message = Request | Notification | Response | Malformed | Blank


def read_line(line: bytes) -> Message:
    """What a line says; its line end may be there or not."""
    if len(line) > MOST_BYTES:
        return Malformed(
            None, Fault(INVALID_REQUEST, f"the line is longer than {MOST_BYTES // 1_000_000} MB")
        )
    text = line.strip(b" \t\r\n")
    if not text:
        return Blank()
    try:
        said = _parse(text)
    except (ValueError, RecursionError, UnicodeError):
        return Malformed(None, Fault(PARSE_ERROR, "the line is not valid JSON"))
    if not isinstance(said, dict):
        return Malformed(
            None, Fault(INVALID_REQUEST, "a message is a JSON object, and batches are not supported")
        )
    return _read(said)


def write_response(id: Id, result: Any) -> bytes:
    """The line that answers a request."""
    return _line({"jsonrpc": "2.0", "id": id, "result": result})


def write_fault(id: Id, fault: Fault) -> bytes:
    """The line that answers a request that cannot be done."""
    error: dict[str, Any] = {"code": fault.code, "message": one_line(fault.message, MOST_MESSAGE)}
    if fault.data is not None:
        error["data"] = fault.data
    return _line({"jsonrpc": "2.0", "id": id, "error": error})


def write_request(id: Id, method: str, params: Any) -> bytes:
    """The line that asks something of the other side."""
    return _line({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def write_notification(method: str, params: Any) -> bytes:
    """The line that tells the other side something."""
    return _line({"jsonrpc": "2.0", "method": method, "params": params})


def read_params(params: dict[str, Any], type: type[T]) -> T | Fault:
    """The parameters of a method, or the fault that names what is wrong with them."""
    try:
        return msgspec.convert(params, type)
    except msgspec.ValidationError as error:
        return Fault(INVALID_PARAMS, f"invalid params: {str(error)[:1].lower()}{str(error)[1:]}")


def _read(said: dict[str, Any]) -> Message:
    id = said.get("id")
    if not isinstance(id, str | int | float | None) or isinstance(id, bool):
        return Malformed(None, Fault(INVALID_REQUEST, "the id is neither a text nor a number"))
    method, params = said.get("method"), said.get("params")
    if method is None and ("result" in said or "error" in said):
        result = said.get("result")
        return Response(id, result if isinstance(result, dict) else None)
    if said.get("jsonrpc") != "2.0" or not isinstance(method, str):
        return Malformed(id, Fault(INVALID_REQUEST, 'a message has "jsonrpc": "2.0" and a method'))
    if "id" not in said:
        return Notification(method, params if isinstance(params, dict) else {})
    if params is not None and not isinstance(params, dict):
        return Malformed(id, Fault(INVALID_PARAMS, "params is not an object"))
    return Request(id, method, params or {})


def _parse(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        # Lone surrogates in escapes are a fault of some editors; the strict parser takes none.
        return _storable(json.loads(text.decode("utf-8"), parse_constant=_refuse))


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _storable(value: Any) -> Any:
    match value:
        case str():
            return without_surrogates(value)
        case float() if not isfinite(value):
            return None
        case list() | tuple():
            return [_storable(item) for item in value]
        case dict():
            return {without_surrogates(key): _storable(item) for key, item in value.items()}
        case _:
            return value


def _line(message: dict[str, Any]) -> bytes:
    try:
        data = msgspec.json.encode(message)
    except UnicodeEncodeError:  # a file's name, say, may hold half a character
        data = msgspec.json.encode(_storable(msgspec.to_builtins(message)))
    # U+2028 and its like end a line for some readers: nothing but ASCII goes out.
    return (data if data.isascii() else _escaped(data)) + b"\n"


def _escaped(data: bytes) -> bytes:
    """JSON with every letter that is not ASCII as its escape."""
    text = data.decode()
    if not any(lead in data for lead in _NOT_FOUR_DIGITS):
        return text.encode("ascii", "backslashreplace")
    # `dumps` escapes quotes and backslashes with the rest: these are taken back.
    text = json.dumps(text)[1:-1]
    return text.replace('\\"', '"').replace("\\\\", "\\").encode("ascii")
