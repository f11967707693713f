"""`mm doctor`: looks at everything that a question needs, and says what it found; changes nothing."""

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from minime import __version__
from minime.core.config.settings import Settings, secrets
from minime.core.doctor.answering import (
    Called,
    StandIn,
    model_finding,
    server_findings,
    sighting,
    stand_in_finding,
    tools_finding,
    window_finding,
)
from minime.core.doctor.finding import Finding, finding_pieces, is_well, report, summary_text, well
from minime.core.doctor.place import (
    Kept,
    Repository,
    Screen,
    configuration_findings,
    git_finding,
    proxy_finding,
    python_finding,
    sessions_finding,
    terminal_finding,
)
from minime.core.model.servers import Offer
from minime.core.request import Sampling, build_request
from minime.core.session import new_session
from minime.core.text import mask
from minime.core.tools.toolbox import tool_declarations
from minime.core.turn import start
from minime.shell import clock
from minime.shell.config.config import Broken, load_settings
from minime.shell.config.places import project_files, user_file
from minime.shell.model.model import ModelFailed
from minime.shell.paper import Paper
from minime.shell.reaching import Reach
from minime.shell.store import Store

ASKED = "Call the tool list_directory for the current folder now. Do nothing else."
MOST_ANSWER = 1_000
MOST_INDEX = 100_000_000
VARIABLES = ("MM_MODEL", "MM_BASE_URL", "MM_API_KEY")


def doctor(
    project: Path,
    cwd: Path,
    environ: Mapping[str, str],
    *,
    config: Path | None,
    options: Mapping[str, object],
    ask: bool,
    as_json: bool,
) -> int:
    """Says what it found, a line as soon as it is known; with `ask` the model is asked a real question. The
    exit status: 1 when anything is wrong."""
    out = Paper(sys.stdout)
    findings: list[Finding] = []

    def add(*found: Finding) -> None:
        findings.extend(found)
        if not as_json:
            for finding in found:
                out.write(finding_pieces(finding))

    loaded = load_settings(project, environ=environ, config=config, options=options)
    settings = Settings() if isinstance(loaded, Broken) else loaded.settings
    version: tuple[int, int, int] = sys.version_info[:3]
    add(python_finding(version, __version__, sys.executable), well("project", str(project)))
    broken = loaded.lines if isinstance(loaded, Broken) else ()
    notices = () if isinstance(loaded, Broken) else loaded.notices
    add(*configuration_findings(_sources(project, config, environ, options), broken, notices))
    for found in asyncio.run(_answering(settings, cwd, environ, ask=ask)):
        add(msgspec.structs.replace(found, text=mask(found.text, secrets(settings))))
    add(*sessions_finding(_kept(project, settings)))
    add(*git_finding(_repository(project)))
    add(*terminal_finding(_screen(), environ))
    if as_json:
        out.line(msgspec.json.format(msgspec.json.encode(report(__version__, tuple(findings)))).decode())
    else:
        out.line("")
        out.line(summary_text(tuple(findings)), "bold")
    return 0 if is_well(tuple(findings)) else 1


def _sources(
    project: Path, config: Path | None, environ: Mapping[str, str], options: Mapping[str, object]
) -> tuple[str, ...]:
    """What may have a say in the settings, the strongest last."""
    files = [user_file(environ), config or next(filter(_is_there, project_files(project)), None)]
    named = [str(file) for file in files if file is not None and _is_there(file)]
    variables = [name for name in VARIABLES if environ.get(name, "").strip()]
    return (*named, *variables, *(f"--{name}" for name, value in options.items() if value))


def _is_there(path: Path) -> bool:
    return os.path.lexists(path)


