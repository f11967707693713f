"""`!command`: a command of the person's own, at their terminal, in which mm has no part."""

import contextlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from minime.shell.keyboard import Interrupts


def run_own(command: str, cwd: Path, environment: Mapping[str, str], interrupts: Interrupts) -> str:
    """Runs the command to its end; the line that says how it ended, empty when it ended well."""
    import subprocess

    if not command:
        return "! and a command runs it here, outside of the conversation"
    try:
        with interrupts.elsewhere(), _modes_kept():
            status = subprocess.run(
                ["/bin/sh", "-c", command], cwd=cwd, env=dict(environment), check=False
            ).returncode
    except (OSError, ValueError) as error:
        return f"could not be run: {getattr(error, 'strerror', None) or error}"
    if status < 0:
        return f"(ended by signal {-status})"
    return f"(exit status {status})" if status else ""


@contextlib.contextmanager
def _modes_kept() -> Iterator[None]:
    """A program that leaves the terminal in a state of its own does so for itself alone."""
    try:
        import termios
    except ImportError:
        yield
        return
    modes = None
    with contextlib.suppress(OSError, ValueError, termios.error):
        modes = termios.tcgetattr(sys.stdin.fileno())
    try:
        yield
    finally:
        if modes is not None:
            with contextlib.suppress(OSError, termios.error):
                termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, modes)
