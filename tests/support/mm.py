"""The real `mm` in a process of its own: once through, or visited at a pseudo-terminal."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import pexpect
import pyte

from tests.conftest import ROOT

MM = (sys.executable, "-m", "minime")
# The same, with time and dice held still: for screens that are kept as golden files.
STILL = (sys.executable, "-m", "tests.support.still")


def environment(changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of the tests, with `changes`; the project can be imported from any folder."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**own, "PYTHONPATH": str(ROOT), "COLUMNS": "80", **(changes or {})}


def run_mm(
    *words: str,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    program: tuple[str, ...] = MM,
) -> subprocess.CompletedProcess[str]:
    """`mm` with these words, run to its end without a terminal; `stdin` None is /dev/null."""
    done = subprocess.run(
        [*program, *words],
        cwd=cwd,
        env=environment(env),
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        timeout=60,
        start_new_session=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    )


def session_files(project: Path) -> list[Path]:
    """The session files of a project, oldest first."""
    return sorted((project / ".mm" / "sessions").glob("[0-9]*.json"))


def only_session(project: Path) -> dict[str, Any]:
    """The one session of a project."""
    [file] = session_files(project)
    read: dict[str, Any] = json.loads(file.read_bytes())
    return read


class Visitor:
    """A person at a real pseudo-terminal: types lines and keys, sees the screen."""

    def __init__(
        self,
        *words: str,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        columns: int = 80,
        rows: int = 200,
        program: tuple[str, ...] = MM,
    ) -> None:
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        self.child: pexpect.spawn[bytes] = pexpect.spawn(
            program[0],
            [*program[1:], *words],
            cwd=str(cwd),
            env=environment(
                {"TERM": "xterm-256color", "NO_COLOR": "1", "COLUMNS": str(columns)} | dict(env or {})
            ),
            dimensions=(rows, columns),
            timeout=20,
        )
        self.child.delaybeforesend = None

    def __enter__(self) -> "Visitor":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.child.close(force=True)

    def type(self, line: str) -> None:
        """Types a line and Enter."""
        self.child.send(line.encode() + b"\r")

    def press(self, key: str) -> None:
        """Presses Ctrl and a letter."""
        self.child.sendcontrol(key)

    def see(self, text: str, within: float = 20.0) -> None:
        """Waits until the screen holds `text`, a regular expression."""
        deadline = time.monotonic() + within
        while not re.search(text, self.screen):
            assert time.monotonic() < deadline, f"{text!r} did not come; the screen:\n{self.screen}"
            assert self._read(0.1) or re.search(text, self.screen), f"mm ended; the screen:\n{self.screen}"

    def prompt(self, count: int) -> None:
        """Waits for the prompt number `count` with nothing typed behind it."""
        deadline = time.monotonic() + 20
        while not (len(re.findall("^›", self.screen, re.MULTILINE)) >= count and self.screen.endswith("\n›")):
            assert time.monotonic() < deadline, f"no prompt came; the screen:\n{self.screen}"
            assert self._read(0.1), f"mm ended; the screen:\n{self.screen}"

    def leave(self) -> int:
        """Waits for the end of mm: its exit status."""
        deadline = time.monotonic() + 20
        while self._read(0.5):
            assert time.monotonic() < deadline, f"mm does not end; the screen:\n{self.screen}"
        self.child.wait()
        status = self.child.exitstatus
        return -(self.child.signalstatus or 0) if status is None else int(status)

    @property
    def screen(self) -> str:
        """What stands on the screen, without the spaces and empty lines behind it."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    def cells(self, row: int) -> list[pyte.screens.Char]:
        """The characters of a row, each with how it looks."""
        return [self._screen.buffer[row][column] for column in range(self._screen.columns)]

    def _read(self, within: float) -> bool:
        """Takes what mm wrote; False at its end."""
        try:
            data = self.child.read_nonblocking(65536, within)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        # The emulator drops what follows a variation selector in one piece of output; terminals do not.
        self._stream.feed(data.replace("\N{VARIATION SELECTOR-16}".encode(), b""))
        return True
