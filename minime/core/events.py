"""What happens in a turn (`Event`) and how a turn ends (`Outcome`)."""

import msgspec

from minime.core.values import Diff, Tool, ToolCall, Usage


class Happening(msgspec.Struct, frozen=True, tag_field="event"):
    """Base of the events: frozen, tagged by name, so that `--json` writes them as they are."""


class TextDelta(Happening, frozen=True, tag="text"):
    """A piece of the answer."""

    text: str


class ThoughtDelta(Happening, frozen=True, tag="thought"):
    """A piece of the model's thought: shown apart from the answer, not part of it."""

    text: str


class ToolStarted(Happening, frozen=True, tag="tool_started"):
    """A tool call begins; it may still wait for consent. `title` says in a few words what it does, `diff`
    what an edit would change."""

    call: ToolCall
    title: str
    diff: Diff | None = None


class ToolRunning(Happening, frozen=True, tag="tool_running"):
    """A tool call has consent, or needs none, and is being done."""

    call_id: str


class ToolProgress(Happening, frozen=True, tag="tool_progress"):
    """Output of a running tool, as it comes."""

    call_id: str
    text: str


class ToolFinished(Happening, frozen=True, tag="tool_finished"):
    """A tool call is done. `result` is what the model will read."""

    result: Tool
    seconds: float = 0.0


class UsageSeen(Happening, frozen=True, tag="usage"):
    """The server counted the tokens of a request."""

    usage: Usage


class Notice(Happening, frozen=True, tag="notice"):
    """One line that the user should know, about a turn that goes on."""

    text: str


Event = (
    TextDelta | ThoughtDelta | ToolStarted | ToolRunning | ToolProgress | ToolFinished | UsageSeen | Notice
)


class Answered(msgspec.Struct, frozen=True, tag_field="outcome", tag="answered"):
    """The turn is whole; it may have been cut short (`turn_stopped` of the turn tells why)."""


class Cancelled(msgspec.Struct, frozen=True, tag_field="outcome", tag="cancelled"):
    """The user ended the turn."""


class Failed(msgspec.Struct, frozen=True, tag_field="outcome", tag="failed"):
    """No answer could be had. `shown` is the line for the user, `raw` the server's own words where they
    say more, `kind` one of the kinds of `failures`."""

    shown: str
    raw: str = ""
    kind: str = ""


Outcome = Answered | Cancelled | Failed
