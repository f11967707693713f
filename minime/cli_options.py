"""What the verbs of the command line share: options that mean the same everywhere, and ways to say a line."""

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from minime.shell.store import Store

WRONG_USAGE = 2


class Wrong(Exception):  # noqa: N818 - it is what the user is told
    """Wrong usage that the CLI library cannot see; its text says what."""


Project = Annotated[
    Path | None, Parameter(name="--project", help="The folder to work in; default: the current one.")
]
Config = Annotated[
    Path | None, Parameter(name="--config", help="An agent.yaml to use instead of the project's.")
]
Trust = Annotated[
    bool, Parameter(name="--trust", negative="", help="Trust the project's agent.yaml as it is, from now on.")
]
Yes = Annotated[bool, Parameter(name=["--yes", "-y"], negative="", help="Answer every question with yes.")]
AsJson = Annotated[bool, Parameter(name="--json", negative="", help="JSON instead of text.")]
Model = Annotated[str | None, Parameter(name=["--model", "-m"], help="The model that answers.")]
Mode = Annotated[
    Literal["ask", "auto-edit", "auto", "read-only"] | None,
    Parameter(name="--mode", help="What passes without a question."),
]


def say(text: str) -> None:
    """A text to stdout."""
    from minime.shell.paper import Paper

    Paper(sys.stdout).line(text)


def warn(text: str) -> None:
    """A line to stderr."""
    from minime.shell.paper import Paper

    with suppress(OSError):
        sys.stdout.flush()
    Paper(sys.stderr).line(text)


def wrong(text: str) -> int:
    """Says on stderr what is wrong with the words; the exit status for that."""
    warn(f"mm: {text}")
    return WRONG_USAGE


def start_of(project: Path | None) -> Path:
    """Where mm works: the folder of `--project`, else the current one."""
    from minime.shell.config.project import current_folder

    start = current_folder() if project is None else project
    if not start.is_dir():
        raise Wrong(f"--project {start}: there is no such folder")
    return start


def project_of(project: Path | None) -> Path:
    """The project that this folder belongs to."""
    from minime.shell.config.project import find_project

    return find_project(start_of(project), Path.home())


def store_of(project: Path | None) -> "Store":
    """The sessions of the project that this folder belongs to."""
    from minime.shell.store import Store

    return Store(project_of(project))


def confirm_with(yes: bool) -> Callable[[str], bool]:
    """How a question is put: to the person at the terminal; without one the answer is no."""

    def ask(question: str) -> bool:
        from minime.shell.keyboard import confirm

        return yes or confirm(question)

    return ask
