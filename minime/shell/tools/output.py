"""The output of a process, heard in pieces: shown as it comes, and kept within bounds for the model."""

import codecs
import time
from collections.abc import Callable

from minime.core.text import LIMIT, clean, clip_ends, feed, mask

PAUSE = 0.1
"""Seconds between two pieces that are shown."""

PIECE = 8_000
"""Characters shown at a time; of more the newest."""

SHOWN = 200_000
"""Characters shown while a command runs; the result is not bounded by it."""


class Output:
    """Clean, masked text of all that was heard. Of a long output only the two ends are in memory."""

    def __init__(self, secrets: tuple[str, ...], progress: Callable[[str], None], limit: int = LIMIT) -> None:
        self._secrets = secrets
        self._progress = progress
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = self._head = self._tail = self._unshown = ""
        self._count = self._shown = 0
        self._showed = 0.0

    def hear(self, data: bytes) -> None:
        """Takes the next piece; with nothing in it, only shows what is due."""
        if data:
            self._held, ready = feed(self._held, self._decoder.decode(data), self._secrets)
            self._keep(ready)
        self._show(time.monotonic() - self._showed >= PAUSE)

    def end(self) -> str:
        """The text, with as much left out in its middle as the limit asks for."""
        self._keep(mask(clean(self._held + self._decoder.decode(b"", True)), self._secrets))
        self._held = ""
        self._show(True)
        half = self._limit // 2
        if self._count <= 2 * half:
            return self._head + self._tail
        return clip_ends(self._head, self._tail, self._count - 2 * half, self._limit)

    def _keep(self, text: str) -> None:
        half = self._limit // 2
        self._count += len(text)
        room = half - len(self._head)
        self._head += text[:room]
        self._tail = (self._tail + text[room:])[-half:]
        self._unshown += text

    def _show(self, due: bool) -> None:
        if len(self._unshown) > PIECE:
            self._unshown = "…" + self._unshown[-PIECE:]
        if not due or not self._unshown or self._shown >= SHOWN:
            return
        self._shown += len(self._unshown)
        if self._shown >= SHOWN:
            self._unshown += "\n… the rest is not shown while it runs …\n"
        self._progress(self._unshown)
        self._unshown = ""
        self._showed = time.monotonic()
