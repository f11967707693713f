"""A line that is being typed to what could stand at its end: a command, a session, a model, a path."""

import re
from typing import Literal

import msgspec

from minime.core.commands import ALIASES, COMMANDS, Entry
from minime.core.tools.permissions import MODES

CHOICES = {"mode": MODES, "permissions": ("clear",), "export": ("markdown", "html", "json", "acp")}
MOST_SHOWN = 60

_COMMAND = re.compile(r"/(\w*)\Z")
_ARGUMENT = re.compile(r"/(\w+)[ \t]+(\S*)\Z")
_QUOTED = re.compile(r"""(?<![^\s(\[{<"',;:])@"(?P<path>[^"\n]*)\Z""")
_BARE = re.compile(r"""(?<![^\s(\[{<"',;:])@(?P<path>[^\s"'`@(){}<>|*?\\]*)\Z""")
_WORD = re.compile(r"(?:[^\s\\]|\\.)*\Z")


class Want(msgspec.Struct, frozen=True):
    """What the person is about to type: `word` is there of it, from `begin` on. Of a path `folder` is what
    stands before its last part."""

    kind: Literal["command", "session", "model", "choice", "mention", "path"]
    begin: int
    word: str
    choices: tuple[str, ...] = ()
    folder: str = ""


def wanted(line: str, commands: tuple[Entry, ...] = COMMANDS) -> Want | None:
    """What could be completed at the end of `line`; None where nothing can."""
    if found := _COMMAND.match(line):
        return Want("command", 0, found[1], tuple(entry.name for entry in commands))
    if (found := _ARGUMENT.match(line)) and (want := _argument(found, commands)):
        return want
    if found := _QUOTED.search(line) or _BARE.search(line):
        return _path("mention", found.start(), found["path"])
    if line.startswith("!") and (found := _WORD.search(line, 1)):
        return _path("path", found.start(), re.sub(r"\\(.)", r"\1", found[0]))
    return None


def _argument(found: re.Match[str], commands: tuple[Entry, ...]) -> Want | None:
    name = ALIASES.get(found[1], found[1])
    if name not in {entry.name for entry in commands}:
        return None
    if name == "resume":
        return Want("session", found.start(2), found[2])
    if name == "model":
        return Want("model", found.start(2), found[2])
    choices = CHOICES.get(name)
    return Want("choice", found.start(2), found[2], choices) if choices else None


def _path(kind: Literal["mention", "path"], begin: int, path: str) -> Want:
    folder, slash, word = path.rpartition("/")
    return Want(kind, begin, word, folder=folder + slash)


def command_offers(want: Want, commands: tuple[Entry, ...] = COMMANDS) -> tuple[str, ...]:
    """The commands that begin so; one that takes words gets its space."""
    return tuple(
        f"/{entry.name}{' ' if entry.argument else ''}"
        for entry in commands
        if entry.name.startswith(want.word)
    )


def name_offers(want: Want, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `names` that begin so; where none does, the only one that holds the word."""
    begin = tuple(name for name in names if name.startswith(want.word))
    if begin:
        return begin
    holding = tuple(name for name in names if want.word.lower() in name.lower())
    return holding if len(holding) == 1 else ()


def path_offers(want: Want, names: tuple[tuple[str, bool], ...]) -> tuple[str, ...]:
    """The paths that a folder's names (and whether each is a folder) make; hidden ones when asked for."""
    fitting = [(name, is_folder) for name, is_folder in names if name.startswith(want.word)]
    if not fitting:
        fitting = [each for each in names if each[0].lower().startswith(want.word.lower())]
    hidden = want.word.startswith(".")
    return tuple(
        path_offer(want, want.folder + name, is_folder)
        for name, is_folder in fitting
        if hidden or not name.startswith(".")
    )


def path_offer(want: Want, path: str, is_folder: bool) -> str:
    """A path as it is put into the line: the word goes on behind a folder and is over behind a file."""
    end = "/" if is_folder else ""
    over = "" if is_folder else " "
    if want.kind == "path":
        return re.sub(r"([^\w@%+=:,./~-])", r"\\\1", path) + end + over
    if re.search(r"""[\s"'`@(){}<>|*?\\]""", path):
        return f'@"{path}{end}' + ("" if is_folder else '" ')
    return f"@{path}{end}{over}"


def shown(labels: tuple[str, ...], width: int) -> str:
    """The offers below the line, in columns where they are short."""
    more = len(labels) - MOST_SHOWN
    labels = labels[:MOST_SHOWN]
    column = max(map(len, labels), default=0) + 2
    across = max(1, width // column)
    rows = -(-len(labels) // across)
    lines = ["".join(f"{label:{column}}" for label in labels[row::rows]).rstrip() for row in range(rows)]
    return "\n".join(lines + ([f"… and {more:,} more"] if more > 0 else []))
