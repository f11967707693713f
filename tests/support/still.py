"""`mm` with the clock and the dice held still: `python -m tests.support.still WORDS`."""

import sys
from datetime import UTC, datetime, timedelta

from minime.__main__ import main
from minime.core.values import Stamp
from minime.shell import clock

_drawn = 0


def now() -> datetime:
    """A moment that moves on by a minute with each id that is drawn."""
    return datetime(2026, 9, 16, 10, 15, 30, tzinfo=UTC) + timedelta(minutes=_drawn)


def stamp() -> Stamp:
    """Ids that count, a minute apart."""
    global _drawn
    _drawn += 1
    moment = now()
    return Stamp(moment, f"{moment:%Y%m%d-%H%M%S}-{_drawn:08x}")


clock.now, clock.stamp = now, stamp
sys.exit(main())
