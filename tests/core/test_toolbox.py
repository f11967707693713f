import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from minime.core.tools.reading import read_arguments
from minime.core.tools.toolbox import (
    TOOLS,
    Action,
    BadCall,
    EditFile,
    ListDirectory,
    ReadFile,
    RunCommand,
    Search,
    WriteFile,
    action_subject,
    action_title,
    changes_files,
    parse_call,
    runs,
    tool_declarations,
    tool_name,
)
from minime.core.values import tool_call

NAMES = tuple(tool.name for tool in TOOLS)
ONE_OF_EACH: tuple[Action, ...] = (
    ReadFile("a.py"),
    WriteFile("a.py", "x"),
    EditFile("a.py", "x", "y"),
    ListDirectory(),
    Search("x"),
    RunCommand("ls"),
)


def parsed(name: str, arguments: str) -> Action | BadCall:
    return parse_call(tool_call("call_1", name, arguments), NAMES)


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("read_file", '{"path": "a", "offset": 3, "limit": 4}', ReadFile("a", 3, 4)),
        ("write_file", '{"path": "a", "content": ""}', WriteFile("a", "")),
        ("edit_file", '{"path": "a", "old_text": "x", "new_text": "y"}', EditFile("a", "x", "y")),
        ("search", '{"pattern": "x+", "glob": "*.py"}', Search("x+", glob="*.py")),
        ("run_command", '{"command": "ls", "timeout": 1.5}', RunCommand("ls", 1.5)),
        pytest.param("list_directory", "", ListDirectory(), id="S06-empty"),
        pytest.param("list_directory", "null", ListDirectory(), id="S06-null"),
        pytest.param("list_directory", " {} ", ListDirectory(), id="S06-blank"),
        pytest.param("read_file", '{"path": "a", "offset": "3", "limit": null}', ReadFile("a", 3), id="text"),
        pytest.param("read_file", '{"path": "a", "limit": 2.0}', ReadFile("a", limit=2), id="whole-float"),
        pytest.param("read_file", '{"path": "a", "tool": 1, "why": []}', ReadFile("a"), id="unknown-keys"),
        pytest.param("read_file", '"{\\"path\\": \\"a\\"}"', ReadFile("a"), id="encoded-twice"),
        pytest.param(
            "write_file", '{"path": "a", "content": "1\n2"}', WriteFile("a", "1\n2"), id="raw-newline"
        ),
        pytest.param("read_file", '{"path": "a\\ud83d"}', ReadFile("a\ufffd"), id="T01"),
        pytest.param("functions.Read-File", '{"path": "a"}', ReadFile("a"), id="name-in-other-dress"),
        pytest.param(
            "edit_file",
            '{"path": "a", "old_text": "", "new_text": "", "all": "True"}',
            EditFile("a", "", "", True),
            id="true-as-text",
        ),
    ],
)
def test_a_call_is_read_with_kindness(name: str, arguments: str, action: Action) -> None:
    assert parsed(name, arguments) == action


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param('{"a":', 'valid JSON: Expecting value: line 1 column 6 (char 5); got {"a":', id="S07"),
        pytest.param("[" * 100_000, "arguments are not valid JSON", id="S07-deep"),
        pytest.param("[1]", "arguments are not a JSON object; got [1]", id="list"),
        pytest.param("", "missing required field `path`", id="S06-required"),
        pytest.param('{"path": 3}', "Expected `str`, got `int`", id="type"),
        pytest.param('{"path": "a", "limit": 2.5}', "Expected `int`, got `float`", id="fraction"),
    ],
)
def test_a_call_that_cannot_be_read_says_what_was_expected(arguments: str, said: str) -> None:
    bad = parsed("read_file", arguments)
    assert isinstance(bad, BadCall)
    assert said in bad.message
    assert bad.message.endswith(
        "expected an object with path (string), offset (integer, optional), limit (integer, optional)"
    )
    assert len(bad.message) < 500


