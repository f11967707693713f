"""What an editor is shown: a kept conversation, or an event of a running turn, as `session/update` values.

A call that is replayed and one that was seen live look alike, since both are made here. Pieces are small
enough that a line stays well under 1 MB. Source: https://agentclientprotocol.com/protocol/v1/ (prompt turn,
tool calls, session setup).
"""

import re
from collections.abc import Iterator
from posixpath import join
from typing import Any, Literal

import msgspec

from minime.core.text import clip
from minime.core.tools.toolbox import TOOLS, Action, BadCall, action_title, parse_call
from minime.core.values import Assistant, Diff, Session, System, Tool, ToolCall, Usage, User, question_text

MOST_TEXT = 60_000
"""Characters in one piece of a message."""

MOST_INPUT = 100_000
"""Characters of a call's arguments beyond which they are shown cut, as text."""

ToolStatus = Literal["pending", "in_progress", "completed", "failed"]
KINDS = {
    "read_file": "read",
    "list_directory": "read",
    "search": "search",
    "write_file": "edit",
    "edit_file": "edit",
    "run_command": "execute",
}
_EXIT = re.compile(r"\(exit status (\d+)\)\s*$")
_NAMES = tuple(tool.name for tool in TOOLS)


class Update(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", tag_field="sessionUpdate"
):
    """One `session/update`."""


class Text(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    """A block of text."""

    text: str


class UserChunk(Update, frozen=True, tag="user_message_chunk"):
    """A piece of what the person typed."""

    content: Text
    message_id: str


class AgentChunk(Update, frozen=True, tag="agent_message_chunk"):
    """A piece of an answer."""

    content: Text
    message_id: str


class ThoughtChunk(Update, frozen=True, tag="agent_thought_chunk"):
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


class NoticeShown(Update, frozen=True, tag="notice"):
    """A line beside the conversation, for editors that take such."""

    severity: Literal["info", "warning", "error"]
    title: str


def replay_updates(session: Session, cwd: str) -> Iterator[Update]:
    """The whole conversation in order: what was typed, thought and said, and each call once, finished.

    Nothing of mm's own is shown: no system prompt, no error record, no pending round, no summary question.
    """
    results = {m.tool_call_id: m for m in session.messages if isinstance(m, Tool)}
    for place, message in enumerate(session.messages):
        id = message_id(place)
        match message:
            case User(compacted=0):
                yield from (
                    UserChunk(content=Text(piece), message_id=id) for piece in pieces(question_text(message))
                )
            case Assistant():
                yield from thought_chunks(message.reasoning_content, id)
                yield from agent_chunks(message.content, id)
                for call in message.tool_calls:
                    yield finished_call(call, results.get(call.id), cwd)
            case User() | System() | Tool():
                pass


def agent_chunks(text: str, id: str) -> Iterator[AgentChunk]:
    """An answer, or a piece of one."""
    return (AgentChunk(content=Text(piece), message_id=id) for piece in pieces(text))


def thought_chunks(text: str, id: str) -> Iterator[ThoughtChunk]:
    """A thought, or a piece of one; told apart from the answer of the same message."""
    return (ThoughtChunk(content=Text(piece), message_id=f"{id}-thought") for piece in pieces(text))


def finished_call(call: ToolCall, result: Tool | None, cwd: str) -> Shown:
    """A call of the past with what came of it; one without a result counts as failed."""
    begun = started_call(call, None if result is None else result.diff, cwd)
    if result is None:
        return msgspec.structs.replace(begun, status="failed")
    return msgspec.structs.replace(
        begun,
        status="failed" if result.failed else "completed",
        content=result_content(result, cwd),
        raw_output=result.content,
    )


def started_call(call: ToolCall, diff: Diff | None, cwd: str) -> Shown:
    """A call that is seen for the first time, with what it would change."""
    action = parse_call(call, _NAMES)
    name = call.function.name
    return Shown(
        tool_call_id=call.id,
        title=f"{name} (not understood)" if isinstance(action, BadCall) else action_title(action),
        name=name,
        kind=KINDS.get(name, "other"),
        status="pending",
        content=() if diff is None else (diff_content(diff, cwd),),
        locations=() if isinstance(action, BadCall) else _locations(action, cwd),
        raw_input=raw_input(call),
    )


def finished(result: Tool, cwd: str, *, in_terminal: bool) -> Changed:
    """What a running call came to; one that was shown as a terminal keeps it, and its exit is told."""
    changed = Changed(
        tool_call_id=result.tool_call_id,
        status="failed" if result.failed else "completed",
        raw_output=result.content,
    )
    if not in_terminal:
        return msgspec.structs.replace(changed, content=result_content(result, cwd))
    status = _EXIT.search(result.content)
    code = int(status[1]) if status else None
    told = {"terminal_id": result.tool_call_id, "exit_code": code, "signal": None}
    return msgspec.structs.replace(changed, meta={"terminal_exit": told})


def in_terminal(begun: Shown, cwd: str) -> Shown:
    """A command as a terminal of the editor's, for one that offers `_meta.terminal_output`."""
    id = begun.tool_call_id
    content = ({"type": "terminal", "terminalId": id},)
    return msgspec.structs.replace(
        begun, content=content, meta={"terminal_info": {"terminal_id": id, "cwd": cwd}}
    )


def terminal_output(call_id: str, text: str) -> Changed:
    """Output of a command that is shown as a terminal."""
    told = {"terminal_id": call_id, "data": text[-MOST_TEXT:]}
    return Changed(tool_call_id=call_id, meta={"terminal_output": told})


def result_content(result: Tool, cwd: str) -> tuple[dict[str, Any], ...]:
    """What a tool came to: the diff of an edit, else the text that the model read."""
    if result.diff is not None:
        return (diff_content(result.diff, cwd),)
    return (text_content(result.content),) if result.content else ()


def text_content(text: str) -> dict[str, Any]:
    """Text in the content of a tool call."""
    return {"type": "content", "content": {"type": "text", "text": clip(text, MOST_TEXT)}}


def diff_content(diff: Diff, cwd: str) -> dict[str, Any]:
    """A diff in the content of a tool call, under the file's absolute path."""
    return {"type": "diff", "path": join(cwd, diff.path), "oldText": diff.old_text, "newText": diff.new_text}


def raw_input(call: ToolCall) -> Any:
    """The arguments as the model gave them: an object, or their text where they are none."""
    text = call.function.arguments
    if len(text) > MOST_INPUT:
        return clip(text, MOST_INPUT)
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def usage_shown(usage: Usage, window: int) -> UsageShown:
    """The usage of a request, of a window of so many tokens."""
    used = usage.total_tokens or usage.prompt_tokens + usage.completion_tokens
    return UsageShown(used=max(0, used), size=max(window, 0))


def message_id(place: int) -> str:
    """The id of the message at this place of the session."""
    return f"m{place}"


def pieces(text: str) -> Iterator[str]:
    """The text in pieces that fit a line; nothing for an empty one."""
    return (text[at : at + MOST_TEXT] for at in range(0, len(text), MOST_TEXT))


def _locations(action: Action, cwd: str) -> tuple[dict[str, Any], ...]:
    """The file that a call reads or changes. Editors open what is named here, so folders are not."""
    from minime.core.tools.toolbox import EditFile, ReadFile, WriteFile

    match action:
        case ReadFile(path=path, offset=offset):
            place = {"path": join(cwd, path)}
            return ({**place, "line": offset},) if offset > 1 else (place,)
        case EditFile(path=path) | WriteFile(path=path):
            return ({"path": join(cwd, path)},)
        case _:
            return ()
