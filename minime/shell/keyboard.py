"""What a person types and the keys that interrupt: lines with history, questions of consent, Ctrl-C."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Coroutine, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, TextIO, TypeVar

T = TypeVar("T")
HISTORY_LINES = 2000


class Interrupts:
    """Ctrl-C ends the turn in hand and not mm; SIGTERM and SIGHUP end the turn and then mm.

    `leaving` is the exit status that such a signal asks for, 0 while none has come.
    """

    def __init__(self) -> None:
        self.leaving = 0
        self._task: asyncio.Task[Any] | None = None
        self._asking = False

    def install(self) -> None:
        """Takes the signals over; those that the caller of mm had ignored stay ignored."""
        signal.signal(signal.SIGINT, self._interrupted)
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._told_to_leave)

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
            yield
        except (KeyboardInterrupt, SystemExit):
            raise asyncio.CancelledError from None
        finally:
            self._asking = False

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
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


class History:
    """The lines typed at the prompt, kept across launches; parallel ones add theirs."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        state = environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
        self._file = Path(state) / "mm" / "history"
        self._on = False

    def open(self) -> None:
        """Line editing with what was typed before; without either where the system has none."""
        try:
            import readline
        except ImportError:
            return
        readline.set_auto_history(False)
        readline.parse_and_bind("set enable-bracketed-paste on")  # Python turns it off
        readline.set_history_length(HISTORY_LINES)
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._file.touch(mode=0o600)
            readline.read_history_file(self._file)
            self._on = True

    def add(self, line: str) -> None:
        """Keeps `line`, which may hold newlines, for the next launch too."""
        if not line.strip() or "readline" not in sys.modules:
            return
        import readline

        readline.add_history(line.replace("\n", " "))
        if self._on:
            with contextlib.suppress(OSError):
                readline.append_history_file(1, self._file)


def read_line(prompt: str) -> str:
    """A line from the person. Raises EOFError at Ctrl-D and KeyboardInterrupt at Ctrl-C."""
    return input(prompt)


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
