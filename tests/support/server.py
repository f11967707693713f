"""A real HTTP/1.1 server on loopback that answers from a script: each chat request takes the next answer.

    with ScriptedServer([calls(("read_file", {"path": "a"})), says("It ", "is.")]) as server:
        ...  # base URL server.url, what came in server.requests

`GET …/models` answers from `models`, the paths of `routes` from there, anything else with 404; none of
these takes from the script. A chat request beyond the script gets 599 and fails the `with` block. Instead of
a script there may be a function from the request to its answer.
"""

import contextlib
import json
import select
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

TLS_HANDSHAKE = b"\x16"
Headers = tuple[tuple[str, str], ...]


class Recorded(msgspec.Struct, frozen=True):
    """A request as it came. Header names are in lower case; `json` is None when the body is not JSON."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    json: Any


class Stream(msgspec.Struct, frozen=True):
    """Chunks sent one by one as they are; a float is a pause in seconds, an event is waited for. `end` says how it closes: "end" is
    a proper end, "cut" closes the connection in the middle of the body, "reset" does so with RST."""

    chunks: tuple[bytes | float | threading.Event, ...]
    status: int = 200
    headers: Headers = ()
    content_type: str = "text/event-stream"
    end: Literal["end", "cut", "reset"] = "end"


class Body(msgspec.Struct, frozen=True):
    """A whole body with its length."""

    body: bytes
    status: int = 200
    headers: Headers = ()
    content_type: str = "application/json"


class Raw(msgspec.Struct, frozen=True):
    """Bytes on the socket that need not be HTTP; then the connection closes."""

    data: bytes


class Reset(msgspec.Struct, frozen=True):
    """The connection is reset (RST), behind the bytes `after` of a stream if there are any."""

    after: bytes = b""


class Drop(msgspec.Struct, frozen=True):
    """The connection is closed without a byte."""


class Silence(msgspec.Struct, frozen=True):
    """Nothing for `seconds`, then the connection is closed without a byte."""

    seconds: float


Answer = Stream | Body | Raw | Reset | Drop | Silence


def event(payload: object) -> bytes:
    """One server-sent event that carries `payload` as JSON."""
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    """One event of a chat-completions stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return event({
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "model": "tiny",
        "choices": [choice],
    })


def closing(finish: str, prompt_tokens: int = 10, completion_tokens: int = 5) -> tuple[bytes, ...]:
    """The end of a stream: finish reason, usage, [DONE]."""
    usage = {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }
    return (chunk({}, finish), event({"model": "tiny", "choices": [], "usage": usage}), b"data: [DONE]\n\n")


def says(*pieces: str, finish: str = "stop", prompt_tokens: int = 10) -> Stream:
    """An answer in words, one delta a piece."""
    deltas = tuple(chunk({"content": piece}) for piece in pieces)
    return Stream((chunk({"role": "assistant"}), *deltas, *closing(finish, prompt_tokens)))


def thinks(thought: str, *pieces: str, finish: str = "stop") -> Stream:
    """An answer behind a thought in `reasoning_content`; without pieces a thought alone."""
    deltas = tuple(chunk({"content": piece}) for piece in pieces)
    return Stream((chunk({"reasoning_content": thought}), *deltas, *closing(finish)))


def calls(*wanted: tuple[str, dict[str, Any]], text: str = "", first_id: int = 1) -> Stream:
    """Tool calls, each in two pieces: name first, then arguments. Ids are call_1, call_2, …"""
    pieces: list[bytes] = [chunk({"content": text})] if text else []
    for place, (name, arguments) in enumerate(wanted):
        head = {"name": name, "arguments": ""}
        call = {"index": place, "id": f"call_{first_id + place}", "type": "function", "function": head}
        pieces += [
            chunk({"tool_calls": [call]}),
            chunk({"tool_calls": [{"index": place, "function": {"arguments": json.dumps(arguments)}}]}),
        ]
    return Stream((*pieces, *closing("tool_calls")))


def fails(status: int, message: str, headers: Headers = ()) -> Body:
    """A refusal in the usual shape."""
    return Body(json.dumps({"error": {"message": message, "code": status}}).encode(), status, headers)


