"""The requests that open a session, as steps of the machine: new, load, resume."""

from typing import Any

import msgspec

from minime.core.acp.answers import Step, info_shown, line, refuse, send
from minime.core.acp.choices import modes, options
from minime.core.acp.editor_servers import editor_servers
from minime.core.acp.effects import Effect, Open, Send, SendLater, UseModel
from minime.core.acp.inputs import CannotOpen, ModelsFound, Opened, Opening, ServersSeen
from minime.core.acp.replay import replay_updates
from minime.core.acp.state import Live, State, acp_commands, with_live
from minime.core.acp.telling import SOON, put, tell_later
from minime.core.acp.updates import CommandsShown, OptionsShown, Shown
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
from minime.core.listing import is_id
from minime.core.screen import pending_text
from minime.core.session import with_system
from minime.core.values import Stamp

BUSY = "the session has a prompt running: cancel it or wait for its end"


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
    wanted, held = params.session_id, None
    if method != "session/new":
        if not is_id(wanted):
            return refuse(state, id, NOT_FOUND, "session not found: its id is not of our form")
        live = state.sessions.get(wanted)
        if live is not None and _busy(live):
            return refuse(state, id, INVALID_REQUEST, BUSY)
        held = live.session if live is not None and live.unsaved else None
    why = {"session/new": "new", "session/load": "load", "session/resume": "resume"}[method]
    session_id = stamp.fresh_id if why == "new" else wanted
    servers, troubles = editor_servers(params.mcp_servers or [])
    return state, (Open(why, id, session_id, params.cwd, also, servers, troubles, held),)  # type: ignore[arg-type]


def opened(state: State, happened: Opened, stamp: Stamp) -> Step:
    """Answers the request, behind the replay of the whole conversation where it was a load."""
    wish, outcome = happened.wish, happened.outcome
    if isinstance(outcome, CannotOpen):
        data = {"details": outcome.details} if outcome.details else None
        return state, (Send(write_fault(wish.request, Fault(outcome.code, outcome.message, data))),)
    if wish.why != "new" and not outcome.keeps:
        return refuse(state, wish.request, NOT_FOUND, "session not found: this project keeps no sessions")
    before = state.sessions.get(wish.id)
    if before is not None and _busy(before):
        return refuse(state, wish.request, INVALID_REQUEST, BUSY)
    state = msgspec.structs.replace(state, opened=state.opened + 1)
    live = _live(wish, outcome, f"{stamp.now:%Y%m%d%H%M%S}.{state.opened}", before)
    effects: list[Effect] = []
    if wish.why == "new" and outcome.keeps:
        live, saves = put(wish.id, live, live.session)
        effects += saves
    if wish.why == "load":
        known = set(live.shown)
        for update in replay_updates(live.session, wish.cwd, outcome.images):
            if isinstance(update, Shown):
                known.add(update.tool_call_id)
            effects.append(send(wish.id, update))
        live = msgspec.structs.replace(live, shown=frozenset(known))
    if live.chosen:
        effects.append(UseModel(wish.id, live.chosen))
    if wish.why != "new" and live.session.title:
        effects.append(send(wish.id, info_shown(live)))
    result: dict[str, Any] = {"sessionId": wish.id} if wish.why == "new" else {}
    result |= {"modes": modes(live), "configOptions": options(live)}
    effects.append(Send(write_response(wish.request, result)))
    entries = tuple(_command(entry.name, entry.argument, entry.help) for entry in acp_commands(COMMANDS))
    effects.append(SendLater(wish.id, SOON, line(wish.id, CommandsShown(available_commands=entries))))
    for text in _news(wish, outcome, live, before):
        live, told = tell_later(state, wish.id, live, text)
        effects += told
    return with_live(state, wish.id, live), tuple(effects)


def models_found(state: State, happened: ModelsFound) -> Step:
    """Tells the editor which models there are, once that is known."""
    live = state.sessions.get(happened.id)
    if live is None:
        return state, ()
    known = msgspec.structs.replace(
        live,
        model=live.chosen or happened.model,
        models=happened.models,
        window=happened.window or live.window,
        origin=happened.origin if happened.window else live.origin,
    )
    new = with_live(state, happened.id, known)
    if options(known) == options(live):
        return new, ()
    return new, (send(happened.id, OptionsShown(config_options=options(known))),)


def servers_seen(state: State, happened: ServersSeen) -> Step:
    """Keeps how the servers of tools stand: `/tools` shows it, and their tools take room."""
    live = state.sessions.get(happened.id)
    if live is None:
        return state, ()
    return with_live(state, happened.id, msgspec.structs.replace(live, servers=happened.servers)), ()


def _busy(live: Live) -> bool:
    return bool(live.running or live.queue or live.closing or live.deleting)


def _live(wish: Open, outcome: Opening, tag: str, before: Live | None) -> Live:
    """The session as it is opened; one that is open keeps what the person chose, and what disk does not
    hold yet."""
    live = Live(
        session=with_system(outcome.session, outcome.system),
        cwd=wish.cwd,
        system=outcome.system,
        keeps=outcome.keeps,
        mode=outcome.mode,
        tag=tag,
        rules=outcome.rules,
        model=outcome.model,
        window=outcome.window,
        origin=outcome.origin,
        tools=outcome.tools,
        summaries=outcome.summaries,
    )
    if before is None:
        return live
    session = with_system(before.session, outcome.system) if before.unsaved else live.session
    return msgspec.structs.replace(
        live,
        session=session,
        mode=before.mode,
        tag=before.tag,
        said=before.said,
        shown=before.shown if wish.why == "resume" else frozenset(),
        model=before.chosen or before.model or outcome.model,
        models=before.models,
        chosen=before.chosen,
        window=before.window or outcome.window,
        origin=before.origin if before.window else outcome.origin,
        always=before.always,
        never=before.never,
        saves=before.saves,
        unsaved=before.unsaved,
        untold=before.untold,
        gauge=before.gauge,
        servers=before.servers,
    )


def _news(wish: Open, outcome: Opening, live: Live, before: Live | None) -> list[str]:
    """What there is to tell of the session, each once."""
    news = [*outcome.notices, *wish.troubles] if before is None else []
    if live.session.pending is not None:
        news.append(pending_text(live.session.pending))
    return [text for text in news if text not in live.untold]


def _command(name: str, argument: str, help: str) -> dict[str, Any]:
    command: dict[str, Any] = {"name": name, "description": help}
    return command | ({"input": {"hint": argument.strip("[]").lower()}} if argument else {})
