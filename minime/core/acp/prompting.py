"""Prompts, as steps of the machine: they come, their turn ends, they are cancelled."""

from typing import Any

import msgspec

from minime.core.acp.answers import Step, refuse
from minime.core.acp.compacting import compaction_cancelled
from minime.core.acp.effects import Effect, Effects, Save, Send, StopTurn
from minime.core.acp.inputs import CompactionEnded, Exported, Listed, RoundKept, SaveDone, TurnEnded
from minime.core.acp.queueing import drop_queue, go_on, stop_if_over
from minime.core.acp.showing import unfinished
from minime.core.acp.slash import exported, renewed, sessions_listed
from minime.core.acp.state import Live, Prompt, State, block, declared, with_live
from minime.core.acp.telling import put, tell, tell_later
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
from minime.core.budget import learn_from
from minime.core.events import Answered, Cancelled, Failed, Outcome
from minime.core.screen import pending_text
from minime.core.session import is_empty, settle, settle_retry, unanswered, with_pending
from minime.core.text import clip
from minime.core.turn import rounds, stopped_text, turn_stopped
from minime.core.values import Stamp

STOP_REASONS = {
    "": "end_turn",
    "length": "max_tokens",
    "steps": "max_turn_requests",
    "loop": "max_turn_requests",
}
MOST_DETAILS = 20_000


class PromptParams(msgspec.Struct, frozen=True, rename="camel"):
    """A prompt: what the person typed and gave along."""

    session_id: str
    prompt: list[Any]


def prompted(state: State, id: Id, params: PromptParams, stamp: Stamp) -> Step:
    """Takes a prompt; it waits its turn where one is running."""
    live = state.sessions.get(params.session_id)
    if live is None or live.closing or live.deleting:
        return refuse(state, id, NOT_FOUND, "session not found: open it with session/new or session/load")
    blocks = tuple(b for b in map(block, params.prompt) if b is not None)
    if len(blocks) < len(params.prompt):
        return refuse(state, id, INVALID_PARAMS, "invalid params: prompt is a list of content blocks")
    if all(b.type == "text" and not b.text.strip() for b in blocks):
        return refuse(state, id, INVALID_PARAMS, "invalid params: the prompt is empty")
    if state.stopping:
        return state, (Send(write_response(id, {"stopReason": "cancelled"})),)
    queued = msgspec.structs.replace(live, queue=(*live.queue, Prompt(id, blocks)))
    return go_on(with_live(state, params.session_id, queued), params.session_id, stamp)


def round_kept(state: State, kept: RoundKept, stamp: Stamp) -> Step:
    """Puts the finished rounds of a running turn on disk."""
    live = state.sessions.get(kept.id)
    if live is None or live.running is None or live.deleting:
        return state, ()
    session = with_pending(live.session, kept.turn, stamp.now, "running")
    if session == live.session:
        return state, ()
    live, effects = put(kept.id, live, session)
    return with_live(state, kept.id, live), effects


def turn_ended(state: State, ended: TurnEnded, stamp: Stamp) -> Step:
    """Settles the session and saves it; the prompt is answered when that is done."""
    id, live = ended.id, state.sessions.get(ended.id)
    if live is None or live.running is None or live.command or live.compacting or live.answer:
        return state, ()
    outcome = Cancelled() if live.stopping and isinstance(ended.outcome, Failed) else ended.outcome
    effects = unfinished(id, live)
    live, told = compaction_cancelled(id, live)
    effects += told
    gauge = learn_from(live.gauge, live.session.messages, ended.turn.messages, declared(live))
    if live.beside is None:
        session = settle(live.session, ended.turn, outcome, stamp.now)
    else:
        now = live.session  # its file may have gone elsewhere meanwhile
        beside = msgspec.structs.replace(live.beside, id=now.id, title=now.title)
        session = settle_retry(now, beside, ended.turn, outcome, stamp.now)
    if isinstance(outcome, Answered) and (why := turn_stopped(ended.turn)):
        live, told = tell(state, id, live, stopped_text(why, rounds(ended.turn)))
        effects += told
    if isinstance(outcome, Failed) and session.pending is not None:
        live, told = tell_later(state, id, live, pending_text(session.pending))
        effects += told
    answer = _answer(live, outcome, ended.kind, STOP_REASONS.get(turn_stopped(ended.turn), "end_turn"))
    failed = unanswered(session, ended.turn, outcome) if live.beside is None else None
    live = msgspec.structs.replace(
        live, answer=answer, asked=(), calls={}, beside=None, failed=failed, gauge=gauge
    )
    if session != live.session and not is_empty(session):
        live, saves = put(id, live, session)
        effects += saves
    state, more = go_on(with_live(state, id, live), id, stamp)
    return state, (*effects, *more)


def compaction_ended(state: State, ended: CompactionEnded, stamp: Stamp) -> Step:
    """The answer to /compact; what came of it is kept and told already."""
    id, live = ended.id, state.sessions.get(ended.id)
    if live is None or not live.compacting or live.answer:
        return state, ()
    live, effects = compaction_cancelled(id, live)
    outcome = Cancelled() if live.stopping and isinstance(ended.outcome, Failed) else ended.outcome
    answer = _answer(live, outcome, getattr(outcome, "kind", ""), "end_turn")
    live = msgspec.structs.replace(live, answer=answer)
    state, more = go_on(with_live(state, id, live), id, stamp)
    return state, (*effects, *more)


