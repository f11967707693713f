"""Prompts as steps of the machine: their queue, the events of a turn, consent, the end, cancelling."""

from typing import Any

import msgspec

from minime.core.acp.sessions import info_shown, refuse, send
from minime.core.acp.slash import renewed, run_slash
from minime.core.acp.state import (
    Asked,
    ConsentNeeded,
    Decide,
    Effect,
    Effects,
    Forget,
    Happened,
    Live,
    Prompt,
    RoundKept,
    Save,
    SaveDone,
    Send,
    StartTurn,
    State,
    Step,
    Stop,
    StopTurn,
    TurnEnded,
    block,
    with_live,
    without_live,
)
from minime.core.acp.updates import (
    Changed,
    NoticeShown,
    agent_chunks,
    result_content,
    started_call,
    text_content,
    thought_chunks,
    usage_shown,
)
from minime.core.acp.wire import (
    AUTH_REQUIRED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    NOT_FOUND,
    Fault,
    Id,
    Response,
    write_fault,
    write_request,
    write_response,
)
from minime.core.commands import Question, parse_command
from minime.core.consent import AlwaysRule, Ask, Deny, No, covers, decide, offer_text, refusal_text, remember
from minime.core.events import (
    Answered,
    Cancelled,
    Event,
    Failed,
    Notice,
    TextDelta,
    ThoughtDelta,
    ToolFinished,
    ToolProgress,
    ToolRunning,
    ToolStarted,
    UsageSeen,
)
from minime.core.screen import pending_text
from minime.core.session import is_empty, settle, turns, with_pending
from minime.core.toolbox import tool_name
from minime.core.turn import turn_stopped
from minime.core.values import Session, Stamp

LAST_OUTPUT = 8_000
"""Characters of a running command's output that are shown: each update replaces the one before."""

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


def happened(state: State, said: Happened) -> Step:
    """Shows an event of a running turn."""
    live = state.sessions.get(said.id)
    if live is None or live.running is None:
        return state, ()
    live, effects = _shown(state, said.id, live, said.event)
    return with_live(state, said.id, live), effects


def consent_needed(state: State, need: ConsentNeeded) -> Step:
    """Decides whether an action may be done, or has the editor ask the person."""
    live = state.sessions.get(need.id)
    if live is None or live.running is None:
        return state, (Decide(need.id, need.call.id, refusal_text(No())),)
    if any(covers(rule, need.action) for rule in live.never):
        return state, (Decide(need.id, need.call.id, refusal_text(No())),)
    match decide(need.action, live.mode, live.rules, live.always, need.where):
        case Ask(always=offered):
            number = state.next_id
            rule = offered or AlwaysRule(tool_name(need.action), ("",))
            asked = Asked(number, need.call.id, rule)
            state = msgspec.structs.replace(state, next_id=number + 1)
            options = _options(offered)
            params = {"sessionId": need.id, "toolCall": {"toolCallId": need.call.id}, "options": options}
            live = msgspec.structs.replace(live, asked=(*live.asked, asked))
            return with_live(state, need.id, live), (
                Send(write_request(number, "session/request_permission", params)),
            )
        case Deny(reason=reason):
            return state, (Decide(need.id, need.call.id, reason),)
        case _:
            return state, (Decide(need.id, need.call.id, ""),)


