"""What can be told of a shell command by its look: whether it is simple, and what it may run."""

import re

_COMPOUND = re.compile(r"[;&|<>`\r\n]|\$\(")
_BETWEEN_PARTS = re.compile(r"[;&|<>`\r\n(){}]+|\$\(")
_QUOTES = re.compile(r"[\"'\\]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PLAIN_WORD = re.compile(r"[\w./:@%+,-]+", re.ASCII)
_KEYWORDS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "case", "in"})

_SHELLS = "sh bash dash zsh ksh mksh ash fish csh tcsh busybox toybox pwsh powershell cmd"
_INTERPRETERS = (
    "python pypy ipython perl ruby irb node nodejs deno bun php lua luajit tclsh wish expect rscript julia "
    "osascript sed gsed awk gawk mawk nawk java jshell groovy scala elixir iex erl ghci guile racket sbcl ed "
    "vi vim nvim emacs emacsclient psql mysql mariadb sqlite3"
)
_RUNNERS = (
    "env sudo xargs doas su nohup timeout nice ionice time command builtin exec eval source . watch parallel "
    "ssh setsid stdbuf unbuffer script chroot unshare nsenter flock strace ltrace gdb npx bunx uvx pipx "
    "find fd nix-shell tmux screen systemd-run at batch crontab entr rsync socat nc ncat tar"
)
_OPAQUE = frozenset(f"{_SHELLS} {_INTERPRETERS} {_RUNNERS}".split())
_RUN_WITH_WORD = {
    **dict.fromkeys(
        ("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "mamba", "pixi"), ("run", "tool", "x")
    ),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bundle", "mise"), ("exec", "x", "dlx")),
    **dict.fromkeys(("docker", "podman", "kubectl", "nix"), ("run", "exec", "shell", "develop")),
    "git": (
        "rebase",
        "bisect",
        "submodule",
        "grep",
        "config",
        "difftool",
        "mergetool",
        "filter-branch",
        "clone",
    ),
}
"""Programs that run any other with one of these as their second word, or through their options."""

_BUILDERS = frozenset([
    "make",
    "gmake",
    "bmake",
    "ninja",
    "just",
    "cmake",
    "gradle",
    "gradlew",
    "mvn",
    "ant",
    "rake",
])
"""Programs that do what a file of the project says, or, by an option, what another file says."""

_REACHING = tuple(
    f"--{option}"
    for option in [
        "output",
        "upload-pack",
        "receive-pack",
        "exec",
        "open-files-in-pager",
        "ext-diff",
        "compress-program",
        "checkpoint-action",
        "to-command",
        "use-compress-program",
        "rsh",
        "rsync-path",
        "pre",
        "hostname-bin",
        "pager",
        "editor",
    ]
)
"""Options by which programs that look harmless run another, or write any file."""


def is_simple(command: str) -> bool:
    """Whether this is one command: nothing in it that could begin another, or send output elsewhere."""
    return not _COMPOUND.search(command.strip(" \t\n"))


def reaches_far(command: str) -> bool:
    """Whether an option in it, whole or shortened, may run another program or write any file."""
    words = re.split(r"[\s={},]+", _QUOTES.sub("", command))
    return any(len(word) > 2 and option.startswith(word) for word in words for option in _REACHING)


def is_plain(word: str) -> bool:
    """Whether the word means to the shell just what it says: no quotes, variables or patterns in it."""
    return bool(_PLAIN_WORD.fullmatch(word))


def parts_of(command: str) -> tuple[str, ...]:
    """The pieces of a command line that may each be a command of their own."""
    return tuple(part for part in _BETWEEN_PARTS.split(command) if part.strip())


def commands_in(part: str) -> set[str]:
    """The ways to read one part of a command line as a command, behind whatever leads up to it."""
    words = words_of(part)
    while words and (words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0])):
        words = words[1:]
    bare = words_of(_QUOTES.sub("", " ".join(words)))
    found = {" ".join(words), " ".join(bare)}
    starts = range(len(bare)) if bare and is_opaque(tuple(bare[:2])) else range(min(1, len(bare)))
    for start in starts:
        tail = bare[start:]
        found |= {" ".join(tail), " ".join([tail[0].rsplit("/", 1)[-1], *tail[1:]])}
    return found - {""}


def is_opaque(words: tuple[str, ...]) -> bool:
    """Whether such a command runs whatever else its words say: a shell, an interpreter, `sudo`, `uv run`."""
    name = words[0].rsplit("/", 1)[-1].casefold().removesuffix(".exe")
    stem = re.split(r"[-\d]*\d", name, maxsplit=1)[0]
    if name in _OPAQUE or stem in _OPAQUE or _ASSIGNMENT.match(words[0]):
        return True
    if name in _BUILDERS:
        return words[1:] != () and words[1].startswith("-")
    if name not in _RUN_WITH_WORD:
        return False
    return len(words) == 1 or words[1] in _RUN_WITH_WORD[name] or words[1].startswith("-")


def words_of(command: str) -> list[str]:
    """The words as the shell parts them: at spaces and tabs, nowhere else."""
    return [word for word in re.split(r"[ \t\n]+", command) if word]


def squeezed(command: str) -> str:
    """The command with one space wherever the shell sees a gap."""
    return " ".join(words_of(command))
