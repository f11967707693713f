"""What has happened in the world, told to the machine."""

from collections.abc import Mapping

from minime.core.acp.effects import ListSessions, Open
from minime.core.acp.state import Value
from minime.core.acp.wire import Id
from minime.core.config.settings import Compaction
from minime.core.events import Event, Outcome
from minime.core.images import NO_IMAGES
from minime.core.listing import Row
from minime.core.tools.outside import Report
from minime.core.tools.permissions import Mode, PermissionRule
from minime.core.tools.toolbox import Action
from minime.core.turn import Turn
from minime.core.values import Session, ToolCall


class Heard(Value, frozen=True):
    """A line from the editor."""

    line: bytes


class Opening(Value, frozen=True):
    """A session as it was opened on disk; its settings with it."""

    session: Session
    system: str
    keeps: bool
    mode: Mode
    rules: tuple[PermissionRule, ...] = ()
    model: str = ""
    window: int = 0
    origin: str = ""
    tools: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    summaries: Compaction = Compaction()
    images: Mapping[str, bytes] = NO_IMAGES


class CannotOpen(Value, frozen=True):
    """Why a session could not be opened; `code` is the JSON-RPC error."""

    code: int
    message: str
    details: str = ""


class Opened(Value, frozen=True):
    """What came of an `Open`."""

    wish: "Open"
    outcome: Opening | CannotOpen


class Listed(Value, frozen=True):
    """The sessions of a folder (`cwd` as the editor gave it), or why they could not be listed."""

    wish: "ListSessions"
    rows: tuple[tuple[str, Row], ...]
    trouble: str = ""


class Exported(Value, frozen=True):
    """What came of an export, in a line."""

    id: str
    line: str


class Deleted(Value, frozen=True):
    """A session's file is gone; `trouble` says why it is not."""

    request: Id
    trouble: str = ""


class Happened(Value, frozen=True):
    """An event of a running turn."""

    id: str
    event: Event


class ConsentNeeded(Value, frozen=True):
    """A running turn waits to know whether it may do something."""

    id: str
    call: ToolCall
    action: Action
    where: str


class RoundKept(Value, frozen=True):
    """A round of tools is finished."""

    id: str
    turn: Turn


class TurnEnded(Value, frozen=True):
    """A turn is over; `kind` names the kind of a failure."""

    id: str
    turn: Turn
    outcome: Outcome
    kind: str = ""


class CompactionEnded(Value, frozen=True):
    """A compaction that the person asked for is over; what came of it was told in events."""

    id: str
    outcome: Outcome


class SaveDone(Value, frozen=True):
    """What came of saving the session `asked`: it as it was written, or the line that says why it was not."""

    id: str
    asked: str
    session: Session | None
    line: str = ""


class ModelsFound(Value, frozen=True):
    """Which model answers in a session, which others there are, and the context window (0: unknown) with the
    place that the number comes from."""

    id: str
    model: str
    models: tuple[str, ...]
    window: int = 0
    origin: str = ""


class ServersSeen(Value, frozen=True):
    """How the servers of tools of a session stand now."""

    id: str
    servers: tuple[Report, ...]


class Ended(Value, frozen=True):
    """The editor has gone, or mm was told to."""


Input = (
    Heard
    | Opened
    | Listed
    | Exported
    | Deleted
    | Happened
    | ConsentNeeded
    | RoundKept
    | TurnEnded
    | CompactionEnded
    | SaveDone
    | ModelsFound
    | ServersSeen
    | Ended
)
