"""What an open session of an editor needs of the world: its project, its settings, its store, its agent."""

import os
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from minime.core.acp.effects import ListSessions, Open
from minime.core.acp.inputs import CannotOpen, Listed, Opening
from minime.core.acp.prompt_text import image_data, image_name_of, linked_file, question
from minime.core.acp.state import Block
from minime.core.acp.wire import INTERNAL_ERROR, INVALID_PARAMS, NOT_FOUND
from minime.core.events import Outcome
from minime.core.formats import Wanted
from minime.core.images import Kept, all_urls, image_text
from minime.core.listing import SHOWN_ROWS, Row, head_row
from minime.core.session import new_session
from minime.core.tools.toolbox import ListDirectory
from minime.core.turn import Turn
from minime.core.values import Session, Stamp, ToolCall
from minime.shell import clock
from minime.shell.config.places import has_file
from minime.shell.config.project import find_project

if TYPE_CHECKING:
    from minime.shell.agent import Agent
    from minime.shell.config.config import Broken
    from minime.shell.config.config import Loaded as Configured
    from minime.shell.loop import Emit
    from minime.shell.store import Store
    from minime.shell.tools.tools import Ready

UNUSED_FOR = timedelta(days=7)

PAGES_FOR = timedelta(minutes=1)
"""How long the pages of a list go on in the list that the first of them was of."""


class EditorSession:
    """The hands of one session: who answers, and where it is kept (`store` None: nowhere)."""

    def __init__(self, agent: "Agent", store: "Store | None") -> None:
        self.agent = agent
        self._store = store
        if store is not None:
            agent.asking.pictures = store.pictures

    def save(self, session: Session) -> tuple[Session | None, str]:
        """The session as it was written, or None; and a line where there is something to tell."""
        from minime.shell.store import NotSaved, Saved

        if self._store is None:
            return session, ""
        match self._store.save(session, clock.stamp()):
            case Saved(session=saved, notice=notice):
                return saved, notice
            case NotSaved(line=line):
                return None, line

    def export(self, session: Session, wanted: Wanted) -> str:
        """Writes the conversation to a file of its own; the line that says where, or why not."""
        from minime.shell.exporting import Written, export_beside

        done = export_beside(session, wanted, self.agent.folder, self.agent.asking.pictures)
        return f"wrote {done.path}" if isinstance(done, Written) else done.line

    async def answer(
        self,
        session: Session,
        blocks: tuple[Block, ...],
        turn: Turn | None,
        consent: Callable[[ToolCall, "Ready"], Awaitable[str]],
        keep: Callable[[Turn], None],
        emit: "Emit",
    ) -> tuple[Turn, Outcome]:
        """Has a prompt answered, or `turn` go on where there is one; what the prompt links to is read
        first, as far as the project reaches."""
        from minime.shell.loop import run_turn

        if turn is None:
            images: dict[int, Kept | str] = {}
            read: dict[int, str] = {}
            for place, block in enumerate(blocks):
                if image := await self._image(session.id, block):
                    images[place] = image
                elif (text := await self._read(block)) is not None:
                    read[place] = text
            turn = question(blocks, read, images)
        hands = self.agent.hands(session, consent, keep)
        return await run_turn(session, turn, hands, emit, self.agent.tool_names, self.agent.max_steps)

    async def compact(self, session: Session, focus: str, emit: "Emit") -> Outcome:
        """Has the older turns of `session` summed up; the events tell what came of it."""
        from minime.shell.loop import run_compaction

        asking = self.agent.asking
        known = asking.budget(session)
        return await run_compaction(session, known, asking.ask_budget, asking.sum_up, emit, focus)

    async def _image(self, id: str, block: Block) -> Kept | str:
        """The image that a block brings or links to, kept; or why it cannot be; empty where it is none."""
        from minime.shell.tools.read_tools import read_image
        from minime.shell.tools.tools import Impossible

        found = image_data(block)
        action = linked_file(block)
        if action is not None:
            ready = await self.agent.tools.prepare(action)
            if not isinstance(ready, Impossible) and ready.place is not None:
                found = read_image(ready.place) or found
        if isinstance(found, str) or not found:
            return found or ""
        return Kept(self.agent.asking.pictures.add(id, found), image_text(image_name_of(block), found))

    async def _read(self, block: Block) -> str | None:
        """What stands where a link leads: a file's lines, a folder's list, or why it cannot be read."""
        from minime.shell.tools.tools import Impossible

        action = linked_file(block)
        if action is None:
            return None
        is_folder = os.path.isdir(action.path)  # noqa: PTH112 - False where pathlib raises
        wanted = ListDirectory(action.path) if is_folder else action
        ready = await self.agent.tools.prepare(wanted)
        if isinstance(ready, Impossible):
            return ready.message
        return (await self.agent.tools.run("", ready, lambda _: None)).content


