"""Prompts, as steps of the machine: their queue, the end of a turn, cancelling."""

from typing import Any

import msgspec

from minime.core.acp.answers import Step, info_shown, refuse, send
from minime.core.acp.effects import (
    Effect,
    Effects,
    Forget,
    Save,
    Send,
    StartTurn,
    Stop,
    StopTurn,
)
from minime.core.acp.inputs import (
    RoundKept,
    SaveDone,
    TurnEnded,
)
from minime.core.acp.showing import spoken, tell
from minime.core.acp.slash import renewed, run_slash
from minime.core.acp.state import Live, Prompt, State, block, with_live, without_live
from minime.core.acp.updates import (
    agent_chunks,
)
from minime.core.acp.wire import (
    AUTH_REQUIRED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    NOT_FOUND,
    Fault,
    Id,
    write_fault,
    write_response,
)
from minime.core.commands import Question, parse_command
from minime.core.events import (
    Answered,
    Cancelled,
    Failed,
)
from minime.core.screen import pending_text
from minime.core.session import is_empty, settle, turns, with_pending
from minime.core.turn import turn_stopped
from minime.core.values import Session, Stamp

STOP_REASONS = {
    "": "end_turn",
    "length": "max_tokens",
    "steps": "max_turn_requests",
    "loop": "max_turn_requests",
}


class PromptParams(msgspec.Struct, frozen=True, rename="camel"):
    """A prompt: what the person typed and gave along."""

    session_id: str
    prompt: list[Any]


def prompted(state: State, id: Id, params: PromptParams, stamp: Stamp) -> Step:
    """Takes a prompt; it waits its turn where one is running."""
    live = state.sessions.get(params.session_id)
    if live is None:
        return refuse(state, id, NOT_FOUND, "session not found: open it with session/new or session/load")
    blocks = tuple(block(raw) for raw in params.prompt)
    if not blocks or None in blocks:
        return refuse(
            state,
            id,
            INVALID_PARAMS,
            "invalid params: prompt is a list of content blocks, and not an empty one",
        )
    prompt = Prompt(id, tuple(b for b in blocks if b is not None))
    queued = msgspec.structs.replace(live, queue=(*live.queue, prompt))
    return _next(with_live(state, params.session_id, queued), params.session_id, stamp)


def round_kept(state: State, kept: RoundKept, stamp: Stamp) -> Step:
    """Puts the finished rounds of a running turn on disk."""
    live = state.sessions.get(kept.id)
    if live is None:
        return state, ()
    session = with_pending(live.session, kept.turn, stamp.now, "running")
    return _with_session(state, kept.id, live, session)


def turn_ended(state: State, ended: TurnEnded, stamp: Stamp) -> Step:
    """Settles the session, saves it, and answers the prompt; nothing of the turn is sent behind that."""
    live = state.sessions.get(ended.id)
    if live is None or live.running is None:
        return state, ()
    request = live.running.request
    session = settle(live.session, ended.turn, ended.outcome, stamp.now)
    untold = live.untold
    if isinstance(ended.outcome, Failed) and session.pending is not None:
        untold = (*untold, pending_text(session.pending))
    live = msgspec.structs.replace(live, running=None, asked=(), output={}, untold=untold)
    state, effects = _with_session(state, ended.id, live, session)
    live = state.sessions[ended.id]
    told = [*effects]
    if turns(session):
        told.append(send(ended.id, info_shown(live)))
    told.append(Send(_answer(request, ended)))
    if live.closing:
        told += (Send(write_response(closing, {})) for closing in live.closing)
        return _stopped(without_live(state, ended.id), (*told, Forget(ended.id)))
    state, more = _next(state, ended.id, stamp)
    return _stopped(state, (*told, *more))


def save_done(state: State, done: SaveDone, stamp: Stamp) -> Step:
    """Goes on with a /new; tells of a save that went elsewhere or failed: now where the editor takes
    notices, else later."""
    live = state.sessions.get(done.id)
    if live is None:
        return state, ()
    if live.renewal is not None and done.asked == live.renewal.archive.id:
        state, told = renewed(state, done.id, live.renewal, "" if done.session else done.line)
        state, more = _next(state, done.id, stamp)
        return state, (*told, *more)
    if done.session is not None and done.asked == live.session.id:
        kept = msgspec.structs.replace(live.session, id=done.session.id, title=done.session.title)
        live = msgspec.structs.replace(live, session=kept)
    effects: Effects = ()
    if done.line:
        live, effects = tell(state, done.id, live, done.line)
    return with_live(state, done.id, live), effects


