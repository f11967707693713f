"""The search for a local model server: where to look goes in, the first that offers models comes out."""

import asyncio
import contextlib
from urllib.parse import urlsplit

from minime.core.model.http_answer import HttpAnswer, question, whole_answer
from minime.core.model.servers import KNOWN, Known, Offer, offer

WITHIN = 0.3
MOST_BYTES = 4_000_000
PIECE = 1 << 16


async def find_server(candidates: tuple[Known, ...] = KNOWN, *, within: float = WITHIN) -> Offer | None:
    """The first of `candidates`, in their order, that offers models; None when none does.

    All are asked at once, for at most `within` seconds. A port where something else listens is passed
    over, and so is a server without a model or one that wants a key.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within
    asked = [asyncio.create_task(_models_page(entry.base_url)) for entry in candidates]
    try:
        for entry, task in zip(candidates, asked, strict=True):
            await asyncio.wait((task,), timeout=max(0.0, deadline - loop.time()))
            page = task.result() if task.done() else None
            found = page and offer(entry, page.status, page.headers, page.body)
            if found:
                return found
        return None
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
