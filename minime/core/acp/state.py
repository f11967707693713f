"""What the machine knows, what it hears, and what it wants done."""

from typing import Any, Literal

import msgspec

from minime.core.acp.wire import Id
from minime.core.commands import Entry
from minime.core.consent import AlwaysRule
from minime.core.events import Event, Outcome
from minime.core.listing import Row
from minime.core.permissions import Mode, PermissionRule
from minime.core.toolbox import Action
from minime.core.turn import Turn
from minime.core.values import Session, ToolCall


class Value(msgspec.Struct, frozen=True):
    """Base of what is here: frozen."""


class Client(Value, frozen=True):
    """What the editor said it can take."""

    notices: bool = False
    terminal_auth: bool = False
    terminal_output: bool = False


class Block(Value, frozen=True):
    """A block of a prompt, read tolerantly: text, a link to a resource, an embedded resource, an image."""

    type: str
    text: str = ""
    uri: str = ""
    name: str = ""
    mime: str = ""
    data: str = ""


class Prompt(Value, frozen=True):
    """A prompt that waits or runs: the request that has to be answered, and what it holds."""

    request: Id
    blocks: tuple[Block, ...]


class Asked(Value, frozen=True):
    """A request for permission that is open: our id, the call, and what "always" would cover."""

    id: int
    call_id: str
    always: AlwaysRule


class Renewal(Value, frozen=True):
    """A /new under way: once the archive is on disk, the fresh session takes its place."""

    request: Id
    archive: Session
    fresh: Session


class Live(Value, frozen=True):
    """A session that is open in the editor. `session` may have another id than the editor's, when another
    process had changed the file. `spoken` counts the messages shown in the running turn."""

    session: Session
    cwd: str
    system: str
    keeps: bool
    mode: Mode
    rules: tuple[PermissionRule, ...] = ()
    model: str = ""
    models: tuple[str, ...] = ()
    window: int = 0
    tools: tuple[str, ...] = ()
    always: tuple[AlwaysRule, ...] = ()
    never: tuple[AlwaysRule, ...] = ()
    running: Prompt | None = None
    queue: tuple[Prompt, ...] = ()
    asked: tuple[Asked, ...] = ()
    closing: tuple[Id, ...] = ()
    spoken: int = 0
    after_tool: bool = False
    output: dict[str, str] = {}
    untold: tuple[str, ...] = ()
    renewal: Renewal | None = None


class State(Value, frozen=True):
    """All that the machine knows. `keeps`: sessions are kept in the process's own folder; `resumes`: that
    is to be advertised; `version` is mm's own."""

    version: str
    keeps: bool = True
    resumes: bool = False
    client: Client = Client()
    sessions: dict[str, Live] = {}
    next_id: int = 1
    stopping: bool = False


# What has happened.


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
    tools: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


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


class SaveDone(Value, frozen=True):
    """What came of saving the session `asked`: it as it was written, or the line that says why it was not."""

    id: str
    asked: str
    session: Session | None
    line: str = ""


class ModelsFound(Value, frozen=True):
    """Which model answers in a session, which others there are, and the context window (0: unknown)."""

    id: str
    model: str
    models: tuple[str, ...]
    window: int = 0


class Ended(Value, frozen=True):
    """The editor has gone, or mm was told to."""


Input = (
    Heard
    | Opened
    | Listed
    | Deleted
    | Happened
    | ConsentNeeded
    | RoundKept
    | TurnEnded
    | SaveDone
    | ModelsFound
    | Ended
)


# What is to be done.


class Send(Value, frozen=True):
    """Write a line."""

    line: bytes


class SendLater(Value, frozen=True):
    """Write a line after so many seconds, if the session is still open."""

    id: str
    seconds: float
    line: bytes


class Open(Value, frozen=True):
    """Find the project of `cwd`, read its settings, and make or load the session `id`."""

    why: Literal["new", "load", "resume"]
    request: Id
    id: str
    cwd: str
    also: tuple[str, ...] = ()
    servers: int = 0


class ListSessions(Value, frozen=True):
    """List the sessions of the project of `cwd`; of all known projects where it is None."""

    request: Id
    cwd: str | None
    cursor: str = ""
    command: str = ""


class DeleteSession(Value, frozen=True):
    """Remove a session's file, wherever a known project has it."""

    request: Id
    id: str


class Save(Value, frozen=True):
    """Put a session on disk; `id` is the editor's name for it."""

    id: str
    session: Session


class StartTurn(Value, frozen=True):
    """Have the prompt answered."""

    id: str
    session: Session
    blocks: tuple[Block, ...]


class StopTurn(Value, frozen=True):
    """Cancel the running turn."""

    id: str


class Decide(Value, frozen=True):
    """Tell a waiting turn whether it may: empty is yes, else what the model reads."""

    id: str
    call_id: str
    refusal: str


class UseModel(Value, frozen=True):
    """Have another model answer from the next request on."""

    id: str
    name: str


class Forget(Value, frozen=True):
    """Let go of all that a session holds: connections, processes."""

    id: str


class Stop(Value, frozen=True):
    """End the process."""


Effect = (
    Send
    | SendLater
    | Open
    | ListSessions
    | DeleteSession
    | Save
    | StartTurn
    | StopTurn
    | Decide
    | UseModel
    | Forget
    | Stop
)
Effects = tuple[Effect, ...]
Step = tuple[State, Effects]

ACP_COMMANDS: tuple[str, ...] = (
    "help",
    "new",
    "sessions",
    "title",
    "errors",
    "context",
    "tools",
    "mode",
    "permissions",
)
"""The slash commands that an editor may send; the others belong to a terminal."""


def with_live(state: State, id: str, live: Live) -> State:
    """The state with this session as it is now."""
    return msgspec.structs.replace(state, sessions={**state.sessions, id: live})


def without_live(state: State, id: str) -> State:
    """The state without this session."""
    return msgspec.structs.replace(state, sessions={k: v for k, v in state.sessions.items() if k != id})


def acp_commands(commands: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Those of the terminal's commands that an editor is offered."""
    return tuple(entry for entry in commands if entry.name in ACP_COMMANDS)


def block(raw: Any) -> Block | None:
    """A block of a prompt as the editor sent it; None when it is none."""
    if not isinstance(raw, dict) or not isinstance(raw.get("type"), str):
        return None
    inner = raw.get("resource") if raw["type"] == "resource" else raw
    if not isinstance(inner, dict):
        return None
    words = {key: value for key, value in inner.items() if isinstance(value, str)}
    return Block(
        raw["type"],
        text=words.get("text", ""),
        uri=words.get("uri", ""),
        name=words.get("name", ""),
        mime=words.get("mimeType", ""),
        data=words.get("data", "") or words.get("blob", ""),
    )
