"""Bytes of a stream of server-sent events in, the payloads of its events out: a fold, however they are cut.

Follows the event stream format of the HTML standard, and takes more than it allows: `error:` lines, JSON
lines without a field name (a body that is no stream at all is one of these), a last event without its blank
line. Lines end at LF, CR and CRLF only: U+2028 and U+0085 are text.
"""

import msgspec

from minime.core.model.pieces import push

BOM = b"\xef\xbb\xbf"
DONE = b"[DONE]"


class SseState(msgspec.Struct, frozen=True):
    """What stands between two feeds: the unfinished line, and the unfinished event as its data lines or its
    bare JSON lines, each with a line feed at its end; `event` is the event's name."""

    line: tuple[bytes, ...] = ()
    data: tuple[bytes, ...] = ()
    bare: tuple[bytes, ...] = ()
    event: bytes = b""
    at_start: bool = True
    after_cr: bool = False


_BETWEEN = SseState(at_start=False)
"""Between two events."""


def feed(state: SseState, received: bytes) -> tuple[SseState, tuple[bytes, ...]]:
    """The state behind `received`, and the payloads of the events that it completes. The end mark `[DONE]`
    is a payload like any other; an error comes as `{"error": …}` whichever way it was sent."""
    if not received:
        return state, ()
    if state == _BETWEEN and _is_one_event(received):
        return state, (received[6:-2],)
    after_cr = received.endswith(b"\r")
    if state.after_cr and received.startswith(b"\n"):
        received = received[1:]
    if b"\r" in received:
        received = received.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    first, found, more = received.partition(b"\n")
    line = push(state.line, first)
    if not found:
        return SseState(line, state.data, state.bare, state.event, state.at_start, after_cr), ()
    event = _Event(state.data, state.bare, state.event)
    whole = b"".join(line)
    event.take(whole.removeprefix(BOM) if state.at_start else whole)
    *events, rest = more.split(b"\n\n")
    for lines in events:
        if lines.startswith(b"data: {") and b"\n" not in lines and event.resting:
            event.payloads.append(lines[6:])  # an event of one line, as nearly all are
        else:
            event.take_all(lines.split(b"\n"))
            event.end()
    *finished, begun = rest.split(b"\n")
    event.take_all(finished)
    tail = (begun,) if begun else ()
    return SseState(tail, event.data, event.bare, event.name, False, after_cr), tuple(event.payloads)


def _is_one_event(received: bytes) -> bool:
    """Whether this is the event that nearly all are, one line of JSON, and comes by itself."""
    return (
        received.startswith(b"data: {")
        and received.endswith(b"\n\n")
        and received.find(b"\n") == len(received) - 2
        and b"\r" not in received
    )


def close(state: SseState) -> tuple[bytes, ...]:
    """The payloads that a stream ending here still had on the way."""
    event = _Event(state.data, state.bare, state.event)
    whole = b"".join(state.line)
    event.take(whole.removeprefix(BOM) if state.at_start else whole)
    event.end()
    return tuple(event.payloads)


class _Event:
    """The event in hand, while the lines of one feed are read."""

    __slots__ = ("bare", "data", "name", "payloads")

    def __init__(self, data: tuple[bytes, ...], bare: tuple[bytes, ...], name: bytes) -> None:
        self.data, self.bare, self.name = data, bare, name
        self.payloads: list[bytes] = []

    @property
    def resting(self) -> bool:
        return not (self.data or self.bare or self.name)

    def take_all(self, lines: list[bytes]) -> None:
        for line in lines:
            self.take(line)

    def take(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._end_bare()
            value = line[6:] if line.startswith(b"data: ") else line[5:]
            self.data = push(self.data, value + b"\n")
        elif not line:
            self.end()
        elif line.startswith(b"{"):
            # A bare object. One that begins behind a finished one is another (JSON lines).
            self.end()
            self.bare = (line + b"\n",)
        elif line.startswith(b"error:"):
            self.end()
            self.payloads.append(_error(line[6:]))
        elif self.bare:
            self.bare = push(self.bare, line + b"\n")
        elif line.startswith(b"event:"):
            self.name = line[6:].strip()

    def end(self) -> None:
        self._end_bare()
        if self.data:
            payload = b"".join(self.data)[:-1]
            if payload:
                self.payloads.append(_error(payload) if self.name == b"error" else payload)
            self.data = ()
        self.name = b""

    def _end_bare(self) -> None:
        if self.bare:
            self.payloads.append(b"".join(self.bare)[:-1])
            self.bare = ()


def _error(value: bytes) -> bytes:
    return b'{"error": ' + value.strip() + b"}"
