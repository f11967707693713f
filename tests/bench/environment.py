"""An environment with mm and nothing but what mm needs: a development tool that happens to be installed must
neither slow a start down nor speed it up."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Place(NamedTuple):
    """Where mm is measured: its Python, the command that starts it, and the sentence that says so."""

    python: str
    mm: tuple[str, ...]
    note: str


def make_place(folder: Path) -> Place:
    """A fresh environment in `folder`, of the locked packages; the current one where uv cannot make it."""
    uv = shutil.which("uv")
    home = folder / "env"
    if uv is not None:
        options = ["--quiet", "--frozen", "--no-default-groups", "--no-editable", "--compile-bytecode"]
        made = subprocess.run(
            [uv, "sync", *options, "--python", sys.executable],
            cwd=ROOT,
            env={**os.environ, "UV_PROJECT_ENVIRONMENT": str(home)},
            check=False,
        )
        if made.returncode == 0:
            programs = home / "bin"
            note = "mm installed from its wheel in an environment of its own, without development tools"
            return Place(str(programs / "python"), (str(programs / "mm"),), note)
    note = "the current environment, development tools included (uv could not make one of its own)"
    return Place(sys.executable, (sys.executable, "-m", "minime"), note)
