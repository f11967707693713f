"""Which conversations a clean-up is to take: heads and an age to those that go."""

import re
from datetime import datetime, timedelta

from minime.core.listing import Head

_AGE = re.compile(r"(\d{1,5})\s*(h|d|w|m|y|hours?|days?|weeks?|months?|years?)")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}


def parse_age(text: str) -> timedelta | None:
    """`12h`, `90d`, `6w`, `3m` (30 days each) or `1y` as a span of time; None for anything else."""
    found = _AGE.fullmatch(text.strip().lower())
    return timedelta(hours=int(found[1]) * _HOURS[found[2][0]]) if found else None


def to_prune(
    heads: tuple[Head, ...], now: datetime, keep: int | None, older_than: timedelta | None
) -> tuple[Head, ...]:
    """Those of `heads` (newest use first) that are beyond the newest `keep` and were last used longer ago
    than `older_than`; None bounds nothing. Damaged ones are never among them."""
    rest = heads[keep or 0 :]
    return tuple(
        head for head in rest if not head.damaged and (older_than is None or now - head.updated > older_than)
    )
