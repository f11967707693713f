"""Tools of servers: named, called, consented to, and what they say in words."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.acp.tool_calls import started_call
from minime.core.screen import call_title, tools_text
from minime.core.tools.consent import Allow, AlwaysRule, Ask, Deny, decide, unattended, unsaid
from minime.core.tools.outside import CallOutside, Report, ToolSpec, offers, plain_name
from minime.core.tools.outside_text import (
    progress_text,
    result_said,
    server_environment,
    servers_text,
    trouble_text,
)
from minime.core.tools.permissions import PermissionRule
from minime.core.tools.toolbox import (
    BadCall,
    Said,
    action_subject,
    action_title,
    declared_size,
    parse_call,
    tool_declarations,
    tool_name,
)
from minime.core.values import tool_call

SCHEMA = {
    "type": "object",
    "properties": {"repo": {"type": "string"}, "labels": {"type": ["array", "null"]}},
    "required": ["repo"],
}
LIST = ToolSpec("git__list", "List issues. All of them.", SCHEMA)
CALL = CallOutside("git__list", {"repo": "mine/mm"})


@given(st.text(max_size=50), st.lists(st.text(max_size=90), max_size=6))
def test_each_tool_has_a_name_of_its_own_that_a_function_may_have(server: str, names: list[str]) -> None:
    found = offers(plain_name(server), tuple({"name": name, "inputSchema": SCHEMA} for name in names))
    assert [offer.own for offer in found] == [name for name in names if name]
    assert len({offer.spec.name for offer in found}) == len(found)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", offer.spec.name) for offer in found)


def test_a_schema_goes_on_as_it_is_and_one_that_is_none_takes_anything() -> None:
    nested = {**SCHEMA, "$defs": {"a": {"enum": [1]}}}
    wanted = (
        {"name": "list", "description": "List issues. All of them.", "inputSchema": nested},
        {"name": "x", "inputSchema": []},
        {"name": 3},
    )
    first, second = offers("git", wanted)
    assert first.spec == ToolSpec("git__list", LIST.description, nested)
    assert second.spec == ToolSpec("git__x", "x", {"type": "object", "properties": {}})


def test_tools_of_servers_are_declared_beside_ours() -> None:
    declared = tool_declarations(("search", "git__list"), (LIST,))
    assert [one["function"]["name"] for one in declared] == ["search", "git__list"]
    assert declared[1]["function"]["parameters"] == SCHEMA
    assert declared_size(("search", "git__list"), (LIST,)) > declared_size(("search",))


def test_a_call_is_read_kindly_and_what_is_missing_is_told() -> None:
    names, others = ("read_file", "git__list"), (LIST,)

    def read(name: str, arguments: str) -> Any:
        return parse_call(tool_call("1", name, arguments), names, others)

    assert read("git__list", '{"repo": "mine/mm"}') == CALL
    assert read("Git__List", '{"repo": "\\ud83d", "more": [{"a": "\\ud83d"}]}') == CallOutside(
        "git__list", {"repo": "�", "more": [{"a": "�"}]}
    )
    assert read("git__list", "{}") == BadCall(
        "missing: repo; got {}; expected an object with repo (string), labels (array or null, optional)"
    )
    assert read("git__list", '{"repo"').message.startswith("arguments are not valid JSON: ")
    assert read("git__lists", "{}").message.endswith("did you mean git__list?")


@pytest.mark.parametrize(
    ("arguments", "title", "more"),
    [
        ({}, "call git list", ()),
        ({"repo": "mine/mm", "n": 3}, "call git list repo=mine/mm n=3", ()),
        ({"q": "two words"}, 'call git list q="two words"', ()),
        ({"q": "a\u202eb"}, 'call git list q="ab"', ("{", '  "q": "a\\u202eb"', "}")),
        ({"q": "x" * 200}, None, ("{", f'  "q": "{"x" * 200}"', "}")),
    ],
)
def test_a_person_sees_all_of_the_arguments_before_saying_yes(
    arguments: dict[str, Any], title: str | None, more: tuple[str, ...]
) -> None:
    action = CallOutside("git__list", arguments)
    assert len(action_title(action)) <= 120
    if title is not None:
        assert action_title(action) == title
    assert unsaid(action, "") == more


def test_a_call_is_asked_about_unless_a_mode_a_rule_or_the_person_has_allowed_it() -> None:
    assert tool_name(CALL) == "git__list"
    assert decide(CALL, "ask") == decide(CALL, "auto-edit") == Ask(AlwaysRule("git__list"))
    assert decide(CALL, "auto") == Allow()
    assert isinstance(decide(CALL, "read-only"), Deny)
    assert decide(CALL, "ask", always=(AlwaysRule("git__list"),)) == Allow()
    assert decide(CALL, "ask", always=(AlwaysRule("git__other"),)) == Ask(AlwaysRule("git__list"))
    assert "needs consent" in unattended(CALL).reason


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        (PermissionRule("git__*", do="allow"), True),
        (PermissionRule("git__list", '*"repo": "mine/*', "allow"), True),
        (PermissionRule("git__list", '*"repo": "theirs/*', "allow"), False),
        (PermissionRule("run_command", do="allow"), False),
    ],
)
def test_a_rule_goes_by_the_name_and_the_arguments_as_json(rule: PermissionRule, allowed: bool) -> None:
    assert (decide(CALL, "ask", (rule,)) == Allow()) is allowed
    assert isinstance(decide(CALL, "auto", (PermissionRule("git__*", "*MINE*", "deny"),)), Deny)


def test_a_text_that_looks_like_an_argument_is_not_taken_for_it() -> None:
    rule = PermissionRule("git__list", '*"repo": "mine/*', "allow")
    sly = CallOutside("git__list", {"title": '"repo": "mine/', "repo": "theirs/x"})
    assert isinstance(decide(sly, "ask", (rule,)), Ask)


def test_a_call_of_the_past_has_its_title_whatever_servers_there_are_now() -> None:
    call = tool_call("1", "git__list", '{"repo": "mine/mm"}')
    assert call_title(call) == "call git list repo=mine/mm"
    shown = started_call(call, None, "/w")
    assert (shown.title, shown.kind, shown.name) == ("call git list repo=mine/mm", "other", "git__list")
    assert call_title(tool_call("1", "nonsense", "{}")) == "nonsense {}"


def test_a_result_is_text_and_what_is_none_is_named() -> None:
    result = {
        "content": [
            {"type": "text", "text": "one"},
            {"type": "image", "data": "A" * 4_000_000, "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "two"}},
            {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAAA", "mimeType": "x/y"}},
            {"type": "resource_link", "uri": "file:///c", "name": "c"},
            {"type": "novel"},
        ],
        "isError": True,
    }
    assert result_said(result) == Said(
        "one\n[image image/png, 3.0 MB: not shown to the model]\nfile:///a:\ntwo\n"
        "[resource file:///b x/y, 1 kB: no text]\n[resource file:///c: c]\n[novel]",
        failed=True,
    )


def test_a_result_without_text_is_what_it_says_in_structure_or_nothing() -> None:
    assert json.loads(result_said({"content": [], "structuredContent": {"a": 1}}).text) == {"a": 1}
    assert result_said({"content": []}) == Said("(the tool gave nothing back)")


def test_a_server_gets_no_variable_but_the_harmless_and_its_own() -> None:
    environ = {"PATH": "/bin", "HOME": "/h", "MM_API_KEY": "k", "GITHUB_TOKEN": "t"}
    assert server_environment(environ, {"OWN": "o"}) == {"PATH": "/bin", "HOME": "/h", "OWN": "o"}


def test_servers_and_their_tools_are_shown_below_ours() -> None:
    ready = Report("git", "uvx git-server", "ready", tools=(LIST,))
    broken = Report("db", "db", "broken", "there is no program db")
    starting = Report("web", "http://h/mcp", "starting")
    assert servers_text((ready, broken, starting), whole=True).splitlines() == [
        "git · 1 tool",
        "  uvx git-server",
        "  git__list  List issues",
        "db · broken: there is no program db",
        "  db",
        "web · starting",
        "  http://h/mcp",
    ]
    assert tools_text(("read_file",), (broken,)).splitlines()[1:] == ["db · broken: there is no program db"]
    assert trouble_text(ready) == ""
    assert "left out: there is no program db" in trouble_text(broken)
    assert "has not answered within 10 s" in trouble_text(starting)


def test_progress_is_a_line() -> None:
    assert progress_text(1, 3, "at\n1") == "1 of 3 · at 1\n"
    assert progress_text(0.5, None, None) == "0.5\n"


def test_a_description_that_is_too_long_is_cut() -> None:
    [offer] = offers("s", ({"name": "t", "description": "w" * 100_000},))
    assert offer.spec.description.endswith("w…")
    assert len(offer.spec.description) < 10_000


def test_a_rule_is_matched_against_the_arguments_of_a_servers_tool() -> None:
    assert action_subject(CallOutside("s__t", {"path": "x"})) == '{"path": "x"}'
