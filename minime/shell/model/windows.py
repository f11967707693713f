"""The context windows of the models in use: each is asked of its server once, beside what else goes on."""

import asyncio

from minime.core.model.servers import Server
from minime.core.model.windows import Window, assumed_window, read_window, recognised, window_pages
from minime.shell.model.model import Model

WITHIN = 1.0
"""Seconds that a server has for all its pages; what it has not told by then is assumed."""


class Windows:
    """What servers have told of their models' windows, by address and name."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], Window] = {}
        self._asked: dict[tuple[str, str], int] = {}
        self._asking: dict[tuple[str, str], asyncio.Task[None]] = {}

    def known(self, server: Server, name: str) -> Window:
        """The window of a model as far as it is known; else what is assumed of such a server."""
        return self._told.get((server.base_url, name)) or assumed_window(server.kind)

    def ask(self, model: Model, name: str, *, loaded: bool = False) -> None:
        """Begins to ask for the window of a model, once; and once more when it is `loaded`, where what is
        known is not firm: a server may know no more before that."""
        key = (model.server.base_url, name)
        most = 2 if loaded else 1
        if key in self._asking or self._asked.get(key, 0) >= most or self.known(model.server, name).firm:
            return
        self._asked[key] = most

        async def ask() -> None:
            try:
                told = await ask_window(model, name)
                if told is not None:
                    self._told[key] = told
            finally:
                self._asking.pop(key, None)

        self._asking[key] = asyncio.create_task(ask())

    async def wait(self) -> None:
        """Waits for what is being asked, for as long as servers have at most."""
        if self._asking:
            await asyncio.wait(tuple(self._asking.values()), timeout=2 * WITHIN)

    async def close(self) -> None:
        """Asks no more."""
        asking = tuple(self._asking.values())
        self._asking.clear()
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


async def ask_window(model: Model, name: str, *, within: float = WITHIN) -> Window | None:
    """The window that the server tells of the model `name`; None when it tells none in time."""
    model.begin()  # loading the HTTP client is no fault of the server's
    server, seen = model.server, set[str]()
    pages = list(window_pages(server, name))
    try:
        async with asyncio.timeout(within):
            while pages:
                page = pages.pop(0)
                seen.add(page.url)
                body = await model.page(page.url, page.body, within=within)
                if not isinstance(body, bytes):
                    continue
                told = read_window(server, name, page, body)
                if told is not None:
                    return told
                known = recognised(server, page, body)
                if known != server:
                    server = known
                    pages = [other for other in window_pages(server, name) if other.url not in seen]
    except TimeoutError:
        pass
    return None
