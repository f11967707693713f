"""Who answers and who acts: the server, the model on it, the tools of the project, joined into hands."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from minime.core.config.settings import Settings, secret_names, secrets
from minime.core.instructions import system_prompt
from minime.core.model.offers import Choice
from minime.core.model.servers import server_name
from minime.core.model.windows import Window
from minime.core.turn import Turn
from minime.core.values import Session, ToolCall
from minime.shell.asking import Asking
from minime.shell.context import context_files
from minime.shell.loop import Hands
from minime.shell.reaching import Reach
from minime.shell.tools.tools import Ready, Tools


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
        self.reach = Reach(settings, cwd, environ)
        self.asking = Asking(settings, self.reach, lambda: self.window)

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
        """Ends all connections, and the embedded model if it runs."""
        await self.reach.close()
