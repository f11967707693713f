"""`python -m tests.reliability`: breaks mm in every way it knows, and writes docs/reference/reliability.md.

`--kills N` kills at N of the calls, evenly spread, instead of at all of them; with `--show` the page goes to
stdout and no file is written. Exit status 1 when something was lost, or a goal missed.
"""

import argparse
import os
import platform
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.conftest import ROOT
from tests.reliability.crowd import Crowd, crowd
from tests.reliability.kills import WALKS, Kill, Walk, kill, points
from tests.reliability.large import Large, large
from tests.reliability.page import page
from tests.reliability.traced import Point, can_trace, order_fault

PAGE = ROOT / "docs" / "reference" / "reliability.md"


def main() -> int:
    """Breaks all and writes it down. The result is the exit status."""
    reader = argparse.ArgumentParser(prog="python -m tests.reliability")
    reader.add_argument("--kills", type=int, default=0, help="how many kills (default: at every call)")
    reader.add_argument("--turns", type=int, default=200, help="turns of the crowd (default: 200)")
    reader.add_argument("--megabytes", type=int, default=50, help="size of the large session (default: 50)")
    reader.add_argument("--runs", type=int, default=5, help="runs a measure (default: 5)")
    reader.add_argument("--show", action="store_true", help="print the page and write no file")
    wanted = reader.parse_args()
    if not can_trace():
        sys.stderr.write("strace is not there, or may not trace here\n")
        return 1
    with tempfile.TemporaryDirectory() as name:
        os.environ["HOME"] = name
        folder = Path(name)
        measured = measure(wanted.megabytes * 1_000_000, wanted.runs)
        crowded = crowd(folder / "crowd", 8, wanted.turns // 8)
        found = killed(folder, wanted.kills)
    text = page(found, crowded, measured, machine())
    if wanted.show:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {PAGE.relative_to(ROOT)}\n")
    return complain(found, crowded, measured)


def measure(size: int, runs: int) -> tuple[Large, ...]:
    """The large session, without and with keys that mm does not know."""
    return (
        large("keys that mm knows", size, runs),
        large("and one that it does not, in every question", size, runs, unknown=True),
    )


def killed(folder: Path, most: int) -> dict[str, tuple[int, list[Kill]]]:
    """For each walk how many of its calls touch the sessions folder, and the kills."""
    aims: dict[str, list[Point]] = {}
    for walk in WALKS:
        calls = points(walk, folder / walk.visit.__name__)
        wrong = order_fault([line for _, line in calls])
        assert not wrong, f"{walk.name}: {wrong}"
        aims[walk.name] = [aim for aim, _ in calls]
    whole = sum(map(len, aims.values()))
    share = max(1.0, whole / most) if most else 1.0
    found: dict[str, tuple[int, list[Kill]]] = {}
    for walk in WALKS:
        mine = aims[walk.name]
        chosen = [mine[int(place * share)] for place in range(int(len(mine) / share))]
        found[walk.name] = (len(mine), list(_all(walk, chosen, folder)))
    return found


def _all(walk: Walk, aims: list[Point], folder: Path) -> list[Kill]:
    def one(numbered: tuple[int, Point]) -> Kill:
        number, aim = numbered
        done = kill(walk, aim, folder / f"{walk.visit.__name__}-{number}")
        if done.fault:
            sys.stderr.write(f"{walk.name}, {aim.name} {aim.number}, {done.step}: {done.fault}\n{done.hit}\n")
        return done

    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        return list(threads.map(one, enumerate(aims)))


def machine() -> str:
    """What it ran on, in general terms."""
    return (
        f"{platform.python_implementation()} {platform.python_version()}, {platform.system()}"
        f" {platform.machine()}, {os.cpu_count()} processors"
    )


def complain(found: dict[str, tuple[int, list[Kill]]], crowded: Crowd, measured: tuple[Large, ...]) -> int:
    """Says what went wrong, on stderr. The result is the exit status."""
    wrong = [
        *(
            f"{one.walk}, {one.step}: {one.fault}"
            for _, kills in found.values()
            for one in kills
            if one.fault
        ),
        *(f"the turn {number} is in no file" for number in crowded.lost),
        *(f"goal missed: {one.what}" for one in measured if one.missed),
    ]
    sys.stderr.write("".join(f"{line}\n" for line in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
