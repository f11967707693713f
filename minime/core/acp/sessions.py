"""The requests about kept sessions, as steps of the machine: list, close, delete."""

from typing import Any

import msgspec

from minime.core.acp.answers import Step, refuse, utc_text
from minime.core.acp.effects import DeleteSession, Effect, Forget, ListSessions, Send, StopTurn
from minime.core.acp.inputs import Deleted, Listed
from minime.core.acp.state import Live, State, with_live, without_live
from minime.core.acp.wire import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    Id,
    write_response,
)
from minime.core.listing import Row, is_id

PAGE = 50


class SessionParams(msgspec.Struct, frozen=True, rename="camel"):
    """A session, and nothing else."""

    session_id: str


class ListParams(msgspec.Struct, frozen=True):
    """Whose sessions, and from where on."""

    cwd: str | None = None
    cursor: str | None = None


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
