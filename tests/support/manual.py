"""The manual page, made from the help of the verbs: roff, as `man` reads it."""

import inspect
from pathlib import Path
from types import NoneType
from typing import Literal, get_args, get_origin

from cyclopts import App

from minime import __version__
from minime.cli import app
from tests.support.docs import verbs

FILES = (
    (".mm/sessions/ID.json", "a conversation, below the project"),
    ("agent.yaml", "the configuration of a project"),
    ("$XDG_CONFIG_HOME/mm/agent.yaml", "your own configuration (~/.config/mm/agent.yaml)"),
)
STATUS = (
    ("0", "done"),
    ("1", "the turn failed, something was not found or could not be written, or you said no"),
    ("2", "wrong usage or configuration"),
    ("130", "interrupted by Ctrl-C"),
)


def manual_page() -> str:
    """The page of section 1."""
    lines = [
        f'.TH MM 1 "" "mini-me {__version__}" "User Commands"',
        ".SH NAME",
        r"mm \- a small coding agent for models that run on your own machine",
        ".SH SYNOPSIS",
        r".B mm",
        r"[\fIOPTIONS\fR] [\fIQUESTION\fR ...]",
        ".br",
        ".B mm",
        r"\fIVERB\fR [\fIOPTIONS\fR] ...",
        ".SH DESCRIPTION",
        _text(str(app.help)),
        "Words are a question unless the first one is a verb; without any, mm sits down in the terminal. A",
        r"conversation is named by its number in the list, a piece of its id, or \fBlast\fR.",
        ".SH OPTIONS",
        *_options(app),
        ".SH VERBS",
    ]
    for path, verb in verbs(app):
        if path:
            lines += [f".SS mm {' '.join(path)}{_arguments(verb)}", _text(_help(verb)), *_options(verb)]
    lines += [".SH FILES", *_pairs(FILES), ".SH EXIT STATUS", *_pairs(STATUS)]
    return "\n".join(lines) + "\n"


def _help(verb: App) -> str:
    return str(verb.help or inspect.getdoc(verb.default_command) or "")


def _options(verb: App) -> list[str]:
    if verb.default_command is None:
        return []
    lines: list[str] = []
    for argument in verb.assemble_argument_collection():
        names = [name for name in argument.names if name.startswith("-")]
        if names:
            value = "" if argument.hint is bool else f" \\fI{_text(_value(argument.hint))}\\fR"
            shown = ", ".join(f"\\fB{_text(name)}\\fR" for name in names)
            lines += [".TP", shown + value, _text(str(argument.parameter.help or ""))]
    return lines


def _value(hint: object) -> str:
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
    if get_origin(kinds[0]) is Literal:
        kinds = list(get_args(kinds[0]))
    if all(isinstance(kind, str) for kind in kinds):
        return "|".join(map(str, kinds))
    return {int: "N", Path: "PATH"}.get(kinds[0], "TEXT") if isinstance(kinds[0], type) else "TEXT"


def _arguments(verb: App) -> str:
    if verb.default_command is None:
        return ""
    wanted = [a for a in verb.assemble_argument_collection() if not a.names[0].startswith("-")]
    return "".join(f" {a.names[0]}" for a in wanted)


def _pairs(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    return [line for name, text in pairs for line in (".TP", f"\\fB{_text(name)}\\fR", _text(text))]


def _text(text: str) -> str:
    """A paragraph in which roff sees nothing of its own."""
    line = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-").replace("…", "...")
    return f"\\&{line}" if line[:1] in {".", "'"} else line
