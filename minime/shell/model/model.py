"""The body of a request in, the model's answer out: one streamed request, its watchdog, its retries."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from minime.core.events import Event, Notice, TextDelta
from minime.core.model import sse
from minime.core.model.failures import Asked, Failure, failure
from minime.core.model.reply import Broken, Complete, Draft, Reply, add_payload, finish
from minime.core.model.retries import Tries, model_asked, next_try, with_note, without_tools
from minime.core.model.servers import Server, parse_models
from minime.core.model.troubles import (
    BadSetting,
    NoAnswer,
    NoReply,
    Status,
    TooLarge,
    Trouble,
)
from minime.core.values import Assistant
from minime.shell.model.http import (
    body_of,
    network_errors,
    new_client,
    refusal_of,
    setting_errors,
    setting_of,
    trouble_of,
)
from minime.shell.model.silence import Silence

if TYPE_CHECKING:
    import httpx

WAITS = (1.0, 3.0)
"""Seconds before the first and the second retry of a busy server."""

MODELS_SECONDS = 10.0
FIRST_BYTE_FACTOR = 5
AFTER_END_SECONDS = 0.2
"""How long the end of the body may follow the end mark, so that the connection can be used again."""

MOST_BYTES = 64_000_000
MOST_LIST_BYTES = 4_000_000

Emit = Callable[[Event], None]


class ModelFailed(Exception):  # noqa: N818 - says what happened
    """No answer could be had; `failure` says why, and the way out."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.shown)
        self.failure = failure


