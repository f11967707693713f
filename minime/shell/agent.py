"""Who answers and who acts: the server, the model on it, the tools of the project, joined into hands."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from minime.core.config.fit import fit_for
from minime.core.config.settings import Settings, secret_names, secrets
from minime.core.instructions import system_prompt
from minime.core.model.embedded import CONTEXT_WINDOW, SMOLLM2, Stuck, answering_text, stuck_text
from minime.core.model.failures import Failure, no_models
from minime.core.model.servers import Server, choose_model, server_at, server_name
from minime.core.turn import Turn
from minime.core.values import Session, ToolCall
from minime.shell.asking import Asking, Connection
from minime.shell.context import context_files
from minime.shell.loop import Hands
from minime.shell.model.model import Model, ModelFailed
from minime.shell.tools.tools import Ready, Tools

SMOLLM2_NAME = SMOLLM2.file.split(".")[0]
NO_MODEL = (
    "no model to ask: no local server answers and none is set; start one (ollama serve), set baseUrl in "
    "agent.yaml, or fetch a small model with: mm setup"
)
SURVEY_SECONDS = 1.0
NO_SERVER = (
    "the model {model} was asked for, but no local server answers; start one (ollama serve), or set baseUrl "
    "in agent.yaml or MM_BASE_URL"
)


class Agent:
    """Reaches for a server when one is needed, not before, and keeps to it."""

    def __init__(
        self,
        settings: Settings,
        project: Path,
        cwd: Path,
        environ: Mapping[str, str],
        also: tuple[Path, ...] = (),
    ) -> None:
        self.settings = settings
        self.system = system_prompt(settings.instruction, context_files(settings, project))
        self.tool_names = settings.tools
        self.tools = Tools(
            project,
            cwd,
            also=also,
            command_timeout=settings.command_timeout,
            secrets=secrets(settings),
            secret_names=secret_names(settings),
        )
        self._cwd = cwd
        self._environ = environ
        self._connection: Connection | None = None
        self._retired: list[Connection] = []
        self._where: Server | None = None
        self._name = settings.model
        self.asking = Asking(settings, self.connected, lambda: self.context_window or 0)
        self.offer_weights: Callable[[], bool] = lambda: False
        """Asks the person whether to fetch the small model, and does; set where there is one to ask."""

    @property
    def max_steps(self) -> int:
        """Rounds of tools in one turn; 0: no bound."""
        return self._connection.fit.max_steps if self._connection else self.settings.max_steps

    @property
    def context_window(self) -> int | None:
        """Tokens, where they are known."""
        if self._connection is not None and self._connection.embedded is not None:
            return CONTEXT_WINDOW
        return self.asking.told_window or self.settings.context_window

    def hands(
        self,
        session: Session,
        consent: Callable[[ToolCall, Ready], Awaitable[str]],
        keep: Callable[[Turn], None],
    ) -> Hands:
        """What a turn beside `session` needs of the world."""
        return self.asking.hands(session, self.tools, consent, keep)

    async def connected(self, tell: Callable[[str], None]) -> Connection:
        """The model that answers, reached for at the first call. Raises ModelFailed. `tell` is given the
        line that says which model answers where nobody chose one."""
        if self._connection is None:
            self._connection = await self._connect(tell)
        return self._connection

    async def describe(self) -> str:
        """Who will answer, for a person at the start of a visit; asks servers, starts none."""
        name, _, _ = await self.survey()
        if self._is_file():
            return f"{name}, embedded"
        if self.settings.base_url is not None:
            return f"{name or 'no model yet'} at {self.settings.base_url}"
        if self._where is not None:
            return f"{name} on {server_name(self._where.kind)}"
        return f"{name}, embedded" if name == SMOLLM2_NAME else "no model server found"

    async def survey(self) -> tuple[str, tuple[str, ...], int]:
        """Which model will answer (empty: none), those on its server, and its context window (0: unknown);
        asks servers, starts none, raises nothing."""
        window = self.settings.context_window or 0
        if self._is_file():
            return Path(self._name or "").stem, (), window or CONTEXT_WINDOW
        if self.settings.base_url is not None:
            models = await self._models(server_at(self.settings.base_url))
            return self._name or choose_model(None, models) or "", models, window
        from minime.shell.model.servers import find_server

        found = await find_server()
        self._where = found.server if found else None
        if found is not None:
            return self._name or choose_model(None, found.models) or "", found.models, window
        from minime.shell.model.embedded import find_weights, has_engine

        there = self._name is None and has_engine() and find_weights(self._environ) is not None
        return (SMOLLM2_NAME, (), CONTEXT_WINDOW) if there else ("", (), window)

    async def _models(self, server: Server) -> tuple[str, ...]:
        model = self._model(server)
        try:
            return await asyncio.wait_for(model.models(), SURVEY_SECONDS)
        except (ModelFailed, TimeoutError):
            return ()
        finally:
            await model.close()

    def use_model(self, name: str) -> None:
        """Has the model `name` answer from the next request on; a request under way goes on as it is."""
        self._name = name
        connection = self._connection
        if connection is None:
            return
        if connection.embedded is None and not self._is_file():
            self._connection = connection._replace(name=name)
        else:
            self._retired.append(connection)
            self._connection = None

    async def close(self) -> None:
        """Ends all connections, and the embedded model if it runs."""
        connections = [*self._retired, *([self._connection] if self._connection else [])]
        self._retired, self._connection = [], None
        for connection in connections:
            await connection.model.close()
            if connection.embedded is not None:
                connection.embedded.close()

    def _is_file(self) -> bool:
        return self._name is not None and self._name.endswith(".gguf")

    async def _connect(self, tell: Callable[[str], None]) -> Connection:
        if self._is_file():
            return await self._embedded(self._cwd / Path(self._name or "").expanduser(), None)
        if self.settings.base_url is not None:
            return await self._served(server_at(self.settings.base_url), None)
        from minime.shell.model.servers import find_server

        found = await find_server()
        if found is not None:
            return await self._served(found.server, found.models)
        if self._name is not None:
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
        return Connection(model, server, name, fit_for(False, self.settings))

    def _model(self, server: Server) -> Model:
        return Model(
            server,
            api_key=self.settings.api_key or "",
            headers=self.settings.headers,
            watchdog=self.settings.watchdog_timeout,
            secrets=secrets(self.settings),
        )

    async def _embedded(self, weights: Path, tell: Callable[[str], None] | None) -> Connection:
        """The model of a file, in a process of its own; with `tell` it is mm's own, and that is told."""
        from minime.shell.model.embedded import start

        own = tell is not None

        started = await start(weights, template=own)
        if isinstance(started, Stuck):
            raise ModelFailed(Failure("no-model", stuck_text(started, str(weights)), started.detail))
        model = Model(started.server, api_key=started.api_key, watchdog=self.settings.watchdog_timeout)
        if tell is not None:
            tell(answering_text(SMOLLM2_NAME))
        return Connection(model, started.server, started.model, fit_for(own, self.settings), started)
