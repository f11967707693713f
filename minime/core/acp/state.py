"""What the machine knows: the editor, its open sessions, what runs and what waits in them."""

from typing import Any

import msgspec

from minime.core.acp.wire import Id
from minime.core.commands import Entry
from minime.core.tools.consent import AlwaysRule
from minime.core.tools.permissions import Mode, PermissionRule
from minime.core.values import Session


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
    process had changed the file. `spoken` counts the messages shown in the running turn, `terminals` are
    its calls that are shown in the editor's terminal form."""

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
    terminals: tuple[str, ...] = ()
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
