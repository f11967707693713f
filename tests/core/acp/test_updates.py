"""What an editor is shown of a conversation: replay, tool calls, sizes."""

import json
import time
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.acp.replay import replay_updates
from minime.core.acp.sizes import MOST_IMAGE, MOST_SHOWN, cut, pieces
from minime.core.acp.tool_calls import finished_call, started_call
from minime.core.acp.updates import Shown, UsageShown, usage_shown
from minime.core.acp.wire import write_notification
from minime.core.images import Kept, image_url, with_images
from minime.core.session import append_turn
from minime.core.turn import Turn
from minime.core.values import Assistant, Diff, Session, Tool, Usage, User, tool_call
from tests.support.acp import check_line
from tests.support.values import ID, LATER, fresh, hello_turn, sessions, talked, tool_turn

HEAVY = "\U0001f697"


def shown(session: Session) -> list[dict[str, Any]]:
    """The replay as an editor reads it, each line checked."""
    lines = (
        write_notification("session/update", {"sessionId": ID, "update": u})
        for u in replay_updates(session, "/w")
    )
    return [check_line(line, {})["params"]["update"] for line in lines]


@given(sessions())
def test_a_replay_is_valid_whatever_the_session_holds_and_its_calls_have_ids_of_their_own(
    session: Session,
) -> None:
    updates = shown(session)
    ids = [u["toolCallId"] for u in updates if u["sessionUpdate"] == "tool_call"]
    assert len(ids) == len(set(ids))
    assert "terminal" not in {
        c["type"] for u in updates if u["sessionUpdate"] == "tool_call" for c in u.get("content", ())
    }  # acp-9
    assert all(u["status"] in {"completed", "failed"} for u in updates if u["sessionUpdate"] == "tool_call")


def test_a_replay_shows_everything_in_order_and_quickly() -> None:
    # acp-1, acp-2, acp-11, acp-20
    turns = [
        Turn((User(f"question {n}"), Assistant(f"answer {n}", reasoning_content="hm"))) for n in range(1000)
    ]
    session = fresh()
    for turn in turns:
        session = append_turn(session, turn, LATER)
    began = time.monotonic()
    updates = list(replay_updates(session, "/w"))
    assert time.monotonic() - began < 2
    texts = [told["content"]["text"] for told in msgspec.to_builtins(updates)]
    assert texts == [text for n in range(1000) for text in (f"question {n}", "hm", f"answer {n}")]


def test_a_replay_shows_what_was_typed_and_nothing_of_mm() -> None:
    # acp-12
    given_file = Turn((User("Look.\n\nmain.py:\n```\nx\n```", typed="Look."), Assistant("I see.")))
    session = msgspec.structs.replace(talked(given_file), pending=None)
    summary = (User("(summary of 14 turns)", compacted=14), Assistant("We built a parser."))
    session = msgspec.structs.replace(
        session, messages=(session.messages[0], *summary, *session.messages[1:])
    )
    assert [(u["sessionUpdate"], u["content"]["text"]) for u in shown(session)] == [
        ("agent_message_chunk", "We built a parser."),
        ("user_message_chunk", "Look."),
        ("agent_message_chunk", "I see."),
    ]


def test_each_message_of_a_replay_has_an_id_of_its_own() -> None:
    ids = [u["messageId"] for u in shown(talked(hello_turn(), tool_turn(), hello_turn())) if "messageId" in u]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("name", "arguments", "result", "expected"),
    [
        pytest.param(
            "edit_file", '{"path": "a.py", "old_text": "x", "new_text": "y"}',
            Tool("c", "edited a.py", diff=Diff("a.py", "x\n", "y\n")),
            {"kind": "edit", "status": "completed", "locations": [{"path": "/w/a.py"}],
             "content": [{"type": "diff", "path": "/w/a.py", "oldText": "x\n", "newText": "y\n"}]},
            id="acp-10 edit",
        ),
        pytest.param(
            "write_file", '{"path": "/w/new", "content": "y"}', Tool("c", "wrote", diff=Diff("/w/new", None, "y")),
            {"kind": "edit", "locations": [{"path": "/w/new"}],
             "content": [{"type": "diff", "path": "/w/new", "oldText": None, "newText": "y"}]},
            id="acp-54 new file",
        ),
        pytest.param(
            "run_command", '{"command": "make"}', Tool("c", "no\n(exit status 2)", failed=True),
            {"kind": "execute", "status": "failed", "rawOutput": "no\n(exit status 2)",
             "content": [{"type": "content", "content": {"type": "text", "text": "no\n(exit status 2)"}}]},
            id="acp-9 command",
        ),
        pytest.param("read_file", '{"path": "a.py", "offset": 7}', Tool("c", "x"),
                     {"kind": "read", "locations": [{"path": "/w/a.py", "line": 7}]}, id="read"),
        pytest.param("read_file", '{"path": "gone"}', Tool("c", "no such file", failed=True),
                     {"kind": "read", "status": "failed"}, id="no place for what is not there"),
        pytest.param("list_directory", '{"path": "src"}', Tool("c", "a"), {"kind": "read"}, id="no place for a folder"),
        pytest.param("fly", "{not json", Tool("c", "unknown tool", failed=True),
                     {"kind": "other", "title": "fly (not understood)", "rawInput": "{not json"}, id="not understood"),
        pytest.param("search", '{"pattern": "x"}', None, {"kind": "search", "status": "failed"}, id="without a result"),
    ],
)  # fmt: skip
def test_a_call_of_the_past_is_shown_once_with_all_that_came_of_it(
    name: str, arguments: str, result: Tool | None, expected: dict[str, Any]
) -> None:
    told = json.loads(msgspec.json.encode(finished_call(tool_call("c", name, arguments), result, "/w")))
    assert {key: told[key] for key in expected} == expected
    assert ("locations" in told) == ("locations" in expected)


