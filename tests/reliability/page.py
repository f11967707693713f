"""The page of the documentation that says what was broken, and what was lost."""

from collections import Counter
from datetime import UTC, datetime

from minime import __version__
from tests.reliability.crowd import Crowd
from tests.reliability.kills import Kill
from tests.reliability.large import MEMORY_GOAL, Large

DEEDS = {
    "mkdir": "the folder is made",
    "openat": "a draft, the lock, the file or the folder is opened",
    "flock": "the lock is taken",
    "write": "the draft is written",
    "fsync": "the draft or the folder is put on the disk",
    "link": "a new file is put in its place",
    "rename": "the file is replaced",
    "unlink": "what is left of a draft is removed",
}


def page(
    found: dict[str, tuple[int, list[Kill]]], crowded: Crowd, measured: tuple[Large, ...], machine: str
) -> str:
    """The whole page, in Markdown."""
    kills = [one for _, some in found.values() for one in some if one.hit]
    lost = [one for one in kills if one.fault]
    by_call = Counter(one.call for one in kills if one.touches)
    walks = "\n".join(
        f"| {name} | {calls} | {sum(bool(one.hit) for one in some)} | {sum(bool(one.fault) for one in some)} |"
        for name, (calls, some) in found.items()
    )
    calls = "\n".join(
        f"| `{name}` | {DEEDS.get(name, '')} | {number} |" for name, number in by_call.most_common()
    )
    large = "\n".join(_row(one) for one in measured)
    return f"""# Reliability

Written by `just reliability` (`python -m tests.reliability`); do not edit. What it stands for is told in
[conversations that last](../explanation/persistent-sessions.md).

- {datetime.now(UTC).date()}, mm {__version__}
- {machine}

## Killed at each call

The real `mm` holds scripted conversations with a model server on the same machine: 20 turns with up to two
rounds of tools each, with `/compact`, `/new`, `/fork`, `/title`, `/undo` and failing questions, in a terminal and in
an editor; and one question at the command line. `strace` ends it with SIGKILL as it makes one of the system calls
that touch `.mm`. Then every session file has to be whole; every conversation has to hold each turn that was confirmed
(by the next prompt, the answer to the editor, the exit status), its errors and its title; no more than the round of
tools in hand may be gone; and the next `mm` has to go on from there and leave no leftover.

| visited by | calls on `.mm` | kills | something lost |
| --- | ---: | ---: | ---: |
{walks}
| all | {sum(calls for calls, _ in found.values())} | {len(kills)} | {len(lost)} |

{sum(by_call.values())} of the kills hit a call on `.mm`, the rest one beside it:

| call | when | kills |
| --- | --- | ---: |
{calls}

In all the walks each save made its calls in this order: write the draft, `fsync` it, put it in place (`link` for a new
file, `rename` for an old one), `fsync` the folder.

## Many at once

{crowded.processes} processes in one project, {crowded.sharing} of them on one session, {crowded.turns} turns in all. Of the turns
that were answered, {len(crowded.lost)} are in none of the {crowded.files} files.

## A very large session

Load it, add a turn, save it, in a process of its own; against decoding, encoding, writing and syncing the same bytes.
Memory is what the process needs at its most beyond one that does nothing, as a multiple of the file.

| session | file, MB | floor, s | mm, s | ratio | goal | memory | goal |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
{large}
"""


def _row(one: Large) -> str:
    missed = " **missed**" if one.missed else ""
    goal = f"≤ {one.time_goal:g}×" if one.time_goal < float("inf") else "–"
    return (
        f"| {one.what} | {one.size:.0f} | {one.floor:.2f} | {one.mm:.2f} | {one.ratio:.2f}× "
        f"| {goal}{missed} | {one.memory:.1f}× | ≤ {MEMORY_GOAL:g}× |"
    )