class Model:
    """A model server, asked over one HTTP client for as long as it lives.

    `watchdog` is the silence between bytes, in seconds, after which a request is given up (the first byte
    has five times that; 0: never); `secrets` are shown in no line.
    """

    def __init__(
        self,
        server: Server,
        *,
        api_key: str = "",
        headers: Mapping[str, str] | None = None,
        watchdog: float = 120.0,
        secrets: tuple[str, ...] = (),
        waits: tuple[float, ...] = WAITS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.server = server
        self._api_key = api_key.strip()
        self._headers = dict(headers or {})
        self._watchdog = watchdog
        self._secrets = tuple(secret for secret in (*secrets, self._api_key) if secret)
        self._waits = waits
        self._most_bytes = most_bytes
        self._toolless: set[str] = set()
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, body: bytes, tools: frozenset[str], emit: Emit) -> Assistant:
        """The model's answer to `body`; `tools` are the names of those offered in it. Its pieces go to `emit`
        as they come. Raises ModelFailed only (and CancelledError, when cancelled)."""
        began = time.monotonic()
        model = model_asked(body)
        tries = Tries(toolless=model in self._toolless)
        shown = False

        def watch(event: Event) -> None:
            nonlocal shown
            shown = shown or isinstance(event, TextDelta)
            emit(event)

        while True:
            offered: frozenset[str] = frozenset() if tries.toolless else tools
            sent = without_tools(body) if tools and not offered else body
            sent = with_note(sent, tries.note) if tries.note else sent
            outcome = await self._once(sent, offered, watch)
            if isinstance(outcome, Complete):
                for event in outcome.late:
                    emit(event)
                seconds = round(time.monotonic() - began, 3)
                return msgspec.structs.replace(
                    outcome.assistant, seconds=seconds, model=outcome.assistant.model or model
                )
            failed = await self._failure(outcome, model)
            again = next_try(
                failed, tries, waits=self._waits, watchdog=self._watchdog, shown=shown, tools=bool(offered)
            )
            if again is None:
                raise ModelFailed(failed)
            tries = again.tries
            if again.notice:
                emit(Notice(again.notice))
            if tries.toolless:
                self._toolless.add(model)
            await asyncio.sleep(again.seconds)

    def begin(self) -> None:
        """Makes the client, so that the next request goes out at once; what cannot be made is told then."""
        with contextlib.suppress(*setting_errors()):
            self._client_here()

    def takes_tools(self, model: str) -> bool:
        """Whether `model` may be offered tools: the server has not said that it cannot call any."""
        return model not in self._toolless

    async def models(self) -> tuple[str, ...]:
        """The names of the models that the server has. Raises ModelFailed only."""
        found = await self._models()
        if isinstance(found, tuple):
            return found
        raise ModelFailed(failure(found, self._asked("")))

    async def close(self) -> None:
        """Ends the connections. The model can be asked again afterwards."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    async def _once(self, body: bytes, tools: frozenset[str], emit: Emit) -> Complete | Trouble:
        """One request, and what came of it."""
        request = self._request("POST", f"{self.server.base_url}/chat/completions", body)
        if isinstance(request, BadSetting):
            return request
        answer, silence = _Answer(Draft(tools, self._secrets), emit), Silence()
        patience = self._watchdog or None
        trouble: Trouble | None = None
        try:
            async with asyncio.timeout(None) as deadline:
                silence.watch(deadline, patience and patience * FIRST_BYTE_FACTOR)
                async with contextlib.aclosing(self._received(request)) as stream:
                    async for received in stream:
                        if not isinstance(received, bytes):
                            return received
                        answer.take(received)
                        if answer.size > self._most_bytes:
                            return TooLarge(self._most_bytes)
                        silence.watch(deadline, AFTER_END_SECONDS if answer.draft.marked else patience)
        except TimeoutError:
            first = not answer.size
            trouble = NoAnswer(self._watchdog * (FIRST_BYTE_FACTOR if first else 1), first)
        except network_errors() as error:
            trouble = trouble_of(error, begun=bool(answer.size))
        finally:
            silence.end()
        # What had ended before its connection did, ended well.
        if trouble is not None and not answer.draft.ended and not answer.draft.error:
            return trouble
        match answer.end():
            case Complete() as complete:
                return complete
            case Broken(fault=fault, raw=raw):
                return NoReply(fault, raw)

    async def _received(self, request: "httpx.Request") -> AsyncGenerator[bytes | Status, None]:
        """The bytes of the answer as they come, or the refusal that the server gives instead."""
        response = await self._client_here().send(request, stream=True)
        try:
            refusal = response.status_code >= 300 or "text/html" in response.headers.get("content-type", "")
            if refusal:
                yield await refusal_of(response)
                return
            async with contextlib.aclosing(body_of(response)) as body:
                async for received in body:
                    yield received
        finally:
            await response.aclose()

    async def page(self, url: str, body: bytes = b"", *, within: float = MODELS_SECONDS) -> bytes | Trouble:
        """What stands at an address of the server, asked with POST where there is a `body`; or what was in
        the way. Raises nothing."""
        request = self._request("POST" if body else "GET", url, body or None)
        if isinstance(request, BadSetting):
            return request
        page = b""
        try:
            async with asyncio.timeout(within):
                async with contextlib.aclosing(self._received(request)) as stream:
                    async for received in stream:
                        if not isinstance(received, bytes):
                            return received
                        page += received
                        if len(page) > MOST_LIST_BYTES:
                            return TooLarge(MOST_LIST_BYTES)
        except TimeoutError:
            return NoAnswer(within)
        except network_errors() as error:
            return trouble_of(error, begun=bool(page))
        return page

    async def _models(self) -> tuple[str, ...] | Trouble:
        page = await self.page(f"{self.server.base_url}/models")
        return parse_models(page) if isinstance(page, bytes) else page

    async def _failure(self, trouble: Trouble, model: str) -> Failure:
        """The failure that `trouble` is; one about a missing model names those that are there."""
        failed = failure(trouble, self._asked(model))
        if failed.kind != "no-model":
            return failed
        found = await self._models()
        return failure(trouble, self._asked(model, found if isinstance(found, tuple) else ()))

    def _asked(self, model: str, models: tuple[str, ...] = ()) -> Asked:
        return Asked(self.server, model, models, bool(self._api_key), self._watchdog, self._secrets)

    def _request(self, method: str, url: str, body: bytes | None = None) -> "httpx.Request | BadSetting":
        try:
            return self._client_here().build_request(method, url, content=body)
        except setting_errors() as error:
            return setting_of(error)

    def _client_here(self) -> "httpx.AsyncClient":
        """The one client; a new one when the event loop is another, for connections belong to theirs."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client = new_client(self.server.base_url, self._api_key, self._headers)
            self._loop = loop
        return self._client


class _Answer:
    """An answer as its bytes come: the folds of `sse` and `reply`, one behind the other."""

    def __init__(self, draft: Draft, emit: Emit) -> None:
        self.draft = draft
        self.size = 0
        self._emit = emit
        self._sse = sse.SseState()

    def take(self, received: bytes) -> None:
        self.size += len(received)
        self._sse, payloads = sse.feed(self._sse, received)
        self._add(payloads)

    def end(self) -> Reply:
        self._add(sse.close(self._sse))
        return finish(self.draft)

    def _add(self, payloads: tuple[bytes, ...]) -> None:
        for payload in payloads:
            self.draft, events = add_payload(self.draft, payload)
            for event in events:
                self._emit(event)