@pytest.mark.parametrize("letter", ["a", "\n", "\x1b", "é", HEAVY, "\ud800"])
def test_no_call_is_too_large_for_a_line(letter: str) -> None:
    # acp-40, acp-41
    long = letter * 400_000
    call = tool_call("c", "write_file", json.dumps({"path": "a", "content": long}))
    result = Tool("c", long, diff=Diff("a", long, long))
    for update in (
        finished_call(call, result, "/w"),
        finished_call(call, Tool("c", long), "/w"),
        started_call(call, None, "/w"),
    ):
        check_line(write_notification("session/update", {"sessionId": ID, "update": update}), {})


@pytest.mark.parametrize("letter", ["a", HEAVY])
def test_a_long_message_comes_whole_in_pieces_of_one_id(letter: str) -> None:
    text = letter * 300_000
    updates = shown(talked(Turn((User("Long?"), Assistant(text)))))[1:]
    assert "".join(u["content"]["text"] for u in updates) == text
    assert len({u["messageId"] for u in updates}) == 1


@given(st.text(max_size=300), st.integers(150, 2_000))
def test_a_cut_text_fits_and_a_text_that_fits_is_left_alone(text: str, most: int) -> None:
    short = cut(text, most)
    assert len(json.dumps(short)) <= most
    assert short == text or len(json.dumps(text)) > most
    assert "".join(pieces(text)) == text
    assert MOST_SHOWN * 5 <= 1_000_000


def test_calls_whose_ids_repeat_are_told_apart_in_a_replay() -> None:
    ids = ["a", "a", "a.2", "", "a", "", "a.3", "a.2"]
    messages = tuple(Assistant("", (tool_call(id, "read_file", "{}"),)) for id in ids)
    session = msgspec.structs.replace(fresh(), messages=messages)
    shown = [update.tool_call_id for update in replay_updates(session, "/w") if isinstance(update, Shown)]
    assert shown == ["a", "a.2", "a.2.2", ".2", "a.3", ".3", "a.3.2", "a.2.3"]


def test_an_image_that_is_gone_or_too_large_for_a_line_is_shown_by_its_description() -> None:
    url = image_url(ID, f"{'0' * 32}.png")
    asked = User(with_images("Look", (Kept(url, "a.png (PNG)"),)), typed="Look")
    session = talked(Turn((asked, Assistant("A dot."))))
    for images in ({}, {url: b"x" * (MOST_IMAGE + 1)}):
        shown = msgspec.to_builtins(list(replay_updates(session, "/w", images)))
        assert [u["content"]["text"] for u in shown[:2]] == ["Look", "\n[image: a.png (PNG)]"]
    [_, shown, *_] = msgspec.to_builtins(list(replay_updates(session, "/w", {url: b"hi"})))
    assert shown["content"] == {"type": "image", "data": "aGk=", "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("usage", "window", "shown"),
    [
        (Usage(10, 2, 13), 100, UsageShown(used=13, size=100)),
        (Usage(10, 2, 0), 100, UsageShown(used=12, size=100)),
        (Usage(0, 0, 0), 0, UsageShown(used=0, size=0)),
        (Usage(-5, 2, 0), -1, UsageShown(used=0, size=0)),
    ],
)
def test_what_is_used_is_what_the_server_counted(usage: Usage, window: int, shown: UsageShown) -> None:
    assert usage_shown(usage, window) == shown