def save_done(state: State, done: SaveDone, stamp: Stamp) -> Step:
    """Tells of a save that went elsewhere or failed, and goes on with what waited for it."""
    live = state.sessions.get(done.id)
    if live is None:
        return state, ()
    live = msgspec.structs.replace(live, saves=max(0, live.saves - 1))
    if live.renewal is not None and done.asked == live.renewal.archive.id:
        live, effects = renewed(done.id, live, live.renewal, done.session, done.line)
    else:
        live, effects = _saved(state, live, done)
    state, more = go_on(with_live(state, done.id, live), done.id, stamp)
    return state, (*effects, *more)


def command_listed(state: State, found: Listed, stamp: Stamp) -> Step:
    """Answers /sessions, once the list is there."""
    id, live = found.wish.command, state.sessions.get(found.wish.command)
    if live is None or live.running is None or not live.command:
        return state, ()
    live, effects = sessions_listed(id, live, found.rows, found.trouble)
    state, more = go_on(with_live(state, id, live), id, stamp)
    return state, (*effects, *more)


def command_exported(state: State, done: Exported, stamp: Stamp) -> Step:
    """Answers /export, once the file is there or cannot be."""
    live = state.sessions.get(done.id)
    if live is None or live.running is None or not live.command:
        return state, ()
    live, effects = exported(done.id, live, done.line)
    state, more = go_on(with_live(state, done.id, live), done.id, stamp)
    return state, (*effects, *more)


def cancel(state: State, session_id: str) -> Step:
    """Ends the running prompt and all that wait behind it; does nothing when idle."""
    live = state.sessions.get(session_id)
    if live is None:
        return state, ()
    live, dropped = drop_queue(live)
    live, effects = _stop(session_id, live)
    return with_live(state, session_id, live), (*effects, *dropped)


def cancel_request(state: State, request: Id) -> Step:
    """Ends the prompt of this request, and no other."""
    for id, live in state.sessions.items():
        if live.running is not None and live.running.request == request:
            stopped, effects = _stop(id, live)
            return with_live(state, id, stopped), effects
        if any(p.request == request for p in live.queue):
            meant = msgspec.structs.replace(live, queue=tuple(p for p in live.queue if p.request == request))
            rest = tuple(p for p in live.queue if p.request != request)
            return with_live(state, id, msgspec.structs.replace(live, queue=rest)), drop_queue(meant)[1]
    return state, ()


def let_go(state: State, id: str, live: Live, stamp: Stamp) -> Step:
    """Has a session that is to be closed or deleted end what it does, and go."""
    live, dropped = drop_queue(live)
    live, effects = _stop(id, live)
    state, more = go_on(with_live(state, id, live), id, stamp)
    return state, (*effects, *dropped, *more)


def ended(state: State) -> Step:
    """The editor has gone: what runs is cancelled and saved, then mm ends."""
    state = msgspec.structs.replace(state, stopping=True)
    effects: list[Effect] = []
    for id, live in state.sessions.items():
        live, dropped = drop_queue(live)
        live, stops = _stop(id, live)
        if live.unsaved and live.running is None and live.keeps:
            effects.append(Save(id, live.session))
        effects += (*stops, *dropped)
        state = with_live(state, id, live)
    return state, (*effects, *stop_if_over(state))


def _stop(id: str, live: Live) -> tuple[Live, Effects]:
    """The running turn told to end; a command is short, and is left to."""
    if live.running is None or live.command or live.answer:
        return live, ()
    return msgspec.structs.replace(live, stopping=True, asked=()), (StopTurn(id),)


def _saved(state: State, live: Live, done: SaveDone) -> tuple[Live, Effects]:
    before, line = live.unsaved, done.line
    if done.asked == live.session.id:
        live = msgspec.structs.replace(live, unsaved=line if done.session is None else "")
        if done.session is not None:
            title = live.session.title if live.saves else done.session.title
            kept = msgspec.structs.replace(live.session, id=done.session.id, title=title)
            live = msgspec.structs.replace(live, session=kept)
            line = line or ("the session is saved again" if before else "")
    # Trouble that lasts is told once.
    said = line and (line != before or done.session is not None)
    return tell(state, done.id, live, line) if said and not live.deleting else (live, ())


def _answer(live: Live, outcome: Outcome, kind: str, stop_reason: str) -> bytes:
    assert live.running is not None, "only a running prompt is answered"
    request = live.running.request
    match outcome:
        case Failed(shown=shown, raw=raw):
            code = AUTH_REQUIRED if kind == "key" else INTERNAL_ERROR
            data = {"kind": kind or "generation", "details": clip(raw or shown, MOST_DETAILS)}
            return write_fault(request, Fault(code, shown, data))
        case Answered() if not live.stopping:
            return write_response(request, {"stopReason": stop_reason})
        case Answered() | Cancelled():
            return write_response(request, {"stopReason": "cancelled"})
