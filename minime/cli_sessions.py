"""`mm sessions` and its verbs: words and options to what the shell does with kept conversations."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from minime.cli_options import AsJson, Project, Yes, confirm_with, start_of, store_of, wrong

sessions_app = App(name="sessions", help="The conversations of this project, newest use first.")


@sessions_app.default
def list_sessions(
    *,
    limit: Annotated[int, Parameter(help="How many to show; default: 20.")] = 20,
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


@sessions_app.command
def search(
    text: str,
    /,
    *,
    regex: Annotated[
        bool, Parameter(name="--regex", negative="", help="TEXT is a regular expression.")
    ] = False,
    tool: Annotated[str, Parameter(help="Only in calls and results of this tool.")] = "",
    errors: Annotated[bool, Parameter(name="--errors", negative="", help="Only in error records.")] = False,
    json: AsJson = False,
    project: Project = None,
) -> int:
    """Where a text stands in the conversations: session, turn and line; capitals or not."""
    from minime.core.searching import Wanted
    from minime.shell.history_verbs import search_sessions

    return search_sessions(store_of(project), Wanted(text, regex, tool, errors), as_json=json)


@sessions_app.command
def fork(id: str, /, *, json: AsJson = False, project: Project = None) -> int:
    """A copy of a conversation under a new id, to go another way from there."""
    from minime.shell.housekeeping_verbs import fork_session

    return fork_session(store_of(project), id, as_json=json)


@sessions_app.command
def rename(id: str, title: str, /, *more: str, project: Project = None) -> int:
    """Another title for a conversation."""
    from minime.shell.housekeeping_verbs import rename_session

    words = " ".join((title, *more)).strip()
    return rename_session(store_of(project), id, words) if words else wrong("a title needs a word")


@sessions_app.command
def delete(id: str, /, *more: str, yes: Yes = False, project: Project = None) -> int:
    """Remove conversations for good, after a question."""
    from minime.shell.housekeeping_verbs import delete_sessions

    return delete_sessions(store_of(project), (id, *more), confirm_with(yes))


@sessions_app.command
def prune(
    *,
    keep: Annotated[int | None, Parameter(help="How many of the newest stay.")] = None,
    older_than: Annotated[str, Parameter(help="Only those last used longer ago: 12h, 90d, 6w, 3m, 1y.")] = "",
    yes: Yes = False,
    project: Project = None,
) -> int:
    """Remove old conversations for good: lists them and asks first."""
    from minime.core.pruning import parse_age
    from minime.shell.housekeeping_verbs import prune_sessions

    age = parse_age(older_than)
    if older_than and age is None:
        return wrong(f"--older-than takes an age such as 12h, 90d, 6w, 3m or 1y, not {older_than!r}")
    if keep is not None and keep < 0:
        return wrong("--keep takes a number from 0")
    if keep is None and age is None:
        return wrong("which ones? --keep N keeps the newest, --older-than 90d takes the old ones")
    return prune_sessions(store_of(project), keep, age, confirm_with(yes))


@sessions_app.command
def check(*, json: AsJson = False, project: Project = None) -> int:
    """Read every file and say which are whole, which are not, and why; changes nothing."""
    from minime.shell.housekeeping_verbs import check_sessions

    return check_sessions(store_of(project), as_json=json)


@sessions_app.command
def stats(*, json: AsJson = False, project: Project = None) -> int:
    """Turns, tokens, tool calls, time and errors of each model."""
    from minime.shell.history_verbs import show_stats

    return show_stats(store_of(project), as_json=json)
