"""The search for a local model server: where to look goes in, the first that answers comes out."""

import asyncio
import contextlib
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from minime.core.servers import KNOWN, Known, Offer, Server, parse_models, recognise
from minime.shell.http import network_errors, new_client

if TYPE_CHECKING:
    import httpx

WITHIN = 0.3
MOST_BYTES = 4_000_000


async def find_server(candidates: tuple[Known, ...] = KNOWN, *, within: float = WITHIN) -> Offer | None:
    """The first of `candidates`, in their order, that offers models; None when none does.

    All are asked at once, for at most `within` seconds. A port where something else listens is passed
    over, and so is a server without a model or one that wants a key.
    """
    loop = asyncio.get_running_loop()
    begun = loop.time()
    open_ports = await asyncio.gather(*(_listens(entry, within) for entry in candidates))
    there = [entry for entry, is_open in zip(candidates, open_ports, strict=True) if is_open]
    if not there:
        return None
    left = begun + within - loop.time()
    async with new_client(there[0].base_url, "", {}) as client:
        asked = [asyncio.create_task(_offer(client, entry)) for entry in there]
        deadline = loop.time() + left
        try:
            for task in asked:
                with contextlib.suppress(TimeoutError):
                    offer = await asyncio.wait_for(asyncio.shield(task), max(0.0, deadline - loop.time()))
                    if offer is not None:
                        return offer
            return None
        finally:
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)


async def _listens(entry: Known, within: float) -> bool:
    # Cheaper than the HTTP client, whose loading alone takes longer than all five refusals.
    address = urlsplit(entry.base_url)
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(address.hostname, address.port), within)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


async def _offer(client: "httpx.AsyncClient", entry: Known) -> Offer | None:
    body = bytearray()
    try:
        async with client.stream("GET", f"{entry.base_url}/models") as response:
            if not response.is_success:
                return None
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MOST_BYTES:
                    return None
    except network_errors():
        return None
    models = parse_models(bytes(body))
    if not models:
        return None
    kind = recognise(entry.kind, response.headers, bytes(body))
    return Offer(Server(kind, entry.base_url), models)
