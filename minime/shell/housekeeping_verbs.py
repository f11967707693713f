"""The verbs that keep a project's conversations in order: check, fork, rename, delete, prune."""

import json
import os
import sys
from collections.abc import Callable
from datetime import timedelta

import msgspec

from minime.core.checkup import (
    WRONG,
    State,
    Verdict,
    beside,
    checked_text,
    judge,
    session_id,
    verdict_text,
)
from minime.core.listing import Found, NotFound, Row, count, row_text
from minime.core.pieces import Style
from minime.core.pruning import to_prune
from minime.core.session import fork, with_title
from minime.core.values import first_line
from minime.shell import clock
from minime.shell.paper import Paper
from minime.shell.store import NotSaved, Saved, Store
from minime.shell.wanted_session import complain, wanted_session

DONE, FAILED = 0, 1
STYLES: dict[State, Style] = {**dict.fromkeys(WRONG, "red"), "leftover": "yellow", "foreign": "dim"}
Ask = Callable[[str], bool]
"""Puts a question of yes or no to the person; False where nobody is there."""


def check_sessions(store: Store, *, as_json: bool) -> int:
    """What each file of the sessions folder is worth; 1 when a session cannot be read. Changes nothing."""
    out = Paper(sys.stdout)
    found: dict[State, int] = {}
    verdicts: list[Verdict] = []
    for name in _names(store):
        verdict = _verdict(store, name)
        if verdict is None:
            continue
        found[verdict.state] = found.get(verdict.state, 0) + 1
        if as_json:
            verdicts.append(verdict)
        else:
            style: Style = (
                "red" if verdict.state in WRONG else "yellow" if verdict.state == "leftover" else ""
            )
            out.line(verdict_text(verdict), style)
    if as_json:
        out.line(json.dumps(msgspec.to_builtins(verdicts), ensure_ascii=False, indent=2))
    else:
        out.line(checked_text(found), "bold")
    return FAILED if any(state in WRONG for state in found) else DONE


def fork_session(store: Store, wanted: str, *, as_json: bool) -> int:
    """A copy of a conversation under a new id, which is said."""
    session = wanted_session(store, wanted)
    if session is None:
        return FAILED
    stamp = clock.stamp()
    saved = store.save(fork(session, stamp), stamp)
    if isinstance(saved, NotSaved):
        return _failed(saved.line)
    copy = saved.session.id
    told = json.dumps({"id": copy, "from": session.id}) if as_json else f"{copy} is a copy of {session.id}"
    Paper(sys.stdout).line(told)
    return DONE


def rename_session(store: Store, wanted: str, title: str) -> int:
    """Another title for a conversation; a mm that has it in hand takes the title over."""
    session = wanted_session(store, wanted)
    if session is None:
        return FAILED
    match store.save(with_title(session, first_line(title)), clock.stamp()):
        case NotSaved(line=line):
            return _failed(line)
        case Saved(session=saved, notice=notice):
            if notice:
                Paper(sys.stderr).line(notice, "yellow")
            Paper(sys.stdout).line(f"{saved.id}  {saved.title}")
    return DONE


def delete_sessions(store: Store, wanted: tuple[str, ...], ask: Ask) -> int:
    """Removes the conversations that are meant, after a question; none where one of them is not found."""
    ids: list[str] = []
    for word in wanted:
        match store.find(word):
            case NotFound(message=message):
                return _failed(message)
            case Found(id=id):
                ids.append(id)
    return _remove(store, tuple(dict.fromkeys(ids)), ask)


def prune_sessions(store: Store, keep: int | None, older_than: timedelta | None, ask: Ask) -> int:
    """Removes the conversations beyond the newest `keep` and older than `older_than`, after a question. What
    cannot be read stays."""
    heads = to_prune(store.heads(), clock.now(), keep, older_than)
    ids = tuple(head.id for head in heads)
    if not ids:
        Paper(sys.stdout).line("nothing to remove")
        return DONE
    return _remove(store, ids, ask, readable=True)


def _remove(store: Store, ids: tuple[str, ...], ask: Ask, *, readable: bool = False) -> int:
    """Lists the sessions, asks, and removes them; with `readable` those alone that can be read whole."""
    out = Paper(sys.stdout)
    gone: list[Row] = []
    for row in store.rows(ids):
        if readable and row.damaged:
            Paper(sys.stderr).line(f"{row.id} stays: {row.damaged}", "yellow")
            continue
        gone.append(row)
        out.line(row_text(msgspec.structs.replace(row, number=0), clock.local), "red" if row.damaged else "")
    what = count(len(gone), "conversation")
    if not gone:
        out.line("nothing to remove")
        return DONE
    if not ask(f"Remove {'this' if len(gone) == 1 else 'these'} {what} for good?"):
        return _failed(f"nothing removed{'' if out.is_terminal else ' (--yes removes without a question)'}")
    failed = 0
    for row in gone:
        trouble = (
            store.delete(row.id) if _is_as_shown(store, row) else f"{row.id} stays: it was used meanwhile"
        )
        if trouble:
            failed += 1
            _failed(trouble)
    out.line(f"removed {count(len(gone) - failed, 'conversation')}")
    return FAILED if failed else DONE


def _is_as_shown(store: Store, row: Row) -> bool:
    """Whether the session is still what the person was asked about."""
    [now] = store.rows((row.id,))
    return msgspec.structs.replace(now, number=row.number) == row


def _names(store: Store) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(store.folder))
    except FileNotFoundError:
        return []


def _verdict(store: Store, name: str) -> Verdict | None:
    id = session_id(name)
    if not id:
        return beside(name)
    try:
        return judge(name, store.read(id), store.pictures.missing)
    except FileNotFoundError:  # gone since the folder was listed
        return None
    except OSError as error:
        return Verdict(id, "unreadable", error.strerror or str(error))


def _failed(line: str) -> int:
    complain(line)
    return FAILED
