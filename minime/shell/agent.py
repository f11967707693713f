"""Who answers and who acts: the server, the model on it, the tools of the project, joined into hands."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from minime.core.config.settings import Settings, secret_names, secrets
from minime.core.instructions import system_prompt
from minime.core.model.offers import Choice
from minime.core.model.servers import server_name
from minime.core.model.windows import Window
from minime.core.tools.outside import Report
from minime.core.turn import Turn
from minime.core.values import Session, ToolCall
from minime.shell.asking import Asking
from minime.shell.context import context_files, folder_files
from minime.shell.loop import Hands
from minime.shell.reaching import Reach
from minime.shell.tools.inside import Place
from minime.shell.tools.tools import Ready, Tools

if TYPE_CHECKING:
    from minime.shell.mcp.servers import Servers


class Agent:
    """Reaches for a model when one is needed (`reach`), asks it (`asking`), and has `tools` to act with."""

    def __init__(
        self,
        settings: Settings,
        project: Path,
        cwd: Path,
        environ: Mapping[str, str],
        also: tuple[Path, ...] = (),
    ) -> None:
        self.settings = settings
        self.folder = cwd
        self.project = project
        self.system = system_prompt(settings.instruction, context_files(settings, project, cwd))
        self.tool_names = settings.tools
        self.servers = _servers(settings, cwd, environ, (project, *also))
        self.tools = Tools(
            project,
            cwd,
            also=also,
            command_timeout=settings.command_timeout,
            secrets=secrets(settings),
            secret_names=secret_names(settings),
            call=self.servers.call if self.servers is not None else None,
        )
        self.reach = Reach(settings, cwd, environ)
        self.asking = Asking(settings, self.reach, lambda: self.window, self.servers, self._folder_words)

    def _folder_words(self, place: Place) -> tuple[tuple[str, bytes], ...]:
        path = Path(place.base, *place.parts)
        return folder_files(self.settings, self.project, self.folder, path)

    @property
    def reports(self) -> tuple[Report, ...]:
        """How the servers of tools stand."""
        return self.servers.reports if self.servers is not None else ()

    @property
    def lacking(self) -> str:
        """A line for the person where servers of tools are configured and cannot be reached, else empty."""
        return self.servers.lacking if self.servers is not None else ""

    def start(self) -> None:
        """Starts the servers of tools, in the background."""
        if self.servers is not None:
            self.servers.start()

    @property
    def max_steps(self) -> int:
        """Rounds of tools in one turn; 0: no bound."""
        connection = self.reach.connection
        return connection.fit.max_steps if connection else self.settings.max_steps

    @property
    def window(self) -> Window:
        """The context window of the model that answers, as far as it is known, and where that comes from."""
        told = self.asking.told_window
        if told:
            connection = self.reach.connection
            name = server_name(connection.server.kind if connection else "other")
            return Window(told, f"told by {name} when it was too small")
        return self.reach.window()

    def hands(
        self,
        session: Session,
        consent: Callable[[ToolCall, Ready], Awaitable[str]],
        keep: Callable[[Turn], None],
    ) -> Hands:
        """What a turn beside `session` needs of the world."""
        return self.asking.hands(session, self.tools, consent, keep)

    def use_model(self, meant: Choice | str) -> None:
        """Has another model answer from the next request on: one of a list, or one by its label."""
        self.asking.told_window = 0
        if isinstance(meant, Choice):
            self.reach.use(meant)
        else:
            self.reach.use_label(meant)

    async def close(self) -> None:
        """Ends all connections, the servers of tools, and the embedded model if it runs."""
        await self.reach.close()
        if self.servers is not None:
            await self.servers.close()


def _servers(
    settings: Settings, cwd: Path, environ: Mapping[str, str], roots: tuple[Path, ...]
) -> "Servers | None":
    if not settings.mcp:
        return None
    from minime.shell.mcp.servers import Servers

    return Servers(
        settings.mcp,
        cwd,
        environ,
        roots=roots,
        secrets=secrets(settings),
        call_seconds=settings.command_timeout,
    )
