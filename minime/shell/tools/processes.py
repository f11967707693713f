"""A child process from its start to its end, and all that it started with it.

It has no terminal and no input, leads a process group of its own, and writes into one pipe. Its group is
ended when it has gone, at its timeout, when it is asked to stop, and when mm itself dies: a guard, a shell
of three words, waits on a pipe that closes with mm. A program that leaves the group (`setsid`) and goes on
after its command is let go; at a timeout or a stop it is found by a mark in its environment, on Linux.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import subprocess

GRACE = 0.4
"""Seconds between asking a group to end and killing it."""

TICK = 0.05
"""Seconds between two looks at a process that says nothing."""

MARK = "MM_COMMAND_ID"
_CHUNK = 65_536
_LEFT_IN_PIPE = 1_000_000


class Ended(NamedTuple):
    """How a process ended: its status as `subprocess` counts it (a signal is negative), and who ended it."""

    status: int
    why: Literal["exit", "timeout", "stop"]


def run_process(
    arguments: list[str],
    cwd: Path,
    environment: Mapping[str, str],
    timeout: float,
    stop: threading.Event,
    heard: Callable[[bytes], None],
) -> Ended:
    """How the process ended. Blocks until then: at most `timeout` seconds (0: no bound) and the grace.

    `heard` gets the output, errors among it, in the order written; and nothing, a few times a second, while
    there is none. Raises OSError or ValueError when the process cannot be started.
    """
    import subprocess

    read_end, write_end = os.pipe()
    mark = os.urandom(8).hex()
    try:
        process = subprocess.Popen(
            arguments,
            cwd=cwd,
            env={**environment, MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=write_end,
            stderr=write_end,
            start_new_session=True,
        )
    except BaseException:
        os.close(read_end)
        raise
    finally:
        os.close(write_end)
    try:
        with guarded(process.pid):
            try:
                why = _listen(process, read_end, timeout, stop, heard)
            finally:
                _end_group(process)
        if why != "exit":
            _end_strays(mark)
        _drain(read_end, heard)
    finally:
        os.close(read_end)
    return Ended(process.returncode, why)


def _listen(
    process: "subprocess.Popen[bytes]",
    pipe: int,
    timeout: float,
    stop: threading.Event,
    heard: Callable[[bytes], None],
) -> Literal["exit", "timeout", "stop"]:
    import select

    os.set_blocking(pipe, False)
    poll = select.poll()
    poll.register(pipe, select.POLLIN | select.POLLHUP)
    deadline = time.monotonic() + timeout if timeout > 0 else None
    is_open = True
    while process.poll() is None:
        if stop.is_set():
            return "stop"
        if deadline is not None and time.monotonic() >= deadline:
            return "timeout"
        if not is_open:
            stop.wait(TICK / 10)
        elif poll.poll(TICK * 1_000):
            data = os.read(pipe, _CHUNK)
            is_open = bool(data)
            heard(data)
        else:
            heard(b"")
    return "exit"


def _drain(pipe: int, heard: Callable[[bytes], None]) -> None:
    """What is still in the pipe; not more than a pipe can hold, in case that somebody goes on writing."""
    left = _LEFT_IN_PIPE
    with suppress(BlockingIOError):
        while left > 0 and (data := os.read(pipe, _CHUNK)):
            heard(data)
            left -= len(data)


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """Ends all that is left of the group: asked first, killed after the grace; the leader is waited for."""
    deadline = time.monotonic() + GRACE
    signal_group(process.pid, signal.SIGTERM)
    while process.poll() is None or signal_group(process.pid, 0):
        if time.monotonic() >= deadline:
            signal_group(process.pid, signal.SIGKILL)
            break
        time.sleep(TICK / 10)
    process.wait()


def signal_group(group: int, number: int) -> bool:
    """Whether there is anybody in the group to get the signal."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


@contextmanager
def guarded(group: int) -> Iterator[None]:
    """While this holds, the group is killed when mm ends, however it ends."""
    import subprocess

    read_end, write_end = os.pipe()
    try:
        guard = subprocess.Popen(
            ["/bin/sh", "-c", 'read -r line; kill -s KILL -- "-$1"', "mm-guard", str(group)],
            stdin=read_end,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        os.close(write_end)
        signal_group(group, signal.SIGKILL)
        raise
    finally:
        os.close(read_end)
    try:
        yield
    finally:
        guard.kill()
        guard.wait()
        os.close(write_end)


def _end_strays(mark: str) -> None:
    """Kills those that left the group and still carry the mark, where `/proc` shows them."""
    wanted = f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
