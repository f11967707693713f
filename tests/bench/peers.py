"""`python -m tests.bench.peers [--runs N] [NAME…]`: other agents for the terminal and mm, measured by turns.

Each peer is installed, in its newest version, into an environment of its own that is thrown away. The table is
written to docs/reference/peers.md (with names: to stdout). What cannot be installed or gives no answer has a row
that says so. No peer is given a key or a model.
"""

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import NamedTuple

from minime import __version__
from tests.bench.editors import until_answer
from tests.bench.environment import ROOT, Place, make_place
from tests.bench.peer_sessions import (
    MANY,
    keep_in_claude,
    keep_in_mm,
    keep_in_opencode,
    listed,
    until_listed,
    until_loaded,
)
from tests.bench.rows import Sample, by_turns
from tests.bench.startup import launch

PATIENCE = 600
"""Seconds that an installation may take."""


PAGE = ROOT / "docs" / "reference" / "peers.md"
HEAD = """\
# Other agents

Written by `just peers` (`python -m tests.bench.peers`) on {today}, with mm {version}; do not edit. Each agent is installed
in its newest version, given neither a key nor a model, and run by turns with mm: how many times mm's time and memory it
takes, as the median with the least and the most of the pairs. What it can do is not measured here, and some of them do
more than mm does. `mm --version` answers before it loads anything. The last two columns are of agents whose kept
conversations can be written beforehand, in their own form and with the same words: 1,001 of them, of which one has
10,000 messages. Measured is the whole process, until the editor has the list of all, or the long one whole; of the
others nothing is known ("–"), since they keep none, keep them where no key opens it, or ask for a key first.

"""


class Peer(NamedTuple):
    """A package of PyPI or npm, its program, and the words with which the program speaks ACP (none: it does
    not, or not by itself)."""

    package: str
    program: str
    npm: bool = False
    acp: tuple[str, ...] | None = None


PEERS = (
    Peer("llm", "llm"),
    Peer("aider-chat", "aider"),
    Peer("mini-swe-agent", "mini"),
    Peer("kimi-cli", "kimi", acp=("acp",)),
    Peer("fast-agent-mcp", "fast-agent"),
    Peer("opencode-ai", "opencode", npm=True, acp=("acp",)),
    Peer("@google/gemini-cli", "gemini", npm=True, acp=("--experimental-acp",)),
    Peer("@qwen-code/qwen-code", "qwen", npm=True, acp=("--acp",)),
    Peer("@mariozechner/pi-coding-agent", "pi", npm=True),
    Peer("@zed-industries/claude-agent-acp", "claude-agent-acp", npm=True, acp=()),
    Peer("@zed-industries/codex-acp", "codex-acp", npm=True, acp=()),
)


def main() -> None:
    """Measures those that are named, or all."""
    reader = argparse.ArgumentParser(prog="python -m tests.bench.peers")
    reader.add_argument("--runs", type=int, default=5, help="pairs of runs a figure (default: 5)")
    reader.add_argument("names", nargs="*", help="packages (default: all that are known)")
    wanted = reader.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = make_place(Path(name))
        lines = [
            "| peer | `--version`, × mm | its memory, × mm | ACP until `initialize` is answered, × mm "
            "| until 1,001 sessions are listed, × mm | until 10,000 messages are loaded, × mm |",
            "| --- | ---: | ---: | ---: | ---: | ---: |",
        ]
        for number, peer in enumerate(PEERS):
            if not wanted.names or peer.package in wanted.names:
                folder = Path(name) / str(number)
                (folder / "home").mkdir(parents=True)
                lines.append(f"| `{peer.package}` | {' | '.join(cells(peer, place, folder, wanted.runs))} |")
                shutil.rmtree(folder, ignore_errors=True)
    table = (
        "\n".join(lines) + f"\n\n{wanted.runs} pairs a figure; load at the end {os.getloadavg()[0]:.2f}.\n"
    )
    if wanted.names:
        sys.stdout.write(table)
    else:
        PAGE.write_text(
            HEAD.format(today=datetime.now(UTC).date(), version=__version__) + table, encoding="utf-8"
        )
        sys.stdout.write(f"wrote {PAGE.relative_to(ROOT)}\n")


