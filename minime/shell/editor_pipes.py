"""The editor's end of `mm acp`: lines come in from the real stdin, lines go out to the real stdout.

Both run in threads of their own, for a pipe, a socket or a file alike: an editor that does not read holds up
nothing but its own lines.
"""

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

BLOCK = 1 << 20


def keep_apart() -> tuple[int, int]:
    """The real stdin and stdout; in their place nothing comes in, and what is printed goes to stderr."""
    heard, out = os.dup(0), os.dup(1)
    for descriptor in (heard, out):
        os.set_blocking(descriptor, True)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # the editor closed stderr
        os.dup2(nothing, 1)
    os.close(nothing)
    return heard, out


def read_lines(descriptor: int, most: int, say: Callable[[bytes | None], None]) -> None:
    """Hands over each line as it is whole, and None at the end of input, from a thread of its own. Of a line
    with more than `most` bytes a piece is handed over that is longer than `most`."""
    threading.Thread(target=_read, args=(descriptor, most, say), daemon=True, name="mm-in").start()


class Writer:
    """Writes what it is given, whole and in order; `gone` is called, once and from its thread, when nobody
    takes it any more."""

    def __init__(self, descriptor: int, gone: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._gone = gone
        self._waiting: SimpleQueue[bytes | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._write, daemon=True, name="mm-out")
        self._thread.start()

    def put(self, data: bytes) -> None:
        """Has `data` written; waits for nothing."""
        self._waiting.put(data)

    def close(self, within: float) -> None:
        """Waits until all is written, at most so many seconds."""
        self._waiting.put(None)
        self._thread.join(within)

    def _write(self) -> None:
        while (data := self._waiting.get()) is not None:
            left = memoryview(data)
            try:
                while left:
                    left = left[os.write(self._descriptor, left) :]
            except OSError:
                self._gone()
                return


def _read(descriptor: int, most: int, say: Callable[[bytes | None], None]) -> None:
    parts: list[bytes] = []
    size = 0
    while True:
        try:
            data = os.read(descriptor, BLOCK)
        except OSError:
            data = b""
        if not data:
            if any(parts):
                say(b"".join(parts))
            say(None)
            return
        first, *rest = data.split(b"\n")
        if size <= most:
            parts.append(first)
        size += len(first)
        for line in rest:
            say(b"".join(parts))
            parts, size = [line], len(line)
