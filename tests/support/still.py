"""`mm` with the clock and the dice held still: `python -m tests.support.still WORDS`.

On this machine it finds the servers that `STILL_SERVERS` names (`ollama=URL lm-studio=URL`) and no others, and
no engine for a model of its own.
"""

import os
import sys
from datetime import UTC, datetime, timedelta
from functools import partial

import msgspec

from minime.__main__ import main
from minime.core.model.servers import KNOWN
from minime.core.values import Stamp
from minime.shell import clock
from minime.shell.model import embedded, servers, windows

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


places = dict(place.split("=", 1) for place in os.environ.get("STILL_SERVERS", "").split())
there = tuple(
    msgspec.structs.replace(entry, base_url=places[entry.kind]) for entry in KNOWN if entry.kind in places
)
servers.find_server = partial(servers.find_server, there, within=10.0)
servers.find_servers = partial(servers.find_servers, there, within=10.0)
servers.look_for_servers = partial(servers.look_for_servers, there, within=10.0)
windows.WITHIN = 10.0  # a busy machine tells the same as a quick one
windows.ask_window = partial(windows.ask_window, within=10.0)
embedded.has_engine = lambda: False
clock.now, clock.stamp, clock.ticks = now, stamp, lambda: 0.0
sys.exit(main())
