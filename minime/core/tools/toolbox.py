"""The tools as values: what the model is told of them, and its call read into an `Action`."""

from typing import Any

import msgspec

from minime.core.text import one_line
from minime.core.tools.outside import (
    BETWEEN,
    CallOutside,
    ToolSpec,
    arguments_text,
    call_text,
    missing,
)
from minime.core.tools.reading import (
    excerpt,
    expected_text,
    known_name,
    read_arguments,
    storable,
    unknown_tool_text,
)
from minime.core.values import ToolCall


class Act(msgspec.Struct, frozen=True, tag_field="tool"):
    """Base of the actions: frozen, tagged with the name of the tool."""


class ReadFile(Act, frozen=True, tag="read_file"):
    """Read lines of a file: `limit` of them (0: as many as fit) from line `offset` (the first is 1)."""

    path: str
    offset: int = 1
    limit: int = 0


class ListDirectory(Act, frozen=True, tag="list_directory"):
    """List a folder, `depth` levels deep."""

    path: str = "."
    depth: int = 1


class Search(Act, frozen=True, tag="search"):
    """Find the lines that match a regular expression in files whose names fit `glob` (empty: all)."""

    pattern: str
    path: str = "."
    glob: str = ""


class WriteFile(Act, frozen=True, tag="write_file"):
    """Make a file, or give it a whole new content."""

    path: str
    content: str


class EditFile(Act, frozen=True, tag="edit_file"):
    """Put `new_text` in place of `old_text`, which occurs once, or wherever it occurs with `all`."""

    path: str
    old_text: str
    new_text: str
    all: bool = False


class RunCommand(Act, frozen=True, tag="run_command"):
    """Run a command in a shell, for at most `timeout` seconds (0: the configured time)."""

    command: str
    timeout: float = 0.0


OwnAction = ReadFile | ListDirectory | Search | WriteFile | EditFile | RunCommand
Action = OwnAction | CallOutside


class BadCall(msgspec.Struct, frozen=True):
    """A call that cannot be run; `message` tells the model what was expected."""

    message: str


class Said(msgspec.Struct, frozen=True):
    """What came of an action, in words for the model."""

    text: str
    failed: bool = False


def _spec(name: str, description: str, required: dict[str, Any], optional: dict[str, Any]) -> ToolSpec:
    parameters = {"type": "object", "properties": {**required, **optional}, "required": list(required)}
    return ToolSpec(name, description, parameters)


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _number(description: str, kind: str = "integer") -> dict[str, Any]:
    return {"type": kind, "description": description}


TOOLS = (
    _spec(
        "read_file",
        "Read a text file. A long file comes in parts: go on with offset.",
        {"path": _text("The file, relative to the current folder")},
        {"offset": _number("First line to read, default 1"), "limit": _number("How many lines")},
    ),
    _spec(
        "write_file",
        "Create a file, or replace its whole content. To change a part, use edit_file.",
        {"path": _text("The file"), "content": _text("The whole content")},
        {},
    ),
    _spec(
        "edit_file",
        "Replace text in a file that you have read. old_text must match exactly and occur once.",
        {
            "path": _text("The file"),
            "old_text": _text("The text to replace, copied exactly, with enough lines to be unique"),
            "new_text": _text("The text to put in its place"),
        },
        {"all": {"type": "boolean", "description": "Replace every occurrence"}},
    ),
    _spec(
        "list_directory",
        "List files and folders. Ignored files are left out.",
        {},
        {"path": _text("The folder, default the current one"), "depth": _number("Levels to show, default 1")},
    ),
    _spec(
        "search",
        "Find lines in files that match a regular expression. Gives path:line: text.",
        {"pattern": _text("A regular expression in Python's syntax")},
        {"path": _text("Where to search: a folder or a file"), "glob": _text("Only these files, e.g. *.py")},
    ),
    _spec(
        "run_command",
        "Run a shell command in the current folder. It has no terminal and no input.",
        {"command": _text("The command")},
        {"timeout": _number("Seconds until it is ended", "number")},
    ),
)
"""The six tools, in the order in which the model is told of them."""

_ACTIONS: dict[str, type[OwnAction]] = {
    "read_file": ReadFile,
    "write_file": WriteFile,
    "edit_file": EditFile,
    "list_directory": ListDirectory,
    "search": Search,
    "run_command": RunCommand,
}


