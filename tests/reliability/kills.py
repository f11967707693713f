"""mm killed at each system call that touches its sessions folder, and what is on disk then."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from minime.core.codec import Unreadable
from tests.reliability.traced import Point, last_call, strace, touching
from tests.reliability.visits import at_command_line, in_editor, in_terminal
from tests.reliability.walks import EDITOR, ONE_SHOT, TERMINAL, Expected, Model, fault, make_project, read_all
from tests.support.editor import at
from tests.support.mm import run_mm

Visit = Callable[..., int]


class Walk(msgspec.Struct, frozen=True):
    """A way to go through mm: how it is visited, with which steps."""

    name: str
    visit: Visit
    steps: tuple[str, ...]


WALKS = (
    Walk("the terminal", in_terminal, TERMINAL),
    Walk("an editor", in_editor, EDITOR),
    Walk("the command line", at_command_line, ONE_SHOT),
)


class Kill(msgspec.Struct, frozen=True):
    """One kill: where it was aimed at, the call that it hit (empty: mm was done before), in which step, and
    what was wrong afterwards (empty: nothing)."""

    walk: str
    aim: Point
    hit: str
    step: str
    fault: str

    @property
    def touches(self) -> bool:
        """Whether the call was one on the sessions folder."""
        return "/.mm" in self.hit

    @property
    def call(self) -> str:
        """The call's name."""
        return self.hit.split("(")[0].split()[-1] if self.hit else ""


def points(walk: Walk, folder: Path) -> list[tuple[Point, str]]:
    """The calls of a whole walk that touch the sessions folder, each with its line."""
    project = make_project(folder)
    log = folder / "log"
    with Model() as model:
        done = walk.visit(walk.steps, project, at(model), strace(log))
    assert done == len(walk.steps), f"{walk.name}: only {done} steps are done"
    expected = _expected(walk, len(walk.steps) - 1)
    wrong = fault(project, expected, walk.steps[-1], model.asked)
    assert not wrong, wrong
    return touching(log)


def kill(walk: Walk, aim: Point, folder: Path) -> Kill:
    """One walk with its end at `aim`, and the start behind it."""
    project = make_project(folder)
    log = folder / "log"
    with Model() as model:
        inject = f"{aim.name}:signal=SIGKILL:when={aim.number}"
        done = walk.visit(walk.steps, project, at(model), strace(log, inject))
        if done == len(walk.steps):
            return Kill(walk.name, aim, "", "", "")
        step, expected = walk.steps[done], _expected(walk, done)
        try:
            wrong = fault(project, expected, step, model.asked)
        except Unreadable as error:
            wrong = f"a file is damaged: {error}"
        wrong = wrong or _start_again(project, model)
    return Kill(walk.name, aim, last_call(log), step, wrong)


def _start_again(project: Path, model: Model) -> str:
    """What is wrong with the next start; it takes up the newest session, if there is one."""
    before = read_all(project)
    used = [one for one in before if one.session.title]
    words = ("--continue", "q30 look") if used else ("q30 look",)
    done = run_mm(*words, cwd=project, env=at(model))
    if done.returncode != 0:
        return f"the next start fails: {done.stderr.strip()}"
    left = [file.name for file in (project / ".mm" / "sessions").iterdir() if file.suffix == ".tmp"]
    if left:
        return f"a leftover stays: {left}"
    after = read_all(project)
    if sum("30" in one.questions for one in after) != 1 or len(after) != len(before) + (not used):
        return "the next turn is not kept in its place"
    return ""


def _expected(walk: Walk, done: int) -> Expected:
    expected = Expected()
    for step in walk.steps[:done]:
        expected = expected.after(step)
    return expected
