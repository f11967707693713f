"""A clean-up takes what is beyond the newest and old enough, and never what is damaged."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.listing import Head, newest_first
from minime.core.pruning import parse_age, to_prune
from tests.support.values import NOW

HEADS = newest_first(
    Head(f"{number}", NOW - timedelta(days=number), damaged="empty" * (number == 5)) for number in range(8)
)


def pruned(keep: int | None, days: int | None) -> str:
    age = None if days is None else timedelta(days=days)
    return "".join(head.id for head in to_prune(HEADS, NOW, keep, age))


@pytest.mark.parametrize(
    ("keep", "days", "gone"),
    [(3, None, "3467"), (0, None, "0123467"), (99, None, ""), (None, 4, "67"), (7, 2, "7"), (1, 6, "7")],
)
def test_both_bounds_have_to_be_passed(keep: int | None, days: int | None, gone: str) -> None:
    assert pruned(keep, days) == gone


@given(st.none() | st.integers(0, 10), st.integers(0, 10))
def test_the_newest_stay(keep: int | None, days: int) -> None:
    gone = pruned(keep, days)
    assert not set(gone) & {head.id for head in HEADS[: keep or 0]}
    assert "5" not in gone


@pytest.mark.parametrize(
    ("text", "days"),
    [("90d", 90), ("6w", 42), ("3m", 90), ("1y", 365), ("48h", 2), ("2 days", 2), ("1 YEAR", 365)],
)
def test_an_age(text: str, days: int) -> None:
    assert parse_age(text) == timedelta(days=days)


@pytest.mark.parametrize("text", ["", "90", "d", "-1d", "1.5d", "90x", "999999d", "1d2h"])
def test_what_is_no_age(text: str) -> None:
    assert parse_age(text) is None
