"""Bytes of an HTTP/1.1 answer, as far as they have come -> status, headers and body once they are all there.

For the one small question that the search for servers asks: loading the HTTP client takes longer than that
search may. Frames as in RFC 9112, section 6.3.
"""

import msgspec


class HttpAnswer(msgspec.Struct, frozen=True):
    """A whole answer; names of headers in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


def question(host: str, path: str) -> bytes:
    """The request for `path` on `host` (with its port), after which the server is to close."""
    lines = (f"GET {path} HTTP/1.1", f"Host: {host}", "Accept: application/json", "Connection: close", "", "")
    return "\r\n".join(lines).encode()


def whole_answer(received: bytes, *, ended: bool) -> HttpAnswer | None:
    """The answer, or None when it is not all there or is none. `ended`: nothing more will come."""
    head, parted, body = received.partition(b"\r\n\r\n")
    status_line, *lines = head.decode("latin-1").split("\r\n")
    protocol, _, rest = status_line.partition(" ")
    if not parted or not protocol.startswith("HTTP/1.") or not rest[:3].isdecimal():
        return None
    fields = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in fields}
    content = _content(headers, body, ended)
    return None if content is None else HttpAnswer(int(rest[:3]), headers, content)


def _content(headers: dict[str, str], body: bytes, ended: bool) -> bytes | None:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return _joined(body)
    length = headers.get("content-length", "")
    if length.isdecimal():
        return body[: int(length)] if len(body) >= int(length) else None
    return body if ended else None


def _joined(chunks: bytes) -> bytes | None:
    joined: list[bytes] = []
    place = 0
    while (end := chunks.find(b"\r\n", place)) >= 0:
        try:
            size = int(chunks[place:end].partition(b";")[0], 16)
        except ValueError:
            return None
        if size <= 0:
            return b"".join(joined)
        joined.append(chunks[end + 2 : end + 2 + size])
        place = end + 2 + size + 2
    return None
