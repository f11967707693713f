"""`mm replay`: a recorded conversation through the agent as it is today, without a model or a tool."""

import asyncio
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from minime.core.budget import Budget
from minime.core.codec import Unreadable, decode
from minime.core.config.fit import fit_for
from minime.core.config.settings import Settings
from minime.core.events import Event, ToolStarted
from minime.core.instructions import system_prompt
from minime.core.listing import count
from minime.core.model.failures import Failure
from minime.core.replays import (
    NO_ANSWER,
    Called,
    Ended,
    Recorded,
    Request,
    Step,
    called,
    difference,
    differing,
    is_ours,
    recorded_result,
    recorded_turns,
    replay_texts,
)
from minime.core.request import build_request, offered_tools, sampling
from minime.core.session import with_system
from minime.core.tools.toolbox import Action, tool_declarations
from minime.core.turn import Turn
from minime.core.values import Assistant, Session, Tool, ToolCall
from minime.shell.config.config import Broken, load_settings
from minime.shell.context import context_files
from minime.shell.loop import Emit, Hands, run_turn
from minime.shell.model.model import ModelFailed
from minime.shell.paper import Paper
from minime.shell.tools.inside import read_regular
from minime.shell.tools.tools import Ready

DONE, FAILED, WRONG = 0, 1, 2
LARGEST = 1_000_000_000


def replay(
    file: Path, folder: Path, project: Path, environ: Mapping[str, str], *, config: Path | None, update: bool
) -> int:
    """Compares what the agent does with the recording in `file` with what is kept in `folder`: 0 when it is
    the same, 1 with the differences on stdout when it is not. With `update`, what it does today is kept."""
    err = Paper(sys.stderr)
    session = _recording(file)
    if isinstance(session, str):
        err.line(f"mm: cannot read {file}: {session}", "red")
        return FAILED
    loaded = load_settings(project, environ=environ, config=config)
    if isinstance(loaded, Broken):
        for line in loaded.lines:
            err.line(line, "red")
        return WRONG
    for line in loaded.notices:
        err.line(line, "yellow")
    turns = tuple(recorded_turns(session))
    if not turns:
        err.line(f"mm: {file} holds no turn to replay", "red")
        return FAILED
    system = system_prompt(loaded.settings.instruction, context_files(loaded.settings, project))
    steps = asyncio.run(replayed(turns, system, loaded.settings, session.model))
    today = replay_texts(steps)
    kept = _kept(folder)
    if update:
        return _keep(folder, kept, today, err)
    if not kept:
        err.line(f"mm: nothing is kept in {folder} yet: --update keeps what is done today", "red")
        return FAILED
    return _compare(folder, kept, today, steps)


def _compare(
    folder: Path, kept: Mapping[str, str], today: Mapping[str, str], steps: tuple[tuple[Step, ...], ...]
) -> int:
    out, err = Paper(sys.stdout), Paper(sys.stderr)
    changed = differing(kept, today)
    if changed:
        for name in changed:
            out.write(difference(str(folder), name, kept.get(name), today.get(name)))
        told = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
        err.line(f"not as kept in {folder}: {told} (--update keeps what is done today)", "red")
        return FAILED
    flat = [step for turn in steps for step in turn]
    requests = count(sum(isinstance(step, Request) for step in flat), "request")
    calls = count(sum(isinstance(step, Called) for step in flat), "tool call")
    out.line(f"{count(len(steps), 'turn')}, {requests}, {calls}: all as kept in {folder}")
    return DONE


def _keep(folder: Path, kept: Mapping[str, str], today: Mapping[str, str], err: Paper) -> int:
    """Writes the texts that are new, and removes those of turns that are gone; other files stay."""
    changed = differing(kept, today)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in changed:
            if name in today:
                (folder / name).write_text(today[name], encoding="utf-8", newline="\n")
            else:
                (folder / name).unlink()
    except OSError as error:
        err.line(f"mm: cannot write {error.filename or folder}: {error.strerror}", "red")
        return FAILED
    err.line(f"kept in {folder}: {', '.join(changed)}" if changed else f"nothing new for {folder}")
    return DONE


async def replayed(
    turns: tuple[Recorded, ...], system: str, settings: Settings, model: str
) -> tuple[tuple[Step, ...], ...]:
    """What the agent does with each turn, by these settings; `model` is the one that answered then."""
    return tuple([await _turn_steps(turn, system, settings, settings.model or model) for turn in turns])


async def _turn_steps(recorded: Recorded, system: str, settings: Settings, model: str) -> tuple[Step, ...]:
    """What the agent does with the question, when the model answers as it did then."""
    steps: list[Step] = []
    answers = list(recorded.answers)
    suits = fit_for(False, settings)
    session = with_system(recorded.before, system)

    async def ask(session: Session, turn: Turn, emit: Emit) -> Assistant:
        names = offered_tools(suits, settings.tools, turn)
        chosen = sampling(settings, suits, turn, names)
        body = build_request(session, turn, model, tool_declarations(names), chosen)
        steps.append(Request(body))
        if not answers:
            raise ModelFailed(Failure("empty", NO_ANSWER))
        return answers.pop(0)

    async def budget(turn: Turn | None, emit: Emit) -> Budget:
        return Budget()

    async def prepare(action: Action) -> Ready:
        return Ready(action)

    async def consent(call: ToolCall, ready: Ready) -> str:
        return ""

    async def run(call_id: str, ready: Ready, progress: Callable[[str], None]) -> Tool:
        return recorded_result(recorded, call_id)

    async def sum_up(*_: object) -> Assistant:
        raise ModelFailed(Failure("empty", "no summary is made in a replay"))

    def watch(event: Event) -> None:
        if isinstance(event, ToolStarted):
            steps.append(called(event.title, event.call, settings.tools, settings.mode, settings.permissions))

    hands = Hands(ask, budget, sum_up, prepare, consent, run, lambda _: None)
    turn = Turn((recorded.question,))
    ended, outcome = await run_turn(session, turn, hands, watch, settings.tools, suits.max_steps)
    return (*steps, Ended(ended, outcome, len(answers)))


def _recording(file: Path) -> Session | str:
    """The session in the file, or why there is none."""
    try:
        return decode(read_regular(file, LARGEST))
    except Unreadable as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)


def _kept(folder: Path) -> dict[str, str]:
    """The texts that are kept, by name. Raises OSError where the folder is there and cannot be read."""
    try:
        names = sorted(path.name for path in folder.iterdir() if is_ours(path.name))
    except FileNotFoundError:
        return {}
    return {name: (folder / name).read_text(encoding="utf-8", errors="replace") for name in names}
