"""Slash commands that come as a prompt: each is answered in the agent's words, without the model."""

import msgspec

from minime.core.acp.answers import Step, info_shown, send
from minime.core.acp.choices import options
from minime.core.acp.effects import Effects, Export, ListSessions
from minime.core.acp.state import Live, Prompt, Renewal, State, acp_commands, declared, with_live
from minime.core.acp.telling import put, say
from minime.core.acp.updates import ModeShown, OptionsShown
from minime.core.acp.wire import write_response
from minime.core.budget import Budget, gauge_of, new_budget
from minime.core.commands import COMMANDS, Slash, Unknown, help_text
from minime.core.context_text import context_text
from minime.core.formats import NOTHING_YET, Wanted, parse_export
from minime.core.listing import SHOWN_ROWS, Row, row_text
from minime.core.pieces import plain
from minime.core.screen import errors_pieces, tools_text, undone_text
from minime.core.session import (
    changed_files,
    fork,
    is_empty,
    last_exchange,
    new_with_archive,
    undo,
    with_title,
)
from minime.core.tools.consent import always_text
from minime.core.tools.permissions import MODES
from minime.core.values import Session, Stamp, first_line

NOT_HERE = "/{name} works in the terminal only"


def run_slash(state: State, id: str, prompt: Prompt, command: Slash | Unknown, stamp: Stamp) -> Step:
    """Does the command and has its prompt answered, at once or when the world has done its part."""
    live = state.sessions[id]
    if isinstance(command, Slash) and command.name == "sessions":
        return state, (ListSessions(prompt.request, live.cwd, command=id),)
    if isinstance(command, Slash) and command.name == "export":
        wanted = NOTHING_YET if is_empty(live.session) else parse_export(command.argument)
        if isinstance(wanted, Wanted):
            return state, (Export(id, live.session, wanted),)
        live, effects = _answered(id, live, wanted)
        return with_live(state, id, live), effects
    live, effects = _done(id, live, command, stamp)
    return with_live(state, id, live), effects


def exported(id: str, live: Live, line: str) -> tuple[Live, Effects]:
    """What /export answers."""
    return _answered(id, live, line)


def sessions_listed(
    id: str, live: Live, rows: tuple[tuple[str, Row], ...], trouble: str
) -> tuple[Live, Effects]:
    """What /sessions answers. Times are in the zone that the rows have them in."""
    lines = [row_text(row, lambda moment: moment) for _, row in rows[:SHOWN_ROWS]]
    listed = _fenced("\n".join(lines)) if lines else "no sessions here yet"
    return _answered(id, live, trouble or listed)


def renewed(
    id: str, live: Live, renewal: Renewal, archive: Session | None, trouble: str
) -> tuple[Live, Effects]:
    """The end of a /new or a /fork: when the archive is on disk, and not before, the fresh session takes
    over, if there is one."""
    live = msgspec.structs.replace(live, renewal=None)
    if archive is None:
        return _answered(id, live, f"{trouble}; the conversation goes on as it was")
    if renewal.fresh is None:
        return _answered(id, live, f"A copy is kept as {archive.id}; this conversation goes on as it is.")
    kept = f"kept as {archive.id}" if live.keeps else "gone, since nothing is kept here"
    live = msgspec.structs.replace(live, always=(), never=(), unsaved="", failed=None)
    live, saves = put(id, live, renewal.fresh)
    live, said = _answered(id, live, f"A new conversation begins; the one before is {kept}.")
    return live, (*saves, *said)


def _done(id: str, live: Live, command: Slash | Unknown, stamp: Stamp) -> tuple[Live, Effects]:
    match command:
        case Slash(name="new"):
            return _new(id, live, stamp)
        case Slash(name="undo"):
            return _undo(id, live, stamp)
        case Slash(name="fork"):
            return _fork(id, live, stamp)
        case Slash(name="retry"):
            return _answered(id, live, "nothing to try again yet")
        case Slash(name="title", argument=title) if title:
            return _title(id, live, first_line(title))
        case Slash(name="mode", argument=wanted) if wanted:
            return _mode(id, live, wanted)
        case Slash(name="permissions", argument="clear"):
            live = msgspec.structs.replace(live, always=(), never=())
            return _answered(id, live, _text(live, "permissions"))
        case Slash(name=name):
            return _answered(id, live, _text(live, name))
        case Unknown(message=message):
            return _answered(id, live, message)


