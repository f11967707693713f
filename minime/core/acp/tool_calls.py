"""A tool call to what an editor is shown of it: when it begins, while it runs, at its end.

A call that is replayed and one that was seen live look alike, since both are made here.
"""

import re
from posixpath import join
from typing import Any

import msgspec

from minime.core.acp.sizes import MOST_PIECE, cut
from minime.core.acp.updates import Changed, Shown
from minime.core.text import one_line
from minime.core.tools.toolbox import (
    Action,
    BadCall,
    EditFile,
    ReadFile,
    WriteFile,
    action_title,
    past_call,
)
from minime.core.values import Diff, Tool, ToolCall

KINDS = {
    "read_file": "read",
    "list_directory": "read",
    "search": "search",
    "write_file": "edit",
    "edit_file": "edit",
    "run_command": "execute",
}
LONGEST_PATH = 4096
_EXIT = re.compile(r"\(exit status (\d+)\)\s*$")


def started_call(call: ToolCall, diff: Diff | None, cwd: str, id: str = "") -> Shown:
    """A call that is seen for the first time, with what it would change; `id` is the editor's, where it is
    another. No file is named that need not be there: `places` tells it when it is."""
    begun, action = _begun(call, id)
    if diff is None:
        return begun
    there = _places(action, cwd) if diff.old_text is not None else ()
    return msgspec.structs.replace(begun, content=(diff_content(diff, cwd),), locations=there)


def finished_call(call: ToolCall, result: Tool | None, cwd: str, id: str = "") -> Shown:
    """A call of the past with what came of it; one without a result counts as failed."""
    if result is None:
        return msgspec.structs.replace(_begun(call, id)[0], status="failed")
    action, name, title, kind = _named(call)
    changed = result.diff is not None and result.diff.old_text is not None
    return Shown(
        tool_call_id=id or call.id,
        title=title,
        name=name,
        kind=kind,
        status="failed" if result.failed else "completed",
        content=result_content(result, cwd),
        locations=_places(action, cwd) if changed or not result.failed else (),
        raw_input=raw_input(call),
        raw_output=cut(result.content),
    )


def finished(result: Tool, cwd: str, id: str) -> Changed:
    """What a running call came to."""
    return Changed(
        tool_call_id=id,
        status="failed" if result.failed else "completed",
        content=result_content(result, cwd),
        raw_output=cut(result.content),
    )


def finished_in_terminal(result: Tool, id: str, *, ran: bool) -> Changed:
    """What a command came to that is shown as a terminal: its exit, or why it was not run."""
    status = _EXIT.search(result.content)
    words = {"terminal_id": id, "data": cut(result.content)}
    meta: dict[str, Any] = {} if ran else {"terminal_output": words}
    meta["terminal_exit"] = {
        "terminal_id": id,
        "exit_code": int(status[1]) if status and ran else None,
        "signal": None,
    }
    return Changed(
        tool_call_id=id,
        status="failed" if result.failed else "completed",
        raw_output=cut(result.content),
        meta=meta,
    )


def in_terminal(begun: Shown, cwd: str) -> Shown:
    """A command as a terminal of the editor's, for one that offers `_meta.terminal_output`."""
    id = begun.tool_call_id
    content = ({"type": "terminal", "terminalId": id},)
    meta = {"terminal_info": {"terminal_id": id, "cwd": cwd}}
    return msgspec.structs.replace(begun, content=content, meta=meta)


def terminal_output(id: str, text: str) -> Changed:
    """Output of a command that is shown as a terminal."""
    told = {"terminal_id": id, "data": text[-MOST_PIECE:]}
    return Changed(tool_call_id=id, meta={"terminal_output": told})


def result_content(result: Tool, cwd: str) -> tuple[dict[str, Any], ...]:
    """What a tool came to: the diff of an edit, else the text that the model read."""
    if result.diff is not None:
        return (diff_content(result.diff, cwd),)
    return (text_content(result.content),) if result.content else ()


def text_content(text: str) -> dict[str, Any]:
    """Text in the content of a tool call."""
    return {"type": "content", "content": {"type": "text", "text": cut(text)}}


def diff_content(diff: Diff, cwd: str) -> dict[str, Any]:
    """A diff in the content of a tool call, under the file's absolute path."""
    old = None if diff.old_text is None else cut(diff.old_text)
    return {"type": "diff", "path": join(cwd, diff.path), "oldText": old, "newText": cut(diff.new_text)}


def raw_input(call: ToolCall) -> Any:
    """The arguments as the model gave them: an object, or their text where they are none or much too long."""
    text = call.function.arguments
    short = cut(text)
    if short != text:
        return short
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return text


def places(call: ToolCall, cwd: str) -> tuple[dict[str, Any], ...]:
    """The file that a call reads or changes. Editors open what is named here, so folders are not."""
    return _places(past_call(call), cwd)


def _begun(call: ToolCall, id: str) -> tuple[Shown, Action | BadCall]:
    """A call as it begins, before anything is known of its effect; and what it asks for."""
    action, name, title, kind = _named(call)
    shown = Shown(
        tool_call_id=id or call.id,
        title=title,
        name=name,
        kind=kind,
        status="pending",
        raw_input=raw_input(call),
    )
    return shown, action


def _named(call: ToolCall) -> tuple[Action | BadCall, str, str, str]:
    """What a call asks for; its name, title and kind for an editor."""
    action = past_call(call)
    name = call.function.name
    if name not in KINDS:
        name = one_line(name, 80)
    title = f"{name} (not understood)" if isinstance(action, BadCall) else action_title(action)
    return action, name, title, KINDS.get(name, "other")


def _places(action: Action | BadCall, cwd: str) -> tuple[dict[str, Any], ...]:
    match action:
        case ReadFile(path=path, offset=line) if len(path) <= LONGEST_PATH:
            place: dict[str, Any] = {"path": join(cwd, path)}
            return ({**place, "line": line},) if 1 < line < 2**31 else (place,)
        case EditFile(path=path) | WriteFile(path=path) if len(path) <= LONGEST_PATH:
            return ({"path": join(cwd, path)},)
        case _:
            return ()
