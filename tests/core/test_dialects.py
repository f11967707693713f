"""Thoughts and tool calls that models write into their words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.model.dialects import (
    Splitter,
    calls_in_text,
    may_be_call,
    split,
    split_end,
    without_lone_close,
)

TOOLS = frozenset({"read_file", "run_command", "write_file"})
READ_A = (("read_file", '{"path":"a"}'),)


def parted(*pieces: str) -> tuple[str, str]:
    state, thought, text = Splitter(), "", ""
    for piece in pieces:
        state, more_thought, more_text = split(state, piece)
        thought, text = thought + more_thought, text + more_text
    last_thought, last_text = split_end(state)
    return thought + last_thought, text + last_text


@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        pytest.param("<think>x</think>hi", "x", "hi", id="S19"),
        pytest.param("<thinking>x</thinking>\n\nhi", "x", "hi", id="thinking"),
        pytest.param("[THINK]x[/THINK]hi", "x", "hi", id="brackets"),
        pytest.param("\n<think>x</think>\n<think>y</think>\nhi\n", "xy", "hi\n", id="two thoughts"),
        pytest.param("<think></think>hi", "", "hi", id="empty thought"),
        pytest.param("<think>x", "x", "", id="never closed"),
        pytest.param("<think>a</thin", "a</thin", "", id="half a closing tag"),
        pytest.param("<thin", "", "<thin", id="half an opening tag"),
        pytest.param("<b>hi</b>", "", "<b>hi</b>", id="another tag"),
        pytest.param("Write <think>x</think> so.", "", "Write <think>x</think> so.", id="within a sentence"),
        pytest.param("  hi", "", "  hi", id="white space of an answer stays"),
        pytest.param("   ", "", "   ", id="white space alone"),
        pytest.param("", "", "", id="nothing"),
    ],
)
def test_a_thought_at_the_start_is_parted_from_the_answer(text: str, thought: str, answer: str) -> None:
    assert parted(text) == (thought, answer)
    assert parted(*text) == (thought, answer)


@given(st.text(alphabet="<>/think hi\n", max_size=40), st.integers(1, 5))
def test_a_text_is_parted_the_same_in_pieces_of_any_size(text: str, size: int) -> None:
    assert parted(*(text[i : i + size] for i in range(0, len(text), size))) == parted(text)


def test_a_thought_opened_in_the_prompt_ends_at_its_closing_tag() -> None:
    assert without_lone_close("so it is\n</think>\n\nYes.") == ("so it is\n", "Yes.")
    assert without_lone_close("close it with </think> here") == ("", "close it with </think> here")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>', id="S09 tag"),
        pytest.param(
            '<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n', id="tag never closed"
        ),
        pytest.param(
            '<tool_call>[{"name":"read_file","arguments":{"path":"a"}}]</tool_call>', id="list in tag"
        ),
        pytest.param('<function=read_file>{"path": "a"}</function>', id="S09 function"),
        pytest.param("<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>", id="parameters"),
        pytest.param(
            "<tool_call>\n<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>",
            id="function in tag",
        ),
        pytest.param('{"name": "read_file", "arguments": {"path": "a"}}', id="S09 bare"),
        pytest.param(' {"name": "read_file", "parameters": {"path": "a"}}\n', id="parameters key"),
        pytest.param(
            '{"type":"function","function":{"name":"read_file","arguments":{"path":"a"}}}', id="API"
        ),
        pytest.param(
            '{"function": "read_file", "arguments": "{\\"path\\":\\"a\\"}"}', id="arguments as text"
        ),
        pytest.param('```json\n{"name": "read_file", "arguments": {"path": "a"}}\n```', id="S09 fence"),
        pytest.param('<|python_tag|>{"name": "read_file", "parameters": {"path": "a"}}', id="python tag"),
        pytest.param('[TOOL_CALLS][{"name": "read_file", "arguments": {"path": "a"}}]', id="mistral"),
    ],
)
def test_a_text_that_is_a_call_is_read_as_one(text: str) -> None:
    assert calls_in_text(text, TOOLS) == READ_A
    assert may_be_call(text) is True
    assert False not in {may_be_call(text[:n]) for n in range(len(text) + 1)}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Use <tool_call> to call a tool.", id="S09 prose"),
        pytest.param('I call {"name":"read_file","arguments":{"path":"a"}}', id="words before"),
        pytest.param('{"name":"read_file","arguments":{"path":"a"}} as you asked', id="words behind"),
        pytest.param('{"name":"launch","arguments":{}}', id="unknown tool"),
        pytest.param('{"name":"read_file"}', id="an object with a name"),
        pytest.param('{"name":"read_file","arguments":{"path":', id="cut"),
        pytest.param('<tool_call>{"name":"read_file","arguments":{"pa</tool_call>', id="broken in tag"),
        pytest.param("<tool_call></tool_call>", id="empty tag"),
        pytest.param("<function=read_file>[1]</function>", id="arguments that are a list"),
        pytest.param('```json\n{"name": "read_file", "arguments": {}}', id="open fence"),
        pytest.param("[" * 5_000, id="deep"),
        pytest.param("", id="nothing"),
    ],
)
def test_any_other_text_is_no_call(text: str) -> None:
    assert calls_in_text(text, TOOLS) == ()


def test_several_calls_in_one_text_are_read_in_order_and_all_or_none() -> None:
    one = '<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>'
    two = '<tool_call>{"name":"run_command","arguments":{"command":"ls </tool_call>"}}</tool_call>'
    assert calls_in_text(f"{one}\n{two}", TOOLS) == (
        *READ_A,
        ("run_command", '{"command":"ls </tool_call>"}'),
    )
    assert calls_in_text(f"{one}\n{two}", frozenset({"read_file"})) == ()


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=9), max_size=3))
def test_arguments_come_out_as_they_went_in(arguments: dict[str, str]) -> None:
    text = f"<tool_call>{json.dumps({'name': 'write_file', 'arguments': arguments})}</tool_call>"
    ((name, found),) = calls_in_text(text, TOOLS)
    assert (name, json.loads(found)) == ("write_file", arguments)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("", None),
        ("  ", None),
        ("<tool", None),
        ("``", None),
        ("```json", None),
        ("```json\n{", None),
        ('{ "na', None),
        ("Hello", False),
        ("```python\nx = 1", False),
        ("```not a language", False),
        ('{"colour": 1', False),
        ("<b>", False),
        (" " * 300, False),
    ],
)
def test_it_is_known_early_whether_a_text_may_be_a_call(text: str, verdict: bool | None) -> None:
    assert may_be_call(text) is verdict


@pytest.mark.parametrize("text", ["[1]", '[{"name": "read_file", "arguments": {}}, 2]'])
def test_a_list_that_holds_something_else_is_no_call(text: str) -> None:
    assert calls_in_text(text, TOOLS) in (None, ())
