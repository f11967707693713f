"""Which places of a project are closed to the tools, and how a file pattern of the model is read."""

import re
import unicodedata

HISTORY = ".mm"
"""Conversations and their like: neither read, listed, searched nor written."""

REPOSITORY = ".git"
"""Read when asked for by name; never written."""

MOST_PATTERNS = 100

_OURS_AND_EDITORS = ".vscode .idea .zed .cursor .devcontainer agent.yaml .mcp.json .exrc .vimrc .nvim.lua"
_GIT_S_HELPERS = ".husky .githooks .github .gitmodules .gitconfig lefthook.yml .pre-commit-config.yaml"
_SHELLS = (
    ".envrc .env .bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin "
    ".kshrc .cshrc .tcshrc .inputrc .npmrc .yarnrc .yarnrc.yml mise.toml .mise.toml authorized_keys"
)
_DEBUGGERS = ".gdbinit .lldbinit .dir-locals.el .lvimrc"
_OBEYED = frozenset(f"{_OURS_AND_EDITORS} {_GIT_S_HELPERS} {_SHELLS} {_DEBUGGERS}".split())


def closed_to_readers(parts: tuple[str, ...]) -> bool:
    """Whether nothing at this path, below the project or an additional folder, may be read or listed."""
    return any(_plain(part) == HISTORY for part in parts)


def closed_to_writers(parts: tuple[str, ...]) -> bool:
    """Whether nothing at this path may be written."""
    return any(_plain(part) in {HISTORY, REPOSITORY} for part in parts)


def passed_over(name: str) -> bool:
    """Whether a folder or file of this name is left out when its folder is listed or searched."""
    return _plain(name) in {HISTORY, REPOSITORY}


def obeyed_unasked(parts: tuple[str, ...]) -> bool:
    """Whether other programs (mm, an editor, a shell, git's helpers) do what a file at this path says without
    a question of their own, so that writing it is as good as running something later."""
    return not _OBEYED.isdisjoint(map(_plain, parts))


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
