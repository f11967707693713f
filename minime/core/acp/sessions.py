"""The requests about kept sessions, as steps of the machine: list, close, delete."""

from typing import Any

import msgspec

from minime.core.acp.answers import Step, refuse, utc_text
from minime.core.acp.effects import DeleteSession, Effects, ListSessions, Send
from minime.core.acp.inputs import Deleted, Listed
from minime.core.acp.prompting import let_go
from minime.core.acp.state import State
from minime.core.acp.telling import put
from minime.core.acp.wire import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    Id,
    write_response,
)
from minime.core.listing import Row, is_id
from minime.core.values import Stamp, Time, first_line

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
        place = _place(wish.cursor, rows)
        if place is None:
            return refuse(state, wish.request, INVALID_PARAMS, "the cursor is not one of ours")
        rows = rows[place:]
    result: dict[str, Any] = {"sessions": [_info(cwd, row) for cwd, row in rows[:PAGE]]}
    if len(rows) > PAGE:
        result["nextCursor"] = _cursor(rows[PAGE - 1][1])
    return state, (Send(write_response(wish.request, result)),)


def close_session(state: State, id: Id, session_id: str, stamp: Stamp) -> Step:
    """Lets go of a session; one with a prompt running is cancelled and saved first, and what could not be
    saved is tried again."""
    live = state.sessions.get(session_id)
    if live is None:
        return state, (Send(write_response(id, {})),)
    effects: Effects = ()
    if live.unsaved and live.running is None and not live.saves:
        live, effects = put(session_id, live, live.session)
    live = msgspec.structs.replace(live, closing=(*live.closing, id))
    state, more = let_go(state, session_id, live, stamp)
    return state, (*effects, *more)


def delete_session(state: State, id: Id, session_id: str, stamp: Stamp) -> Step:
    """Removes a session; one that is open is cancelled and no longer saved."""
    live = state.sessions.get(session_id)
    if live is not None:
        gone = msgspec.structs.replace(live, deleting=(*live.deleting, id), keeps=False)
        return let_go(state, session_id, gone, stamp)
    if not is_id(session_id):
        return state, (Send(write_response(id, {})),)
    return state, (DeleteSession(id, session_id),)


def deleted(state: State, happened: Deleted) -> Step:
    """Answers a deletion; doing it twice is no fault."""
    if happened.trouble:
        return refuse(state, happened.request, INTERNAL_ERROR, happened.trouble)
    return state, (Send(write_response(happened.request, {})),)


def _cursor(row: Row) -> str:
    """Where a page ends, so that the next one goes on there whatever has changed in between."""
    return f"{row.id}@{row.updated.isoformat() if row.updated else ''}"


def _place(cursor: str, rows: tuple[tuple[str, Row], ...]) -> int | None:
    """Where the page behind `cursor` begins; None where it is no cursor of ours."""
    id, _, when = cursor.partition("@")
    if not is_id(id) or "@" not in cursor:
        return None
    same = next((i for i, (_, row) in enumerate(rows) if _cursor(row) == cursor), None)
    if same is not None:
        return same + 1
    try:
        updated = msgspec.convert(when, Time)
    except msgspec.ValidationError:
        return None
    older = (i for i, (_, row) in enumerate(rows) if row.updated and (row.updated, row.id) < (updated, id))
    return next(older, len(rows))


def _info(cwd: str, row: Row) -> dict[str, Any]:
    info: dict[str, Any] = {"sessionId": row.id, "cwd": cwd}
    title = first_line(row.title or (f"damaged: {row.damaged}" if row.damaged else ""))
    if title:
        info["title"] = title
    if row.updated is not None:
        info["updatedAt"] = utc_text(row.updated)
    return info