async def _answering(
    settings: Settings, cwd: Path, environ: Mapping[str, str], *, ask: bool
) -> tuple[Finding, ...]:
    """What is found of servers and models; with `ask`, whether the model calls a tool."""
    from minime.shell.model import servers
    from minime.shell.model.embedded import find_weights, has_engine

    reach = Reach(settings, cwd, environ)
    seen, (name, server) = await asyncio.gather(servers.look_for_servers(), reach.glance())
    configured, trouble = await _configured(reach, settings)
    sightings = tuple(filter(None, (sighting(entry, page) for entry, page in seen)))
    is_file = (settings.model or "").endswith(".gguf")
    findings: list[Finding] = []
    if not is_file:
        findings += server_findings(sightings, configured, trouble)
    offers = [s.offer for s in sightings if s.offer] + ([configured] if configured else [])
    models = next((offer.models for offer in offers if offer.server == server), ())
    findings += proxy_finding(environ, server)
    if not trouble:
        file_trouble = _file_trouble(cwd / Path(settings.model or "").expanduser()) if is_file else ""
        found = model_finding(name, server, models, file_trouble)
        findings.append(found)
        if found.state == "well" and server is not None:
            await reach.survey_window()
            window = reach.window()
            if ask:
                findings.append(tools_finding(name, await _call(reach)))
                await reach.settled()
                window = reach.window()
            findings.append(window_finding(window, server.kind))
    stand_in = StandIn(has_engine(), find_weights(environ) is not None)
    findings.append(stand_in_finding(stand_in, needed=server is None))
    await reach.close()
    return tuple(findings)


async def _configured(reach: Reach, settings: Settings) -> tuple[Offer | None, str]:
    """The server of the settings with its models, and why it does not answer, if it does not."""
    if settings.base_url is None or (settings.model or "").endswith(".gguf"):
        return None, ""
    server, models = await reach.configured_models()
    return (Offer(server, models), "") if isinstance(models, tuple) else (Offer(server, ()), models)


async def _call(reach: Reach) -> Called:
    """One small question that only a tool call answers."""
    began = time.monotonic()
    try:
        connection = await reach.connected(lambda _: None)
        session = new_session(clock.stamp(), "You are a coding agent.", "")
        names = ("list_directory",)
        wanted = Sampling(temperature=0.0, max_tokens=MOST_ANSWER)
        body = build_request(session, start(ASKED), connection.name, tool_declarations(names), wanted)
        answer = await connection.model.ask(body, frozenset(names), lambda _: None)
    except ModelFailed as failed:
        return Called(trouble=failed.failure.shown)
    reach.loaded()
    refused = not connection.model.takes_tools(connection.name)
    return Called(bool(answer.tool_calls), refused, seconds=time.monotonic() - began)


def _file_trouble(path: Path) -> str:
    """Why a file of weights cannot be used."""
    from minime.core.model.embedded import Stuck, stuck_text
    from minime.shell.model.embedded import has_engine, unfit

    stuck = unfit(path) or (None if has_engine() else Stuck("no engine"))
    return stuck_text(stuck, str(path)) if stuck else ""


def _kept(project: Path, settings: Settings) -> Kept:
    store = Store(project)
    folder = str(store.folder)
    if not settings.sessions.enabled:
        return Kept(enabled=False, folder=folder)
    try:
        rows = tuple(store.rows(tuple(head.id for head in store.heads())))
    except OSError as error:
        return Kept(enabled=True, folder=folder, trouble=error.strerror or str(error))
    nearest = next(place for place in (store.folder, *store.folder.parents) if place.exists())
    trouble = "" if os.access(nearest, os.W_OK | os.X_OK) else f"{nearest} cannot be written"
    if not nearest.is_dir():
        trouble = f"{nearest} is no folder"
    damaged = tuple((row.id, row.damaged) for row in rows if row.damaged)
    free = shutil.disk_usage(nearest).free
    return Kept(
        enabled=True,
        folder=folder,
        trouble=trouble,
        sessions=len(rows) - len(damaged),
        damaged=damaged,
        free=free,
    )


def _repository(project: Path) -> Repository:
    """What git makes of `.mm`, by its files: git itself would run what a strange repository tells it to."""
    home = project / ".mm"
    if not (project / ".git").exists():
        return Repository(here=False)
    ignores = not home.exists() or any(
        line.strip() in wanted
        for file, wanted in (
            (home / ".gitignore", {"*"}),
            (project / ".gitignore", {".mm", ".mm/", "/.mm", "/.mm/"}),
        )
        for line in _text(file).splitlines()
    )
    return Repository(here=True, ignores=ignores, tracks=".mm/sessions/" in _text(project / ".git" / "index"))


def _text(path: Path) -> str:
    from minime.shell.tools.inside import read_regular

    try:
        return read_regular(path, MOST_INDEX).decode("latin-1")
    except OSError:
        return ""


def _screen() -> Screen:
    from importlib.util import find_spec

    if not sys.stdout.isatty():
        return Screen(is_terminal=False)
    size = shutil.get_terminal_size()
    return Screen(
        is_terminal=True,
        columns=size.columns,
        lines=size.lines,
        edits_lines=find_spec("readline") is not None,
    )
