"""Sessions in one line each, from the heads of their files, and which one of them a word means."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import msgspec

from minime.core.cells import cut, width
from minime.core.session import VERSION, turns
from minime.core.text import one_line
from minime.core.values import Session, Time

WIDE = 76
"""Columns of a terminal from which on a row shows all that it has."""

HEAD_BYTES = 4096
"""How much of a file is enough to list it: the short keys stand first."""

SHOWN_ROWS = 20
"""How many sessions a list shows that nobody asked to be longer."""

ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")
SHORTEST_PIECE = 4

# That no backslash stands before a key is looked at behind it: a search for plain words is the quickest.
_UPDATED = re.compile(rb'"updated"(?<!\\"updated")\s*:\s*"([^"\\]*)"')
_MESSAGES = re.compile(rb'"messages"(?<!\\"messages")\s*:')

# The beginning of a file of a session that has a title, exactly as this version writes it.
_HEAD = re.compile(
    rb'\{\n  "version": %d,\n  "id": "([^"\\]*)",\n  "created": "[^"\\]*",\n'
    rb'  "updated": "(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)",\n  "title": ("(?:[^"\\]|\\.)*"),\n' % VERSION
)


class Head(msgspec.Struct, frozen=True):
    """What a list needs to know of a session to put it in its place and name it. `damaged` is filled where
    the head alone shows the damage."""

    id: str
    updated: datetime
    title: str = ""
    damaged: str = ""


class Row(msgspec.Struct, frozen=True, omit_defaults=True):
    """A session in a list. `damaged` is the reason why the file cannot be read, empty when it can."""

    number: int
    id: str
    updated: Time | None = None
    turns: int = 0
    title: str = ""
    model: str = ""
    errors: int = 0
    damaged: str = ""


class Found(msgspec.Struct, frozen=True):
    """The one session that was meant."""

    id: str


class NotFound(msgspec.Struct, frozen=True):
    """No session, or more than one, is meant. `message` says so, with the candidates."""

    message: str


def is_id(text: str) -> bool:
    """Whether `text` has the form of a session's id; nothing else is ever used as a file's name."""
    return ID.fullmatch(text) is not None


def drawn(id: str) -> datetime:
    """When an id was drawn, as it says itself."""
    try:
        return datetime.strptime(id[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)


def head_updated(data: bytes) -> datetime | None:
    """When the session was last used, from the first bytes of its file; None when they do not say."""
    messages = _MESSAGES.search(data)
    found = _UPDATED.search(data, 0, messages.start() if messages else len(data))
    if found is None:
        return None
    try:
        return msgspec.convert(found[1].decode("ascii", "replace"), Time).astimezone(UTC)
    except (msgspec.ValidationError, OverflowError):  # the latter: at the ends of time no other zone has it
        return None


def head_of(id: str, data: bytes) -> Head | None:
    """The head of the session `id` from the first bytes of its file; None where they are not as this
    version writes those of a session that has a title, and so the whole file has to tell."""
    found = _HEAD.match(data)
    if found is None or found[1] != id.encode():
        return None
    try:
        return Head(id, datetime.fromisoformat(found[2].decode()), msgspec.json.decode(found[3], type=str))
    except (ValueError, msgspec.DecodeError):
        return None


def newest_first(heads: Iterable[Head]) -> tuple[Head, ...]:
    """The heads by last use; those of one second by id."""
    return tuple(sorted(heads, key=lambda head: (head.updated, head.id), reverse=True))


def session_row(number: int, session: Session) -> Row:
    """The row of a session that could be read."""
    return Row(
        number,
        session.id,
        updated=session.updated,
        turns=turns(session),
        title=session.title,
        model=session.model,
        errors=len(session.errors),
    )


def head_row(number: int, head: Head) -> Row:
    """The row of a session as far as its head tells."""
    return Row(number, head.id, updated=head.updated, title=head.title, damaged=head.damaged)


def row_text(row: Row, local: Callable[[datetime], datetime], columns: int = 0) -> str:
    """A row for people: number (none where it is 0), id, last use in local time, turns, title, and what is
    wrong with it. On a terminal of so many `columns` it is one line, and a narrow one has less of it."""
    if columns:
        return _fitting(row, local, columns)
    number = f"{row.number or '':>3}"
    if row.damaged:
        return f"{number}  {row.id}  damaged: {row.damaged}"
    when = f"{local(row.updated):%Y-%m-%d %H:%M}" if row.updated else ""
    trouble = f" · ⚠️ {count(row.errors, 'error')}" if row.errors else ""
    return f"{number}  {row.id}  {when:16}  {count(row.turns, 'turn'):>8}  {one_line(row.title)}{trouble}"


def _fitting(row: Row, local: Callable[[datetime], datetime], columns: int) -> str:
    wide = columns >= WIDE
    head = f"{row.number or '':>3}  {row.id if wide else row.id[-8:]}  "
    if row.damaged:
        return cut(f"{head}damaged: {row.damaged}", columns)
    when = f"{local(row.updated):{'%Y-%m-%d %H:%M' if wide else '%Y-%m-%d'}}" if row.updated else ""
    head += f"{when:16}  {count(row.turns, 'turn'):>8}  " if wide else f"{when:10}  "
    trouble = f" · ⚠️ {count(row.errors, 'error') if wide else row.errors}" if row.errors else ""
    return head + cut(one_line(row.title), max(1, columns - width(head) - width(trouble))) + trouble


def count(number: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def pick(ids: tuple[str, ...], wanted: str, current: str = "") -> Found | NotFound:
    """Which of `ids` (newest use first) is meant by a number, `last`, or a piece of an id.

    `current` is the session in hand, which `last` passes over. A word that cannot be part of an id is
    refused here, before any file is looked for.
    """
    if not ids:
        return NotFound("no sessions here yet")
    if wanted == "last":
        others = [id for id in ids if id != current]
        return Found(others[0]) if others else NotFound("no other session here yet")
    if re.fullmatch(r"[0-9]{1,3}", wanted):
        number = int(wanted)
        if 1 <= number <= len(ids):
            return Found(ids[number - 1])
        return NotFound(f"no session number {number}: there {'is' if len(ids) == 1 else 'are'} {len(ids)}")
    if not re.fullmatch(r"[0-9A-Za-z-]{1,24}", wanted) or len(wanted) < SHORTEST_PIECE:
        shown = wanted if len(wanted) <= 40 else wanted[:39] + "…"
        return NotFound(
            f"invalid session id {shown!r}: give its number in the list, `last`, or at least "
            f"{SHORTEST_PIECE} characters of its beginning or end"
        )
    meant = [id for id in ids if id.startswith(wanted) or id.endswith(wanted)]
    match meant:
        case [only]:
            return Found(only)
        case []:
            return NotFound(f"no session {wanted!r} here (mm sessions lists them)")
        case [*several]:
            shown = ", ".join(several[:5]) + (f" and {len(several) - 5} more" if len(several) > 5 else "")
            return NotFound(f"{wanted!r} is not enough, {len(several)} sessions match: {shown}")
