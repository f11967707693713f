"""What is measured, as values: pairs of samples, floor and mm by turns, and the table that they make."""

import gc
import time
from collections.abc import Callable
from statistics import median

import msgspec


class Sample(msgspec.Struct, frozen=True):
    """One run: seconds on the clock and of the processor, and the most memory, in MB (0: not measured)."""

    wall: float
    cpu: float
    peak: float = 0.0


class Row(msgspec.Struct, frozen=True):
    """One line of the table: what mm does, against which floor, the bound on the ratio of their times (0:
    none), and the pairs (floor, mm), each run one behind the other; `room` bounds the memory, in MB (0: not),
    `more` the seconds of the processor beyond the floor's, and `enough` is a time, in seconds, that is good
    whatever the ratio."""

    area: str
    what: str
    floor: str
    goal: float
    pairs: tuple[tuple[Sample, Sample], ...]
    room: float = 0.0
    more: float = 0.0
    enough: float = 0.0

    @property
    def ratios(self) -> tuple[float, ...]:
        return tuple(subject.wall / floor.wall for floor, subject in self.pairs)

    @property
    def missed(self) -> bool:
        slow = 0 < self.goal < median(self.ratios) and median(s.wall for _, s in self.pairs) > self.enough
        dear = 0 < self.more < median(subject.cpu - floor.cpu for floor, subject in self.pairs)
        return slow or dear or 0 < self.room < self.peak

    @property
    def peak(self) -> float:
        return median(subject.peak for _, subject in self.pairs)


def by_turns(
    floor: Callable[[], Sample], subject: Callable[[], Sample], runs: int
) -> tuple[tuple[Sample, Sample], ...]:
    """Runs of the floor and of mm by turns, after one of each that does not count."""
    return tuple([(floor(), subject()) for _ in range(runs + 1)][1:])


def timed(work: Callable[[], object]) -> Callable[[], Sample]:
    """`work` with a watch on it, and with no garbage of others to collect."""

    def run() -> Sample:
        gc.collect()
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        return Sample(time.perf_counter() - wall, time.process_time() - cpu)

    return run


HEAD = (
    "| what | floor | ratio (least – most) | goal | floor, ms | mm, ms | processor time | peak, MB |\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def table(rows: tuple[Row, ...]) -> str:
    """The rows in Markdown, under a heading for each area."""
    lines: list[str] = []
    for row in rows:
        heading = f"## {row.area}"
        if heading not in lines:
            lines += ["", heading, "", HEAD]
        lines.append(row_text(row))
    return "\n".join(lines[1:]) + "\n"


def row_text(row: Row) -> str:
    """One row in Markdown: medians over its pairs."""
    goals = (
        f"≤ {row.goal:g}×" if row.goal else "",
        f"or ≤ {row.enough * 1000:.0f} ms" if row.enough else "",
        f"≤ {row.more:g} s more of the processor" if row.more else "",
        "**missed**" if row.missed else "",
    )
    goal = " ".join(filter(None, goals)) or "–"
    floors = [floor for floor, _ in row.pairs]
    subjects = [subject for _, subject in row.pairs]
    processor = [subject.cpu / floor.cpu for floor, subject in row.pairs if floor.cpu]
    room = f" (≤ {row.room:.0f})" if row.room else ""
    cells = (
        row.what,
        row.floor,
        f"{median(row.ratios):.2f}× ({min(row.ratios):.2f} – {max(row.ratios):.2f})",
        goal,
        milliseconds(floors),
        milliseconds(subjects),
        f"{median(processor):.2f}×" if processor else "–",
        f"{row.peak:.0f}{room}" if row.peak else "–",
    )
    return f"| {' | '.join(cells)} |"


def milliseconds(samples: list[Sample]) -> str:
    """The median time on the clock."""
    middle = median(sample.wall for sample in samples) * 1000
    return f"{middle:.0f}" if middle >= 100 else f"{middle:.1f}"
