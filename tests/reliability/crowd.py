"""Many mm on one project at once, some of them on one session: is every turn that was answered in some file?"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from tests.reliability.visits import at_command_line, in_editor, in_terminal
from tests.reliability.walks import NUMBER, Model, make_project, read_all
from tests.support.editor import at


class Crowd(msgspec.Struct, frozen=True):
    """What came of it: how many turns were confirmed, in how many files they stand, and which are in none."""

    processes: int
    sharing: int
    turns: int
    files: int
    lost: tuple[str, ...]


def crowd(folder: Path, processes: int, turns: int) -> Crowd:
    """`processes` visits of `turns` questions each, all at once; more than half of them, in terminals and in an
    editor, take up the same session before one of them saves it, the rest have their own."""
    project = make_project(folder)
    (project / "agent.yaml").write_text(
        "contextWindow: 1000000\n", encoding="utf-8"
    )  # no turn into a summary
    with Model(processes) as model:
        assert at_command_line(("q00 look",), project, at(model), ()) == 1
        [shared] = [file.stem for file in (project / ".mm" / "sessions").glob("*.json")]
        sharing = processes // 2 + 1

        def visit(number: int) -> tuple[str, ...]:
            steps = tuple(f"q{number}{turn:03d} look" for turn in range(turns))
            if number == 1:
                done = in_editor(steps, project, at(model), (), id=shared)
            elif number <= sharing:
                done = in_terminal(steps, project, at(model), (), "--resume", shared)
            else:
                done = in_terminal(steps, project, at(model), ())
            return steps[:done]

        with ThreadPoolExecutor(processes) as threads:
            confirmed = [step for steps in threads.map(visit, range(1, processes + 1)) for step in steps]
    found = read_all(project)
    kept = {number for one in found for number in one.questions}
    asked = ["00", *(NUMBER.findall(step)[0] for step in confirmed)]
    return Crowd(processes, sharing, len(confirmed), len(found), tuple(n for n in asked if n not in kept))
