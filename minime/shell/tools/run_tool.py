"""`run_command`: a command line -> its output, bounded, and how it ended."""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from minime.core.text import LIMIT
from minime.core.tools.running import end_text
from minime.core.tools.toolbox import Said
from minime.shell.tools.output import Output
from minime.shell.tools.processes import run_process


def run_command(
    command: str,
    cwd: Path,
    environment: Mapping[str, str],
    seconds: float,
    secrets: tuple[str, ...],
    stop: threading.Event,
    progress: Callable[[str], None],
) -> Said:
    """The output in the order written, and the exit status at its end. Raises OSError when there is no
    shell, or no such folder."""
    output = Output(secrets, progress, LIMIT - 100)
    ended = run_process(["/bin/sh", "-c", command], cwd, environment, seconds, stop, output.hear)
    text = output.end()
    end = end_text(ended.status, ended.why, seconds)
    gap = "" if not text or text.endswith("\n") else "\n"
    return Said(f"{text}{gap}({end})", failed=ended.why != "exit" or ended.status != 0)
