"""The files below a folder, in order, without those that `.gitignore` files leave out."""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from minime.core.tools.places import passed_over
from minime.shell.tools.inside import Place, open_below, open_file, open_folder

ENTRIES_A_FOLDER = 20_000
"""Names read of one folder; the rest of a fuller one is not seen."""

DEEPEST = 64
"""Levels that are gone down at most."""

_IGNORE_FILE_LIMIT = 1_000_000


class Entry(NamedTuple):
    """A name met on the way: `parts` below the start, and the open folder that holds it."""

    parts: tuple[str, ...]
    is_folder: bool
    is_link: bool
    folder: int


class Ignoring(NamedTuple):
    """The rules of one `.gitignore`, and how many parts of a path lead to its folder."""

    level: int
    spec: Any


def walk(place: Place, depth: int = DEEPEST) -> Iterator[Entry]:
    """The entries below the folder at the place, `depth` levels deep: in each folder first the folders,
    each followed by what is in it, then the files. A folder that is ignored itself is walked when it is
    asked for by name. Raises OSError when the folder at the place cannot be opened."""
    with open_folder(place) as folder:
        yield from _walk(folder, place.parts, (), _rules_above(place), min(depth, DEEPEST))


def _walk(
    folder: int, above: tuple[str, ...], below: tuple[str, ...], rules: tuple[Ignoring, ...], depth: int
) -> Iterator[Entry]:
    here = above + below
    rules += _rules_in(folder, len(here))
    files: list[Entry] = []
    for name, is_folder, is_link in _entries(folder):
        if passed_over(name) or _ignored(rules, (*here, name), is_folder):
            continue
        entry = Entry((*below, name), is_folder, is_link, folder)
        if not is_folder:
            files.append(entry)
            continue
        yield entry
        if depth > 1:
            try:
                inner = open_below(folder, name)
            except OSError:
                continue
            try:
                yield from _walk(inner, above, entry.parts, rules, depth - 1)
            finally:
                os.close(inner)
    yield from files


def _entries(folder: int) -> list[tuple[str, bool, bool]]:
    entries: list[tuple[str, bool, bool]] = []
    try:
        with os.scandir(folder) as found:
            for entry in found:
                entries.append((entry.name, entry.is_dir(follow_symlinks=False), entry.is_symlink()))
                if len(entries) >= ENTRIES_A_FOLDER:
                    break
    except OSError:
        pass
    return sorted(entries)


def _rules_above(place: Place) -> tuple[Ignoring, ...]:
    """The rules of the folders above the place; none when they leave out the place itself."""
    rules: tuple[Ignoring, ...] = ()
    for level in range(len(place.parts)):
        with open_folder(place, up=len(place.parts) - level) as folder:
            rules += _rules_in(folder, level)
        if _ignored(rules, place.parts[: level + 1], True):
            return ()
    return rules


def _rules_in(folder: int, level: int) -> tuple[Ignoring, ...]:
    try:
        descriptor = open_file(folder, ".gitignore")
    except OSError:
        return ()
    with os.fdopen(descriptor, "rb") as file:
        lines = file.read(_IGNORE_FILE_LIMIT).decode("utf-8-sig", "surrogateescape").split("\n")
    spec = ignore_spec([line.rstrip("\r") for line in lines])
    return () if spec is None else (Ignoring(level, spec),)


def ignore_spec(lines: list[str]) -> Any:
    """The matcher for lines in the syntax of `.gitignore`; lines that git could not read are left out.
    None when nothing is left."""
    from pathspec import GitIgnoreSpec

    readable: list[str] = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        readable.append(line)
    return GitIgnoreSpec.from_lines(readable) if readable else None


def _ignored(rules: tuple[Ignoring, ...], parts: tuple[str, ...], is_folder: bool) -> bool:
    """What the nearest `.gitignore` that says anything of this path says."""
    for rule in reversed(rules):
        path = "/".join(parts[rule.level :]) + ("/" if is_folder else "")
        include = rule.spec.check_file(path).include
        if include is not None:
            return bool(include)
    return False
