"""The requests that open a session, as steps of the machine: new, load, resume."""

from typing import Any

import msgspec

from minime.core.acp.answers import Step, info_shown, line, refuse, send
from minime.core.acp.choices import modes, options
from minime.core.acp.effects import (
    Effect,
    Open,
    Save,
    Send,
    SendLater,
)
from minime.core.acp.inputs import (
    CannotOpen,
    ModelsFound,
    Opened,
    Opening,
)
from minime.core.acp.state import Live, State, acp_commands, with_live
from minime.core.acp.updates import (
    CommandsShown,
    OptionsShown,
    replay_updates,
)
from minime.core.acp.wire import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    NOT_FOUND,
    Fault,
    Id,
    write_fault,
    write_response,
)
from minime.core.commands import COMMANDS
from minime.core.listing import count, is_id
from minime.core.session import with_system
from minime.core.values import Stamp

COMMANDS_AFTER = 0.1
"""Seconds behind the answer to session/new after which the commands are told: editors drop them earlier."""


class NewParams(msgspec.Struct, frozen=True, rename="camel"):
    """What session/new, session/load and session/resume are asked with; the first has no id."""

    cwd: str
    session_id: str = ""
    additional_directories: tuple[str, ...] | None = None
    mcp_servers: list[Any] | None = None


def open_session(state: State, id: Id, method: str, params: NewParams, stamp: Stamp) -> Step:
    """Asks for the session to be made or read, when what was said of it makes sense."""
    also = params.additional_directories or ()
    for folder in (params.cwd, *also):
        if not folder.startswith("/") or "\0" in folder:
            return refuse(state, id, INVALID_PARAMS, f"not an absolute path: {folder[:200]}")
    wanted = params.session_id
    if method != "session/new":
        live = state.sessions.get(wanted)
        if not is_id(wanted):
            return refuse(state, id, NOT_FOUND, "session not found: its id is not of our form")
        if live is not None and (live.running or live.queue):
            return refuse(state, id, INVALID_REQUEST, "the session has a prompt running; cancel it or wait")
    why = {"session/new": "new", "session/load": "load", "session/resume": "resume"}[method]
    session_id = stamp.fresh_id if why == "new" else wanted
    return state, (Open(why, id, session_id, params.cwd, also, len(params.mcp_servers or ())),)  # type: ignore[arg-type]


def opened(state: State, happened: Opened) -> Step:
    """Answers the request, behind the replay of the whole conversation where it was a load."""
    wish, outcome = happened.wish, happened.outcome
    if isinstance(outcome, CannotOpen):
        data = {"details": outcome.details} if outcome.details else None
        return state, (Send(write_fault(wish.request, Fault(outcome.code, outcome.message, data))),)
    if wish.why != "new" and not outcome.keeps:
        return refuse(state, wish.request, NOT_FOUND, "session not found: this project keeps no sessions")
    before = state.sessions.get(wish.id)
    live = _live(wish, outcome)
    if before is not None:
        live = msgspec.structs.replace(live, mode=before.mode, always=before.always, never=before.never)
    effects: list[Effect] = []
    if wish.why == "new" and outcome.keeps:
        effects.append(Save(wish.id, live.session))
    if wish.why == "load":
        effects += (send(wish.id, update) for update in replay_updates(live.session, wish.cwd))
    if wish.why != "new" and live.session.title:
        effects.append(send(wish.id, info_shown(live)))
    result: dict[str, Any] = {"sessionId": wish.id} if wish.why == "new" else {}
    effects.append(
        Send(write_response(wish.request, result | {"modes": modes(live), "configOptions": options(live)}))
    )
    commands = CommandsShown(
        available_commands=tuple(
            _command(entry.name, entry.argument, entry.help) for entry in acp_commands(COMMANDS)
        )
    )
    effects.append(SendLater(wish.id, COMMANDS_AFTER, line(wish.id, commands)))
    return with_live(state, wish.id, live), tuple(effects)


def models_found(state: State, happened: ModelsFound) -> Step:
    """Tells the editor which models there are, once that is known."""
    live = state.sessions.get(happened.id)
    if live is None:
        return state, ()
    known = msgspec.structs.replace(
        live, model=happened.model, models=happened.models, window=happened.window or live.window
    )
    new = with_live(state, happened.id, known)
    return new, (send(happened.id, OptionsShown(config_options=options(known))),)


def _live(wish: Open, outcome: Opening) -> Live:
    untold = list(outcome.notices)
    if wish.servers:
        untold.append(
            f"{count(wish.servers, 'MCP server')} of the editor left out: this mm does not speak MCP"
        )
    return Live(
        session=with_system(outcome.session, outcome.system),
        cwd=wish.cwd,
        system=outcome.system,
        keeps=outcome.keeps,
        mode=outcome.mode,
        rules=outcome.rules,
        model=outcome.model,
        window=outcome.window,
        tools=outcome.tools,
        untold=tuple(untold),
    )


def _command(name: str, argument: str, help: str) -> dict[str, Any]:
    command: dict[str, Any] = {"name": name, "description": help}
    return command | ({"input": {"hint": argument.strip("[]").lower()}} if argument else {})
