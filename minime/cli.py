"""The front door: words and options to a façade or a verb; each imports what it needs when it runs."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, CycloptsError, Parameter

from minime import __version__
from minime.cli_options import (
    AsJson,
    Config,
    Mode,
    Model,
    Project,
    Trust,
    Wrong,
    Yes,
    confirm_with,
    project_of,
    say,
    start_of,
    store_of,
    warn,
    wrong,
)
from minime.cli_sessions import sessions_app

NARROWEST = 20
"""Columns that a page of help has at least."""

app = App(
    name="mm",
    help="A small coding agent for models that run on your own machine, with conversations that last.",
    version=f"mm {__version__}",
    help_format="plaintext",
    usage="Usage: mm [OPTIONS] [QUESTION …]  ·  mm VERB",
    default_parameter=Parameter(show_default=False),
)
schema_app = App(name="schema", help="JSON Schema of the files that mm reads and writes.")
app.command(sessions_app)
app.command(schema_app)


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
        start=start_of(project),
    )
    return talk(question, wishes)


@app.command
def errors(*, json: AsJson = False, project: Project = None) -> int:
    """What went wrong in all conversations of this project, counted by kind and by line."""
    from minime.shell.history_verbs import show_errors

    return show_errors(store_of(project), as_json=json)


@app.command
def explain(
    id: str,
    /,
    *,
    ask: Annotated[
        bool, Parameter(name="--ask", negative="", help="Have the model look at it, too.")
    ] = False,
    json: AsJson = False,
    yes: Yes = False,
    config: Config = None,
    trust: Trust = False,
    model: Model = None,
    project: Project = None,
) -> int:
    """What went wrong in a conversation, what to do, and a change of agent.yaml where one would help."""
    from minime.shell.explain_verb import Wishes
    from minime.shell.explain_verb import explain as explained

    wishes = Wishes(start_of(project), config, model, trust, ask, json)
    return explained(store_of(project), id, wishes, os.environ, confirm_with(yes))


@app.command
def init(*, project: Project = None) -> int:
    """Write a commented agent.yaml into the project."""
    from minime.shell import verbs

    return verbs.init(project_of(project), say, warn)


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
        project_of(project),
        environ=os.environ,
        say=say,
        warn=warn,
        config=config,
        options={"model": model, "mode": mode},
        trust=trust,
        start=start_of(project),
    )


@app.command
def replay(
    file: Path,
    /,
    *,
    against: Annotated[Path, Parameter(name="--against", help="The folder with what is kept of it.")],
    update: Annotated[
        bool, Parameter(name="--update", negative="", help="Keep what is done today from now on.")
    ] = False,
    config: Config = None,
    project: Project = None,
) -> int:
    """Put a recorded conversation through the agent as it is today, and compare; no model is asked."""
    from minime.shell.replaying import replay as put_through

    return put_through(file, against, project_of(project), os.environ, config=config, update=update)


@app.command
def doctor(
    *,
    ask: Annotated[
        bool, Parameter(name="--ask", negative="", help="Ask the model, too, whether it can call a tool.")
    ] = False,
    json: AsJson = False,
    config: Config = None,
    model: Model = None,
    project: Project = None,
) -> int:
    """Check all that a question needs, and say how to mend what is wrong."""
    from minime.shell.doctor import doctor as check

    start = start_of(project)
    return check(
        project_of(project),
        start.resolve(),
        os.environ,
        config=config,
        options={"model": model},
        ask=ask,
        as_json=json,
    )


@app.command
def trust(*, yes: Yes = False, project: Project = None) -> int:
    """Show what the project's agent.yaml asks for beyond the harmless, and trust it after a question."""
    from minime.shell import verbs

    return verbs.trust(project_of(project), environ=os.environ, ask=confirm_with(yes), say=say, warn=warn)


@app.command(name="setup")
def fetch_weights(*, yes: Yes = False) -> int:
    """Fetch the small model that answers when no server runs, after a question."""
    from minime.shell.model.setup import setup as fetch

    return fetch(environ=os.environ, ask=confirm_with(yes), say=say, warn=warn)


@app.command
def mcp(*, json: AsJson = False, config: Config = None, trust: Trust = False, project: Project = None) -> int:
    """Start the configured MCP servers, and show how they stand and which tools they offer."""
    from minime.shell.mcp_verb import list_servers as servers

    start = start_of(project)
    return servers(start, environ=os.environ, say=say, warn=warn, config=config, trust=trust, as_json=json)


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

    return serve(os.environ, config, start_of(project))


@app.command
def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print what completes the words of mm in a shell: bash, zsh or fish."""
    say(app.generate_completion(shell=shell))
    return 0


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
    if unknown := _unknown_verb(words):
        return wrong(unknown)
    if {"--help", "-h"} & set(words) and shutil.get_terminal_size().columns < NARROWEST:
        os.environ["COLUMNS"] = str(NARROWEST)  # narrower, rich would break lines for ever
    try:
        status = app(list(words), exit_on_error=False, print_error=False, result_action="return_value")
        return status if isinstance(status, int) else 0
    except CycloptsError as error:
        return wrong(f"{_one_line(error)} (mm --help)")
    except Wrong as error:
        return wrong(str(error))


def _one_line(error: CycloptsError) -> str:
    return " ".join(str(error).split()).rstrip(".").replace("Unused Tokens", "words that do not belong here")


def _unknown_verb(words: Sequence[str]) -> str:
    """The line about a word behind `mm sessions` or `mm schema` that is no verb there; empty when it is."""
    from difflib import get_close_matches

    parents = {"sessions": sessions_app, "schema": schema_app}
    parent = parents.get(words[0]) if len(words) > 1 and not words[1].startswith("-") else None
    if parent is None or words[1] in parent:
        return ""
    verbs = sorted(name for name in parent if not name.startswith("-"))
    near = get_close_matches(words[1], verbs, 1, 0.6)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(verbs)}"
    return f"mm {words[0]} has no verb {words[1]!r}: {hint}"
