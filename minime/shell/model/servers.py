"""The search for local model servers: where to look goes in, those that offer models come out."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit

from minime.core.model.http_answer import HttpAnswer, question, whole_answer
from minime.core.model.servers import KNOWN, Known, Offer, offer

WITHIN = 0.3
MOST_BYTES = 4_000_000
PIECE = 1 << 16


async def find_server(
    candidates: tuple[Known, ...] = KNOWN, *, wanted: str | None = None, within: float = WITHIN
) -> Offer | None:
    """The first of `candidates`, in their order, that offers the model `wanted`, else the first that offers
    any; None when none does.

    All are asked at once, for at most `within` seconds. A port where something else listens is passed
    over, and so is a server without a model or one that wants a key.
    """
    first = None
    async with contextlib.aclosing(_offers(candidates, within)) as offers:
        async for found in offers:
            if wanted is None or {wanted, f"{wanted}:latest"} & set(found.models):
                return found
            first = first or found
    return first


async def find_servers(candidates: tuple[Known, ...] = KNOWN, *, within: float = WITHIN) -> tuple[Offer, ...]:
    """All of `candidates` that offer models, in their order; asked like `find_server` does."""
    return tuple([found async for found in _offers(candidates, within)])


async def look_for_servers(
    candidates: tuple[Known, ...] = KNOWN, *, within: float = WITHIN
) -> tuple[tuple[Known, HttpAnswer], ...]:
    """What answers at the places of `candidates` when asked for its models, whatever it is."""
    asked = [asyncio.create_task(_models_page(entry.base_url)) for entry in candidates]
    if asked:
        await asyncio.wait(asked, timeout=within)
    for task in asked:
        task.cancel()
    pages = await asyncio.gather(*asked, return_exceptions=True)
    return tuple((entry, p) for entry, p in zip(candidates, pages, strict=True) if isinstance(p, HttpAnswer))


async def _offers(candidates: tuple[Known, ...], within: float) -> AsyncGenerator[Offer, None]:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within
    asked = [asyncio.create_task(_models_page(entry.base_url)) for entry in candidates]
    try:
        for entry, task in zip(candidates, asked, strict=True):
            await asyncio.wait((task,), timeout=max(0.0, deadline - loop.time()))
            page = task.result() if task.done() else None
            found = page and offer(entry, page.status, page.headers, page.body)
            if found:
                yield found
    finally:
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)


async def _models_page(base_url: str) -> HttpAnswer | None:
    address = urlsplit(f"{base_url}/models")
    try:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
    except OSError:
        return None
    try:
        writer.write(question(address.netloc, address.path))
        return await _answer(reader)
    except OSError:
        return None
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _answer(reader: asyncio.StreamReader) -> HttpAnswer | None:
    received = b""
    while len(received) < MOST_BYTES:
        piece = await reader.read(PIECE)
        received += piece
        answer = whole_answer(received, ended=not piece)
        if answer is not None or not piece:
            return answer
    return None
