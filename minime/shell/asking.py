"""How the model that answers is asked: what it is offered, what fits its window, what its counts teach."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import msgspec

from minime.core.budget import (
    Budget,
    Gauge,
    about,
    gauge_of,
    is_cut,
    learn,
    new_budget,
    result_limit,
    size,
    tokens,
    used,
)
from minime.core.config.fit import Fit, fit_for
from minime.core.config.settings import Settings
from minime.core.events import Event, Notice, UsageSeen
from minime.core.images import data_url, image_urls
from minime.core.instructions import with_folder_words
from minime.core.model.failures import cut_text
from minime.core.model.sight import blind_text
from minime.core.model.windows import ASSUMED_ORIGIN, Window
from minime.core.request import Sampling, build_request, fit, offered_tools, sampling, summary_request
from minime.core.tools.outside import ToolSpec
from minime.core.tools.toolbox import declared_size, tool_declarations
from minime.core.turn import Turn
from minime.core.values import Assistant, Message, Session, Tool, ToolCall
from minime.shell.loop import Emit, Hands
from minime.shell.model.model import ModelFailed
from minime.shell.pictures import Pictures
from minime.shell.reaching import Connection, Reach
from minime.shell.tools.inside import Place
from minime.shell.tools.tools import Ready, Tools

if TYPE_CHECKING:
    from minime.shell.mcp.servers import Servers


class Asking:
    """What an agent knows about asking its model. `reach` leads to it, `window` tells its context window as
    far as it is known, `servers` offer it more tools; `told_window` is the window that its server has named
    in a refusal; `pictures` are the images of the conversations, `folder_words` the files that speak to an
    agent about a place."""

    def __init__(
        self,
        settings: Settings,
        reach: Reach,
        window: Callable[[], Window],
        servers: "Servers | None" = None,
        folder_words: Callable[[Place], tuple[tuple[str, bytes], ...]] = lambda _: (),
    ) -> None:
        self.told_window = 0
        self.pictures = Pictures()
        self._sees: dict[tuple[str, str], bool | None] = {}
        self._settings = settings
        self._path = reach
        self._window = window
        self._servers = servers
        self._folder_words = folder_words
        self._fit = fit_for(False, settings)
        self._gauge = Gauge()
        self._told_cut: set[str] = set()

    def hands(
        self,
        session: Session,
        tools: Tools,
        consent: Callable[[ToolCall, Ready], Awaitable[str]],
        keep: Callable[[Turn], None],
    ) -> Hands:
        """What a turn beside `session` needs of the world."""

        async def ask(session: Session, turn: Turn, emit: Emit) -> Assistant:
            connection = await self._reach(emit)
            names = self._offered(connection, turn)
            images = await self._images(connection, image_urls(session.messages + turn.messages), emit)
            begun = False

            def watch(event: Event) -> None:
                nonlocal begun
                if not begun:
                    begun = True
                    self._path.loaded()
                if isinstance(event, UsageSeen):
                    window = self._window()
                    event = UsageSeen(event.usage, window.tokens, window.origin)
                emit(event)

            while True:
                body = build_request(
                    session,
                    turn,
                    connection.name,
                    tool_declarations(names, self.others()),
                    sampling(self._settings, connection.fit, turn, names),
                    images,
                )
                try:
                    answer = await connection.model.ask(body, frozenset(names), watch)
                    break
                except ModelFailed as failed:
                    if failed.failure.window:
                        self.told_window = failed.failure.window
                    if failed.failure.kind != "no-images" or not images:
                        raise
                self._sees[connection.server.base_url, connection.name] = False
                emit(Notice(blind_text(connection.name)))
                images = {}
            if names == self._offered(connection, turn) and answer.usage is not None:
                sent = size(fit(session.messages + turn.messages)) + self._declared(names)
                self._count(connection, session, sent, answer.usage.prompt_tokens, emit)
            return msgspec.structs.replace(answer, model=connection.name)

        async def run(call_id: str, ready: Ready, progress: Callable[[str], None]) -> Tool:
            limit = result_limit(self.budget(session))
            result = await tools.run(call_id, ready, progress, limit)
            if ready.place is None or result.failed:
                return result
            told = with_folder_words(result, self._folder_words(ready.place), given, limit // 2)
            given.append(told)
            return told

        given: list[Message] = list(session.messages)
        known = self.budget(session)

        async def budget(turn: Turn | None, emit: Emit) -> Budget:
            await self._reach(emit)
            # A short conversation fits any window: its first request does not wait to hear of it.
            if turn is None or turn.messages[1:] or 2 * used(session.messages, known) > known.limit:
                await self._path.settled()
            return await self.ask_budget(turn, emit)

        return Hands(ask, budget, self.sum_up, tools.prepare, consent, run, keep, self.others)

    def others(self) -> tuple[ToolSpec, ...]:
        """The tools of servers that are ready."""
        return self._servers.tools if self._servers is not None else ()

    def budget(self, session: Session) -> Budget:
        """What a request behind `session` may take, as far as is known without asking anybody. The counts
        that stand in the session teach how many bytes make a token, where nothing else has."""
        declared = self._declared(self._names())
        budget = self._budget(self._fit, declared)
        if not self._gauge.counts:
            self._gauge = gauge_of(session, budget.tools)
            budget = self._budget(self._fit, declared)
        return budget

    async def ask_budget(self, turn: Turn | None, emit: Emit) -> Budget:
        """What a request of `turn` may take, once the model that answers is known, and which tools there are.
        Raises ModelFailed."""
        connection = await self._reach(emit)
        if self._servers is not None:
            await self._servers.ready()
            for line in self._servers.news():
                emit(Notice(line))
        names = self._names() if turn is None else self._offered(connection, turn)
        return self._budget(connection.fit, self._declared(names))

    async def sum_up(self, history: tuple[Message, ...], most: int, emit: Emit) -> Assistant:
        """The model's answer to a history of its own, without tools, in at most so many tokens. Raises
        ModelFailed."""
        connection = await self._reach(emit)
        suits = connection.fit
        wanted = Sampling(suits.temperature, max_tokens=most, repeat_penalty=suits.repeat_penalty)
        body = summary_request(history, connection.name, wanted)
        answer = await connection.model.ask(body, frozenset(), emit)
        return msgspec.structs.replace(answer, model=connection.name)

    async def _images(self, connection: Connection, urls: tuple[str, ...], emit: Emit) -> dict[str, str]:
        """The images that the model is shown; none where it is known to take none, which is told once."""
        if not urls:
            return {}
        key = connection.server.base_url, connection.name
        if key not in self._sees:
            from minime.shell.model.sight import sees

            self._sees[key] = await sees(connection.model, connection.name)
            if self._sees[key] is False:
                emit(Notice(blind_text(connection.name)))
        if self._sees[key] is False:
            return {}
        return {url: data_url(url, data) for url, data in self.pictures.to_send(urls).items()}

    async def _reach(self, emit: Emit) -> Connection:
        connection = await self._path.connected(lambda line: emit(Notice(line)))
        self._fit = connection.fit
        return connection

    def _budget(self, fit: Fit, tools: int) -> Budget:
        rules, answer = self._settings.compaction, fit.max_output or 0
        window = self._window()
        guessed = window.origin == ASSUMED_ORIGIN
        return new_budget(window.tokens, tools, self._gauge, rules, answer, guessed=guessed)

    def _offered(self, connection: Connection, turn: Turn) -> tuple[str, ...]:
        if not connection.model.takes_tools(connection.name):
            return ()
        return offered_tools(connection.fit, self._names(), turn)

    def _names(self) -> tuple[str, ...]:
        return (*self._settings.tools, *(tool.name for tool in self.others()))

    def _declared(self, names: tuple[str, ...]) -> int:
        return declared_size(names, self.others())

    def _count(self, connection: Connection, session: Session, sent: int, counted: int, emit: Emit) -> None:
        """Learns from what the server counted of so many bytes, and tells once if it has cut the prompt."""
        self._gauge = learn(self._gauge, sent, counted)
        kind = connection.server.kind
        if kind != "embedded" and is_cut(sent, counted) and session.id not in self._told_cut:
            self._told_cut.add(session.id)
            emit(Notice(cut_text(kind, counted, about(tokens(self._gauge, sent)))))
