"""Each file of the sessions folder is told for what it is, with the way out."""

import msgspec
import pytest

from minime.core.checkup import Verdict, beside, checked_text, judge, session_id, size_text, verdict_text
from minime.core.codec import encode
from tests.support.values import ID, OTHER_ID, fresh, hello_turn, talked

NAME = f"{ID}.json"


@pytest.mark.parametrize(
    ("data", "state", "why"),
    [
        (encode(talked(hello_turn())), "whole", ""),
        (encode(fresh()), "unused", ""),
        (b"", "damaged", "empty"),
        (encode(talked(hello_turn()))[:300], "damaged", "truncated"),
        (b'{"hello": "world"}', "damaged", "not a session file"),
        (b'{"version": 9, "id": "x", "messages": []}', "newer", "written by a newer mm (version 9; this one reads 1)"),
        (encode(msgspec.structs.replace(fresh(), id=OTHER_ID)), "damaged", f"it holds another session, {OTHER_ID}"),
    ],
)  # fmt: skip
def test_a_session_file_is_judged_by_its_bytes(data: bytes, state: str, why: str) -> None:
    verdict = judge(NAME, data)
    assert (verdict.name, verdict.state, verdict.why, verdict.bytes) == (ID, state, why, len(data))


@pytest.mark.parametrize(
    ("name", "state"),
    [
        (f".{ID}.0a1b2c3d.tmp", "leftover"),
        ("notes.txt", "foreign"),
        (f"{ID}.json.bak", "foreign"),
        ("../x.json", "foreign"),
        (".lock", None),
        (f"{ID}.files", None),
    ],
)
def test_what_is_no_session_is_told_by_its_name(name: str, state: str | None) -> None:
    assert session_id(name) == ""
    found = beside(name)
    assert (found.state if found else None) == state


@pytest.mark.parametrize("state", ["damaged", "newer", "unreadable", "leftover", "foreign"])
def test_each_trouble_names_its_way_out(state: str) -> None:
    first, second = verdict_text(Verdict(ID, state, "why")).split("\n")  # type: ignore[arg-type]
    assert first == f"{state:10}  {ID}  why"
    assert second.strip()


def test_a_check_in_one_line() -> None:
    assert checked_text({}) == "no sessions here yet"
    assert checked_text({"whole": 1}) == "1 session: 1 whole"
    assert checked_text({"foreign": 2}) == "no session · 2 strange files"
    assert (
        checked_text({"newer": 1, "leftover": 1, "whole": 1200, "damaged": 2})
        == "1,203 sessions: 1,200 whole, 2 damaged, 1 newer · 1 leftover"
    )


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1500, "2 KB"), (999_600, "1.0 MB"), (2_340_000, "2.3 MB")]
)
def test_sizes_in_words(size: int, text: str) -> None:
    assert size_text(size) == text
