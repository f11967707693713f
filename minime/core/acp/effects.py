"""What the machine wants done in the world."""

from typing import Literal

import msgspec

from minime.core.acp.state import Block, Value
from minime.core.acp.wire import Id
from minime.core.config.settings import McpServer
from minime.core.formats import Wanted
from minime.core.turn import Turn
from minime.core.values import Session


class Send(Value, frozen=True, gc=False):
    """Write a line."""

    line: bytes


class SendLater(Value, frozen=True):
    """Write a line after so many seconds, if the session is still open."""

    id: str
    seconds: float
    line: bytes


class Open(Value, frozen=True):
    """Find the project of `cwd`, read its settings, and make or load the session `id`; `servers` are the
    editor's MCP servers, `troubles` the lines about those that cannot be used. `held` is the session where it
    is open and not on disk as it is: then its file is not read, so that the next save compares it with
    what it was when this process last knew it."""

    why: Literal["new", "load", "resume"]
    request: Id
    id: str
    cwd: str
    also: tuple[str, ...] = ()
    servers: dict[str, McpServer] = msgspec.field(default_factory=dict)
    troubles: tuple[str, ...] = ()
    held: Session | None = None


class ListSessions(Value, frozen=True):
    """List the sessions of the project of `cwd`; of all known projects where it is None."""

    request: Id
    cwd: str | None
    cursor: str = ""
    command: str = ""


class Export(Value, frozen=True):
    """Write the conversation to a file, in the form that is wanted."""

    id: str
    session: Session
    wanted: Wanted


class DeleteSession(Value, frozen=True):
    """Remove a session's file, wherever a known project has it."""

    request: Id
    id: str


class Save(Value, frozen=True):
    """Put a session on disk; `id` is the editor's name for it."""

    id: str
    session: Session


class StartTurn(Value, frozen=True):
    """Have the prompt answered behind what stands in `session`; or `turn` go on, where there is one."""

    id: str
    session: Session
    blocks: tuple[Block, ...]
    turn: Turn | None = None


class StartCompaction(Value, frozen=True):
    """Have the older turns of `session` summed up; `focus` are words on what to keep in mind."""

    id: str
    session: Session
    focus: str


class StopTurn(Value, frozen=True):
    """Cancel the running turn or compaction."""

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
    | Export
    | DeleteSession
    | Save
    | StartTurn
    | StartCompaction
    | StopTurn
    | Decide
    | UseModel
    | Forget
    | Stop
)


Effects = tuple[Effect, ...]
