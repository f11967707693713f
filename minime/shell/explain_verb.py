"""`mm explain`: what went wrong in a conversation, by rules or by the model, and the change of agent.yaml
that would help, made when the person says so."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from minime.core.config.config_change import changed_text, diff_lines, yaml_block
from minime.core.config.settings import Settings
from minime.core.diagnosis import Changes, diagnose, proposed
from minime.core.explaining import (
    ANSWER_TOKENS,
    Proposal,
    checked,
    finding_pieces,
    headline,
    model_question,
    overruled,
)
from minime.core.pieces import Style
from minime.core.values import Session
from minime.shell import clock
from minime.shell.config.config import Broken, Loaded, load_settings
from minime.shell.config.places import project_files
from minime.shell.config.yaml_file import Unusable, Yaml, parse_yaml, read_bytes
from minime.shell.display import Display
from minime.shell.paper import Paper
from minime.shell.store import Store
from minime.shell.wanted_session import complain, wanted_session
from minime.shell.whole_file import drafted, put_in_place

DONE, FAILED, WRONG = 0, 1, 2
DIFF_STYLES: dict[str, Style] = {"+": "green", "-": "red"}
Ask = Callable[[str], bool]


class Wishes(msgspec.Struct, frozen=True):
    """What the command line asks for; `start` is where mm works."""

    start: Path
    config: Path | None = None
    model: str | None = None
    trust: bool = False
    ask_model: bool = False
    as_json: bool = False


def explain(store: Store, wanted: str, wishes: Wishes, environ: Mapping[str, str], ask: Ask) -> int:
    """Says what went wrong in the session that is meant, and offers to change agent.yaml. The session itself
    is left as it is. 1 when it cannot be read or the model gives no answer, 2 when the configuration is
    broken."""
    session = wanted_session(store, wanted)
    if session is None:
        return FAILED
    loaded = load_settings(
        store.project,
        environ=environ,
        config=wishes.config,
        options={"model": wishes.model},
        trust=wishes.trust,
    )
    if isinstance(loaded, Broken):
        for line in loaded.lines:
            Paper(sys.stderr).line(line, "red")
        return WRONG
    out = Paper(sys.stdout)
    findings = diagnose(session.errors, loaded.settings)
    proposal = checked(proposed(findings), loaded.settings)
    if wishes.as_json:
        told = {"id": session.id, "findings": findings, "change": proposal.changes}
        out.line(json.dumps(msgspec.to_builtins(told), ensure_ascii=False, indent=2))
        return DONE
    out.line(headline(session), "bold")
    out.write(finding_pieces(findings, session.id, clock.local, out.columns))
    if not findings:
        return DONE
    if wishes.ask_model:
        answered = _ask_model(session, loaded.settings, store.project, wishes, environ)
        if answered is None:
            return FAILED
        if answered.changes or answered.refused:
            proposal = answered
    return _offer(proposal, loaded, store.project, wishes.config, ask)


def _ask_model(
    session: Session, settings: Settings, project: Path, wishes: Wishes, environ: Mapping[str, str]
) -> Proposal | None:
    """What the model says, shown as it comes, and proposes; None when it gave no answer, which is said."""
    from minime.shell.agent import Agent
    from minime.shell.model.model import ModelFailed

    out = Paper(sys.stdout)
    display = Display(out, out)

    async def asked() -> str:
        agent = Agent(settings, project, wishes.start.resolve(), environ)
        try:
            async with display.watched():
                question = model_question(session, settings)
                answer = await agent.asking.sum_up(question, ANSWER_TOKENS, display.show)
        finally:
            await agent.close()
        return answer.content

    out.line("")
    try:
        answer = asyncio.run(asked())
    except ModelFailed as failed:
        complain(failed.failure.shown)
        return None
    display.pause()
    out.line("")
    read = parse_yaml(yaml_block(answer).encode())
    return checked(read.values, settings) if isinstance(read, Yaml) else Proposal(refused=(read.text,))


def _offer(proposal: Proposal, loaded: Loaded, project: Path, config: Path | None, ask: Ask) -> int:
    """Shows what would change in agent.yaml, and changes it when the person says yes."""
    out, err = Paper(sys.stdout), Paper(sys.stderr)
    for line in (*proposal.refused, *overruled(proposal.changes, loaded.settings)):
        err.line(line, "yellow")
    if not proposal.changes:
        return DONE
    path = config or next((p for p in project_files(project) if p.exists()), project_files(project)[0])
    before = read_bytes(path)
    if isinstance(before, Unusable):
        complain(f"{path} {before.text}")
        return FAILED
    after = _with(before or b"", proposal.changes)
    if after is None:
        err.line(f"set these by hand in {path}: {', '.join(proposal.changes)}", "yellow")
        return DONE
    out.line("\nThis change of agent.yaml would help:", "bold")
    for line in diff_lines((before or b"").decode("utf-8-sig"), after.decode(), path.name):
        out.line(line, DIFF_STYLES.get(line[:1], "dim"))
    if not ask(f"Change {path.name}?"):
        err.line("nothing changed", "dim")
        return DONE
    try:
        _write(path, before, after, project if config is None else None)
    except OSError as error:
        complain(f"cannot write {path}: {error.strerror or error}")
        return FAILED
    out.line(f"changed {path}; it holds from the next start on")
    if loaded.asks is not None and loaded.asks.trusted and config is None:
        err.line("the file is another one now, and has to be trusted anew: mm trust", "yellow")
    return DONE


def _with(before: bytes, changes: Changes) -> bytes | None:
    """The file with the changes, when it then says just that; None where it has to be done by hand."""
    was = parse_yaml(before)
    if not isinstance(was, Yaml):
        return None
    after = changed_text(before.decode("utf-8-sig"), changes).encode()
    now = parse_yaml(after)
    return after if isinstance(now, Yaml) and now.values == {**was.values, **changes} else None


def _write(path: Path, before: bytes | None, after: bytes, inside: Path | None) -> None:
    """Puts `after` in the place of `before`, whole. Raises OSError, also when the file is another by now."""
    real = path.resolve()
    if inside is not None and not real.is_relative_to(inside.resolve()):
        raise OSError(0, "it is a link that leads out of the project")
    if read_bytes(real) != before:
        raise OSError(0, "it was changed meanwhile")
    with drafted(real, after) as draft:
        draft.chmod(real.stat().st_mode & 0o777 if before is not None else 0o644)
        put_in_place(draft, real)