class ScriptedServer:
    """The server, from entering the `with` block to leaving it. `requests` holds the chat requests,
    `others` the rest, `connections` counts accepted connections, `hangups` those that the client closed
    while an answer was under way; `unscripted` holds the chat requests that found no answer."""

    def __init__(
        self,
        script: Iterable[Answer] | Callable[[Recorded], Answer] = (),
        *,
        models: tuple[str, ...] | Answer = ("tiny",),
        routes: Mapping[str, Answer] | None = None,
        base: str = "/v1",
    ) -> None:
        self.requests: list[Recorded] = []
        self.others: list[Recorded] = []
        self.unscripted: list[Recorded] = []
        self.connections = 0
        self.hangups = 0
        self._answering = script if callable(script) else None
        self._script = deque(() if callable(script) else script)
        self._base = base
        self._routes = {f"{base}/models": _models_answer(models), **(routes or {})}
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}{base}"

    @property
    def left(self) -> int:
        """How many answers of the script nobody asked for yet."""
        return len(self._script)

    def add(self, *answers: Answer) -> None:
        """Puts answers at the end of the script."""
        self._script.extend(answers)

    def route(self, path: str, answer: Answer) -> None:
        """Answers requests for `path` from now on."""
        with self._lock:
            self._routes[path] = answer

    def close(self) -> None:
        """Ends the server and all its connections."""
        self._closing.set()
        with self._lock:
            for connection in (self._listener, *self._open):
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if kind is None and self.unscripted:
            raise AssertionError(f"{len(self.unscripted)} chat request(s) beyond the script")

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self.connections += 1
                self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as reader, contextlib.suppress(OSError, ValueError):
                while not self._closing.is_set():
                    if reader.peek(1)[:1] == TLS_HANDSHAKE:
                        connection.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\nplain HTTP is spoken here\n")
                        return
                    request = _read_request(reader)
                    if request is None or not self._give(connection, self._answer_to(request)):
                        return
        finally:
            with self._lock:
                self._open.discard(connection)

    def _answer_to(self, request: Recorded) -> Answer:
        path = request.path.partition("?")[0]
        with self._lock:
            if path == f"{self._base}/chat/completions" and request.method == "POST":
                self.requests.append(request)
                if self._answering is not None:
                    return self._answering(request)
                if self._script:
                    return self._script.popleft()
                self.unscripted.append(request)
                return fails(599, "this request is beyond the test's script")
            self.others.append(request)
        return self._routes.get(path, fails(404, f"no such path: {path}"))

    def _give(self, connection: socket.socket, answer: Answer) -> bool:
        """Sends the answer; True when the connection may be used again."""
        match answer:
            case Body(body=body):
                head = _head(answer.status, answer.content_type, answer.headers)
                connection.sendall(head + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
                return True
            case Stream():
                return self._stream(connection, answer)
            case Reset(after=after):
                end: Literal["reset"] = "reset"
                if after:
                    return self._stream(connection, Stream((after, 0.05), end=end))
                _reset(connection)
            case Raw(data=data):
                connection.sendall(data)
            case Silence(seconds=seconds):
                self._pause(connection, seconds)
            case Drop():
                pass
        return False

    def _stream(self, connection: socket.socket, answer: Stream) -> bool:
        head = _head(answer.status, answer.content_type, answer.headers)
        try:
            connection.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
            for piece in answer.chunks:
                if isinstance(piece, bytes):
                    connection.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" if piece else b"")
                elif isinstance(piece, threading.Event):
                    piece.wait(20)
                elif not self._pause(connection, piece):
                    return False
            if answer.end == "end":
                connection.sendall(b"0\r\n\r\n")
        except OSError:
            self._hung_up()
            return False
        if answer.end == "reset":
            _reset(connection)
        return answer.end == "end"

    def _pause(self, connection: socket.socket, seconds: float) -> bool:
        """Waits; False when the client hung up meanwhile, or the server closes."""
        readable, _, _ = select.select([connection], [], [], seconds)
        if not readable:
            return True
        if not self._closing.is_set():
            self._hung_up()
        return False

    def _hung_up(self) -> None:
        with self._lock:
            self.hangups += 1


def _models_answer(models: tuple[str, ...] | Answer) -> Answer:
    if not isinstance(models, tuple):
        return models
    return Body(
        json.dumps({"object": "list", "data": [{"id": m, "object": "model"} for m in models]}).encode()
    )


def _read_request(reader: Any) -> Recorded | None:
    """The next request on a connection; None at its end."""
    first = reader.readline().decode("latin-1").split()
    if len(first) < 2:
        return None
    headers: dict[str, str] = {}
    while line := reader.readline().decode("latin-1").strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = reader.read(int(headers.get("content-length", "0")))
    try:
        parsed = json.loads(body)
    except ValueError:
        parsed = None
    return Recorded(first[0], first[1], headers, body, parsed)


def _head(status: int, content_type: str, headers: Headers) -> bytes:
    lines = [
        f"HTTP/1.1 {status} Scripted",
        f"Content-Type: {content_type}",
        *(f"{n}: {v}" for n, v in headers),
    ]
    return ("\r\n".join(lines) + "\r\n").encode()


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