def _new(id: str, live: Live, stamp: Stamp) -> tuple[Live, Effects]:
    """The past conversation is written under a new id first; then the editor's id is the fresh one."""
    if is_empty(live.session):
        return _answered(id, live, "this conversation is empty")
    archive, fresh = new_with_archive(live.session, stamp, live.system)
    renewal = Renewal(archive, fresh)
    if not live.keeps:
        return renewed(id, live, renewal, archive, "")
    past = live.session
    live, saves = put(id, live, archive)
    return msgspec.structs.replace(live, session=past, renewal=renewal), saves


def _undo(id: str, live: Live, stamp: Stamp) -> tuple[Live, Effects]:
    shorter = undo(live.session, stamp.now)
    if shorter is live.session:
        return _answered(id, live, "nothing to take back")
    gone = last_exchange(live.session)
    live, saves = put(id, live, shorter)
    live, said = _answered(id, live, undone_text(gone, changed_files(gone)))
    return live, (*saves, *said)


def _fork(id: str, live: Live, stamp: Stamp) -> tuple[Live, Effects]:
    """The copy goes under a new id; the conversation in hand keeps the editor's."""
    if is_empty(live.session) or not live.keeps:
        return _answered(id, live, "this conversation is empty" if live.keeps else "nothing is kept here")
    past, copy = live.session, fork(live.session, stamp)
    live, saves = put(id, live, copy)
    return msgspec.structs.replace(live, session=past, renewal=Renewal(copy, None)), saves


def _title(id: str, live: Live, title: str) -> tuple[Live, Effects]:
    session = with_title(live.session, title)
    live, saves = (
        (msgspec.structs.replace(live, session=session), ()) if is_empty(session) else put(id, live, session)
    )
    live, said = _answered(id, live, title)
    return live, (*saves, send(id, info_shown(live)), *said)


def _mode(id: str, live: Live, wanted: str) -> tuple[Live, Effects]:
    mode = next((mode for mode in MODES if mode == wanted), None)
    if mode is None:
        return _answered(id, live, f"no mode {wanted[:80]!r}: there are {', '.join(MODES)}")
    live = msgspec.structs.replace(live, mode=mode)
    told = (send(id, ModeShown(current_mode_id=mode)), send(id, OptionsShown(config_options=options(live))))
    live, said = _answered(id, live, f"mode: {mode}")
    return live, (*told, *said)


def _text(live: Live, name: str) -> str:
    match name:
        case "help":
            return _fenced(help_text(acp_commands(COMMANDS)))
        case "title":
            return live.session.title or "no title yet: /title TEXT gives one"
        case "errors":
            when = tuple(f"{record.time:%Y-%m-%d %H:%M} UTC" for record in live.session.errors)
            text = plain(errors_pieces(live.session, when)).rstrip("\n")
            return _fenced(text) if when else text
        case "context":
            return _fenced(context_text(live.session, _budget(live), live.origin))
        case "tools":
            return _fenced(tools_text(live.tools, live.servers))
        case "mode":
            return f"mode: {live.mode}"
        case "permissions":
            allowed = [f"- {always_text(rule)}" for rule in live.always]
            refused = [f"- not: {always_text(rule)}" for rule in live.never]
            return "\n".join([*allowed, *refused]) or "nothing is allowed beforehand"
        case _:
            return NOT_HERE.format(name=name)


def _budget(live: Live) -> Budget:
    tools = declared(live)
    gauge = live.gauge if live.gauge.counts else gauge_of(live.session, tools)
    return new_budget(live.window, tools, gauge, live.summaries)


def _fenced(text: str) -> str:
    return f"```\n{text}\n```"


def _answered(id: str, live: Live, text: str) -> tuple[Live, Effects]:
    """The words of the answer, and what its request is to be answered with."""
    assert live.running is not None, "a command is a prompt in hand"
    answer = write_response(live.running.request, {"stopReason": "end_turn"})
    live, said = say(id, live, text)
    return msgspec.structs.replace(live, answer=answer), said
