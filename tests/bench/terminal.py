"""The interactive `mm` on a pseudo-terminal: until its prompt stands, and a long answer as it is shown."""

import os
import pty
import select
import signal
import struct
import sys
import time
from collections.abc import Mapping
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

from tests.bench.environment import Place
from tests.bench.rows import Row, Sample, by_turns
from tests.bench.startup import launch
from tests.bench.stream_server import DELTAS, PIECES
from tests.support.server import Answer, Recorded, ScriptedServer, Stream

AREA = "Terminal"
MOST_MORE = 2.0
PATIENCE = 60.0
"""Seconds; a prompt that takes longer does not come."""


class LongWinded(ScriptedServer):
    """Answers every question with the same 20,000 deltas, as fast as they can be read."""

    def _answer_to(self, request: Recorded) -> Answer:
        if request.method == "POST":
            self.add(Stream((b"".join(PIECES),)))
        return super()._answer_to(request)


def rows(place: Place, folder: Path, runs: int) -> list[Row]:
    """The rows about the terminal. `folder` is empty and may be filled."""
    with LongWinded() as server:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "MM_BASE_URL": server.url,
            "MM_MODEL": "tiny",
            "TERM": "xterm-256color",
        }

        def bare() -> Sample:
            return launch((place.python, "-c", "pass"), folder, env)[0]

        def prompt() -> Sample:
            return on_terminal(*place.mm, until="›".encode(), cwd=folder, env=env)

        def plain() -> Sample:
            return launch((*place.mm, "--no-session", "x"), folder, env)[0]

        def shown() -> Sample:
            return on_terminal(*place.mm, "--no-session", "x", until=b"", cwd=folder, env=env)

        return [
            Row(
                AREA, "`mm`, until its prompt stands", "`python -c pass`", 18.0, by_turns(bare, prompt, runs)
            ),
            Row(
                AREA,
                f'`mm "x"` on a terminal, an answer of {DELTAS:,} deltas rendered as it comes',
                "the same into a pipe, where it is printed plainly",
                0,
                by_turns(plain, shown, max(3, runs // 3)),
                more=MOST_MORE,
            ),
        ]


def on_terminal(*command: str, until: bytes, cwd: Path, env: Mapping[str, str]) -> Sample:
    """One run on a terminal of 80 columns, until these bytes are shown (none: until it ends)."""
    began = time.monotonic()
    child, terminal = pty.fork()
    if not child:
        os.chdir(cwd)
        os.execve(command[0], command, env)
    try:
        ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        shown = b""
        while not until or until not in shown:
            ready, _, _ = select.select([terminal], [], [], PATIENCE)
            assert ready, f"nothing for {PATIENCE:g} s behind {shown[-200:]!r}"
            try:
                piece = os.read(terminal, 1 << 16)
            except OSError:  # the other end is closed
                piece = b""
            if not piece:
                break
            shown = (shown + piece)[-(1 << 16) :]
        wall = time.monotonic() - began
        assert until in shown, shown[-200:]
    finally:
        if until:
            os.kill(child, signal.SIGKILL)
        _, status, used = os.wait4(child, 0)
        os.close(terminal)
    assert until or not status, f"{command} ended with {status} behind {shown[-200:]!r}"
    megabyte = 2**20 if sys.platform == "darwin" else 2**10
    return Sample(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / megabyte)
