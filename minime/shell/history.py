"""The file of the lines typed at the prompt: what earlier launches left, and one line more, under a lock."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from minime.core.history import entries, entry_line, shortened

MOST_BYTES = 50_000_000
"""A larger file is none of ours and is left alone."""


class HistoryFile:
    """Shared by all launches: each adds its lines at the end, and none writes over another's. Trouble with
    the disk costs the lines and nothing else."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        state = environ.get("XDG_STATE_HOME", "")
        # The standard says that a relative path there is to be ignored.
        base = Path(state) if state.startswith("/") else Path.home() / ".local" / "state"
        self.path = base / "mm" / "history"

    def read(self) -> tuple[str, ...]:
        """The newest entries, oldest first."""
        try:
            if not self.path.is_file() or self.path.stat().st_size > MOST_BYTES:
                return ()
            return entries(self.path.read_bytes().decode("utf-8", "replace"))
        except OSError:
            return ()

    def add(self, entry: str) -> None:
        """Puts the entry at the end; a file that has grown long loses its oldest ones."""
        line = entry_line(entry)
        if not line:
            return
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._locked():
                descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
                with os.fdopen(descriptor, "ab") as file:
                    size = os.fstat(descriptor).st_size
                    # A line that was cut off by a crash must not run into this one.
                    gap = b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""
                    file.write(gap + line.encode("utf-8", "replace") + b"\n")
                if size > 100_000:
                    self._shorten()

    def _shorten(self) -> None:
        if self.path.stat().st_size > MOST_BYTES:
            return
        text = shortened(self.path.read_bytes().decode("utf-8", "replace"))
        if text is None:
            return
        fresh = self.path.with_name(f"history.{os.getpid()}.tmp")
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode())
            fresh.replace(self.path)
        finally:
            fresh.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """The lock is a file of its own, for the history is put in the place of another when it is cut."""
        try:
            import fcntl
        except ImportError:
            yield
            return
        descriptor = os.open(
            self.path.with_name("history.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
