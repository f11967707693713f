"""The nouns: messages, tool calls, error records, the session; immutable, equal when their content is.

The field names and their order are those of the session file, so `codec` needs no second set of names.
Messages have the shape of the chat-completions API; the keys of our own beside it (`typed`, `usage`,
`stopped`, …) are never sent to a server.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

Time = Annotated[datetime, msgspec.Meta(tz=True)]
"""A moment with its zone; UTC wherever mm makes one."""

Count = Annotated[int, msgspec.Meta(ge=0)]
"""How many of something there are."""

Stopped = Literal["", "cancelled", "length", "steps", "loop"]
"""Why an answer ended before its time; empty when it did not."""

UNKNOWN = "(keys this version does not know)"


class Value(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Base of all that stands in a session file: keys that this version does not know stay with it."""

    extra: dict[str, Any] = msgspec.field(default_factory=dict, name=UNKNOWN)


class Function(Value, frozen=True):
    """Which tool is called and with what: `arguments` is the model's own text, verbatim."""

    name: str
    arguments: str


class ToolCall(Value, frozen=True):
    """One call of a tool, as the model asked for it (`tool_call` makes one)."""

    id: str
    type: Literal["function"]
    function: Function


class TextPart(Value, frozen=True, tag_field="type", tag="text"):
    """A piece of text in a message made of parts."""

    text: str


class ImageUrl(Value, frozen=True):
    """Where an image lies: a path below `.mm/sessions/`."""

    url: str


class ImagePart(Value, frozen=True, tag_field="type", tag="image_url"):
    """An image in a message made of parts."""

    image_url: ImageUrl


class Usage(Value, frozen=True):
    """Tokens of one request, as the server counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


class Diff(Value, frozen=True):
    """What an edit changed: the hunk before and after. `old_text` is None for a new file."""

    path: str
    old_text: str | None
    new_text: str


class System(Value, frozen=True, tag_field="role", tag="system"):
    """The system prompt: always the first message, and the only one of its kind."""

    content: str


class User(Value, frozen=True, tag_field="role", tag="user"):
    """A question. `typed` is what the person typed, where mm added to it; `compacted` counts the turns
    that a summary behind this message stands for."""

    content: str | tuple[TextPart | ImagePart, ...]
    typed: str = ""
    compacted: Count = 0


class Assistant(Value, frozen=True, tag_field="role", tag="assistant"):
    """An answer of the model, with the tools it called."""

    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning_content: str = ""
    stopped: Stopped = ""
    model: str = ""
    usage: Usage | None = None
    seconds: float = 0.0


class Tool(Value, frozen=True, tag_field="role", tag="tool"):
    """What a tool call came to. `failed` marks a result that tells the model what went wrong."""

    tool_call_id: str
    content: str
    failed: bool = False
    diff: Diff | None = None


Message = System | User | Assistant | Tool

ErrorKind = Literal["generation", "compaction", "resume"]


class ErrorRecord(Value, frozen=True, kw_only=True):
    """One red line about a turn, kept beside the history: `turns` is the count of turns when it came,
    `message` the line as it was shown, `detail` the raw error where it says more."""

    time: Time
    kind: ErrorKind
    turns: int
    question: str = ""
    message: str
    detail: str = ""


class Pending(Value, frozen=True):
    """A turn that is not finished: its question and the tool rounds done so far."""

    time: Time
    reason: Literal["running", "failed"]
    messages: tuple[Message, ...]


class Session(Value, frozen=True, kw_only=True):
    """A conversation: what the model reads (`messages`), what went wrong (`errors`) beside it.

    `messages` and `errors` have no default, so that they are written even when empty.
    """

    version: int
    id: str
    created: Time
    updated: Time
    title: str = ""
    model: str = ""
    messages: tuple[Message, ...]
    errors: tuple[ErrorRecord, ...]
    pending: Pending | None = None


class Stamp(msgspec.Struct, frozen=True):
    """The outside world as an argument: the time in UTC, and a session id that was never used."""

    now: datetime
    fresh_id: str


def tool_call(id: str, name: str, arguments: str) -> ToolCall:
    """A call of the tool `name`; `arguments` is JSON text as the model wrote it."""
    return ToolCall(id, "function", Function(name, arguments))


def content_text(content: str | tuple[TextPart | ImagePart, ...]) -> str:
    """The words of a message's content; an image is named where it stands."""
    if isinstance(content, str):
        return content
    return "\n".join(
        part.text if isinstance(part, TextPart) else f"[image {part.image_url.url}]" for part in content
    )


def question_text(user: User) -> str:
    """What the person typed: `typed` where mm added something to the question, else the content."""
    return user.typed or content_text(user.content)


def first_line(text: str, limit: int = 80) -> str:
    """The first line with words in it, at most `limit` characters; a cut is marked by an ellipsis."""
    line = next((" ".join(line.split()) for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