def cells(peer: Peer, place: Place, folder: Path, runs: int) -> tuple[str, ...]:
    """The row of a peer."""
    programs = install(peer, folder)
    if programs is None:
        return "cannot be installed here", "–", "–", "–", "–"
    home = folder / "home"
    env = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(home)}
    patience = ("timeout", "60") if shutil.which("timeout") else ()
    program = str(programs / peer.program)

    def version(*command: str) -> Callable[[], Sample]:
        return lambda: launch((*command, "--version"), home, env)[0]

    def answer(*command: str) -> Callable[[], Sample]:
        return lambda: until_answer(*patience, *command, cwd=home, env=env)

    start = measured(version(*place.mm), version(program), runs)
    if peer.acp is None:
        return *ratios(start), "does not speak it by itself", "–", "–"
    spoken = ratios(measured(answer(*place.mm, "acp"), answer(program, *peer.acp), runs))[0]
    return *ratios(start), spoken, *_kept(peer, (*place.mm, "acp"), (program, *peer.acp), home, env, runs)


def _kept(
    peer: Peer, mm: tuple[str, ...], command: tuple[str, ...], home: Path, env: dict[str, str], runs: int
) -> tuple[str, str]:
    """How long it takes to list the conversations that it keeps, and to load a long one."""
    cwd = home / "project"
    cwd.mkdir()
    try:
        match peer.program:
            case "claude-agent-acp":
                theirs = keep_in_claude(home, cwd)
            case "opencode":
                theirs = keep_in_opencode(home, cwd, command, env)
            case _:
                return "–", "–"
        found = listed(command, cwd, env)
    except (AssertionError, OSError, ValueError, KeyError, TypeError, sqlite3.Error):
        return "–", "–"  # it keeps them in another way today
    ours = keep_in_mm(cwd)
    assert listed(mm, cwd, env) == MANY + 1
    lists = measured(lambda: until_listed(mm, cwd, env), lambda: until_listed(command, cwd, env), runs)
    list_cell = ratios(lists)[0] + (f", {found} of them" if found <= MANY else "")
    if not theirs:
        return list_cell, "asks for a key first"
    loaded = measured(
        lambda: until_loaded(mm, cwd, env, ours), lambda: until_loaded(command, cwd, env, theirs), runs
    )
    return list_cell, ratios(loaded)[0]


def measured(
    mm: Callable[[], Sample], peer: Callable[[], Sample], runs: int
) -> tuple[tuple[Sample, Sample], ...]:
    """Runs of mm and the peer by turns; none where one failed."""
    try:
        return by_turns(mm, peer, runs)
    except (AssertionError, OSError, ValueError, subprocess.SubprocessError):
        return ()


def ratios(pairs: tuple[tuple[Sample, Sample], ...]) -> tuple[str, str]:
    """How many times mm's time and memory the peer takes: the median, the least and the most."""
    if not pairs:
        return "–", "–"
    return _text([other.wall / own.wall for own, other in pairs]), _text([
        other.peak / own.peak for own, other in pairs
    ])


def _text(found: list[float]) -> str:
    return f"{median(found):.1f}× ({min(found):.1f} – {max(found):.1f})"


def install(peer: Peer, folder: Path) -> Path | None:
    """Where the peer's programs are; None when it could not be installed."""
    client = shutil.which("npm" if peer.npm else "uv")
    if client is None:
        return None
    steps: list[list[str | Path]]
    if peer.npm:
        steps = [[client, "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, peer.package]]
        programs = folder / "node_modules" / ".bin"
    else:
        env = folder / "env"
        steps = [
            [client, "venv", "--quiet", "--python", sys.executable, env],
            [client, "pip", "install", "--quiet", "--compile-bytecode", "--python", env, peer.package],
        ]
        programs = env / "bin"
    try:
        for step in steps:
            subprocess.run(step, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
    except (OSError, subprocess.SubprocessError):
        return None
    return programs if (programs / peer.program).exists() else None


if __name__ == "__main__":
    main()