def cancel(state: State, session_id: str) -> Step:
    """Ends the running prompt and all that wait behind it; does nothing when idle."""
    live = state.sessions.get(session_id)
    if live is None or live.running is None:
        return state, ()
    dropped = tuple(Send(write_response(p.request, {"stopReason": "cancelled"})) for p in live.queue)
    idle = msgspec.structs.replace(live, queue=(), asked=())
    return with_live(state, session_id, idle), (StopTurn(session_id), *dropped)


def cancel_request(state: State, request: Any) -> Step:
    """Ends the prompt of this request, and no other."""
    for id, live in state.sessions.items():
        if live.running is not None and live.running.request == request:
            return with_live(state, id, msgspec.structs.replace(live, asked=())), (StopTurn(id),)
        if any(p.request == request for p in live.queue):
            rest = tuple(p for p in live.queue if p.request != request)
            dropped = Send(write_response(request, {"stopReason": "cancelled"}))
            return with_live(state, id, msgspec.structs.replace(live, queue=rest)), (dropped,)
    return state, ()


def ended(state: State) -> Step:
    """The editor has gone: what runs is cancelled and saved, then mm ends."""
    busy = [id for id, live in state.sessions.items() if live.running is not None]
    idle = {id: msgspec.structs.replace(live, queue=()) for id, live in state.sessions.items()}
    state = msgspec.structs.replace(state, stopping=True, sessions=idle)
    return _stopped(state, tuple(StopTurn(id) for id in busy))


def _next(state: State, id: str, stamp: Stamp) -> Step:
    """Begins the next prompt when none is running; slash commands are done on the spot."""
    effects: Effects = ()
    while True:
        live = state.sessions[id]
        if live.running is not None or live.renewal is not None or not live.queue:
            return state, effects
        prompt, *rest = live.queue
        live = msgspec.structs.replace(live, queue=tuple(rest))
        command = parse_command(prompt.blocks[0].text) if prompt.blocks[0].type == "text" else Question("")
        if not isinstance(command, Question) and prompt.blocks[0].text.strip():
            state, more = run_slash(with_live(state, id, live), id, prompt, command, stamp)
            effects += more
            continue
        live = msgspec.structs.replace(live, running=prompt, spoken=0, after_tool=False)
        told = tuple(
            send(id, chunk) for text in live.untold for chunk in agent_chunks(f"{text}\n\n", spoken(live))
        )
        live = msgspec.structs.replace(live, untold=())
        return with_live(state, id, live), (*effects, *told, StartTurn(id, live.session, prompt.blocks))


def _with_session(state: State, id: str, live: Live, session: Session) -> Step:
    """The state with the session as it is now, saved where it changed and is worth a file."""
    changed = session != live.session
    live = msgspec.structs.replace(live, session=session)
    saves: Effects = (Save(id, session),) if changed and live.keeps and not is_empty(session) else ()
    return with_live(state, id, live), saves


def _answer(request: Id, ended: TurnEnded) -> bytes:
    match ended.outcome:
        case Answered():
            return write_response(
                request, {"stopReason": STOP_REASONS.get(turn_stopped(ended.turn), "end_turn")}
            )
        case Cancelled():
            return write_response(request, {"stopReason": "cancelled"})
        case Failed(shown=shown, raw=raw):
            code = AUTH_REQUIRED if ended.kind == "key" else INTERNAL_ERROR
            return write_fault(
                request, Fault(code, shown, {"kind": ended.kind or "generation", "details": raw or shown})
            )


def _stopped(state: State, effects: tuple[Effect, ...]) -> Step:
    """The end of mm behind the last turn, when the editor has gone."""
    if state.stopping and not any(live.running for live in state.sessions.values()):
        return state, (*effects, Stop())
    return state, effects
