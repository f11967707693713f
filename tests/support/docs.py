"""The documentation as data: its links, the outputs it shows, the commands it names."""

import re
import shlex
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cyclopts import App

from minime.core.commands import help_text
from minime.core.tools.consent import decide
from minime.core.tools.outside import ToolSpec
from minime.core.tools.permissions import MODES, Mode
from minime.core.tools.toolbox import TOOLS, EditFile, ReadFile, RunCommand
from tests.conftest import GOLDEN, ROOT

PAGES = (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md")))

_GOLDEN = re.compile(r"(<!-- golden: (\S+) -->\n```\w*\n)(.*?)(```)", re.DOTALL)
_MADE = re.compile(r"(<!-- made: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
_FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
_MM = re.compile(r"(?:^|[|&;]\s*)(?:uv run )?(mm(?: .*?)?)(?=\s*(?:$|[|&;<>]))")


def read(page: Path) -> str:
    """The text of a page."""
    return page.read_text(encoding="utf-8")


def prose(text: str) -> str:
    """A page without its fenced blocks."""
    return _FENCE.sub("", text)


def links(text: str) -> list[str]:
    """The targets of the links in a page that lead to a file or a heading here."""
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(text))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors(text: str) -> set[str]:
    """The names under which the headings of a page can be linked to."""
    headings = re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next one of its level or above."""
    found = re.search(rf"^(#+) {re.escape(heading)}\n(.*?)(?=^\1 |^##? |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found is not None, f"no section {heading!r}"
    return found[2]


def spans(text: str) -> list[str]:
    """The inline code of a page."""
    return re.findall(r"`([^`\n]+)`", prose(text))


def filled(text: str) -> str:
    """A page with every golden file and every made piece that it shows as they are today."""
    made = {"layers": layers_text, "slash-commands": commands_text, "tools": tools_text, "modes": modes_text}

    def golden(found: re.Match[str]) -> str:
        return found[1] + read(GOLDEN / found[2]) + found[4]

    def piece(found: re.Match[str]) -> str:
        return f"{found[1]}\n{made[found[2]]()}\n\n{found[4]}"

    return _MADE.sub(piece, _GOLDEN.sub(golden, text))


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a page in that language."""
    return [textwrap.dedent(block) for kind, block in _FENCE.findall(text) if kind == language]


def commands(text: str) -> Iterator[str]:
    """Each command line with `mm` in a page: in its shell blocks and in its inline code."""
    shown = [*blocks(text, "sh"), *blocks(text, "console")]
    lines = [line.removeprefix("$ ").strip() for block in shown for line in block.splitlines()]
    for line in [*lines, *spans(text)]:
        bare = re.sub(r"\s+# .*$", "", line)
        for found in _MM.finditer(bare):
            yield found[1].strip()


def wrong_words(command: str, app: App) -> list[str]:
    """The words of a command line that `mm` does not know: options, and verbs that are not there."""
    quoted = re.match(r"mm +[\"']", command) is not None
    words = shlex.split(command.partition(" -- ")[0])[1:]
    path: list[str] = []
    here = app
    while words and words[0] in here and not words[0].startswith("-"):
        here = here[words[0]]
        path.append(words.pop(0))
    known = {name for names in options(here) for name in names} | {"--help", "-h", "--version", "--"}
    wrong = [word for word in words if word.startswith("-") and word.partition("=")[0] not in known]
    is_verb_like = (
        bool(words) and not words[0].startswith("-") and not quoted and words[0] not in {"VERB", "…"}
    )
    if is_verb_like and (not path or tuple(path) in {("sessions",), ("schema",)}):
        wrong.append(words[0])
    return wrong


def verbs(app: App, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], App]]:
    """`mm` and each of its verbs, with the words that lead there."""
    yield path, app
    for name in app:
        if not name.startswith("-"):
            yield from verbs(app[name], (*path, name))


def options(app: App) -> list[tuple[str, ...]]:
    """The options of a verb, each with all its names."""
    if app.default_command is None:
        return []
    found: list[tuple[str, ...]] = [tuple(a.names) for a in app.assemble_argument_collection()]
    return [names for names in found if names[0].startswith("-")]


def layers() -> list[tuple[str, list[str]]]:
    """The rooms of the house as pyproject.toml holds them: a package and its rows, the highest first."""
    read_in: Mapping[str, Any] = tomllib.loads(read(ROOT / "pyproject.toml"))
    contracts = read_in["tool"]["importlinter"]["contracts"]
    return [(c["containers"][0], c["layers"]) for c in contracts if c["type"] == "layers"]


def layers_text() -> str:
    """The arrows of the house as a picture."""
    lines: list[str] = []
    for package, rows in layers():
        lines += ["", package]
        for row in rows:
            lines += textwrap.wrap(row, 100, initial_indent="    ", subsequent_indent="      ")
    return _fenced("\n".join(lines[1:]))


def commands_text() -> str:
    """What `/help` says."""
    return _fenced(help_text())


def tools_text() -> str:
    """Each tool with what the model is told of it."""
    return "\n\n".join(_tool_text(tool) for tool in TOOLS)


def modes_text() -> str:
    """What each mode does with reading, edits and commands, as `decide` has it."""
    actions = (ReadFile("a"), EditFile("a", "b", "c"), RunCommand("make"))
    rows = [
        f"| `{mode}` | " + " | ".join(_verdict(action, mode) for action in actions) + " |" for mode in MODES
    ]
    return "\n".join([
        "| mode | reading, listing, searching | edits | commands |",
        "| --- | --- | --- | --- |",
        *rows,
    ])


def _verdict(action: ReadFile | EditFile | RunCommand, mode: Mode) -> str:
    return {"Allow": "pass", "Ask": "ask", "Deny": "refused"}[type(decide(action, mode)).__name__]


def _tool_text(tool: ToolSpec) -> str:
    required = tool.parameters["required"]
    rows = [
        f"| `{name}` | {kind['type']} | {'yes' if name in required else 'no'} | {kind['description']} |"
        for name, kind in tool.parameters["properties"].items()
    ]
    table = ["| argument | type | required | what the model is told |", "| --- | --- | --- | --- |", *rows]
    return "\n".join([f"### {tool.name}", "", tool.description, "", *table])


def _fenced(text: str) -> str:
    return f"```text\n{text}\n```"
