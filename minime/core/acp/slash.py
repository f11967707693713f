"""Slash commands that come as a prompt: each is answered in the agent's words, without the model."""

import msgspec

from minime.core.acp.answers import Step, info_shown, send
from minime.core.acp.choices import options
from minime.core.acp.effects import Effects, ListSessions, Save, Send
from minime.core.acp.state import Live, Prompt, Renewal, State, acp_commands, with_live
from minime.core.acp.updates import ModeShown, OptionsShown, agent_chunks
from minime.core.acp.wire import Id, write_response
from minime.core.commands import COMMANDS, Command, Slash, Unknown, help_text
from minime.core.listing import Row, row_text
from minime.core.screen import context_text, errors_pieces, plain, tools_text
from minime.core.session import is_empty, new_with_archive, turns, with_title
from minime.core.tools.consent import always_text
from minime.core.tools.permissions import MODES
from minime.core.values import Stamp, first_line

NOT_HERE = "/{name} works in the terminal only"


def run_slash(state: State, id: str, prompt: Prompt, command: Command, stamp: Stamp) -> Step:
    """Does the command and answers its prompt."""
    live = state.sessions[id]
    match command:
        case Slash(name="sessions"):
            return state, (ListSessions(prompt.request, live.cwd, command=id),)
        case Slash(name="new"):
            return _new(state, id, live, prompt.request, stamp)
        case Slash(name="title", argument=title) if title:
            session = with_title(live.session, first_line(title))
            live = msgspec.structs.replace(live, session=session)
            saves: Effects = (Save(id, session),) if live.keeps and not is_empty(session) else ()
            answer = _answered(id, live, prompt.request, session.title)
            return with_live(state, id, live), (*saves, send(id, info_shown(live)), *answer)
        case Slash(name="mode", argument=wanted) if wanted:
            return _mode(state, id, live, prompt.request, wanted)
        case Slash(name="permissions", argument="clear"):
            live = msgspec.structs.replace(live, always=(), never=())
            return with_live(state, id, live), _answered(id, live, prompt.request, _text(live, "permissions"))
        case Slash(name=name):
            return state, _answered(id, live, prompt.request, _text(live, name))
        case Unknown(message=message):
            return state, _answered(id, live, prompt.request, message)
        case _:
            return state, _answered(id, live, prompt.request, "")


def sessions_listed(
    state: State, id: str, request: Id, rows: tuple[tuple[str, Row], ...], trouble: str
) -> Step:
    """Answers /sessions, once the list is there."""
    live = state.sessions.get(id)
    if live is None:
        return state, (Send(write_response(request, {"stopReason": "end_turn"})),)
    lines = [row_text(row, lambda moment: moment) for _, row in rows[:20]]
    text = trouble or "\n".join(lines) or "no sessions here yet"
    return state, _answered(id, live, request, f"```\n{text}\n```" if lines and not trouble else text)


def renewed(state: State, id: str, renewal: Renewal, trouble: str) -> Step:
    """The end of a /new: the fresh session takes over when the archive is on disk, and not before."""
    live = msgspec.structs.replace(state.sessions[id], renewal=None)
    if trouble:
        text = f"{trouble}; the conversation goes on as it was"
        return with_live(state, id, live), _answered(id, live, renewal.request, text)
    live = msgspec.structs.replace(live, session=renewal.fresh, always=(), never=())
    saves: Effects = (Save(id, renewal.fresh),) if live.keeps else ()
    kept = f"kept as {renewal.archive.id}" if live.keeps else "gone, since nothing is kept here"
    text = f"A new conversation begins; the one before is {kept}."
    return with_live(state, id, live), (*saves, *_answered(id, live, renewal.request, text))


def _new(state: State, id: str, live: Live, request: Id, stamp: Stamp) -> Step:
    """The past conversation is written under a new id first; then the editor's id is the fresh one."""
    if is_empty(live.session):
        return state, _answered(id, live, request, "this conversation is empty")
    archive, fresh = new_with_archive(live.session, stamp, live.system)
    fresh = msgspec.structs.replace(fresh, id=live.session.id)
    renewal = Renewal(request, archive, fresh)
    state = with_live(state, id, msgspec.structs.replace(live, renewal=renewal))
    return (state, (Save(id, archive),)) if live.keeps else renewed(state, id, renewal, "")


def _mode(state: State, id: str, live: Live, request: Id, wanted: str) -> Step:
    mode = next((mode for mode in MODES if mode == wanted), None)
    if mode is None:
        return state, _answered(id, live, request, f"no mode {wanted!r}: there are {', '.join(MODES)}")
    live = msgspec.structs.replace(live, mode=mode)
    told = (send(id, ModeShown(current_mode_id=mode)), send(id, OptionsShown(config_options=options(live))))
    return with_live(state, id, live), (*told, *_answered(id, live, request, f"mode: {mode}"))


def _text(live: Live, name: str) -> str:
    match name:
        case "help":
            return f"```\n{help_text(acp_commands(COMMANDS))}\n```"
        case "title":
            return live.session.title or "no title yet: /title TEXT gives one"
        case "errors":
            when = tuple(f"{record.time:%Y-%m-%d %H:%M} UTC" for record in live.session.errors)
            text = plain(errors_pieces(live.session, when)).rstrip("\n")
            return f"```\n{text}\n```" if when else text
        case "context":
            return context_text(live.session, live.window or None)
        case "tools":
            return f"```\n{tools_text(live.tools)}\n```"
        case "mode":
            return f"mode: {live.mode}"
        case "permissions":
            allowed = [f"- {always_text(rule)}" for rule in live.always]
            refused = [f"- not: {always_text(rule)}" for rule in live.never]
            return "\n".join([*allowed, *refused]) or "nothing is allowed beforehand"
        case _:
            return NOT_HERE.format(name=name)


def _answered(id: str, live: Live, request: Id, text: str) -> Effects:
    """The words of the answer, then the answer to the prompt."""
    said = tuple(send(id, chunk) for chunk in agent_chunks(text, f"c{turns(live.session)}.{request}"))
    return (*said, Send(write_response(request, {"stopReason": "end_turn"})))
