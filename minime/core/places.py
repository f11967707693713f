"""Which places of a project are closed to the tools, and how a file pattern of the model is read."""

import re
import unicodedata

HISTORY = ".mm"
"""Conversations and their like: neither read, listed, searched nor written."""

REPOSITORY = ".git"
"""Read when asked for by name; never written."""


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
    """The file pattern as patterns of the `.gitignore` kind: `{a,b}` written out, no negation."""
    glob = glob.strip().removeprefix("./")
    braces = re.search(r"\{([^{}]*)\}", glob)
    if braces is None:
        return (f"\\{glob}" if glob[:1] in {"!", "#"} else glob,) if glob else ()
    before, after = glob[: braces.start()], glob[braces.end() :]
    return tuple(p for choice in braces[1].split(",")[:20] for p in glob_patterns(before + choice + after))[
        :100
    ]


def _plain(part: str) -> str:
    """A name as a file system may read it that tells no cases apart and drops what cannot be seen."""
    if part.isascii():
        return part.rstrip(". ").casefold()
    seen = "".join(letter for letter in part if unicodedata.category(letter) != "Cf")
    return unicodedata.normalize("NFKC", seen).rstrip(". ").casefold()
