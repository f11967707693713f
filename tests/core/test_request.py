"""What goes to a server: the history, made fit for any chat template."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from minime.core.codec import decode, encode
from minime.core.config.fit import fit_for
from minime.core.config.settings import Settings
from minime.core.images import NOT_SHOWN
from minime.core.request import ENDED_HERE, INTERRUPTED, Sampling, build_request, fit, offered_tools, sampling
from minime.core.session import with_system
from minime.core.tools.toolbox import tool_declarations
from minime.core.turn import Turn, grow
from minime.core.values import (
    Assistant,
    ImagePart,
    ImageUrl,
    Message,
    Session,
    System,
    TextPart,
    Tool,
    User,
    tool_call,
)
from tests.support.values import fresh, hello_turn, question, sessions, talked, texts, tool_turn
from tests.support.values import turns as drawn_turns

Golden = Callable[[str], SnapshotAssertion]
A = tool_call("a", "read_file", '{"path": "a"}')
B = tool_call("b", "read_file", '{"path": "b"}')


def body(session: Session, turn: Turn) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(build_request(session, turn, "m"))
    return read


def test_a_request_streams_with_usage_and_holds_the_history_word_for_word() -> None:
    session = talked(tool_turn())
    sent = body(session, question())
    assert sent["stream"] is True
    assert sent["stream_options"] == {"include_usage": True}
    assert [m["role"] for m in sent["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    kept = json.loads(encode(session))["messages"]
    for message, stored in zip(sent["messages"], kept, strict=False):
        assert message["content"] == stored["content"]
        assert message.get("tool_calls") == stored.get("tool_calls")


def test_no_key_of_our_own_and_no_thought_is_sent() -> None:  # S20
    turn = Turn((
        User("q", typed="t"),
        Assistant("", (A,), reasoning_content="hm", stopped="length", model="m", seconds=1.0, extra={"x": 1}),
        Tool("a", "r", failed=True, extra={"y": 2}),
        Assistant("done", reasoning_content="hm"),
    ))
    for message in body(talked(turn), question())["messages"]:
        assert set(message) <= {"role", "content", "tool_calls", "tool_call_id"}


def test_what_the_server_decides_is_not_sent() -> None:
    assert set(body(fresh(), question())) == {"model", "messages", "stream", "stream_options"}


def test_sampling_and_tools_are_sent_where_they_are_set() -> None:
    sampling = Sampling(
        temperature=0.0, top_p=0.9, seed=1, stop=("END",), max_tokens=160, reasoning_effort="low"
    )
    sent = json.loads(build_request(fresh(), question(), "m", tool_declarations(("read_file",)), sampling))
    assert (sent["temperature"], sent["seed"], sent["stop"], sent["max_tokens"]) == (0.0, 1, ["END"], 160)
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["read_file"]


def test_a_call_without_result_gets_one_that_says_it_may_have_run() -> None:  # H01, H02
    history = (System("s"), User("q"), Assistant("", (A, B)), Tool("a", "x"))
    assert fit(history) == (*history, Tool("b", INTERRUPTED, failed=True))
    assert "may have run" in INTERRUPTED


def test_results_stand_right_behind_their_call_in_its_order() -> None:
    history = (User("q"), Assistant("", (A, B)), Tool("b", "2"), Tool("a", "1"), Assistant("x"))
    assert [m.tool_call_id for m in fit(history) if isinstance(m, Tool)] == ["a", "b"]


def test_a_result_without_a_call_is_not_sent() -> None:
    assert fit((User("q"), Tool("ghost", "x"), Assistant("a"))) == (User("q"), Assistant("a"))


def test_ids_that_repeat_in_a_file_keep_each_result_with_its_own_call() -> None:
    history = (
        User("q"),
        Assistant("", (A,)),
        Tool("a", "1"),
        Assistant("", (A,)),
        Tool("a", "2"),
        Assistant("x"),
    )
    assert fit(history) == history


def test_an_empty_answer_is_not_sent_and_its_neighbours_are_joined() -> None:  # H05, H09
    assert fit((User("a"), Assistant(" \n"), User("b"))) == (User("a\n\nb"),)


def test_two_answers_in_a_row_are_joined() -> None:
    assert fit((User("q"), Assistant("a"), Assistant("b", (A,)), Tool("a", "r"))) == (
        User("q"),
        Assistant("a\n\nb", (A,)),
        Tool("a", "r"),
    )


def test_one_system_message_first_wherever_it_stood() -> None:  # H08
    assert fit((User("q"), System("s"), System("t"), Assistant("a"))) == (
        System("s"),
        User("q"),
        Assistant("a"),
    )


def test_a_question_behind_a_tool_result_is_parted_from_it_by_an_answer() -> None:
    history = (User("q"), Assistant("", (A,), stopped="steps"), Tool("a", "r"), User("go on"))
    assert fit(history)[-2:] == (Assistant(ENDED_HERE), User("go on"))


def test_an_image_that_is_shown_is_a_part_and_one_that_is_not_is_told() -> None:
    images = tuple(ImagePart(ImageUrl(f"x.files/{number}.png")) for number in range(2))
    asked = msgspec.structs.replace(fresh(), messages=(User("a"), User((TextPart("b"), *images))))
    shown = {"x.files/1.png": "data:image/png;base64,aGk="}
    sent = json.loads(build_request(asked, question("c"), "m", images=shown))
    assert sent["messages"][-1]["content"] == [
        {"type": "text", "text": "a"},
        {"type": "text", "text": "b"},
        {"type": "text", "text": NOT_SHOWN},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "text", "text": "c"},
    ]


def test_without_an_image_that_is_shown_a_question_is_plain_text() -> None:
    image = ImagePart(ImageUrl("x.files/1.png"))
    asked = msgspec.structs.replace(fresh(), messages=(User((TextPart("b"), image)),))
    assert body(asked, question("c"))["messages"][-1]["content"] == f"b\n\n{NOT_SHOWN}\n\nc"


@pytest.mark.parametrize("arguments", ['{"a":', "", "[]", "null", '"x"'])
def test_arguments_that_are_no_object_go_out_as_an_empty_one(arguments: str) -> None:  # S07
    call = tool_call("a", "read_file", arguments)
    sent = body(
        talked(Turn((User("q"), Assistant("", (call,)), Tool("a", "not valid"), Assistant("x")))), question()
    )
    assert sent["messages"][2]["tool_calls"][0]["function"]["arguments"] == "{}"


messages = st.one_of(
    st.builds(System, texts),
    st.builds(User, texts),
    st.builds(
        Assistant, texts, st.lists(st.sampled_from((A, B)), max_size=2, unique_by=lambda c: c.id).map(tuple)
    ),
    st.builds(Tool, st.sampled_from(("a", "b", "c")), texts),
)


@given(st.lists(messages, max_size=12).map(tuple))
def test_whatever_a_file_holds_the_request_is_fit(history: tuple[Message, ...]) -> None:
    fitted = fit((*history, User("and now?")))
    roles = [type(m) for m in fitted]
    assert System not in roles[1:]
    assert fitted[-1] == User("and now?") or isinstance(fitted[-1], User)
    for before, message in zip((None, *fitted), fitted, strict=False):
        match message:
            case User():
                assert not isinstance(before, User | Tool)
            case Assistant(content=content, tool_calls=calls):
                assert content.strip() or calls
                assert not isinstance(before, Assistant)
            case _:
                pass
    waiting: list[str] = []
    for message in fitted:
        if isinstance(message, Tool):
            assert waiting.pop(0) == message.tool_call_id
        else:
            assert not waiting
            waiting = [c.id for c in message.tool_calls] if isinstance(message, Assistant) else []
    assert not waiting


@given(st.lists(messages, max_size=12).map(tuple))
def test_fitting_twice_changes_no_more(history: tuple[Message, ...]) -> None:
    assert fit(fit(history)) == fit(history)


@given(drawn_turns(), drawn_turns())
def test_what_a_turn_leaves_is_sent_as_it_stands(first: Turn, second: Turn) -> None:
    history = talked(first, second).messages
    kept = [m.content for m in history if not isinstance(m, Assistant) or m.content.strip() or m.tool_calls]
    assert [m.content for m in fit(history)] == kept


@given(sessions())
def test_a_file_that_was_read_asks_what_the_session_in_memory_asks(session: Session) -> None:
    assert body(decode(encode(session)), question()) == body(session, question())


def test_goldens_of_requests(golden: Golden) -> None:
    def pretty(data: bytes) -> str:
        return msgspec.json.format(data, indent=2).decode() + "\n"

    tools = tool_declarations(("read_file", "run_command"))
    assert pretty(build_request(fresh(), question("What is 2 + 2?"), "qwen3:8b")) == golden(
        "request/first.json"
    )
    resumed = with_system(talked(tool_turn()), "You are mini-me, and this is today's prompt.")
    assert pretty(build_request(resumed, question(), "qwen3:8b", tools)) == golden(
        "request/resumed-with-tools.json"
    )
    cut = grow(
        question("Run the tests."), Assistant("", (tool_call("c", "run_command", '{"command": "pytest"}'),))
    )
    assert pretty(build_request(talked(hello_turn()), cut, "qwen3:8b")) == golden(
        "request/call-without-result.json"
    )


def test_tools_are_offered_to_a_small_model_once_and_for_questions_that_name_something() -> None:
    small = fit_for(True, Settings())
    named, unnamed = question("What does README.md say?"), question("What is 2 + 2?")
    after = grow(named, Assistant("", (A,)), Tool("a", "text"))
    assert offered_tools(small, ("read_file",), named) == ("read_file",)
    assert offered_tools(small, ("read_file",), unnamed) == ()
    assert offered_tools(small, ("read_file",), after) == ()
    assert offered_tools(fit_for(False, Settings()), ("read_file",), after) == ("read_file",)


def test_a_small_model_is_kept_from_repeating_itself_in_prose_only() -> None:
    small, settings = fit_for(True, Settings()), Settings()
    assert sampling(settings, small, question(), ()).repeat_penalty == 1.1
    assert sampling(settings, small, question(), ("read_file",)).repeat_penalty is None
    assert sampling(settings, small, Turn(tool_turn().messages[:3]), ()).repeat_penalty == 1.1
    listed = grow(question(), Assistant("", (tool_call("a", "list_directory", "{}"),)), Tool("a", "main.py"))
    assert sampling(settings, small, listed, ()).repeat_penalty is None
    assert sampling(settings, fit_for(False, settings), question(), ()) == Sampling()
