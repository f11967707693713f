"""Lines to the editor that many steps need: an update, a refusal, the session's title."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from minime.core.acp.effects import Effects, Send
from minime.core.acp.replay import replay_updates
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
from minime.core.images import NO_IMAGES
from minime.core.values import Session, first_line

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
    return info_of(live.session)


def info_of(session: Session) -> InfoShown:
    """The title and last use of a session that may be open or not."""
    return InfoShown(title=first_line(session.title) or None, updated_at=utc_text(session.updated))


def replay_lines(session: Session, cwd: str, images: Mapping[str, bytes] = NO_IMAGES) -> Iterator[bytes]:
    """The lines that `session/load` sends before its answer, each with its line end. `images` are those that
    can be shown, by the names that the session has for them."""
    for update in replay_updates(session, cwd, images):
        yield line(session.id, update)
    if session.title:
        yield line(session.id, info_of(session))
