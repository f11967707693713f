"""What can go wrong between a request and its answer, as values that `failures` words."""

from typing import Literal

import msgspec


class Unreachable(msgspec.Struct, frozen=True):
    """No connection. `no_host`: the name of the host is unknown."""

    detail: str = ""
    no_host: bool = False


class Insecure(msgspec.Struct, frozen=True):
    """No secure connection: a certificate, or a server that speaks plain HTTP."""

    detail: str = ""


class NotHttp(msgspec.Struct, frozen=True):
    """What answered does not speak HTTP."""

    detail: str = ""


class BadSetting(msgspec.Struct, frozen=True):
    """The request could not even be made: an address or a header that is none."""

    detail: str = ""


class Dropped(msgspec.Struct, frozen=True):
    """The connection was closed before the first byte of an answer."""

    detail: str = ""


class BrokenOff(msgspec.Struct, frozen=True):
    """The connection broke in the middle of the answer."""

    detail: str = ""


class NoAnswer(msgspec.Struct, frozen=True):
    """Silence for `seconds`; `first`: not one byte had come."""

    seconds: float
    first: bool = True


class Status(msgspec.Struct, frozen=True):
    """An answer that is not a model's: an HTTP error, a redirect, a web page. `retry_after` in seconds;
    `location` is where a redirect leads."""

    status: int
    body: bytes = b""
    retry_after: float = 0.0
    page: bool = False
    location: str = ""


class NoReply(msgspec.Struct, frozen=True):
    """A stream that came to no answer, in the words of `reply.Broken`."""

    fault: Literal["error", "nothing", "garbled", "early", "empty", "nameless", "thinking", "cut"]
    raw: str = ""


class TooLarge(msgspec.Struct, frozen=True):
    """An answer without an end: `limit` bytes had come."""

    limit: int


Trouble = (
    Unreachable
    | Insecure
    | NotHttp
    | BadSetting
    | Dropped
    | BrokenOff
    | NoAnswer
    | Status
    | NoReply
    | TooLarge
)
