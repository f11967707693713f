"""The session file: what is written is read again, and nothing that is not ours is taken for ours."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given

from minime.core.codec import LARGE, Unreadable, _gatherer, decode, encode, grown_text
from minime.core.turn import Turn
from minime.core.values import UNKNOWN, Assistant, Session, TextPart, User
from tests.support.values import LATER, fresh, hello_turn, sessions, talked, tool_turn

WHOLE = encode(talked(tool_turn()))


@given(sessions())
def test_what_is_written_is_read_again_unknown_keys_included(session: Session) -> None:
    assert decode(encode(session)) == session


@given(sessions())
def test_a_load_and_a_save_leave_the_bytes_as_they_were(session: Session) -> None:
    data = encode(session)
    assert encode(decode(data)) == data


def test_the_file_is_expanded_ends_in_a_newline_and_has_its_short_keys_first() -> None:
    text = WHOLE.decode()
    assert text.endswith("}\n")
    assert json.loads(text)["messages"][1]["content"] == "What does main.py do?"
    assert list(json.loads(text)) == [
        "version",
        "id",
        "created",
        "updated",
        "title",
        "model",
        "messages",
        "errors",
    ]
    assert all(len(line.strip().rstrip(",")) for line in text.splitlines())


def test_messages_and_errors_are_written_even_when_empty() -> None:
    raw = json.loads(encode(msgspec.structs.replace(fresh(), messages=())))
    assert raw["messages"] == []
    assert raw["errors"] == []
    assert "title" not in raw


def test_an_older_file_without_errors_title_and_model_loads() -> None:
    raw = json.loads(WHOLE)
    for key in ("errors", "title", "model"):
        del raw[key]
    session = decode(json.dumps(raw).encode())
    assert session.messages == talked(tool_turn()).messages
    assert (session.errors, session.title, session.model) == ((), "", "")


def test_unknown_keys_survive_at_every_level_and_stand_behind_the_known_ones() -> None:
    raw = json.loads(WHOLE)
    raw = {"x-first": {"deep": [1, None]}, **raw}
    raw["messages"][2]["x-note"] = "é"
    raw["messages"][2]["tool_calls"][0]["x-call"] = 1.5
    raw["messages"][2]["tool_calls"][0]["function"]["x-function"] = {}
    again = json.loads(encode(decode(json.dumps(raw).encode())))
    assert again == raw
    assert list(again)[-1] == "x-first"


def test_unknown_keys_stay_with_their_message_when_others_join() -> None:
    from minime.core.session import append_turn

    raw = json.loads(WHOLE)
    raw["messages"][1]["x-mark"] = True
    session = append_turn(decode(json.dumps(raw).encode()), hello_turn(), LATER)
    assert json.loads(encode(session))["messages"][1]["x-mark"] is True


def test_a_message_made_of_parts_is_read_again() -> None:
    session = msgspec.structs.replace(fresh(), messages=(User((TextPart("a"), TextPart("b"))),))
    assert decode(encode(session)) == session


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        pytest.param(r"a\ud83d", "a\ufffd", id="T01-high"),
        pytest.param(r"\uDE97b", "\ufffdb", id="low"),
        pytest.param(r"\ud83d\ud83d\ude97", "\ufffd🚗", id="half-before-a-whole-one"),
        pytest.param(r"\ud83d\ude97", "🚗", id="whole"),
        pytest.param(r"\\ud83d", "\\ud83d", id="a-backslash"),
        pytest.param(r"\"\ude97\n", '"\ufffd\n', id="among-others"),
    ],
)
def test_half_a_character_in_an_escape_is_read_as_one_that_cannot_be_read(escaped: str, text: str) -> None:
    data = WHOLE.replace(b"What does main.py do?", escaped.encode())
    session = decode(data)
    assert session.title == text
    assert decode(encode(session)) == session


def _with(**changes: Any) -> bytes:
    return json.dumps(json.loads(WHOLE) | changes).encode()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"", "empty", id="F02-empty"),
        pytest.param(b"\0" * 500, "empty", id="zeros-after-a-power-loss"),
        pytest.param(WHOLE[: len(WHOLE) // 2], "truncated", id="F03-half"),
        pytest.param(WHOLE[:-3], "truncated", id="F03-almost-whole"),
        pytest.param(WHOLE + b"x", "not JSON", id="something-behind"),
        pytest.param(b"\xef\xbb\xbf" + WHOLE, "not a session file", id="a-byte-order-mark"),
        pytest.param(b'{"foo": 1}', "not a session file", id="F07-foreign"),
        pytest.param(b"[]", "not a session file", id="a-list"),
        pytest.param(b"null", "not a session file", id="null"),
        pytest.param(b"hello", "not a session file", id="prose"),
        pytest.param(b"\xff\xfe{", "not a session file", id="not-utf-8"),
        pytest.param(b'{"a": "\xff"}', "not JSON (invalid UTF-8", id="bad-utf-8-inside"),
        pytest.param(b'{"a":' * 3000, "nested too deeply", id="deep"),
        pytest.param(_with(version=99), "newer mm (version 99", id="F22-newer"),
        pytest.param(_with(version=0), "its version is 0", id="version-0"),
        pytest.param(_with(version="1"), "its version is not a number", id="version-as-text"),
        pytest.param(_with(version=True), "its version is not a number", id="version-as-bool"),
        pytest.param(_with(messages=None), "not a session file", id="no-messages"),
        pytest.param(_with(messages=[{"role": "wizard"}]), "invalid value 'wizard'", id="unknown-role"),
        pytest.param(_with(messages=[{"role": "user"}]), "missing required field", id="no-content"),
        pytest.param(WHOLE.replace(b"main.py do?", rb"\ud8"), "not JSON", id="half-an-escape"),
        pytest.param(_with(updated="yesterday"), "$.updated", id="not-a-time"),
        pytest.param(_with(messages=[{"role": "user", "content": "a", "compacted": -3}]), ">= 0", id="minus"),
        pytest.param(_with(messages=[{"role": "user", "content": "a", "compacted": True}]), "int", id="true"),
        pytest.param(_with(updated="2026-09-16T10:15:30"), "$.updated", id="a-time-without-zone"),
    ],
)
def test_what_is_not_a_whole_session_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as refused:
        decode(data)
    assert reason in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("cut", range(0, len(WHOLE) - 2, 7))
def test_no_beginning_of_a_file_is_taken_for_the_whole(cut: int) -> None:
    with pytest.raises(Unreadable):
        decode(WHOLE[:cut])


def test_a_version_that_never_was_is_refused() -> None:
    with pytest.raises(Unreadable, match="its version is 0; this mm reads 1"):
        decode(WHOLE.replace(b'"version": 1', b'"version": 0'))


def test_the_name_that_unknown_keys_have_in_memory_can_stand_in_a_text() -> None:
    session = talked(Turn((User(f"What is {UNKNOWN}?"), Assistant("A word."))))
    assert decode(encode(session)) == session


@pytest.fixture(autouse=True)
def _afresh() -> None:
    """How unknown keys are put away is found out once in a process: here, by each test for itself."""
    _gatherer.cache_clear()


def test_a_file_that_has_become_large_is_told_once() -> None:
    line = "the file of this session has grown to 20 MB and gets slow to save: "
    line += "/compact makes it smaller, /new begins another"
    assert grown_text(LARGE - 1, LARGE) == grown_text(0, LARGE + 999_999) == line
    assert grown_text(0, 20_999_979) == line
    assert grown_text(0, LARGE - 1) == grown_text(LARGE, LARGE + 1) == grown_text(LARGE - 9, LARGE - 1) == ""


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b" \t\r\n\0", "empty"),
        (b"\0\0{}", "not a session file"),
        (b"[]", "not a session file"),
        (b'{"version": 1, "id": "x"}', "not a session file"),
        (b'{"version": "1", "id": "x", "messages": []}', "its version is not a number"),
        (b'{"version": true, "id": "x", "messages": []}', "its version is not a number"),
        (WHOLE[:200], "truncated"),
        (b"hello", "not a session file"),
        (b"X", "not a session file"),
        (b' \n{"a": b}', "not JSON (invalid character (byte 8))"),
        (b'{"a": b}', "not JSON (invalid character (byte 6))"),
        (b'{"version": 1, "id": "x", "messages": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", "nested too deeply"),
    ],
)
def test_each_reason_is_a_few_words(data: bytes, why: str) -> None:
    with pytest.raises(Unreadable) as caught:
        decode(data)
    assert str(caught.value) == why


def test_unknown_keys_of_any_shape_stay_where_values_of_ours_have_another() -> None:
    raw = json.loads(WHOLE)
    raw["x-list"] = [{"a": 1}]
    raw["messages"][1]["content"] = [
        {"type": "text", "text": "a", "x-part": None},
        {"type": "image_url", "image_url": {"url": "u", "x-url": 1}, "x-image": [1]},
    ]
    raw["messages"][2]["tool_calls"][0]["function"]["x-function"] = {"deep": {"er": 1}}
    data = json.dumps(raw, indent=2).encode()
    assert json.loads(encode(decode(data))) == raw


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("messages", [5]),
        ("messages", [{"role": ["user"], "content": "a"}]),
        ("messages", [{"role": "user", "content": [5]}]),
        ("messages", [{"role": "user", "content": [{"type": {}, "text": "a"}]}]),
        ("messages", [{"role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": 5}]}]),
        ("pending", 5),
        ("errors", {}),
    ],
)
def test_a_value_of_another_kind_is_refused_and_nothing_worse(key: str, value: Any) -> None:
    raw = json.loads(WHOLE) | {key: value, "x-unknown": 1}
    with pytest.raises(Unreadable):
        decode(json.dumps(raw).encode())
