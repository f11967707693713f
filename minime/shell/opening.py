"""Wishes of the command line to a conversation that is held: settings, store, agent and façade, joined."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from minime.core.config.settings import Settings
from minime.core.text import clean
from minime.shell.agent import Agent
from minime.shell.config.config import Broken, Loaded, load_settings
from minime.shell.config.project import find_project
from minime.shell.config.trust import remember
from minime.shell.conversation import Conversation
from minime.shell.keyboard import Interrupts, at_terminal, confirm
from minime.shell.paper import Paper
from minime.shell.permission import Permission
from minime.shell.store import Store

WRONG = 2


class Wishes(msgspec.Struct, frozen=True):
    """What the command line asks for. `resume` is empty for a new session; `start` is where to work."""

    start: Path
    resume: str = ""
    keep: bool = True
    config: Path | None = None
    options: dict[str, str | None] = {}
    trust: bool = False
    yes: bool = False
    as_json: bool = False


def talk(question: Sequence[str], wishes: Wishes) -> int:
    """Has the words of `question` answered, with what is piped in, or sits down in the terminal where there
    is neither. The result is the exit status."""
    from minime.shell.oneshot import read_stdin

    words = clean(os.fsencode(" ".join(question))).strip()
    piped = read_stdin()
    err = Paper(sys.stderr)
    if words or (piped or "").strip():
        return open_turn(words, piped or "", wishes)
    if piped is not None:
        err.line("mm: no question: type one behind mm, or pipe one in")
        return WRONG
    if wishes.as_json:
        err.line("mm: --json goes with a question")
        return WRONG
    return open_terminal(wishes)


def open_turn(question: str, piped: str, wishes: Wishes) -> int:
    """Has one question answered, what was piped in behind it. The result is the exit status."""
    from minime.shell.oneshot import OneShot

    err = Paper(sys.stderr)
    interrupts = Interrupts()
    interrupts.install()
    conversation = _conversation(wishes, err, interactive=False)
    if conversation is None:
        return WRONG
    if wishes.resume and (trouble := conversation.resume(wishes.resume)):
        err.line(f"mm: {trouble}", "red")
        return 1
    shot = OneShot(conversation, as_json=wishes.as_json)
    conversation.tell = shot.tell
    conversation.agent.reach.offer_weights = _offer(interrupts, shot.pause)
    permission = _permission(wishes, conversation.agent.settings, interrupts, shot.pause, interactive=False)
    return shot.run(question, piped, permission, interrupts)


def open_terminal(wishes: Wishes) -> int:
    """Sits down with the person at the terminal. The result is the exit status."""
    from minime.shell.terminal import Terminal

    interrupts = Interrupts()
    interrupts.install()
    conversation = _conversation(wishes, Paper(sys.stdout), interactive=True)
    if conversation is None:
        return WRONG
    terminal = Terminal(conversation, interrupts, os.environ)
    conversation.tell = terminal.tell
    conversation.agent.reach.offer_weights = _offer(interrupts, terminal.pause)
    permission = _permission(
        wishes, conversation.agent.settings, interrupts, terminal.pause, interactive=True
    )
    return terminal.visit(permission, wishes.resume)


def _conversation(wishes: Wishes, paper: Paper, *, interactive: bool) -> Conversation | None:
    """The conversation, still without a question; None when the configuration is broken (said already)."""
    project = find_project(wishes.start, Path.home())
    loaded = _settings(project, wishes, os.environ, ask=interactive)
    if isinstance(loaded, Broken):
        for line in loaded.lines:
            Paper(sys.stderr).line(line, "red")
        return None
    for notice in loaded.notices:
        paper.line(notice, "yellow")
    keeps = wishes.keep and loaded.settings.sessions.enabled
    agent = Agent(loaded.settings, project, wishes.start.resolve(), os.environ)
    agent.start()
    if agent.lacking:
        paper.line(agent.lacking, "yellow")
    if not keeps:
        return Conversation(agent, None)
    store = Store(project)
    store.tidy()
    return Conversation(agent, store)


def _settings(project: Path, wishes: Wishes, environ: Mapping[str, str], *, ask: bool) -> Loaded | Broken:
    """The settings; a person at the terminal is asked whether to trust the project's file."""

    def load(trust: bool) -> Loaded | Broken:
        return load_settings(
            project, environ=environ, config=wishes.config, options=wishes.options, trust=trust
        )

    loaded = load(wishes.trust)
    if isinstance(loaded, Broken) or loaded.asks is None or loaded.asks.trusted or not ask:
        return loaded
    paper = Paper(sys.stdout)
    paper.line(f"{loaded.asks.source} of this project asks for:", "yellow")
    for want in loaded.asks.wants:
        paper.line(f"  {want}")
    if confirm("Trust it as it is?"):
        remember(loaded.asks.key, loaded.asks.path, environ)
        return load(True)
    return msgspec.structs.replace(loaded, notices=("not trusted: what is listed here stays left out",))


def _offer(interrupts: Interrupts, pause: Callable[[], None]) -> Callable[[], bool]:
    """Offers the person at the terminal, once, to fetch the small model; whether it is there now."""
    offered = False

    def offer() -> bool:
        nonlocal offered
        if offered or not at_terminal():
            return False
        offered = True
        from minime.shell.model.setup import setup

        err = Paper(sys.stderr)
        pause()
        err.line("no model server answers on this machine; a small model can stand in")
        with interrupts.asking():
            return setup(os.environ, ask=confirm, say=err.line, warn=err.line) == 0

    return offer


def _permission(
    wishes: Wishes,
    settings: Settings,
    interrupts: Interrupts,
    pause: Callable[[], None],
    *,
    interactive: bool,
) -> Permission:
    return Permission(
        settings.mode,
        settings.permissions,
        interrupts,
        pause,
        approve_all=wishes.yes,
        interactive=interactive,
    )
