"""The HTTP client and what comes of it but answers: its errors and a server's refusals, as values."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING

from minime import __version__
from minime.core.model.retries import pause_asked
from minime.core.model.servers import is_loopback
from minime.core.model.troubles import (
    BadSetting,
    BrokenOff,
    Dropped,
    Insecure,
    NotHttp,
    Status,
    Trouble,
    Unreachable,
)

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 5.0
MOST_ERROR_BYTES = 64_000
MOST_UNPACKED = 262_144
"""Bytes that a compressed answer gives at a time."""

UNKNOWN_HOST = ("name or service not known", "nodename nor servname", "getaddrinfo", "name resolution")


def new_client(base_url: str, api_key: str, headers: Mapping[str, str]) -> "httpx.AsyncClient":
    """A client for the server at `base_url`; it waits for bytes as long as its caller does. Raises
    ValueError, TypeError or OSError for headers and settings of the environment that are none."""
    _load_httpx()
    import httpx

    sent = {
        "content-type": "application/json",
        "accept": "text/event-stream, application/json",
        "accept-encoding": "identity",
        "user-agent": f"mini-me/{__version__}",
    }
    if api_key:
        sent["authorization"] = f"Bearer {api_key}"
    loopback = is_loopback(base_url)
    return httpx.AsyncClient(
        headers=sent | {name.lower(): value for name, value in headers.items()},
        trust_env=not loopback,  # a proxy of the environment is none for this machine itself
        verify=not (loopback and base_url.startswith("http:")),  # loading certificates is slow
        timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
    )


def _load_httpx() -> None:
    """Imports httpx without the command line of its own, which it would take along (and with it click, rich
    and pygments, twice the time of all the rest) wherever click happens to be installed."""
    name = "httpx._main"
    if "httpx" in sys.modules:
        return
    # None makes the import of this one module fail, as it does where click is missing.
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        import httpx  # noqa: F401
    finally:
        sys.modules.pop(name, None)


async def body_of(response: "httpx.Response") -> AsyncGenerator[bytes, None]:
    """The bytes of the body as they come. Compression is undone though mm asks for none, a piece at a time:
    a few bytes may stand for gigabytes, and who takes them has to be able to stop. Raises what the client
    raises, also for an encoding that is not known here."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in {"", "identity"}:
        async for received in response.aiter_raw():
            yield received
        return
    import zlib

    import httpx

    if encoding not in {"gzip", "x-gzip", "deflate"}:
        raise httpx.DecodingError(f"an answer in the encoding {encoding[:40]}, which mm did not ask for")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)  # either of the two, by its head
    try:
        async for received in response.aiter_raw():
            packed = received
            while piece := unpacker.decompress(packed, MOST_UNPACKED):
                yield piece
                packed = unpacker.unconsumed_tail
                await asyncio.sleep(0)  # one read may unpack for a minute, and can be cancelled meanwhile
    except zlib.error as error:
        raise httpx.DecodingError(str(error)) from None


def setting_of(error: Exception) -> BadSetting:
    """What an error of `setting_errors` means."""
    if isinstance(error, ImportError):
        return BadSetting("the proxy that the environment names, as in ALL_PROXY, needs httpx[socks]")
    return BadSetting(str(error))


async def refusal_of(response: "httpx.Response") -> Status:
    """What a server says instead of an answer, as far as it says it."""
    body = b""
    with contextlib.suppress(*network_errors()):
        async with contextlib.aclosing(body_of(response)) as pieces:
            async for received in pieces:
                body += received
                if len(body) > MOST_ERROR_BYTES:
                    break
    return Status(
        response.status_code,
        body,
        pause_asked(response.headers.get("retry-after", ""), response.headers.get("date", "")),
        page="text/html" in response.headers.get("content-type", "") and response.status_code < 400,
        location=response.headers.get("location", "") if response.is_redirect else "",
    )


def network_errors() -> tuple[type[Exception], ...]:
    """What the client raises for a server or a network; an error of a caller is none of them."""
    import ssl

    import httpx

    # A proxy's port beyond all ports shows itself when it is called, in a group where asyncio tries two ways.
    return (httpx.HTTPError, httpx.StreamError, ssl.SSLError, OverflowError, ExceptionGroup)


def setting_errors() -> tuple[type[Exception], ...]:
    """What making a client or a request raises for an address, a header or a setting that is none."""
    import httpx

    # The import that fails is that of a library for SOCKS, where the environment names such a proxy.
    return (httpx.InvalidURL, ValueError, TypeError, OSError, ImportError)


def trouble_of(error: Exception, *, begun: bool) -> Trouble:
    """What an error of the client means; `begun`: bytes of the answer had come."""
    import httpx

    detail = str(error)
    words = detail.lower()
    match error:
        case httpx.ConnectError() if not detail or "ssl" in words or "certificate" in words:
            return Insecure(detail or "the other side hung up")
        case httpx.ConnectError() | httpx.ConnectTimeout() | httpx.ProxyError():
            return Unreachable(detail, no_host=any(known in words for known in UNKNOWN_HOST))
        case httpx.UnsupportedProtocol():
            return BadSetting(detail)
        case OverflowError() | ExceptionGroup():
            return BadSetting("a proxy that the environment names has a port that is none")
        case httpx.LocalProtocolError():
            return BadSetting("a header holds what no header may")  # the detail would quote the key
        case httpx.RemoteProtocolError() if not begun and "disconnected" not in detail:
            return NotHttp(detail)
        case _:
            return BrokenOff(detail) if begun else Dropped(detail)
