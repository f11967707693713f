"""What a session does next: the prompt in hand is answered, it is let go of, or the next prompt begins."""

import msgspec

from minime.core.acp.answers import Step, info_shown, send
from minime.core.acp.effects import (
    DeleteSession,
    Effect,
    Effects,
    Forget,
    Send,
    StartCompaction,
    StartTurn,
    Stop,
)
from minime.core.acp.slash import run_slash
from minime.core.acp.state import Live, Prompt, State, acp_commands, with_live, without_live
from minime.core.acp.telling import pause, say
from minime.core.acp.wire import INTERNAL_ERROR, Fault, write_fault, write_response
from minime.core.commands import COMMANDS, Slash, Unknown, parse_command
from minime.core.listing import is_id
from minime.core.session import to_retry
from minime.core.values import Stamp


def go_on(state: State, id: str, stamp: Stamp) -> Step:
    """All that can be done now, in order, until the session waits for something or has nothing to do."""
    effects: Effects = ()
    while (live := state.sessions.get(id)) is not None:
        if live.running is not None:
            if not live.answer or live.saves:
                break
            state, more = _answered(state, id, live)
        elif live.deleting:
            state, more = without_live(state, id), _let_go(id, live)
        elif live.closing and live.saves:
            break
        elif live.closing:
            state, more = _closed(state, id, live)
        elif live.queue:
            state, more = _begun(state, id, live, stamp)
        else:
            break
        effects += more
    return state, (*effects, *stop_if_over(state))


def stop_if_over(state: State) -> Effects:
    """The end of mm behind the last prompt, when the editor has gone."""
    over = state.stopping and not any(live.running for live in state.sessions.values())
    return (Stop(),) if over else ()


def drop_queue(live: Live) -> tuple[Live, Effects]:
    """The prompts that wait, answered as cancelled."""
    said = tuple(Send(write_response(p.request, {"stopReason": "cancelled"})) for p in live.queue)
    return msgspec.structs.replace(live, queue=()), said


def _answered(state: State, id: str, live: Live) -> Step:
    """The prompt in hand is answered; nothing of its turn is told behind that."""
    quiet = live.command or live.deleting or not live.session.title
    titled: Effects = () if quiet else (send(id, info_shown(live)),)
    idle = msgspec.structs.replace(
        pause(live),
        running=None,
        command=False,
        compacting=False,
        stopping=False,
        answer=b"",
        asked=(),
        calls={},
    )
    return with_live(state, id, idle), (*titled, Send(live.answer))


def _closed(state: State, id: str, live: Live) -> Step:
    """A session is let go of once its file has all of it; else it stays open, and the editor is told why."""
    if not (live.unsaved and live.keeps):
        return without_live(state, id), _let_go(id, live)
    fault = Fault(INTERNAL_ERROR, f"{live.unsaved}; the session stays open, so that nothing is lost")
    refusals = tuple(Send(write_fault(request, fault)) for request in live.closing)
    return with_live(state, id, msgspec.structs.replace(live, closing=())), refusals


def _let_go(id: str, live: Live) -> Effects:
    effects: list[Effect] = [Forget(id)]
    effects += (Send(write_response(request, {})) for request in live.closing)
    for request in live.deleting:
        effects.append(DeleteSession(request, id) if is_id(id) else Send(write_response(request, {})))
    return tuple(effects)


def _begun(state: State, id: str, live: Live, stamp: Stamp) -> Step:
    """The next prompt begins, with what there was to tell before it; a slash command is done on the spot."""
    prompt, *rest = live.queue
    live = msgspec.structs.replace(live, queue=tuple(rest), running=prompt)
    effects: Effects = ()
    for text in live.untold:
        live, more = say(id, pause(live), f"{text}\n\n")
        effects += more
    live = msgspec.structs.replace(pause(live), untold=())
    command = parse_command(_first_text(prompt))
    if isinstance(command, Unknown):  # the nearest one that is to be had here
        command = parse_command(_first_text(prompt), acp_commands(COMMANDS))
    if command == Slash("retry", "") and (found := to_retry(live.session, stamp.now, live.failed)):
        beside, turn = found
        live = msgspec.structs.replace(live, beside=None if beside is live.session else beside)
        return with_live(state, id, live), (*effects, StartTurn(id, beside, prompt.blocks, turn))
    if isinstance(command, Slash) and command.name == "compact":
        live = msgspec.structs.replace(live, compacting=True)
        return with_live(state, id, live), (*effects, StartCompaction(id, live.session, command.argument))
    if isinstance(command, Slash | Unknown):
        live = msgspec.structs.replace(live, command=True)
        state, more = run_slash(with_live(state, id, live), id, prompt, command, stamp)
        return state, (*effects, *more)
    return with_live(state, id, live), (*effects, StartTurn(id, live.session, prompt.blocks))


def _first_text(prompt: Prompt) -> str:
    """The first words of the prompt; a prompt without any is no command."""
    return next((b.text for b in prompt.blocks if b.type == "text" and b.text.strip()), "?")
