"""The verbs about kept conversations: what they hold, on stdout, for people or as JSON."""

import json
import os
import sys

import msgspec

from minime.core.listing import row_text
from minime.core.pieces import Piece
from minime.core.screen import errors_pieces, message_pieces
from minime.core.session_schema import session_schema
from minime.core.text import one_line
from minime.core.values import Session
from minime.shell import clock
from minime.shell.pager import paged
from minime.shell.paper import Paper
from minime.shell.store import Store
from minime.shell.wanted_session import one_look, wanted_session

DONE, FAILED = 0, 1


def list_sessions(store: Store, limit: int | None, *, as_json: bool) -> int:
    """One line a session, newest use first; `limit` None shows all. As JSON: a list of rows."""
    out = Paper(sys.stdout)
    heads = store.heads()
    shown = tuple(head.id for head in heads[:limit])
    if as_json:
        rows = msgspec.to_builtins(tuple(store.rows(shown)))
        out.line(json.dumps(rows, ensure_ascii=False, indent=2))
        return DONE
    if not heads:
        Paper(sys.stderr).line("no sessions here yet")
    for row in store.rows(shown):
        out.line(row_text(row, clock.local, out.columns), "red" if row.damaged else "")
    if len(shown) < len(heads):
        Paper(sys.stderr).line(f"… and {len(heads) - len(shown)} older (--all)", "dim")
    return DONE


@one_look()
def show_session(store: Store, wanted: str, *, errors: bool, as_json: bool) -> int:
    """The conversation that `wanted` means, or its error records; as JSON: its file as it is."""
    session = wanted_session(store, wanted)
    if session is None:
        return FAILED
    if as_json:
        Paper(sys.stdout).document(_errors_json(session) if errors else store.read(session.id))
        return DONE
    if errors:
        when = tuple(f"{clock.local(record.time):%Y-%m-%d %H:%M}" for record in session.errors)
        pieces = errors_pieces(session, when)
    else:
        when_used = f"{clock.local(session.updated):%Y-%m-%d %H:%M}"
        head = Piece(f"{one_line(session.title) or 'no title'} · {session.id} · {when_used}\n\n", "bold")
        pieces = (head, *message_pieces(session.messages, Paper(sys.stdout).columns))
    length = sum(piece.text.count("\n") for piece in pieces)
    paged(length, lambda stream: Paper(stream).write(pieces), os.environ)
    return DONE


def schema_session() -> int:
    """The JSON Schema of the session file."""
    Paper(sys.stdout).line(json.dumps(session_schema(), ensure_ascii=False, indent=2))
    return DONE


def _errors_json(session: Session) -> bytes:
    return msgspec.json.format(msgspec.json.encode(session.errors), indent=2) + b"\n"
