"""What happens in a turn (`Event`) and how a turn ends (`Outcome`)."""

import msgspec

from minime.core.values import Assistant, Diff, Tool, ToolCall, Usage


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
    """A tool call is done. `result` is what the model will read; `seconds` is what it took to run, 0 where it
    did not run."""

    result: Tool
    seconds: float = 0.0


class UsageSeen(Happening, frozen=True, tag="usage", omit_defaults=True):
    """The server counted the tokens of a request. `window` is its context window, 0 where it is not known,
    `origin` the place that this number comes from."""

    usage: Usage
    window: int = 0
    origin: str = ""


class Notice(Happening, frozen=True, tag="notice"):
    """One line that the user should know, about a turn that goes on."""

    text: str


class CompactionStarted(Happening, frozen=True, tag="compaction_started"):
    """The model is asked for a summary of so many turns."""

    turns: int


class CompactionProgress(Happening, frozen=True, tag="compaction_progress"):
    """A piece of the summary, as it comes; it counts only when all of it has come."""

    text: str


class Compacted(Happening, frozen=True, tag="compacted"):
    """A summary takes the place of so many `messages` behind the system message, `turns` questions in all;
    `kept` turns stay. `before` and `after` are the tokens of the whole, about."""

    messages: int
    turns: int
    kept: int
    before: int
    after: int
    summary: Assistant


class CompactionFailed(Happening, frozen=True, tag="compaction_failed"):
    """There is no summary, and the history stays as it is. `shown` is the line for the user, `raw` the
    server's own words where they say more, `kind` one of the kinds of `failures`."""

    shown: str
    raw: str = ""
    kind: str = ""


Event = (
    TextDelta
    | ThoughtDelta
    | ToolStarted
    | ToolRunning
    | ToolProgress
    | ToolFinished
    | UsageSeen
    | Notice
    | CompactionStarted
    | CompactionProgress
    | Compacted
    | CompactionFailed
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
