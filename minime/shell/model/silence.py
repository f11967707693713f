"""How long a server may be silent, in time that mm was there to listen."""

import asyncio

SLACK = 1.05
AWAY = 1.0
"""Seconds that a timer may be late. One that is later was held up with all of mm (Ctrl-Z, a lid that was
shut): what has come meanwhile is read first."""


class Silence:
    """The watch over one request: it ends a timeout when nothing has come for long enough."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, deadline: asyncio.Timeout, quiet: float | None) -> None:
        """Counts the silence of `quiet` seconds (None: for ever) anew, with a slack of a twentieth: moving a
        timer at each of thousands of reads would cost as much as reading."""
        if quiet is None:
            self.end()
            return
        loop = asyncio.get_running_loop()
        now = loop.time()
        if self._timer is None or not now + quiet <= self._timer.when() <= now + quiet * SLACK:
            self.end()
            self._timer = loop.call_at(now + quiet * SLACK, self._due, deadline, quiet)

    def end(self) -> None:
        """Watches no longer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _due(self, deadline: asyncio.Timeout, quiet: float) -> None:
        timer, self._timer = self._timer, None
        now = asyncio.get_running_loop().time()
        if timer is not None and now - timer.when() > AWAY:
            self.watch(deadline, quiet)
        else:
            deadline.reschedule(now)
