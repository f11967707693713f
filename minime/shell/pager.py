"""A long text on a terminal through the pager that the person likes; short ones, and pipes, directly."""

import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import TextIO


def paged(lines: int, write: Callable[[TextIO], None], environ: Mapping[str, str]) -> None:
    """Has `write` put its text on stdout, or into a pager where stdout is a terminal that has fewer than so
    many lines. The pager is `$PAGER`, else `less`; empty or `cat` is none."""
    command = shlex.split(environ.get("PAGER", "less"))
    rows = shutil.get_terminal_size().lines
    if not sys.stdout.isatty() or lines < rows or not command or command == ["cat"]:
        write(sys.stdout)
        return
    sys.stdout.flush()
    try:
        pager = subprocess.Popen(
            command, stdin=subprocess.PIPE, env={"LESS": "FRX", "LESSCHARSET": "utf-8", **environ}
        )
    except OSError:
        write(sys.stdout)
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's
    try:
        assert pager.stdin is not None, "it was asked for"
        stream = _Piped(pager.stdin, encoding="utf-8", errors="replace", write_through=True)
        write(stream)
        stream.close()
        pager.wait()
    finally:
        signal.signal(signal.SIGINT, before)


class _Piped(io.TextIOWrapper):
    """The pager's ear: what is said into it ends on a terminal, or nowhere when the person has left."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError:
            self._has_left()
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            self._has_left()

    def _has_left(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)
