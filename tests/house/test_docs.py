"""What the documentation claims: its links, the outputs it shows, the commands, options and keys it names."""

import ast
import doctest
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion

from minime import cli
from minime.core import events, values
from minime.core.commands import ALIASES, COMMANDS
from minime.core.config.agent_yaml import KEYS
from minime.core.tools.toolbox import TOOLS
from minime.shell.config.config import Loaded, load_settings
from tests.conftest import ROOT
from tests.support import docs
from tests.support.mm import STILL, Visitor, run_mm
from tests.support.server import Answer, ScriptedServer, calls, says, thinks

Golden = Callable[[str], SnapshotAssertion]
REFERENCE = ROOT / "docs" / "reference"
EACH_PAGE = pytest.mark.parametrize("page", docs.PAGES, ids=lambda page: str(page.relative_to(ROOT)))
READ = calls(("read_file", {"path": "main.py"}))
EDIT = calls(("edit_file", {"path": "main.py", "old_text": "hi", "new_text": "hello"}))

# The heading in session-file.md under which the keys of each struct stand.
KEYS_OF: dict[type[values.Value], str] = {
    values.Session: "The file",
    values.System: "System message",
    values.User: "User message",
    values.TextPart: "Text part",
    values.ImagePart: "Image part",
    values.ImageUrl: "Image address",
    values.Assistant: "Assistant message",
    values.ToolCall: "Tool call",
    values.Function: "Function",
    values.Usage: "Usage",
    values.Tool: "Tool message",
    values.Diff: "Diff",
    values.ErrorRecord: "Error record",
    values.Pending: "Pending turn",
}


@EACH_PAGE
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in docs.links(docs.read(page)):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{target}: no such file"
        assert file.is_relative_to(ROOT), f"{target}: outside the project"
        if anchor:
            assert anchor in docs.anchors(docs.read(file)), f"{target}: no such heading"


@EACH_PAGE
def test_what_a_page_shows_is_what_mm_does(page: Path, pytestconfig: pytest.Config) -> None:
    text = docs.read(page)
    today = docs.filled(text)
    if pytestconfig.getoption("update_snapshots") and text != today:
        page.write_text(today, encoding="utf-8")
    else:
        assert text == today


def test_every_page_is_reached_from_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target.partition("#")[0]).resolve() for target in docs.links(docs.read(index))}
    assert {page for page in docs.PAGES if ROOT / "docs" in page.parents} - {index} <= linked


@EACH_PAGE
def test_no_command_is_named_that_is_not_there(page: Path) -> None:
    text = docs.read(page)
    wrong = {line: words for line in docs.commands(text) if (words := docs.wrong_words(line, cli.app))}
    assert not wrong
    slashes = {span.split()[0][1:] for span in docs.spans(text) if re.fullmatch(r"/[a-z]+( .*)?", span)}
    assert slashes <= {entry.name for entry in COMMANDS} | set(ALIASES)


@EACH_PAGE
def test_every_configuration_that_is_shown_is_one(page: Path, tmp_path: Path) -> None:
    text = docs.read(page)
    for number, block in enumerate(docs.blocks(text, "yaml")):
        file = tmp_path / f"{number}.yaml"
        file.write_text(block, encoding="utf-8")
        variables = dict.fromkeys(re.findall(r"\$\{(\w+)", block), "value")
        found = load_settings(tmp_path, environ={"HOME": str(tmp_path), **variables}, config=file)
        assert isinstance(found, Loaded), f"{found}\n{block}"
    for block in docs.blocks(text, "json"):
        for line in [block] if block.startswith("{\n") else block.splitlines():
            msgspec.json.decode(line)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("mm --resume last", []),
        ('mm -m large "What?"', []),
        ("mm sessions show 2 --json", []),
        ("mm fly", ["fly"]),
        ("mm sessions burn 2", ["burn"]),
        ("mm sessions --nothing", ["--nothing"]),
        ('mm "What?" --color', ["--color"]),
    ],
)
def test_a_command_line_of_a_page_is_read_as_mm_reads_it(line: str, wrong: list[str]) -> None:
    assert docs.wrong_words(line, cli.app) == wrong


def test_every_verb_and_option_stands_in_the_reference() -> None:
    page = docs.read(REFERENCE / "command-line.md")
    for path, app in docs.verbs(cli.app):
        if app.default_command is None:
            continue
        text = docs.section(page, f"`{' '.join(('mm', *path))}`")
        for names in docs.options(app):
            for name in names:
                assert f"`{name}" in text, f"{path}: {name}"


def test_every_key_of_the_session_file_stands_in_its_reference_and_no_other() -> None:
    page = docs.read(REFERENCE / "session-file.md")
    assert set(values.Value.__subclasses__()) == set(KEYS_OF)
    for kind, heading in KEYS_OF.items():
        named = set(re.findall(r"^\| `([^`]+)` \|", docs.section(page, heading), re.MULTILINE))
        keys = {field.encode_name for field in msgspec.structs.fields(kind)} - {values.UNKNOWN}
        tag = kind.__struct_config__.tag_field
        assert named == keys | ({tag} if tag else set()), heading


