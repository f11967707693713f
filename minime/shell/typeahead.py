"""The keys that a person types while a turn runs: kept without an echo, and given out when it is over."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from minime.core.text import clean
from minime.core.typed import Ahead, typed_ahead

MOST = 1_000_000
_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"


class TypeAhead:
    """Listens at the terminal on stdin. Between turns the terminal is as mm found it."""

    def __init__(self) -> None:
        self.asked = False
        """Whether somebody else has read from the terminal while mm listened."""
        self._heard = bytearray()
        self._found: list[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """While this holds, what is typed is heard and not shown. To be entered where an event loop runs."""
        self.asked = False
        self._found = _modes()
        self._loop = asyncio.get_running_loop()
        self._listen()
        try:
            yield
        finally:
            self._rest()
            self._found = None
            self._loop = None

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """While this holds, the terminal is as it was, for somebody else who reads from it."""
        if self._found is None:
            yield
            return
        self.asked = True
        self._rest()
        try:
            yield
        finally:
            self._listen()

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """While this holds, mm is put aside (Ctrl-Z) and the terminal belongs to the shell."""
        if self._found is not None:
            _set_modes(self._found)
        try:
            yield
        finally:
            if self._found is not None:
                _set_modes(_quiet(self._found))

    def take(self) -> Ahead:
        """What was typed since the last time."""
        text = self._heard.decode("utf-8", "replace")
        self._heard.clear()
        ahead = typed_ahead(text)
        return Ahead(tuple(map(clean, ahead.lines)), clean(ahead.rest), ahead.ended)

    def _listen(self) -> None:
        if self._found is None or self._loop is None:
            return
        _set_modes(_quiet(self._found))
        _show(_PASTE_ON)
        self._loop.add_reader(sys.stdin.fileno(), self._hear)

    def _rest(self) -> None:
        if self._found is None or self._loop is None:
            return
        import select

        descriptor = sys.stdin.fileno()
        while select.select([descriptor], [], [], 0)[0] and self._hear():
            pass
        self._loop.remove_reader(descriptor)
        _show(_PASTE_OFF)
        _set_modes(self._found)

    def _hear(self) -> bool:
        """Whether there may be more."""
        try:
            data = os.read(sys.stdin.fileno(), 65_536)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data and self._loop is not None:  # the terminal is gone, which a signal tells of too
            self._loop.remove_reader(sys.stdin.fileno())
        if len(self._heard) < MOST:
            self._heard += data
        return bool(data)


def _modes() -> list[Any] | None:
    """The modes of the terminal on stdin; None where there is none."""
    try:
        import termios
    except ImportError:
        return None
    try:
        return termios.tcgetattr(sys.stdin.fileno())
    except (OSError, ValueError, termios.error):
        return None


def _quiet(modes: list[Any]) -> list[Any]:
    """The same without echo, each key at once; Ctrl-C and Ctrl-Z stay signals."""
    import termios

    changed = [*modes[:6], list(modes[6])]
    changed[3] &= ~(termios.ECHO | termios.ICANON)
    changed[6][termios.VMIN], changed[6][termios.VTIME] = 1, 0
    return changed


def _set_modes(modes: list[Any]) -> None:
    import termios

    with contextlib.suppress(OSError, termios.error):
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, modes)


def _show(sequence: str) -> None:
    if sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        with contextlib.suppress(OSError):
            sys.stdout.write(sequence)
            sys.stdout.flush()
