"""`python -m tests.bench [--runs N]`: measures mm against floors and writes docs/reference/performance.md.

With `--show` the table goes to stdout and no file is written. A goal that is missed is told on stderr.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from minime import __version__
from tests.bench import editors, exports, startup, terminal
from tests.bench.environment import ROOT, Place, make_place
from tests.bench.rows import Row, table

PAGE = ROOT / "docs" / "reference" / "performance.md"


def main() -> None:
    """Measures all and writes it down."""
    reader = argparse.ArgumentParser(prog="python -m tests.bench")
    reader.add_argument("--runs", type=int, default=15, help="pairs of runs a row (default: 15)")
    reader.add_argument("--show", action="store_true", help="print the table and write no file")
    wanted = reader.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place = make_place(folder)
        (folder / "home").mkdir()
        (folder / "editor").mkdir()
        (folder / "terminal").mkdir()
        (folder / "share").mkdir()
        rows = (
            *startup.rows(place, folder / "home", wanted.runs),
            *terminal.rows(place, folder / "terminal", wanted.runs),
            *inside(place, wanted.runs),
            *exports.rows(place, folder / "share", wanted.runs),
            *editors.starts(place, folder / "editor", wanted.runs),
        )
        text = page(rows, place, load, wanted.runs)
    if wanted.show:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {PAGE.relative_to(ROOT)}\n")
    for row in rows:
        if row.missed:
            sys.stderr.write(f"goal missed: {row.what}\n")


def inside(place: Place, runs: int) -> tuple[Row, ...]:
    """The rows that one process measures of itself, in the environment of `place`."""
    done = subprocess.run(
        [place.python, "-m", "tests.bench.inside", str(runs)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    return tuple(msgspec.json.decode(line, type=Row) for line in done.stdout.splitlines())


def page(rows: tuple[Row, ...], place: Place, load: float, runs: int) -> str:
    """The page of the documentation."""
    today = datetime.now(UTC).date()
    return f"""# Performance

Written by `just bench` (`python -m tests.bench`); do not edit. Each row sets what mm does against a floor:
the least that any program in the same language and with the same libraries has to do. Both are run by turns,
{runs} times each after one run that does not count; the ratio is the median of the pairs, with the least and
the most of them in brackets. Times are medians.

In the rows about streams the floor does not look at what it receives. Where 20,000 deltas come at once, that
is next to nothing: decoding their JSON alone takes longer than receiving it. No model writes that fast.

Peaks are the resident memory of the process at its most; of `mm acp`, when it has answered and waits; of a load,
what Python allocates for it at most.

- {today}, mm {__version__}, {place.note}
- {platform.python_implementation()} {platform.python_version()}, {platform.system()} {platform.machine()}, \
{os.cpu_count()} × {processor()}; load at the start {load:.2f}
- {libraries(place)}

{table(rows)}"""


def processor() -> str:
    """The name of the processor, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "unknown processor")


def libraries(place: Place) -> str:
    """The versions of what mm stands on."""
    names = ("httpx", "httpcore", "anyio", "msgspec", "cyclopts")
    code = f"from importlib.metadata import version\nfor n in {names}: print(n, version(n), sep=' ')"
    done = subprocess.run([place.python, "-c", code], stdout=subprocess.PIPE, check=True, text=True)
    return ", ".join(done.stdout.splitlines())


if __name__ == "__main__":
    main()
