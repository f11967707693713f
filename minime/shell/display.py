"""A turn before a person's eyes: its events onto the terminal, and a line that passes while nothing comes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from minime.core.events import Event, Outcome, TextDelta
from minime.core.live import Screen, closed, fresh, line_pieces, show_event, show_outcome, unsettled
from minime.core.pieces import Pieces, Style
from minime.core.turn import Turn
from minime.core.waiting import TICK, Waiting, notice, waiting_text
from minime.shell import clock
from minime.shell.paper import Paper


class Display:
    """Shows a turn as it goes: the answer on `answers` (None: it is not shown), all else on `rest`."""

    def __init__(self, answers: Paper | None, rest: Paper) -> None:
        self._answers = answers
        self._rest = answers if answers is not None and answers.shares_terminal(rest) else rest
        self._stage = answers if answers is not None and answers.styles else self._rest
        self._screen = Screen()
        self._waiting = Waiting()

    def pause(self) -> None:
        """Begins a new line, for a question to the person."""
        self._screen, pieces = closed(self._screen)
        self._write(pieces)

    def tell(self, line: str, style: Style = "yellow") -> None:
        """A line of its own."""
        self.pause()
        self._rest.write(line_pieces(line, style, self._rest.columns))

    def show(self, event: Event) -> None:
        """Puts `event` down."""
        now = clock.ticks()
        self._waiting = notice(self._waiting, event, now)
        if isinstance(event, TextDelta) and self._answers is None:
            return
        self._screen, pieces = show_event(self._sized(), event, now)
        self._write(pieces)

    def end(self, turn: Turn, outcome: Outcome, max_steps: int) -> None:
        """Puts down how the turn ended."""
        self._write(show_outcome(self._screen, turn, outcome, max_steps))
        self._screen = fresh(self._screen)

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """While something is awaited: a terminal shows that it is, and for how long."""
        now = clock.ticks()
        self._waiting = Waiting(since=now, heard=now)
        self._screen = Screen()
        ticking = asyncio.create_task(self._tick()) if self._stage.styles else None
        try:
            yield
        finally:
            if ticking is not None:
                ticking.cancel()
                self._stage.pass_by("")

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            rest = unsettled(self._screen)
            self._stage.pass_by(waiting_text(self._waiting, clock.ticks(), self._stage.room, rest))

    def _sized(self) -> Screen:
        """The screen as wide as the terminal is now; what has begun without one goes on without."""
        columns = self._stage.columns
        if columns == self._screen.columns:
            return self._screen
        return Screen(
            self._screen.open,
            self._screen.ends_line,
            columns,
            self._screen.page,
            self._screen.output,
            self._screen.since,
        )

    def _write(self, pieces: Pieces) -> None:
        """Puts down `pieces`, each on the paper that it is for."""
        if self._answers is None or self._answers is self._rest:
            if pieces:
                self._rest.write(pieces)
            return
        for piece in pieces:
            (self._answers if piece.answer else self._rest).write((piece,))
