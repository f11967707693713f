"""`mm sessions` and its verbs: words and options to what the shell does with kept conversations."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from minime.cli_options import AsJson, Project, confirm_with, start_of, store_of, wrong

sessions_app = App(name="sessions", help="The conversations of this project, newest use first.")


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
        return wrong("--limit takes a number from 1")
    return listed(store_of(project), None if all else limit, as_json=json)


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

    return show_session(store_of(project), id, errors=errors, as_json=json)


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
        store_of(project),
        id,
        format=format,
        output=output,
        cwd=start_of(project).resolve(),
        ask=confirm_with(yes),
    )