def permission_answered(state: State, answer: Response) -> Step:
    """Takes the person's answer; one that nobody waits for any more is passed over."""
    found = next(
        ((id, live, a) for id, live in state.sessions.items() for a in live.asked if a.id == answer.id), None
    )
    if found is None:
        return state, ()
    id, live, asked = found
    live = msgspec.structs.replace(live, asked=tuple(a for a in live.asked if a is not asked))
    outcome = (answer.result or {}).get("outcome")
    kind = outcome if isinstance(outcome, dict) else {}
    if kind.get("outcome") == "cancelled":
        return with_live(state, id, live), (StopTurn(id),)
    refusal = refusal_text(No())
    match kind.get("optionId"):
        case "allow":
            refusal = ""
        case "allow-always":
            live, refusal = msgspec.structs.replace(live, always=remember(live.always, asked.always)), ""
        case "reject-always":
            live = msgspec.structs.replace(live, never=remember(live.never, asked.always))
        case _:
            pass
    return with_live(state, id, live), (Decide(id, asked.call_id, refusal),)


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
        live, effects = _tell(state, done.id, live, done.line)
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
            send(id, chunk) for text in live.untold for chunk in agent_chunks(f"{text}\n\n", _spoken(live))
        )
        live = msgspec.structs.replace(live, untold=())
        return with_live(state, id, live), (*effects, *told, StartTurn(id, live.session, prompt.blocks))


def _shown(state: State, id: str, live: Live, event: Event) -> tuple[Live, Effects]:
    match event:
        case TextDelta(text=text):
            live = _speaking(live)
            return live, tuple(send(id, chunk) for chunk in agent_chunks(text, _spoken(live)))
        case ThoughtDelta(text=text):
            live = _speaking(live)
            return live, tuple(send(id, chunk) for chunk in thought_chunks(text, _spoken(live)))
        case ToolStarted(call=call, diff=diff):
            shown = started_call(call, diff, live.cwd)
            return msgspec.structs.replace(live, after_tool=True), (send(id, shown),)
        case ToolRunning(call_id=call_id):
            return live, (send(id, Changed(tool_call_id=call_id, status="in_progress")),)
        case ToolProgress(call_id=call_id, text=text):
            output = (live.output.get(call_id, "") + text)[-LAST_OUTPUT:]
            live = msgspec.structs.replace(live, output={**live.output, call_id: output})
            return live, (send(id, Changed(tool_call_id=call_id, content=(text_content(output),))),)
        case ToolFinished(result=result):
            changed = Changed(
                tool_call_id=result.tool_call_id,
                status="failed" if result.failed else "completed",
                content=result_content(result, live.cwd),
                raw_output=result.content,
            )
            return live, (send(id, changed),)
        case UsageSeen(usage=usage):
            return live, (send(id, usage_shown(usage, live.window)),) if live.window else ()
        case Notice(text=text):
            return _tell(state, id, live, text)


def _tell(state: State, id: str, live: Live, text: str) -> tuple[Live, Effects]:
    """A line for the person: beside the conversation, else in it, else before the next answer."""
    if state.client.notices:
        return live, (send(id, NoticeShown(severity="warning", title=text)),)
    if live.running is not None:
        live = _speaking(live)
        return live, tuple(send(id, chunk) for chunk in agent_chunks(f"{text}\n\n", _spoken(live)))
    return msgspec.structs.replace(live, untold=(*live.untold, text)), ()


def _speaking(live: Live) -> Live:
    """A message behind a tool is another one than that before it."""
    if not live.after_tool:
        return live
    return msgspec.structs.replace(live, after_tool=False, spoken=live.spoken + 1)


def _spoken(live: Live) -> str:
    return f"t{turns(live.session) + 1}.{live.spoken}"


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


def _options(offered: AlwaysRule | None) -> list[dict[str, str]]:
    """What the person can answer; "always" only where it is not too much."""
    options = [{"optionId": "allow", "name": "Allow", "kind": "allow_once"}]
    if offered is not None:
        name = f"Always allow {offer_text(offered)}"
        options.append({"optionId": "allow-always", "name": name, "kind": "allow_always"})
    options.append({"optionId": "reject", "name": "Reject", "kind": "reject_once"})
    if offered is not None:
        name = f"Always reject {offer_text(offered)}"
        options.append({"optionId": "reject-always", "name": name, "kind": "reject_always"})
    return options


def _stopped(state: State, effects: tuple[Effect, ...]) -> Step:
    """The end of mm behind the last turn, when the editor has gone."""
    if state.stopping and not any(live.running for live in state.sessions.values()):
        return state, (*effects, Stop())
    return state, effects
