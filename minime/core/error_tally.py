"""The error records of many conversations, counted: what kinds there are, and which lines again and again."""

from collections.abc import Callable, Iterable
from datetime import datetime

import msgspec

from minime.core.listing import count
from minime.core.pieces import Piece, Pieces
from minime.core.text import indented, one_line
from minime.core.values import ErrorRecord, Session, Time

SESSIONS_NAMED = 3
INDENT = " " * 7


class Tally(msgspec.Struct, frozen=True):
    """The records of one kind with one and the same line; `sessions` are ids, the one with the newest record
    first."""

    kind: str
    message: str
    count: int
    first: Time
    last: Time
    sessions: tuple[str, ...]
    question: str = ""
    detail: str = ""


def tally_records(sessions: Iterable[Session]) -> tuple[Tally, ...]:
    """All records of the sessions, those of one kind and line in one, the one that came last first; its
    `question` and `detail` are those of the newest record."""
    found: dict[tuple[str, str], Tally] = {}
    last_in: dict[tuple[str, str], dict[str, datetime]] = {}
    for session in sessions:
        for record in session.errors:
            key = record.kind, record.message
            found[key] = _with(found.get(key), record)
            moments = last_in.setdefault(key, {})
            moments[session.id] = max(record.time, moments.get(session.id, record.time))
    tallies = (
        msgspec.structs.replace(
            one, sessions=tuple(sorted(last_in[key], key=lambda id: (last_in[key][id], id), reverse=True))
        )
        for key, one in found.items()
    )
    return tuple(sorted(tallies, key=lambda one: (one.last, one.count), reverse=True))


def kinds(tallies: tuple[Tally, ...]) -> dict[str, int]:
    """How many records there are of each kind, the most frequent first."""
    counts: dict[str, int] = {}
    for one in tallies:
        counts[one.kind] = counts.get(one.kind, 0) + one.count
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def tally_pieces(tallies: tuple[Tally, ...], local: Callable[[datetime], datetime], width: int = 0) -> Pieces:
    """The tallies for people: one line for all, then each with its times, its line and its sessions, in
    `width` columns (0: as many as it takes)."""
    if not tallies:
        return (Piece("no errors on record\n"),)
    number = sum(one.count for one in tallies)
    sessions = {id for one in tallies for id in one.sessions}
    by_kind = ", ".join(f"{many:,} {kind}" for kind, many in kinds(tallies).items())
    pieces = [Piece(f"{count(number, 'error')} in {count(len(sessions), 'session')}: {by_kind}\n", "bold")]
    for one in tallies:
        first, last = (f"{local(moment):%Y-%m-%d %H:%M}" for moment in (one.first, one.last))
        when = last if first == last else f"{first} – {last}"
        pieces.append(Piece(f"\n{one.count:>4}×  {one.kind} · {when}\n", "dim"))
        pieces.append(Piece(indented(one_line(one.message, 600), INDENT, INDENT, width), "red"))
        pieces.append(Piece(indented(f"in {_named(one.sessions)}", INDENT, INDENT, width), "dim"))
    return tuple(pieces)


def _with(known: Tally | None, record: ErrorRecord) -> Tally:
    if known is None:
        moment = record.time
        return Tally(record.kind, record.message, 1, moment, moment, (), record.question, record.detail)
    newer = record.time >= known.last
    return msgspec.structs.replace(
        known,
        count=known.count + 1,
        first=min(known.first, record.time),
        last=max(known.last, record.time),
        question=record.question if newer else known.question,
        detail=record.detail if newer else known.detail,
    )


def _named(sessions: tuple[str, ...]) -> str:
    more = len(sessions) - SESSIONS_NAMED
    return ", ".join(sessions[:SESSIONS_NAMED]) + (f" and {count(more, 'other')}" if more > 0 else "")
