"""What the machine knows: the editor, its open sessions, what runs and what waits in them."""

from typing import Any

import msgspec

from minime.core.acp.updates import Shown
from minime.core.acp.wire import Id
from minime.core.budget import Gauge
from minime.core.commands import Entry
from minime.core.config.settings import Compaction
from minime.core.tools.consent import AlwaysRule
from minime.core.tools.outside import Report
from minime.core.tools.permissions import Mode, PermissionRule
from minime.core.tools.toolbox import declared_size
from minime.core.turn import Turn
from minime.core.values import Session, ToolCall


class Value(msgspec.Struct, frozen=True):
    """Base of what is here: frozen."""


class Client(Value, frozen=True):
    """What the editor said it can take."""

    notices: bool = False
    compaction: bool = False
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


class Call(Value, frozen=True):
    """A call of the running turn that is not finished: as it was first shown, its output so far, whether it
    runs, whether it is shown in the editor's terminal form, and the call itself."""

    begun: Shown
    call: ToolCall
    output: str = ""
    ran: bool = False
    terminal: bool = False


class Asked(Value, frozen=True):
    """A request for permission that is open: our id, the call, and what "always" would cover (None: it was
    not offered)."""

    id: int
    call_id: str
    always: AlwaysRule | None


class Renewal(Value, frozen=True):
    """A /new under way: once the archive is on disk, the fresh session takes its place; or a /fork, whose
    copy is the archive, and nothing takes the place of the conversation."""

    archive: Session
    fresh: Session | None


class Live(Value, frozen=True):
    """A session that is open in the editor. `session` may have another id than the editor's, when another
    process had changed the file.

    `running` is the prompt in hand, a `command` where the model has no part in it. `stopping`: it was
    cancelled. `answer` is what its request will be answered with, as soon as `saves` (on their way) are done.
    `unsaved` is why the newest save failed. `tag` and `said` make the ids of messages, `shown` are the ids of
    the calls that the editor knows, `calls` those not finished. `compacting`: the prompt in hand is /compact;
    `compaction` is the id of one under way that the editor is shown, `summaries` the rules for them; `gauge`
    is what the server's counts have taught, `servers` is how the servers of tools stand, `failed` a question
    that has just failed.
    """

    session: Session
    cwd: str
    system: str
    keeps: bool
    mode: Mode
    tag: str = ""
    rules: tuple[PermissionRule, ...] = ()
    model: str = ""
    models: tuple[str, ...] = ()
    chosen: str = ""
    window: int = 0
    origin: str = ""
    tools: tuple[str, ...] = ()
    always: tuple[AlwaysRule, ...] = ()
    never: tuple[AlwaysRule, ...] = ()
    running: Prompt | None = None
    command: bool = False
    stopping: bool = False
    answer: bytes = b""
    saves: int = 0
    unsaved: str = ""
    queue: tuple[Prompt, ...] = ()
    asked: tuple[Asked, ...] = ()
    closing: tuple[Id, ...] = ()
    deleting: tuple[Id, ...] = ()
    said: int = 0
    speaking: bool = False
    shown: frozenset[str] = frozenset()
    calls: dict[str, Call] = {}
    untold: tuple[str, ...] = ()
    renewal: Renewal | None = None
    beside: Session | None = None
    failed: Turn | None = None
    compacting: bool = False
    compaction: str = ""
    gauge: Gauge = Gauge()
    summaries: Compaction = Compaction()
    servers: tuple[Report, ...] = ()


class State(Value, frozen=True):
    """All that the machine knows. `keeps`: sessions are kept in the process's own folder; `resumes`: that
    is to be advertised; `mcp`: servers of tools can be reached; `version` is mm's own; `opened` counts the
    sessions opened so far."""

    version: str
    keeps: bool = True
    resumes: bool = False
    mcp: bool = False
    client: Client = Client()
    sessions: dict[str, Live] = {}
    next_id: int = 1
    opened: int = 0
    stopping: bool = False


ACP_COMMANDS: tuple[str, ...] = (
    "help",
    "new",
    "sessions",
    "retry",
    "undo",
    "fork",
    "compact",
    "title",
    "export",
    "errors",
    "context",
    "tools",
    "mode",
    "permissions",
)
"""The slash commands that an editor may send; the others belong to a terminal."""


def declared(live: Live) -> int:
    """Bytes of the declarations of all tools of the session, those of servers among them."""
    others = tuple(tool for report in live.servers for tool in report.tools)
    return declared_size((*live.tools, *(tool.name for tool in others)), others)


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