def test_every_event_and_its_keys_stand_in_their_reference() -> None:
    page = docs.read(REFERENCE / "json-events.md")
    for kind in events.Happening.__subclasses__():
        text = docs.section(page, f"`{kind.__struct_config__.tag}`")
        named = set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))
        assert named == {field.encode_name for field in msgspec.structs.fields(kind)}


def test_every_tool_and_argument_stands_in_the_reference() -> None:
    page = docs.read(REFERENCE / "tools.md")
    for tool in TOOLS:
        text = docs.section(page, tool.name)
        assert set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)) == set(tool.parameters["properties"])


def test_every_key_is_made_use_of() -> None:
    readers = [
        file
        for file in (ROOT / "minime").rglob("*.py")
        if file.stem not in {"settings", "configuration", "config_text"}
    ]
    used = {
        node.attr
        for file in readers
        for node in ast.walk(ast.parse(docs.read(file)))
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value).split(".")[-1].lstrip("_") == "settings"
    }
    assert not {key.name for key in KEYS if re.sub("[A-Z]", r"_\g<0>", key.name).lower() not in used}


def test_the_examples_of_the_toolkit_do_what_they_show() -> None:
    blocks = re.findall(
        r"^```python\n(.*?)^```", docs.read(REFERENCE / "toolkit.md"), re.DOTALL | re.MULTILINE
    )
    told: list[str] = []
    example = doctest.DocTestParser().get_doctest("".join(blocks), {}, "toolkit.md", None, None)
    done = doctest.DocTestRunner().run(example, out=told.append)
    assert done.failed == 0, "".join(told)
    assert done.attempted > 50


def test_every_package_that_is_taken_is_accounted_for() -> None:
    project = tomllib.loads(docs.read(ROOT / "pyproject.toml"))["project"]
    wanted = [
        *project["dependencies"],
        *project["optional-dependencies"]["local"],
        *project["optional-dependencies"]["mcp"],
    ]
    page = docs.read(ROOT / "docs" / "explanation" / "packages.md")
    taken = re.findall(r"^\| \*\*(\S+)\*\* \|", page, re.MULTILINE)
    assert taken == [re.split("[<>=]", requirement)[0] for requirement in wanted]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("help", ()),
        ("help-sessions", ("sessions",)),
        ("help-sessions-show", ("sessions", "show")),
        ("help-sessions-export", ("sessions", "export")),
        ("help-config", ("config",)),
        ("help-replay", ("replay",)),
        ("help-doctor", ("doctor",)),
        ("help-trust", ("trust",)),
    ],
)
def test_the_help_pages(tmp_path: Path, golden: Golden, name: str, words: tuple[str, ...]) -> None:
    done = run_mm(*words, "--help", cwd=tmp_path, env={"NO_COLOR": "1"})
    assert done.returncode == 0
    assert "\n".join(line.rstrip() for line in done.stdout.split("\n")) == golden(f"cli/{name}.txt")


def test_the_events_of_a_question(tmp_path: Path, golden: Golden) -> None:
    answers = [calls(("run_command", {"command": "echo hi"})), thinks("It worked.", "It says ", "hi.")]
    with ScriptedServer(answers) as server:
        env = {"MM_BASE_URL": server.url, "MM_MODEL": "qwen3:8b"}
        done = run_mm("--json", "--yes", "Run echo hi.", cwd=tmp_path, env=env, program=STILL)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.sub(r'"seconds":[\d.]+', '"seconds":0.012', done.stdout) == golden("cli/json-events.txt")


def test_two_visits_to_one_conversation(tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "main.py").write_text("print('hi')\n")
    answers: list[Answer] = [READ, says("It prints hi."), EDIT, says("Done."), says("It printed hi.")]
    with ScriptedServer(answers) as server:
        env = {"MM_BASE_URL": server.url, "MM_MODEL": "qwen3:8b"}
        with Visitor(cwd=tmp_path, env=env, program=STILL) as first:
            first.prompt(1)
            first.type("What does main.py do?")
            first.prompt(2)
            first.type("Say hello instead.")
            first.see("every edit_file.*›$")
            first.type("y")
            first.prompt(3)
            first.type("/quit")
            assert first.leave() == 0
        listed = run_mm("sessions", cwd=tmp_path, env=env).stdout
        with Visitor("--resume", "1", cwd=tmp_path, env=env, program=STILL) as second:
            second.prompt(2)
            second.type("What did it print before?")
            second.prompt(3)
            second.press("d")
            assert second.leave() == 0
        history = server.requests[-1].json["messages"]
        text = f"$ mm\n{first.screen}\n\n$ mm sessions\n{listed}\n$ mm --resume 1\n{second.screen}\n"
        text = text.replace(f":{server.port}/", ":11434/")
    assert [m["content"] for m in history if m["role"] == "user"] == [
        "What does main.py do?", "Say hello instead.", "What did it print before?",
    ]  # fmt: skip
    assert text == golden("terminal/two-visits.txt")