def tool_declarations(
    names: tuple[str, ...], others: tuple[ToolSpec, ...] = ()
) -> tuple[dict[str, Any], ...]:
    """The named tools, of ours and of `others`, as the chat-completions API takes them; a name that is none
    is left out."""
    return tuple(
        {
            "type": "function",
            "function": {"name": t.name, "description": t.description, "parameters": t.parameters},
        }
        for t in (*TOOLS, *others)
        if t.name in names
    )


def declared_size(names: tuple[str, ...], others: tuple[ToolSpec, ...] = ()) -> int:
    """Bytes of the declarations of the named tools, as they are sent; 0 for none."""
    declared = tool_declarations(names, others)
    return len(msgspec.json.encode(declared)) if declared else 0


def parse_call(call: ToolCall, names: tuple[str, ...], others: tuple[ToolSpec, ...] = ()) -> Action | BadCall:
    """What the model asks for, or what was wrong with its call; `names` are the tools it may use, `others`
    describes those among them that are not ours.

    Kind where it does no harm: numbers and booleans written as text, null for a default, keys that the
    tool does not know, raw line breaks in a string, an object that was encoded twice.
    """
    name = known_name(call.function.name, names)
    if name not in names:
        return BadCall(unknown_tool_text(call.function.name, names))
    written = call.function.arguments
    try:
        arguments = read_arguments(written)
    except (ValueError, RecursionError) as problem:
        return BadCall(f"arguments are not valid JSON: {problem}; {_got(written, name, others)}")
    if not isinstance(arguments, dict):
        return BadCall(f"arguments are not a JSON object; {_got(written, name, others)}")
    if name not in _ACTIONS:
        lacking = [key for spec in others if spec.name == name for key in missing(spec, arguments)]
        if lacking:
            return BadCall(f"missing: {', '.join(lacking)}; {_got(written, name, others)}")
        return CallOutside(name, storable(arguments))
    known = _ACTIONS[name].__struct_fields__
    given = {key: storable(value) for key, value in arguments.items() if key in known and value is not None}
    try:
        return msgspec.convert(given, _ACTIONS[name], strict=False)
    except msgspec.ValidationError as problem:
        return BadCall(f"wrong arguments: {problem}; {_got(written, name, others)}")


def _got(written: str, name: str, others: tuple[ToolSpec, ...]) -> str:
    return f"got {excerpt(written)}; {_expected(name, others)}"


def past_call(call: ToolCall) -> Action | BadCall:
    """What a call of the past asked for, whatever tools there are now."""
    named = call.function.name
    return parse_call(call, (*_ACTIONS, named) if BETWEEN in named.strip("_") else tuple(_ACTIONS))


def tool_name(action: Action) -> str:
    """The name of the tool that does this."""
    return action.name if isinstance(action, CallOutside) else str(type(action).__struct_config__.tag)


def changes_files(action: Action) -> bool:
    """Whether the action is an edit: asked for, showing the diff, unless edits pass."""
    return isinstance(action, WriteFile | EditFile)


def runs(action: Action) -> bool:
    """Whether the action runs what mm knows nothing of: a command, or the tool of a server."""
    return isinstance(action, RunCommand | CallOutside)


def action_subject(action: Action) -> str:
    """What a permission rule is matched against: the command, the path, or the arguments as JSON."""
    if isinstance(action, CallOutside):
        return arguments_text(action)
    return action.command if isinstance(action, RunCommand) else action.path


def action_title(action: Action) -> str:
    """What the action does, in one line of at most 120 characters, for a person."""
    match action:
        case ReadFile(path=path, offset=offset, limit=limit) if limit > 0:
            start = max(1, offset)
            title = f"read {path}:{start}-{start + limit - 1}"
        case ReadFile(path=path, offset=offset):
            title = f"read {path}:{offset}-" if offset > 1 else f"read {path}"
        case ListDirectory(path=path):
            title = f"list {path}"
        case Search(pattern=pattern, path=path, glob=glob):
            places = [f"in {path}"] if path not in {"", "."} else []
            title = " ".join([f"search {one_line(pattern, 60)}", *places, *([f"({glob})"] if glob else [])])
        case WriteFile(path=path):
            title = f"write {path}"
        case EditFile(path=path):
            title = f"edit {path}"
        case RunCommand(command=command):
            title = f"run {command}"
        case CallOutside():
            title = call_text(action)
    return one_line(title)


def _expected(name: str, others: tuple[ToolSpec, ...]) -> str:
    return expected_text(next((tool.parameters for tool in (*TOOLS, *others) if tool.name == name), {}))
