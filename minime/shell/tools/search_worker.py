"""Search and listing as a program: a request in JSON as its argument, results on stdout, a line each.

A regular expression can take for ever and cannot be interrupted in the process that runs it, and a pattern
of a `.gitignore` is one; so both run here, where they can be killed. A line is `=` and a result, `!` and what
is wrong with the request, or `.` and a last word: of a search the number of files that were too large, of a
listing whether there is `more`.
"""

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from minime.core.text import clean
from minime.core.tools.filetext import decode
from minime.core.tools.places import glob_patterns
from minime.shell.tools.inside import Place, open_file, open_place, problem_text
from minime.shell.tools.walking import Entry, ignore_spec, walk

LARGEST = 10_000_000
"""Bytes of a file that is searched."""

LINE = 300
"""Characters of a matching line that are shown."""

BEFORE = 100
"""Characters of a long line shown before what matched."""


class _Found(NamedTuple):
    """A file to be searched: its path as shown, and its descriptor."""

    shown: str
    descriptor: int


def main() -> None:
    """Does the search, or without a pattern the listing, that the first argument asks for."""
    request = json.loads(sys.argv[1])
    signal.alarm(request["seconds"])
    place = Place(request["base"], tuple(request["parts"]), request["shown"], "")
    if "pattern" in request:
        _search(place, request["pattern"], request["glob"], request["most"])
    else:
        _list(place, request["depth"], request["most"])


def _search(place: Place, regular: str, glob: str, most: int) -> None:
    try:
        pattern = re.compile(regular)
    except (re.error, RecursionError, OverflowError) as problem:
        _say("!", f"not a regular expression: {problem}")
        return
    too_large, left = 0, most
    try:
        for file in _files(place, glob):
            with os.fdopen(file.descriptor, "rb") as opened:
                data = opened.read(LARGEST + 1)
            if len(data) > LARGEST:
                too_large += 1
                continue
            for line in _matches(pattern, data):
                _say("=", f"{clean(file.shown)}:{line}")
                left -= 1
                if left <= 0:
                    return
    except OSError as problem:
        _say("!", f"{place.shown}: {problem.strerror or problem}")
        return
    _say(".", str(too_large))


def _list(place: Place, depth: int, most: int) -> None:
    try:
        for count, entry in enumerate(walk(place, depth)):
            if count >= most:
                _say(".", "more")
                return
            _say("=", _entry_line(place, entry))
    except NotADirectoryError:
        _say("!", f"{place.shown} is not a folder; read_file reads it")
        return
    except OSError as problem:
        _say("!", problem_text(problem, place.shown))
        return
    _say(".", "all")


def _entry_line(place: Place, entry: Entry) -> str:
    start = "" if place.shown == "." else f"{place.shown}/"
    name = clean("/".join(entry.parts)).replace("\n", "\ufffd")
    return start + name + ("/" if entry.is_folder else " (link)" if entry.is_link else "")


def _files(place: Place, glob: str) -> Iterator[_Found]:
    """The files to be searched. A descriptor belongs to who gets it."""
    patterns = glob_patterns(glob)
    wanted = ignore_spec(list(patterns)) if patterns else None
    start = "" if place.shown == "." else f"{place.shown}/"
    try:
        for entry in walk(place):
            path = "/".join(entry.parts)
            if entry.is_folder or entry.is_link or (wanted is not None and not wanted.match_file(path)):
                continue
            with suppress(OSError):
                yield _Found(start + path, open_file(entry.folder, entry.parts[-1]))
    except NotADirectoryError:
        with open_place(place) as descriptor:
            yield _Found(place.shown, os.dup(descriptor))


def _matches(pattern: "re.Pattern[str]", data: bytes) -> Iterator[str]:
    """The matching lines of a file: the number, a colon, and the line or the part of it that matched."""
    file = decode(data)
    if file is None:
        return
    for number, line in enumerate(file.text.split("\n"), 1):
        found = pattern.search(line)
        if found is None:
            continue
        line = line.rstrip("\r")
        if len(line) > LINE:
            first = max(0, min(found.start() - BEFORE, len(line) - LINE))
            line = "…" * (first > 0) + line[first : first + LINE] + "…" * (first + LINE < len(line))
        yield f"{number}: {clean(line)}"


def _say(kind: str, text: str) -> None:
    sys.stdout.buffer.write(f"{kind}{' '.join(text.split(chr(10)))}\n".encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
