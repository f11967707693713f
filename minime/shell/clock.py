"""The only place that asks the time or throws dice."""

import os
import time
from datetime import UTC, datetime

from minime.core.values import Stamp


def now() -> datetime:
    """The time in UTC, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


def ticks() -> float:
    """Seconds on a clock that only goes forward."""
    return time.monotonic()


def stamp() -> Stamp:
    """The time, and a session id that has not been used."""
    moment = now()
    return Stamp(moment, f"{moment:%Y%m%d-%H%M%S}-{os.urandom(4).hex()}")


def local(moment: datetime) -> datetime:
    """`moment` in this machine's zone, for showing; as it stands where that zone has no such moment."""
    try:
        return moment.astimezone()
    except (OverflowError, ValueError, OSError):
        return moment
