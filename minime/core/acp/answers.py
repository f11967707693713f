"""Lines to the editor that many steps need: an update, a refusal, the session's title."""

from datetime import UTC, datetime

from minime.core.acp.effects import Effects, Send
from minime.core.acp.state import Live, State
from minime.core.acp.updates import (
    InfoShown,
    Update,
)
from minime.core.acp.wire import (
    Fault,
    Id,
    write_fault,
    write_notification,
)
from minime.core.values import first_line

Step = tuple[State, Effects]


def send(id: str, update: Update) -> Send:
    """A `session/update`."""
    return Send(line(id, update))


def line(id: str, update: Update) -> bytes:
    """The line of a `session/update`."""
    return write_notification("session/update", {"sessionId": id, "update": update})


def refuse(state: State, id: Id, code: int, message: str) -> Step:
    """The state as it was, and an error for the editor."""
    return state, (Send(write_fault(id, Fault(code, message))),)


def utc_text(moment: datetime) -> str:
    """A moment as RFC 3339 wants it, with its zone."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def info_shown(live: Live) -> InfoShown:
    """The session's title and last use, for the editor's list."""
    return InfoShown(title=first_line(live.session.title) or None, updated_at=utc_text(live.session.updated))
