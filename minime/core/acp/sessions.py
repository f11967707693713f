"""The requests about sessions: opening, listing, closing, modes and options, as steps of the machine."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from minime.core.acp.state import (
    CannotOpen,
    Deleted,
    DeleteSession,
    Effect,
    Forget,
    Listed,
    ListSessions,
    Live,
    ModelsFound,
    Open,
    Opened,
    Opening,
    Save,
    Send,
    SendLater,
    State,
    Step,
    StopTurn,
    UseModel,
    acp_commands,
    with_live,
    without_live,
)
from minime.core.acp.updates import (
    CommandsShown,
    InfoShown,
    ModeShown,
    OptionsShown,
    Update,
    replay_updates,
)
from minime.core.acp.wire import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    NOT_FOUND,
    Fault,
    Id,
    write_fault,
    write_notification,
    write_response,
)
from minime.core.commands import COMMANDS
from minime.core.listing import Row, count, is_id
from minime.core.permissions import MODES, Mode
from minime.core.session import with_system
from minime.core.values import Stamp

PAGE = 50
COMMANDS_AFTER = 0.1
"""Seconds behind the answer to session/new after which the commands are told: editors drop them earlier."""

MODE_NAMES: dict[Mode, tuple[str, str]] = {
    "ask": ("Ask", "Ask before files are changed and commands are run"),
    "auto-edit": ("Auto-edit", "Change files without a question, ask before commands"),
    "auto": ("Auto", "Do everything that no rule denies"),
    "read-only": ("Read-only", "Read, list and search only"),
}


class NewParams(msgspec.Struct, frozen=True, rename="camel"):
    """What session/new, session/load and session/resume are asked with; the first has no id."""

    cwd: str
    session_id: str = ""
    additional_directories: tuple[str, ...] | None = None
    mcp_servers: list[Any] | None = None


class SessionParams(msgspec.Struct, frozen=True, rename="camel"):
    """A session, and nothing else."""

    session_id: str


class ListParams(msgspec.Struct, frozen=True):
    """Whose sessions, and from where on."""

    cwd: str | None = None
    cursor: str | None = None


class ModeParams(msgspec.Struct, frozen=True, rename="camel"):
    """Which mode is to hold."""

    session_id: str
    mode_id: str


class OptionParams(msgspec.Struct, frozen=True, rename="camel"):
    """Which option is to have which value."""

    session_id: str
    config_id: str
    value: Any


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


def list_sessions(state: State, id: Id, params: ListParams) -> Step:
    """Asks for the sessions of a folder."""
    if params.cwd is not None and not params.cwd.startswith("/"):
        return refuse(state, id, INVALID_PARAMS, "cwd is not an absolute path")
    return state, (ListSessions(id, params.cwd, params.cursor or ""),)


def listed(state: State, happened: Listed) -> Step:
    """A page of the sessions, newest use first."""
    wish = happened.wish
    if happened.trouble:
        return refuse(state, wish.request, INTERNAL_ERROR, happened.trouble)
    rows = happened.rows
    if wish.cursor:
        place = next((i for i, (_, row) in enumerate(rows) if row.id == wish.cursor), None)
        if place is None:
            return refuse(
                state, wish.request, INVALID_PARAMS, "the cursor is not one of ours, or its session is gone"
            )
        rows = rows[place + 1 :]
    result: dict[str, Any] = {"sessions": [_info(cwd, row) for cwd, row in rows[:PAGE]]}
    if len(rows) > PAGE:
        result["nextCursor"] = rows[PAGE - 1][1].id
    return state, (Send(write_response(wish.request, result)),)


def close_session(state: State, id: Id, session_id: str) -> Step:
    """Lets go of a session; one with a prompt running is cancelled and saved first."""
    live = state.sessions.get(session_id)
    if live is None:
        return state, (Send(write_response(id, {})),)
    if live.running is None:
        return without_live(state, session_id), (Forget(session_id), Send(write_response(id, {})))
    waiting = _cancelled_queue(live)
    closing = msgspec.structs.replace(live, closing=(*live.closing, id), queue=())
    return with_live(state, session_id, closing), (StopTurn(session_id), *waiting)


def delete_session(state: State, id: Id, session_id: str) -> Step:
    """Removes a session; one that is open is cancelled and no longer saved."""
    live = state.sessions.get(session_id)
    effects: list[Effect] = []
    if live is not None:
        running = () if live.running is None else (live.running,)
        effects += (StopTurn(session_id),) if running else ()
        effects += (
            Send(write_response(p.request, {"stopReason": "cancelled"})) for p in (*running, *live.queue)
        )
        effects += (Send(write_response(request, {})) for request in live.closing)
        effects.append(Forget(session_id))
        state = without_live(state, session_id)
    if not is_id(session_id):
        return state, (*effects, Send(write_response(id, {})))
    return state, (*effects, DeleteSession(id, session_id))


def deleted(state: State, happened: Deleted) -> Step:
    """Answers a deletion; doing it twice is no fault."""
    if happened.trouble:
        return refuse(state, happened.request, INTERNAL_ERROR, happened.trouble)
    return state, (Send(write_response(happened.request, {})),)


def set_mode(state: State, id: Id, params: ModeParams) -> Step:
    """Another mode, from the next tool call on."""
    live = state.sessions.get(params.session_id)
    if live is None:
        return refuse(state, id, NOT_FOUND, "session not found")
    mode = next((mode for mode in MODES if mode == params.mode_id), None)
    if mode is None:
        return refuse(
            state, id, INVALID_PARAMS, f"no mode {params.mode_id[:80]!r}: there are {', '.join(MODES)}"
        )
    changed = msgspec.structs.replace(live, mode=mode)
    told = send(params.session_id, OptionsShown(config_options=options(changed)))
    return with_live(state, params.session_id, changed), (told, Send(write_response(id, {})))


def set_option(state: State, id: Id, params: OptionParams) -> Step:
    """Another value of an option, from the next tool call or request on."""
    live = state.sessions.get(params.session_id)
    if live is None:
        return refuse(state, id, NOT_FOUND, "session not found")
    value = params.value
    effects: tuple[Effect, ...]
    match params.config_id:
        case "mode" if value in MODES:
            changed = msgspec.structs.replace(live, mode=value)
            effects = (send(params.session_id, ModeShown(current_mode_id=value)),)
        case "model" if isinstance(value, str) and value in _model_choices(live):
            changed = msgspec.structs.replace(live, model=value)
            effects = (UseModel(params.session_id, value),)
        case "mode" | "model":
            return refuse(
                state, id, INVALID_PARAMS, f"the option {params.config_id} cannot be {str(value)[:80]!r}"
            )
        case _:
            return refuse(
                state, id, INVALID_PARAMS, f"no option {params.config_id[:80]!r}: there are mode and model"
            )
    answer = Send(write_response(id, {"configOptions": options(changed)}))
    return with_live(state, params.session_id, changed), (*effects, answer)


def modes(live: Live) -> dict[str, Any]:
    """The modes, and which holds."""
    there = [{"id": mode, "name": MODE_NAMES[mode][0], "description": MODE_NAMES[mode][1]} for mode in MODES]
    return {"currentModeId": live.mode, "availableModes": there}


def options(live: Live) -> tuple[dict[str, Any], ...]:
    """All options of the session: mode and model."""
    mode = {
        "id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": live.mode,
        "options": [{"value": m, "name": MODE_NAMES[m][0], "description": MODE_NAMES[m][1]} for m in MODES],
    }  # fmt: skip
    choices = _model_choices(live)
    if not choices:
        return (mode,)
    model = {
        "id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": live.model,
        "options": [{"value": name, "name": name} for name in choices],
    }  # fmt: skip
    return mode, model


def info_shown(live: Live) -> InfoShown:
    """The session's title and last use, for the editor's list."""
    return InfoShown(title=live.session.title or None, updated_at=utc_text(live.session.updated))


def utc_text(moment: datetime) -> str:
    """A moment as RFC 3339 wants it, with its zone."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def send(id: str, update: Update) -> Send:
    """A `session/update`."""
    return Send(line(id, update))


def line(id: str, update: Update) -> bytes:
    """The line of a `session/update`."""
    return write_notification("session/update", {"sessionId": id, "update": update})


def refuse(state: State, id: Id, code: int, message: str) -> Step:
    """The state as it was, and an error for the editor."""
    return state, (Send(write_fault(id, Fault(code, message))),)


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


def _model_choices(live: Live) -> tuple[str, ...]:
    names = live.models if live.model in live.models or not live.model else (live.model, *live.models)
    return names if live.model else ()


def _command(name: str, argument: str, help: str) -> dict[str, Any]:
    command: dict[str, Any] = {"name": name, "description": help}
    return command | ({"input": {"hint": argument.strip("[]").lower()}} if argument else {})


def _info(cwd: str, row: Row) -> dict[str, Any]:
    info: dict[str, Any] = {"sessionId": row.id, "cwd": cwd}
    title = row.title or (f"damaged: {row.damaged}" if row.damaged else "")
    if title:
        info["title"] = title
    if row.updated is not None:
        info["updatedAt"] = utc_text(row.updated)
    return info


def _cancelled_queue(live: Live) -> tuple[Send, ...]:
    return tuple(Send(write_response(p.request, {"stopReason": "cancelled"})) for p in live.queue)
