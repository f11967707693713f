"""The real mm under strace: which calls touch the sessions folder, and a kill at one of them."""

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import msgspec

CALLS = (
    "mkdir", "openat", "flock", "write", "fsync", "link", "linkat", "rename", "unlink", "unlinkat",
)  # fmt: skip
LINE = re.compile(r"^(\d+) +(\w+)\(")
KILLED = re.compile(r"^\d+ +\+\+\+ killed by SIGKILL")


class Point(msgspec.Struct, frozen=True):
    """A system call: the `number`th of its name in its thread (from 1)."""

    name: str
    number: int


def can_trace() -> bool:
    """Whether strace is there and may trace here."""
    if shutil.which("strace") is None:
        return False
    done = subprocess.run(["strace", "-qq", "-o", os.devnull, "true"], capture_output=True, check=False)
    return done.returncode == 0


def strace(log: Path, *inject: str) -> tuple[str, ...]:
    """The words in front of a command, to have its calls written to `log`, and each of `inject` done."""
    more = (word for what in inject for word in ("-e", f"inject={what}"))
    return ("strace", "-f", "-y", "-qq", "-o", str(log), "-e", f"trace={','.join(CALLS)}", *more)


def touching(log: Path) -> list[tuple[Point, str]]:
    """The calls in `log` that touch a `.mm` folder, in order, each with its line."""
    seen: Counter[tuple[str, str]] = Counter()
    found: list[tuple[Point, str]] = []
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        match = LINE.match(line)
        if match is None:
            continue
        thread, name = match.groups()
        seen[thread, name] += 1
        if "/.mm" in line:
            found.append((Point(name, seen[thread, name]), line))
    return found


def last_call(log: Path) -> str:
    """The line of the call at which a process was killed: the last that began."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line for line in reversed(lines) if LINE.match(line)), "")


STEPS = (
    ("write", re.compile(r" write\(.*/\.mm/sessions/\.[^/]*\.tmp>")),
    ("sync", re.compile(r" fsync\(.*/\.mm/sessions/\.[^/]*\.tmp>")),
    ("place", re.compile(r" (?:rename|link)\(.*/\.mm/sessions/[^.][^/]*\.json\"")),
    ("folder", re.compile(r" fsync\(\d+</[^>]*/\.mm/sessions>\)")),
)


def order_fault(lines: list[str]) -> str:
    """What is wrong with the order of the calls of the saves in `lines`; empty: nothing is. Each has to write
    its draft, sync it, put it in place, and sync the folder."""
    done = [name for line in lines for name, form in STEPS if form.search(line) and " = -1 " not in line]
    before = "folder"
    for name in done:
        if (before, name) not in ALLOWED:
            return f"{name} comes behind {before}: {' '.join(done)}"
        before = name
    return "" if done and before == "folder" else "the last save is not whole"


ALLOWED = {("folder", "write"), ("write", "write"), ("write", "sync"), ("sync", "place"), ("place", "folder")}
