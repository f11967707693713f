"""What an editor can be shown, as values: each kind of `session/update` under the name of the protocol.

Source: https://agentclientprotocol.com/protocol/v1/ (prompt turn, tool calls, session setup).
"""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from minime.core.acp.sizes import pieces
from minime.core.values import Usage

ToolStatus = Literal["pending", "in_progress", "completed", "failed"]


class Update(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", tag_field="sessionUpdate"
):
    """One `session/update`."""


class Text(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="text"):
    """A block of text."""

    text: str


class Image(msgspec.Struct, frozen=True, rename="camel", tag_field="type", tag="image"):
    """A block with an image; `data` is Base64."""

    data: str
    mime_type: str


class UserChunk(Update, frozen=True, gc=False, tag="user_message_chunk"):
    """A piece of what the person typed, or an image that was given along."""

    content: Text | Image
    message_id: str


class AgentChunk(Update, frozen=True, gc=False, tag="agent_message_chunk"):
    """A piece of an answer."""

    content: Text
    message_id: str


class ThoughtChunk(Update, frozen=True, gc=False, tag="agent_thought_chunk"):
    """A piece of the model's thought."""

    content: Text
    message_id: str


class Shown(Update, frozen=True, tag="tool_call"):
    """A tool call when it is first seen."""

    tool_call_id: str
    title: str
    name: str
    kind: str
    status: ToolStatus
    content: tuple[dict[str, Any], ...] = ()
    locations: tuple[dict[str, Any], ...] = ()
    raw_input: Any = None
    raw_output: Any = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class Changed(Update, frozen=True, tag="tool_call_update"):
    """What is new about a tool call; `content` replaces what was shown before."""

    tool_call_id: str
    status: ToolStatus | None = None
    content: tuple[dict[str, Any], ...] | None = None
    locations: tuple[dict[str, Any], ...] | None = None
    raw_output: Any = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


class UsageShown(Update, frozen=True, tag="usage_update"):
    """Tokens in the context, and how many it holds."""

    used: int
    size: int


class InfoShown(Update, frozen=True, tag="session_info_update"):
    """The session's title and last use."""

    title: str | None = None
    updated_at: str | None = None


class ModeShown(Update, frozen=True, tag="current_mode_update"):
    """The mode that holds from now on."""

    current_mode_id: str


class OptionsShown(Update, frozen=True, tag="config_option_update"):
    """All options of the session."""

    config_options: tuple[dict[str, Any], ...]


class CommandsShown(Update, frozen=True, tag="available_commands_update"):
    """All slash commands."""

    available_commands: tuple[dict[str, Any], ...]


class CompactionShown(Update, frozen=True, tag="compaction_update"):
    """How a compaction goes, for editors that take such."""

    compaction_id: str
    status: Literal["in_progress", "completed", "failed", "cancelled"]
    summary: tuple[Text, ...] | None = None
    error: str | None = None


class SummaryChunk(Update, frozen=True, tag="compaction_summary_chunk"):
    """A piece of the summary that a compaction writes."""

    compaction_id: str
    content: Text


class NoticeShown(Update, frozen=True, tag="notice"):
    """A line beside the conversation, for editors that take such."""

    severity: Literal["info", "warning", "error"]
    title: str


def agent_chunks(text: str, id: str) -> Sequence[AgentChunk]:
    """An answer, or a piece of one."""
    return [AgentChunk(content=Text(piece), message_id=id) for piece in pieces(text)]


def thought_chunks(text: str, id: str) -> Sequence[ThoughtChunk]:
    """A thought, or a piece of one; told apart from the answer of the same message."""
    return [ThoughtChunk(content=Text(piece), message_id=f"{id}-thought") for piece in pieces(text)]


def usage_shown(usage: Usage, window: int) -> UsageShown:
    """The usage of a request, of a window of so many tokens."""
    used = usage.total_tokens or usage.prompt_tokens + usage.completion_tokens
    return UsageShown(used=max(0, used), size=max(window, 0))