class Projects:
    """The projects that this process knows: its own folder's, and those of the sessions it has opened."""

    def __init__(self, environ: Mapping[str, str], config: Path | None, start: Path) -> None:
        self._environ = environ
        self._config = config
        self._start = start
        self._stores: dict[Path, tuple[Store, str]] = {}
        self._listed: dict[Path, Store] = {}
        self._pages: dict[str | None, tuple[datetime, tuple[tuple[str, Row], ...]]] = {}

    def abilities(self) -> tuple[bool, bool]:
        """Whether sessions are kept in the process's own folder, and whether resuming is advertised."""
        project = self._project(self._start)
        # An editor waits for this: reading settings costs a tenth of the start, even where there are none.
        if self._config is None and not has_file(project, self._environ):
            from minime.core.config.settings import Sessions

            return Sessions().enabled, Sessions().resume

        from minime.shell.config.config import Broken

        loaded = self._settings(project)
        if isinstance(loaded, Broken):
            return True, False
        return loaded.settings.sessions.enabled, loaded.settings.sessions.resume

    def open(self, wish: Open) -> tuple[EditorSession, Opening] | CannotOpen:
        """The session with its hands, made or read from disk; or why there is none."""
        # Here and below: an editor waits for the answer to initialize, and not for what only a session needs.
        from minime.shell.agent import Agent
        from minime.shell.config.config import Broken
        from minime.shell.store import Loaded, NotLoaded, Store

        cwd = Path(wish.cwd)
        for folder in (cwd, *map(Path, wish.also)):
            if not os.path.isdir(folder):  # noqa: PTH112 - False where pathlib raises
                return CannotOpen(INVALID_PARAMS, f"there is no folder {folder}")
        project = self._project(cwd)
        loaded = self._settings(project)
        if isinstance(loaded, Broken):
            details = "\n".join(loaded.lines)
            return CannotOpen(INTERNAL_ERROR, f"the configuration is broken: {loaded.lines[0]}", details)
        settings = msgspec.structs.replace(loaded.settings, mcp={**loaded.settings.mcp, **wish.servers})
        if project not in self._stores:
            self._stores[project] = (Store(project), wish.cwd)
            self._stores[project][0].tidy()
        store, _ = self._stores[project]
        agent = Agent(settings, project, cwd.resolve(), self._environ, tuple(map(Path, wish.also)))
        keeps = settings.sessions.enabled
        if wish.why == "new":
            if keeps:
                store.remove_unused(clock.now() - UNUSED_FOR)
            session = new_session(Stamp(clock.now(), wish.id), agent.system, settings.model or "")
        elif wish.held is not None:
            session = wish.held
        else:
            match store.load(wish.id):
                case Loaded(session=session):
                    pass
                case NotLoaded(reason=reason, damaged=True):
                    return CannotOpen(INTERNAL_ERROR, f"cannot read session {wish.id}: {reason}", reason)
                case NotLoaded(reason=reason):
                    return CannotOpen(NOT_FOUND, f"session not found: {reason}")
        opening = Opening(
            session,
            agent.system,
            keeps,
            settings.mode,
            settings.permissions,
            settings.model or session.model,
            agent.window.tokens,
            agent.window.origin,
            settings.tools,
            (*loaded.notices, *filter(None, [agent.lacking])),
            settings.compaction,
            store.pictures.to_send(all_urls(session)) if wish.why == "load" else {},
        )
        return EditorSession(agent, store if keeps else None), opening

    def list_sessions(self, wish: ListSessions) -> Listed:
        """The sessions that are asked for, newest use first, each with the folder to open it in. A page that
        follows another is one of the same list, so that no page costs a look at every file."""
        from minime.shell.store import Store

        taken, rows = self._pages.get(wish.cwd, (clock.now() - 2 * PAGES_FOR, ()))
        if wish.cursor and clock.now() - taken < PAGES_FOR:
            return Listed(wish, rows)
        if wish.cwd is not None:
            project = self._project(Path(wish.cwd))
            places = [(self._listed.setdefault(project, Store(project)), wish.cwd)]
        else:
            own = self._project(self._start)
            places = [(Store(own), str(self._start)), *(p for key, p in self._stores.items() if key != own)]
        try:
            found = [(store, cwd, head) for store, cwd in places for head in store.heads()]
        except OSError as error:
            return Listed(wish, (), f"cannot list the sessions: {error.strerror or error}")
        found.sort(key=lambda one: (one[2].updated, one[2].id), reverse=True)
        if not wish.command:
            rows = tuple((cwd, head_row(0, head)) for _, cwd, head in found)
            self._pages[wish.cwd] = clock.now(), rows
            return Listed(wish, rows)
        shown = [(cwd, row) for store, cwd, head in found[:SHOWN_ROWS] for row in store.rows((head.id,))]
        numbered = (
            (cwd, msgspec.structs.replace(row, number=i, updated=row.updated and clock.local(row.updated)))
            for i, (cwd, row) in enumerate(shown, 1)
        )
        return Listed(wish, tuple(numbered))

    def delete(self, id: str) -> str:
        """Removes the file of a session wherever it is; empty, or why that could not be done."""
        from minime.shell.store import Store

        opened = (store for store, _ in self._stores.values())
        for store in (Store(self._project(self._start)), *opened, *self._listed.values()):
            trouble = store.delete(id)
            if trouble:
                return trouble
        return ""

    def _project(self, folder: Path) -> Path:
        return find_project(folder, Path.home())

    def _settings(self, project: Path) -> "Configured | Broken":
        from minime.shell.config.config import load_settings

        return load_settings(project, environ=self._environ, config=self._config)
