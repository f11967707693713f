"""Which places of a project are closed to the tools, and how a file pattern of the model is read."""

import re
import unicodedata

HISTORY = ".mm"
"""Conversations and their like: neither read, listed, searched nor written."""

REPOSITORY = ".git"
"""Read when asked for by name; never written."""

MOST_PATTERNS = 100


def closed_to_readers(parts: tuple[str, ...]) -> bool:
    """Whether nothing at this path, below the project or an additional folder, may be read or listed."""
    return any(_plain(part) == HISTORY for part in parts)


def closed_to_writers(parts: tuple[str, ...]) -> bool:
    """Whether nothing at this path may be written."""
    return any(_plain(part) in {HISTORY, REPOSITORY} for part in parts)


def passed_over(name: str) -> bool:
    """Whether a folder or file of this name is left out when its folder is listed or searched."""
    return _plain(name) in {HISTORY, REPOSITORY}


def glob_patterns(glob: str) -> tuple[str, ...]:
    """The file pattern as patterns of the `.gitignore` kind: `{a,b}` written out (to 100 patterns at most),
    no negation."""
    glob = glob.strip().removeprefix("./")
    open_ones, patterns = [glob] if glob else [], list[str]()
    while open_ones and len(open_ones) + len(patterns) <= MOST_PATTERNS:
        pattern = open_ones.pop(0)
        braces = re.search(r"\{([^{}]*)\}", pattern)
        if braces is None:
            patterns.append(f"\\{pattern}" if pattern[0] in {"!", "#"} else pattern)
            continue
        before, after = pattern[: braces.start()], pattern[braces.end() :]
        choices = [before + choice + after for choice in braces[1].split(",")]
        open_ones += [choice for choice in choices if choice]
    return tuple(patterns[:MOST_PATTERNS]) or ((glob,) if glob else ())


def _plain(part: str) -> str:
    """A name as a file system may read it that tells no cases apart and drops what cannot be seen."""
    if part.isascii():
        return part.rstrip(". ").casefold()
    seen = "".join(letter for letter in part if unicodedata.category(letter) != "Cf")
    return unicodedata.normalize("NFKC", seen).rstrip(". ").casefold()
