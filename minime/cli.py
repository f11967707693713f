"""The front door: words and options to a façade or a verb; each imports what it needs when it runs."""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, CycloptsError, Parameter

from minime import __version__

if TYPE_CHECKING:
    from minime.shell.store import Store

WRONG_USAGE = 2


class Wrong(Exception):  # noqa: N818 - it is what the user is told
    """Wrong usage that the CLI library cannot see; its text says what."""


app = App(
    name="mm",
    help="A small coding agent for models that run on your own machine, with conversations that last.",
    version=f"mm {__version__}",
    help_format="plaintext",
    usage="Usage: mm [OPTIONS] [QUESTION …]  ·  mm VERB",
)
sessions_app = App(name="sessions", help="The conversations of this project, newest use first.")
schema_app = App(name="schema", help="JSON Schema of the files that mm reads and writes.")
app.command(sessions_app)
app.command(schema_app)

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


@app.default
def talk_with(
    *question: str,
    resume: Annotated[
        str, Parameter(name=["--resume", "-r"], help="Take up a conversation: number, id or last.")
    ] = "",
    continue_: Annotated[
        bool, Parameter(name=["--continue", "-c"], negative="", help="Take up the last conversation.")
    ] = False,
    no_session: Annotated[
        bool, Parameter(name="--no-session", negative="", help="Keep nothing on disk.")
    ] = False,
    mode: Mode = None,
    model: Model = None,
    config: Config = None,
    trust: Trust = False,
    yes: Annotated[
        bool, Parameter(name=["--yes", "-y"], negative="", help="Approve every tool call.")
    ] = False,
    json: Annotated[
        bool, Parameter(name="--json", negative="", help="With a question: one JSON event a line.")
    ] = False,
    project: Project = None,
) -> int:
    """Ask a question, or without one sit down in the terminal."""
    from minime.shell.opening import Wishes, talk

    wishes = Wishes(
        resume="last" if continue_ else resume,
        keep=not no_session,
        config=config,
        options={"model": model, "mode": mode},
        trust=trust,
        yes=yes,
        as_json=json,
        start=_start(project),
    )
    return talk(question, wishes)


@sessions_app.default
def list_sessions(
    *,
    limit: Annotated[int, Parameter(help="How many to show.")] = 20,
    all: Annotated[bool, Parameter(name="--all", negative="", help="Show every one.")] = False,
    json: AsJson = False,
    project: Project = None,
) -> int:
    """The conversations of this project, newest use first."""
    from minime.shell.session_verbs import list_sessions as listed

    if limit < 1:
        return _wrong("--limit takes a number from 1")
    return listed(_store(project), None if all else limit, as_json=json)


@sessions_app.command
def show(
    id: str,
    /,
    *,
    errors: Annotated[bool, Parameter(name="--errors", negative="", help="Only what went wrong.")] = False,
    json: AsJson = False,
    project: Project = None,
) -> int:
    """A conversation, for reading. ID is its number in the list, a piece of its id, or last."""
    from minime.shell.session_verbs import show_session

    return show_session(_store(project), id, errors=errors, as_json=json)


@sessions_app.command
def export(
    id: str,
    /,
    *,
    format: Annotated[
        Literal["markdown", "html", "json", "acp"] | None,
        Parameter(name="--format", help="The form; default: what the name of FILE ends in, else markdown."),
    ] = None,
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="The file to write; default: stdout.")
    ] = None,
    yes: Annotated[
        bool, Parameter(name=["--yes", "-y"], negative="", help="Write over a file that is there.")
    ] = False,
    project: Project = None,
) -> int:
    """A conversation as a document: Markdown, one page of HTML, its file, or what an editor is shown."""
    from minime.shell.export_verbs import export_session

    return export_session(
        _store(project), id, format=format, output=output, cwd=_start(project).resolve(), ask=_confirm(yes)
    )


@app.command
def init(*, project: Project = None) -> int:
    """Write a commented agent.yaml into the project."""
    from minime.shell import verbs

    return verbs.init(_project(project), say, warn)


@app.command
def config(
    *,
    config: Config = None,
    trust: Trust = False,
    model: Model = None,
    mode: Mode = None,
    project: Project = None,
) -> int:
    """Show the configuration in effect, and where each value comes from."""
    from minime.shell import verbs

    return verbs.show_config(
        _project(project),
        environ=os.environ,
        say=say,
        warn=warn,
        config=config,
        options={"model": model, "mode": mode},
        trust=trust,
    )


@app.command
def trust(*, yes: Yes = False, project: Project = None) -> int:
    """Show what the project's agent.yaml asks for beyond the harmless, and trust it after a question."""
    from minime.shell import verbs

    return verbs.trust(_project(project), environ=os.environ, ask=_confirm(yes), say=say, warn=warn)


@app.command(name="setup")
def fetch_weights(*, yes: Yes = False) -> int:
    """Fetch the small model that answers when no server runs, after a question."""
    from minime.shell.model.setup import setup as fetch

    return fetch(environ=os.environ, ask=_confirm(yes), say=say, warn=warn)


@app.command
def acp(
    *,
    config: Config = None,
    setup: Annotated[
        bool, Parameter(name="--setup", negative="", help="Get mm ready in a terminal.")
    ] = False,
    project: Project = None,
) -> int:
    """Be the agent of an editor: the Agent Client Protocol on stdin and stdout."""
    if setup:
        return fetch_weights()
    from minime.shell.acp import serve

    return serve(os.environ, config, _start(project))


@schema_app.command(name="session")
def schema_session() -> int:
    """JSON Schema of the session file."""
    from minime.shell.session_verbs import schema_session as schema

    return schema()


@schema_app.command(name="config")
def schema_config() -> int:
    """JSON Schema of agent.yaml."""
    from minime.shell import verbs

    return verbs.schema_config(say)


def run(words: Sequence[str]) -> int:
    """Does what `words` say. The result is the exit status; trouble with the world is raised."""
    try:
        status = app(list(words), exit_on_error=False, print_error=False, result_action="return_value")
        return status if isinstance(status, int) else 0
    except CycloptsError as error:
        return _wrong(f"{_one_line(error)} (mm --help)")
    except Wrong as error:
        return _wrong(str(error))


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


def _wrong(text: str) -> int:
    warn(f"mm: {text}")
    return WRONG_USAGE


def _one_line(error: CycloptsError) -> str:
    return " ".join(str(error).split()).rstrip(".").replace("Unused Tokens", "words that do not belong here")


def _start(project: Path | None) -> Path:
    """Where mm works: the folder of `--project`, else the current one."""
    from minime.shell.config.project import current_folder

    start = current_folder() if project is None else project
    if not start.is_dir():
        raise Wrong(f"--project {start}: there is no such folder")
    return start


def _project(project: Path | None) -> Path:
    from minime.shell.config.project import find_project

    return find_project(_start(project), Path.home())


def _store(project: Path | None) -> "Store":
    from minime.shell.store import Store

    return Store(_project(project))


def _confirm(yes: bool) -> Callable[[str], bool]:
    """How a question is put: to the person at the terminal; without one the answer is no."""

    def ask(question: str) -> bool:
        from minime.shell.keyboard import confirm

        return yes or confirm(question)

    return ask
