"""Lists come from the heads of files, and a word means one session or an error that helps."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given

from minime.core.cells import width
from minime.core.codec import encode
from minime.core.events import Failed
from minime.core.listing import (
    HEAD_BYTES,
    Found,
    Head,
    NotFound,
    Row,
    drawn,
    head_of,
    head_updated,
    is_id,
    newest_first,
    pick,
    row_text,
    session_row,
)
from minime.core.session import settle, with_title
from minime.core.values import Session
from tests.support.values import (
    ID,
    LATER,
    NOW,
    OTHER_ID,
    fresh,
    hello_turn,
    question,
    sessions,
    talked,
    tool_turn,
)

IDS = ("20260916-101530-4f2a9c1e", "20260916-101530-4f2a0000", "20260101-000000-deadbeef")


@pytest.mark.parametrize("text", [ID, "19990101-000000-00000000"])
def test_the_form_of_an_id(text: str) -> None:  # F13
    assert is_id(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "../../etc/passwd",
        "a/b",
        "C:\\x",
        "a" * 300,
        ID.upper(),
        ID + "\n",
        ID + "\0",
        "20260916-101530-4F2A9C1E",
    ],
)
def test_anything_else_is_no_id(text: str) -> None:  # F15
    assert not is_id(text)


def test_the_head_of_a_file_says_when_it_was_used() -> None:
    assert head_updated(encode(talked(tool_turn()))[:HEAD_BYTES]) == LATER


def test_words_in_a_title_or_message_are_not_taken_for_the_time() -> None:
    session = with_title(talked(hello_turn()), '"updated": "1999-01-01T00:00:00Z"')
    assert head_updated(encode(session)[:HEAD_BYTES]) == LATER


def test_a_compact_file_with_its_keys_in_another_order_is_listed_too() -> None:
    raw = json.dumps({"title": "x", "updated": "2026-09-16T12:00:00+02:00", "messages": []}).encode()
    assert head_updated(raw) == datetime(2026, 9, 16, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b'{"updated": "soon"}', b'{"messages": [{"updated": "2026-09-16T12:00:00Z"}]}', b"\xff"],
)
def test_a_head_that_does_not_say_is_none(data: bytes) -> None:
    assert head_updated(data) is None


def test_the_newest_use_comes_first_and_ties_go_by_id() -> None:
    heads = [Head(IDS[1], NOW), Head(IDS[2], LATER), Head(IDS[0], NOW)]
    assert [head.id for head in newest_first(heads)] == [IDS[2], IDS[0], IDS[1]]


def test_a_row_shows_local_time_turns_title_and_trouble() -> None:  # F19
    session = settle(talked(tool_turn()), question(), Failed("no"), LATER)
    auckland = timezone(timedelta(hours=12))
    text = row_text(session_row(1, session), lambda moment: moment.astimezone(auckland))
    assert text == f"  1  {ID}  2026-09-16 22:17    1 turn  What does main.py do? · ⚠️ 1 error"


def test_a_damaged_row_says_why() -> None:
    assert (
        row_text(Row(2, ID, damaged="truncated"), lambda moment: moment) == f"  2  {ID}  damaged: truncated"
    )


def test_an_empty_session_has_a_row_too() -> None:
    assert session_row(1, fresh()).turns == 0


@pytest.mark.parametrize(
    ("wanted", "id"),
    [
        ("1", IDS[0]),
        ("003", IDS[2]),
        (IDS[1], IDS[1]),
        ("20260101", IDS[2]),
        ("beef", IDS[2]),
        ("9c1e", IDS[0]),
        ("last", IDS[0]),
    ],
)
def test_a_word_that_means_one_session(wanted: str, id: str) -> None:
    assert pick(IDS, wanted) == Found(id)


def test_last_passes_over_the_session_in_hand() -> None:
    assert pick(IDS, "last", current=IDS[0]) == Found(IDS[1])
    assert isinstance(pick(IDS[:1], "last", current=IDS[0]), NotFound)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("0", "no session number 0: there are 3"),
        ("9", "no session number 9: there are 3"),
        ("4f2a9c1f", "no session '4f2a9c1f' here"),
        ("20260916", f"2 sessions match: {IDS[0]}, {IDS[1]}"),
        ("4f2", "invalid session id"),
        ("", "invalid session id"),
        ("../../etc/passwd", "invalid session id"),
        ("x" * 300, "invalid session id"),
    ],
)
def test_a_word_that_means_none_or_several_is_an_error_that_helps(wanted: str, words: str) -> None:
    found = pick(IDS, wanted)
    assert isinstance(found, NotFound)
    assert words in found.message
    assert len(found.message) < 300


def test_without_sessions_nothing_is_found() -> None:
    assert pick((), "last") == NotFound("no sessions here yet")


@given(sessions())
def test_the_head_says_what_the_file_says(session: Session) -> None:
    data = encode(session)
    head = head_of(session.id, data)
    if session.title:
        assert head == Head(session.id, session.updated, session.title)
    else:
        assert head is None
    assert head_of(OTHER_ID, data) is None
    assert head_of(session.id, data[:40]) is None


@pytest.mark.parametrize(
    ("was", "by"),
    [
        (b'"version": 1', b'"version": 2'),
        (b'"updated": "2026', b'"updated": "x026'),
        (b"-16T10:17", b"-99T10:17"),
    ],
)
def test_a_head_that_is_not_as_mm_writes_it_tells_nothing(was: bytes, by: bytes) -> None:
    data = encode(talked(hello_turn()))
    assert was in data
    assert head_of(ID, data.replace(was, by, 1)) is None


@pytest.mark.parametrize("id", ["20260916-101530-4f2a9c1e", "20261399-000000-00000000"])
def test_an_id_says_when_it_was_drawn(id: str) -> None:
    assert drawn(id) == (NOW if id == ID else datetime.fromtimestamp(0, UTC))


@pytest.mark.parametrize("columns", [40, 80])
def test_a_row_on_a_terminal_is_one_line_that_still_tells_of_trouble(columns: int) -> None:
    row = Row(3, ID, updated=LATER, turns=2, title="中文 " * 40, errors=2)
    text = row_text(row, lambda moment: moment, columns)
    assert width(text) == columns or width(text) == columns - 1
    assert text.startswith(f"  3  {ID if columns == 80 else ID[-8:]}  2026-09-16")
    assert "…" in text
    assert text.endswith("⚠️ 2 errors" if columns == 80 else "⚠️ 2")
    assert width(row_text(Row(2, ID, damaged="truncated " * 20), lambda moment: moment, columns)) <= columns
