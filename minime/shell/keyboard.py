"""The keys that interrupt, and questions to the person at the terminal."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, TextIO, TypeVar

T = TypeVar("T")
Around = Callable[[], contextlib.AbstractContextManager[None]]


class Suspended(BaseException):
    """Ctrl-Z at the prompt: the line is put aside before mm is."""


class Interrupts:
    """Ctrl-C ends the turn in hand and not mm; SIGTERM and SIGHUP end the turn and then mm.

    `leaving` is the exit status that such a signal asks for, 0 while none has come. `away` and `stopped` are
    what is to be done around a question to the person, and around a time in which mm is stopped (Ctrl-Z).
    """

    def __init__(self) -> None:
        self.leaving = 0
        self.away: Around = contextlib.nullcontext
        self.stopped: Around = contextlib.nullcontext
        self._task: asyncio.Task[Any] | None = None
        self._asking = False
        self._at_prompt = False
        self._elsewhere = False

    def install(self) -> None:
        """Takes the signals over; those that the caller of mm had ignored stay ignored."""
        signal.signal(signal.SIGINT, self._interrupted)
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._told_to_leave)

    def install_suspending(self) -> None:
        """Takes Ctrl-Z over too, where the shell that started mm knows it."""
        number = getattr(signal, "SIGTSTP", None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, self._suspended)

    @contextlib.contextmanager
    def at_prompt(self) -> Iterator[None]:
        """While a line is edited: Ctrl-Z raises Suspended, so that the line can be drawn again."""
        self._at_prompt = True
        try:
            yield
        finally:
            self._at_prompt = False

    @contextlib.contextmanager
    def elsewhere(self) -> Iterator[None]:
        """While a command of the person's own has the terminal: Ctrl-C is meant for it."""
        self._elsewhere = True
        try:
            yield
        finally:
            self._elsewhere = False

    def suspend(self) -> None:
        """Stops mm, as the shell has it done; returns when it goes on."""
        with self.stopped():
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTSTP)
            signal.signal(signal.SIGTSTP, self._suspended)

    async def guard(self, turn: Coroutine[Any, Any, T]) -> T:
        """Runs `turn`; a signal that comes meanwhile cancels it."""
        self._task = asyncio.current_task()
        try:
            return await turn
        finally:
            self._task = None

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        """While a question is open inside a turn: a signal cancels the turn through the question."""
        self._asking = True
        try:
            with self.away():
                yield
        except (KeyboardInterrupt, SystemExit):
            raise asyncio.CancelledError from None
        finally:
            self._asking = False

    def _suspended(self, number: int, frame: FrameType | None) -> None:
        if self._at_prompt:
            raise Suspended
        self.suspend()

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if self._elsewhere:
            return
        if self._task is None or self._asking:
            raise KeyboardInterrupt
        self._cancel(self._task)

    def _told_to_leave(self, number: int, frame: FrameType | None) -> None:
        self.leaving = 128 + number
        if self._task is None or self._asking:
            raise SystemExit(self.leaving)
        self._cancel(self._task)

    @staticmethod
    def _cancel(task: asyncio.Task[Any]) -> None:
        task.get_loop().call_soon_threadsafe(task.cancel)


def at_terminal() -> bool:
    """Whether a person sits at the terminal that mm runs in."""
    with person(sys.stdin.isatty() and sys.stdout.isatty()) as there:
        return there is not None


def confirm(question: str) -> bool:
    """Whether the person at the terminal says yes; False when nobody is there. Enter is a no."""
    with person(sys.stdin.isatty() and sys.stdout.isatty()) as there:
        if there is None:
            return False
        out, heard = there
        forget_typed(heard)
        out.write(f"{question} [y/N] ")
        out.flush()
        return heard.readline().strip().lower() in {"y", "yes"}


def forget_typed(terminal: TextIO) -> None:
    """Drops what lies typed and unread in a terminal."""
    try:
        import termios
    except ImportError:
        return
    with contextlib.suppress(OSError, termios.error):
        termios.tcflush(terminal.fileno(), termios.TCIFLUSH)


@contextlib.contextmanager
def person(interactive: bool) -> Iterator[tuple[TextIO, TextIO] | None]:
    """Where to ask and where to hear the answer, also when stdin is a pipe; None when nobody is there."""
    if interactive:
        yield sys.stdout, sys.stdin
        return
    try:
        out = Path("/dev/tty").open("w", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed by the stack
    except OSError:
        yield None
        return
    with out, Path("/dev/tty").open(encoding="utf-8", errors="replace") as heard:
        yield out, heard