def test_an_unknown_tool_is_answered_with_those_that_there_are() -> None:  # S10
    bad = parsed("open_file", "{}")
    assert bad == BadCall(f"unknown tool open_file; available: {', '.join(NAMES)}; did you mean read_file?")


def test_a_tool_that_is_not_configured_is_unknown() -> None:
    bad = parse_call(tool_call("1", "run_command", '{"command": "ls"}'), ("read_file", "search"))
    assert bad == BadCall("unknown tool run_command; available: read_file, search")


def test_each_tool_is_declared_as_its_action_reads_it() -> None:
    for declaration, action in zip(tool_declarations(NAMES), ONE_OF_EACH, strict=True):
        function = declaration["function"]
        assert function["name"] == tool_name(action)
        assert tuple(function["parameters"]["properties"]) == type(action).__struct_fields__
        required = len(type(action).__struct_fields__) - len(type(action).__struct_defaults__)
        assert tuple(function["parameters"]["required"]) == type(action).__struct_fields__[:required]


def test_only_the_configured_tools_are_declared() -> None:
    declared = tool_declarations(("search", "read_file", "nonsense"))
    assert [d["function"]["name"] for d in declared] == ["read_file", "search"]


def test_each_action_knows_its_class_of_consent_and_its_subject() -> None:
    assert [changes_files(a) for a in ONE_OF_EACH] == [False, True, True, False, False, False]
    assert [runs(a) for a in ONE_OF_EACH] == [False] * 5 + [True]
    assert [action_subject(a) for a in ONE_OF_EACH] == ["a.py", "a.py", "a.py", ".", ".", "ls"]


@pytest.mark.parametrize(
    ("action", "title"),
    [
        (ReadFile("main.py"), "read main.py"),
        (ReadFile("main.py", 10, 31), "read main.py:10-40"),
        (ReadFile("main.py", 10), "read main.py:10-"),
        (ListDirectory("src"), "list src"),
        (Search("def .*", "src", "*.py"), "search def .* in src (*.py)"),
        (WriteFile("a.py", "x"), "write a.py"),
        (EditFile("a.py", "x", "y"), "edit a.py"),
        (RunCommand("git status"), "run git status"),
        (RunCommand("echo \x1b[2Ja\n rm x"), "run echo a rm x"),
    ],
)
def test_a_title_says_in_one_line_what_is_done(action: Action, title: str) -> None:
    assert action_title(action) == title


@given(st.text())
def test_no_title_is_long_or_breaks_a_line(text: str) -> None:
    for action in (ReadFile(text), Search(text, text, text), RunCommand(text * 40)):
        title = action_title(action)
        assert len(title) <= 120
        assert len(title.splitlines()) == 1


@given(st.text(), st.sampled_from([*NAMES, "", "x"]))
def test_no_arguments_break_the_reader(arguments: str, name: str) -> None:
    answer = parsed(name, arguments)
    assert isinstance(answer, BadCall | ReadFile | ListDirectory | Search | WriteFile | EditFile | RunCommand)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(), st.integers())
def test_well_formed_arguments_arrive_as_they_were_sent(path: str, offset: int, limit: int) -> None:
    arguments = json.dumps({"path": path, "offset": offset, "limit": limit})
    assert parsed("read_file", arguments) == ReadFile(path, offset, limit)


@given(
    st.dictionaries(
        st.text('a \n"é漢\ud83d'),
        st.text('a\n"\t漢') | st.integers() | st.floats(allow_nan=False) | st.none(),
    )
)
@example({"number": 10**30, "nothing": 1e-400})
def test_arguments_are_read_alike_in_strict_json_and_with_raw_line_breaks(value: dict[str, Any]) -> None:
    assert read_arguments(json.dumps(value)) == value
    assert read_arguments(json.dumps(value, ensure_ascii=False).replace("\\n", "\n")) == value
