"""A typed line to what it asks for: `/resume 2` to `Slash("resume", "2")`, all else to a question."""

import difflib

import msgspec


class Entry(msgspec.Struct, frozen=True):
    """A command as `/help` shows it. `argument` is a hint, in brackets when it may be left out."""

    name: str
    argument: str
    help: str
    group: str = "mm"


MANY, ONE, MODEL = "Conversations", "This conversation", "Model and tools"
GROUPS = (ONE, MANY, MODEL, "mm")


COMMANDS = (
    Entry("help", "", "this list"),
    Entry("new", "", "leave this one; the next question opens a new one", MANY),
    Entry("sessions", "", "the conversations of this project", MANY),
    Entry("resume", "ID", "take up another: number in the list, piece of an id, last", MANY),
    Entry("retry", "", "go on with an unfinished turn, or ask the last one again", ONE),
    Entry("undo", "", "take the last turn back; files stay as they are", ONE),
    Entry("fork", "", "go on in a copy, and leave this conversation as it is", ONE),
    Entry("compact", "[WORDS]", "sum up older turns to make room; WORDS: what to keep", ONE),
    Entry("title", "TEXT", "give this conversation a title", ONE),
    Entry("export", "[FORM] [FILE]", "write it to a file: markdown, html, json, acp", ONE),
    Entry("errors", "", "what went wrong in this conversation", ONE),
    Entry("context", "", "tokens used and left, and what takes the room", ONE),
    Entry("model", "[NAME]", "which model answers, or another one from now on", MODEL),
    Entry("tools", "", "what the model can do", MODEL),
    Entry("mode", "[MODE]", "what passes unasked: ask, auto-edit, auto, read-only", MODEL),
    Entry("permissions", "[clear]", "what was allowed here, and taking it back", MODEL),
    Entry("quit", "", "leave; Ctrl-D does the same"),
)

ALIASES = {"exit": "quit", "q": "quit", "?": "help", "rename": "title"}


class Nothing(msgspec.Struct, frozen=True):
    """An empty line."""


class Question(msgspec.Struct, frozen=True):
    """Words for the model."""

    text: str


class Slash(msgspec.Struct, frozen=True):
    """A command that is known, with the words behind it."""

    name: str
    argument: str


class Unknown(msgspec.Struct, frozen=True):
    """A command that is not. `message` names the nearest one; nothing is sent to the model."""

    message: str


Command = Nothing | Question | Slash | Unknown


def parse_command(line: str, commands: tuple[Entry, ...] = COMMANDS) -> Command:
    """What `line` asks for. A slash word that holds another slash is a path, and so a question."""
    text = line.strip()
    if not text:
        return Nothing()
    word, _, rest = text.partition(" ")
    if not text.startswith("/") or "/" in word[1:] or "\n" in word:
        return Question(text)
    names = [entry.name for entry in commands]
    name = ALIASES.get(word[1:], word[1:])
    if name in names:
        return Slash(name, rest.strip())
    nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.4)
    return Unknown(
        f"unknown command {word}: did you mean /{nearest[0]}?"
        if nearest
        else f"unknown command {word}: /help lists them"
    )


def help_text(commands: tuple[Entry, ...] = COMMANDS) -> str:
    """All commands in their groups, one a line, aligned."""
    heads = {entry.name: f"/{entry.name} {entry.argument}".rstrip() for entry in commands}
    width = max(map(len, heads.values()))
    parts = (
        "\n".join([group, *(f"{heads[entry.name]:{width}}  {entry.help}" for entry in entries)])
        for group in GROUPS
        if (entries := [entry for entry in commands if entry.group == group])
    )
    return "\n\n".join(parts)
