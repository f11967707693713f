"""Which model answers: found when one is needed, not before; kept to, and changed when a person says so."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from minime.core.config.fit import Fit, fit_for
from minime.core.config.settings import Settings, secrets
from minime.core.model.embedded import CONTEXT_WINDOW, SMOLLM2, Stuck, answering_text, stuck_text
from minime.core.model.failures import Failure, no_models
from minime.core.model.offers import Choice, choices
from minime.core.model.servers import Offer, Server, choose_model, same_place, server_at, server_name
from minime.core.model.windows import Window
from minime.shell.model.model import Model, ModelFailed
from minime.shell.model.windows import Windows

if TYPE_CHECKING:
    from minime.shell.model.embedded import Embedded

SMOLLM2_NAME = SMOLLM2.file.split(".")[0]
IN_HERE = Server("embedded", "")
"""Where the embedded model is, as long as it is not known at which port."""

NO_MODEL = (
    "no model to ask: no local server answers and none is set; start one (ollama serve), set baseUrl in "
    "agent.yaml, or fetch a small model with: mm setup"
)
SURVEY_SECONDS = 1.0
NO_SERVER = (
    "the model {model} was asked for, but no local server answers; start one (ollama serve), or set baseUrl "
    "in agent.yaml or MM_BASE_URL"
)


class Connection(NamedTuple):
    """A model that can be asked: where, under which name, how much at once, and what ends with it."""

    model: Model
    server: Server
    name: str
    fit: Fit
    embedded: "Embedded | None" = None


class Reach:
    """The way to the model: the one of the settings, or what is found on this machine."""

    def __init__(self, settings: Settings, cwd: Path, environ: Mapping[str, str]) -> None:
        self.connection: Connection | None = None
        self.offer_weights: Callable[[], bool] = lambda: False
        """Asks the person whether to fetch the small model, and does; set where there is one to ask."""
        self._settings = settings
        self._cwd = cwd
        self._environ = environ
        self._name = settings.model
        self._configured = server_at(settings.base_url) if settings.base_url is not None else None
        self._server = self._configured
        self._retired: list[Connection] = []
        self._windows = Windows()
        self._choices: tuple[Choice, ...] = ()
        self._unknown = ""
        self._seen: tuple[str, Server | None] = ("", self._server)

    @property
    def name(self) -> str:
        """The name of the model that answers, as far as it is known without asking anybody."""
        return self.connection.name if self.connection else self._name or self._seen[0]

    async def connected(self, tell: Callable[[str], None]) -> Connection:
        """The model that answers, reached for at the first call. Raises ModelFailed. `tell` is given the
        line that says which model answers where nobody chose one."""
        if self.connection is None:
            self.connection = await self._connect(tell)
        if self._settings.context_window is None and self.connection.embedded is None:
            self._windows.ask(self.connection.model, self.connection.name)
        return self.connection

    def loaded(self) -> None:
        """The model has begun to answer: its server may now know more about its window."""
        connection = self.connection
        if connection is not None and self._settings.context_window is None and connection.embedded is None:
            self._windows.ask(connection.model, connection.name, loaded=True)

    async def settled(self) -> None:
        """Waits, a second at most, for what is being asked about the context window."""
        await self._windows.wait()

    def window(self) -> Window:
        """The context window of the model that answers, as far as it is known."""
        connection = self.connection
        name, server = (connection.name, connection.server) if connection else self._seen
        if self._is_file() or (server is not None and server.kind == "embedded"):
            return self._embedded_window(self._is_file())
        if self._settings.context_window is not None:
            return Window(self._settings.context_window, self._settings.origins.get("contextWindow", "set"))
        return self._windows.known(server or Server("other", ""), name)

    async def describe(self) -> str:
        """Who will answer, for a person at the start of a visit; asks servers, starts none."""
        self._seen = name, server = await self.glance()
        if server is None:
            return "no model server found (mm doctor)"
        if server.kind == "embedded":
            return f"{name}, embedded"
        if server == self._configured:
            return f"{name or 'no model yet'} at {server.base_url}"
        return f"{name} on {server_name(server.kind)}"

    async def glance(self) -> tuple[str, Server | None]:
        """Which model answers or would, and where; None where no server is found. Asks servers, starts none,
        raises nothing."""
        await self._resolve()
        connection = self.connection
        if connection is not None:
            return connection.name, IN_HERE if connection.embedded else connection.server
        if self._is_file():
            return Path(self._name or "").stem, IN_HERE
        if self._server is not None:
            return self._name or choose_model(None, await self._models(self._server)) or "", self._server
        if self._name != SMOLLM2_NAME:
            from minime.shell.model.servers import find_server

            found = await find_server(wanted=self._name)
            if found is not None:
                return self._name or choose_model(None, found.models) or "", found.server
        from minime.shell.model.embedded import find_weights, has_engine

        there = self._name in {None, SMOLLM2_NAME} and has_engine() and find_weights(self._environ)
        return (SMOLLM2_NAME, IN_HERE) if there else ("", None)

    async def survey(self) -> tuple[str, tuple[str, ...], Window]:
        """Which model will answer (empty: none), all that could, each by its label, and its context window.
        Asks servers, starts none, raises nothing."""
        await self.survey_window()
        name, server = self._seen
        there = await self.choices()
        label = next((c.label for c in there if c.name == name and c.server == server), name)
        return label, tuple(c.label for c in there), self.window()

    async def survey_window(self) -> None:
        """Sees to it that the context window is known as well as it can be now. Asks servers, starts none,
        raises nothing."""
        self._seen = name, server = await self.glance()
        if not name or server is None or server.kind == "embedded" or self._settings.context_window:
            return
        model = self._model(server)
        self._windows.ask(model, name)
        await self._windows.wait()
        await model.close()

    async def choices(self) -> tuple[Choice, ...]:
        """The models of all servers: of the one that the settings name, of those found, and the embedded one.
        Asks servers, starts none, raises nothing."""
        from minime.shell.model.embedded import find_weights, has_engine
        from minime.shell.model.servers import find_servers

        offers = list(await find_servers())
        used = self.connection.server if self.connection and not self.connection.embedded else self._server
        for server in filter(None, (used, self._configured)):
            there = next((offer for offer in offers if same_place(offer.server, server)), None)
            if there is None:
                offers.insert(0, Offer(server, await self._models(server)))
            elif server == self._configured:
                offers.remove(there)
                offers.insert(0, Offer(server, there.models))
        if has_engine() and find_weights(self._environ) is not None:
            offers.append(Offer(IN_HERE, (SMOLLM2_NAME,)))
        self._choices = choices(tuple(offers))
        return self._choices

    async def configured_models(self) -> tuple[Server, tuple[str, ...] | str]:
        """The server that the settings name, and the models there, or the line that says why they cannot be
        had; raises nothing."""
        assert self._configured is not None, "the settings name a server"
        model = self._model(self._configured)
        try:
            return self._configured, await asyncio.wait_for(model.models(), 5 * SURVEY_SECONDS)
        except ModelFailed as failed:
            return self._configured, failed.failure.shown
        except TimeoutError:
            return self._configured, f"{self._configured.base_url} does not answer"
        finally:
            await model.close()

    def use(self, choice: Choice) -> None:
        """Has this model answer from the next request on; a request under way goes on as it is."""
        connection = self.connection
        self._name = choice.name
        self._server = None if choice.server == IN_HERE else choice.server
        self._seen = choice.name, choice.server
        if connection is None:
            return
        if connection.embedded is None and connection.server == choice.server:
            self.connection = connection._replace(name=choice.name)
        else:
            self._retired.append(connection)
            self.connection = None

    def use_label(self, label: str) -> None:
        """Has the model of this label answer. Where no list has shown it yet, it is looked for when it is
        needed, and else taken for a name."""
        known = next((choice for choice in self._choices if choice.label == label), None)
        self._unknown = "" if known or label.endswith(".gguf") else label
        self.use(known or Choice(label, label, self._configured or IN_HERE))

    async def close(self) -> None:
        """Ends all connections, and the embedded model if it runs."""
        connections = [*self._retired, *([self.connection] if self.connection else [])]
        self._retired, self.connection = [], None
        await self._windows.close()
        for connection in connections:
            await connection.model.close()
            if connection.embedded is not None:
                connection.embedded.close()

    def _is_file(self) -> bool:
        return self._name is not None and self._name.endswith(".gguf")

    def _embedded_window(self, file: bool) -> Window:
        wanted = self._settings.context_window
        if file and wanted is not None:
            return Window(wanted, self._settings.origins.get("contextWindow", "set"))
        return Window(CONTEXT_WINDOW, "the embedded model's")

    async def _models(self, server: Server) -> tuple[str, ...]:
        model = self._model(server)
        try:
            return await asyncio.wait_for(model.models(), SURVEY_SECONDS)
        except (ModelFailed, TimeoutError):
            return ()
        finally:
            await model.close()

    async def _resolve(self) -> None:
        """Finds the model that was chosen by a label that no list had shown."""
        label, self._unknown = self._unknown, ""
        if label:
            known = next((choice for choice in await self.choices() if choice.label == label), None)
            if known is not None:
                self.use(known)

    async def _connect(self, tell: Callable[[str], None]) -> Connection:
        await self._resolve()
        if self._is_file():
            return await self._embedded(self._cwd / Path(self._name or "").expanduser(), None)
        if self._server is not None:
            return await self._served(self._server, None)
        from minime.shell.model.servers import find_server

        found = None if self._name == SMOLLM2_NAME else await find_server(wanted=self._name)
        if found is not None:
            return await self._served(found.server, found.models)
        if self._name not in {None, SMOLLM2_NAME}:
            raise ModelFailed(Failure("unreachable", NO_SERVER.format(model=self._name)))
        from minime.shell.model.embedded import find_weights, has_engine

        weights = find_weights(self._environ)
        if weights is None and has_engine() and self.offer_weights():
            weights = find_weights(self._environ)
        if weights is None:
            raise ModelFailed(Failure("no-model", NO_MODEL))
        return await self._embedded(weights, tell)

    async def _served(self, server: Server, models: tuple[str, ...] | None) -> Connection:
        model = self._model(server)
        name = self._name
        if name is None:
            name = choose_model(None, await model.models() if models is None else models)
        if not name:
            raise ModelFailed(no_models(server))
        return Connection(model, server, name, fit_for(False, self._settings))

    def _model(self, server: Server) -> Model:
        """The server as it is asked; the key and headers of the settings are for the one that they name, if
        they name one."""
        strange = self._configured not in {None, server}
        return Model(
            server,
            api_key="" if strange else self._settings.api_key or "",
            headers={} if strange else self._settings.headers,
            watchdog=self._settings.watchdog_timeout,
            secrets=secrets(self._settings),
        )

    async def _embedded(self, weights: Path, tell: Callable[[str], None] | None) -> Connection:
        """The model of a file, in a process of its own; with `tell` it is mm's own, and that is told."""
        from minime.shell.model.embedded import start

        own = tell is not None
        started = await start(weights, template=own, context_window=self._embedded_window(not own).tokens)
        if isinstance(started, Stuck):
            raise ModelFailed(Failure("no-model", stuck_text(started, str(weights)), started.detail))
        model = Model(started.server, api_key=started.api_key, watchdog=self._settings.watchdog_timeout)
        if tell is not None:
            tell(answering_text(SMOLLM2_NAME))
        return Connection(model, started.server, started.model, fit_for(own, self._settings), started)
