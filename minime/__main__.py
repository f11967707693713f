"""The door of `mm` and `python -m minime`: what can be answered at once is, before heavy imports."""

import errno
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

TYPE_CHECKING = False  # what the library of that name calls so; loading it would double the start
if TYPE_CHECKING:
    from typing import TextIO

OUTPUT_LOST = frozenset({errno.ENOSPC, errno.EIO, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})
MADE_AT_START = 50_000
"""Things that the collector of cycles lets be made before it looks: imports make that many, and drop none."""

VERBS = frozenset({
    "acp",
    "completion",
    "config",
    "doctor",
    "errors",
    "explain",
    "init",
    "mcp",
    "replay",
    "schema",
    "sessions",
    "setup",
    "trust",
})
"""The words that `mm` does not take for a question when they come first."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs mm with `arguments` (default: those of the process). The result is the exit status.

    Never shows a traceback.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    gc.set_threshold(MADE_AT_START, 20, 20)
    _open_closed_streams()
    _forget_odd_sizes()
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        status = _do(words)
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        status = 0
        _give_up(sys.stdout)
    except OSError as error:
        status = 1
        if error.errno in OUTPUT_LOST and error.filename is None:
            _give_up(sys.stdout)
            _warn(f"mm: cannot write the output: {error.strerror}")
        else:
            _warn(f"mm: {f'{error.filename}: ' if error.filename else ''}{error.strerror or error}")
    except Exception as error:
        status = 1
        _warn(f"mm itself failed: {type(error).__name__}: {error}")
    return status if _is_written() else status or 1


def _do(words: list[str]) -> int:
    """A question or an editor, without options, needs no CLI library, which takes a third of the start."""
    if words == ["--version"]:
        from minime import __version__

        print(f"mm {__version__}")  # noqa: T201
        return 0
    if words == ["acp"]:
        from minime.shell.acp import serve

        return serve(os.environ)
    if words == ["help"]:
        words = ["--help"]
    if len(words) == 1 and (meant := _nearest_verb(words[0])):
        _warn(
            f"mm: {words[0]!r} is no verb: did you mean mm {meant}? (mm -- {words[0]} asks it as a question)"
        )
        return 2
    if words[:1] and (words[0] in VERBS or any(word.startswith("-") for word in words)):
        from minime.cli import run

        return run(words)
    from minime.shell.config.project import current_folder
    from minime.shell.opening import Wishes, talk

    return talk(words, Wishes(current_folder()))


def _nearest_verb(word: str) -> str:
    """The verb that a single word is a slip of the fingers from; empty when it is one, or like none."""
    alike = [
        verb for verb in VERBS if verb[0] == word[:1] and abs(len(verb) - len(word)) < 2 and len(word) > 3
    ]
    if not alike or word in VERBS:  # cheaper than loading what follows
        return ""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, alike, 1, 0.8)), "")


def _open_closed_streams() -> None:
    """A stream that whoever started mm had closed is empty, or swallows what comes; its descriptor is taken,
    so that no file of mm's gets it by accident."""
    for name, kind in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, kind, encoding="utf-8"))  # noqa: SIM115, PTH123


def _forget_odd_sizes() -> None:
    """A size of the terminal that is none, or beyond all sense, is as if it were not said."""
    for name in ("COLUMNS", "LINES"):
        told = os.environ.get(name, "1")
        if not (told.isdecimal() and len(told) < 5 and int(told)):
            del os.environ[name]


def _warn(text: str) -> None:
    with suppress(OSError):
        sys.stdout.flush()
    with suppress(OSError):
        sys.stderr.write(f"{text}\n")


def _is_written() -> bool:
    """Whether all of the output has been taken by whoever reads it, or he has left. What stderr does not
    take is no loss."""
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        _give_up(sys.stderr)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up(sys.stdout)
    except (OSError, ValueError) as error:
        _give_up(sys.stdout)
        _warn(f"mm: cannot write the output: {getattr(error, 'strerror', None) or error}")
        return False
    return True


def _give_up(stream: "TextIO") -> None:
    """What is still to be written goes nowhere, without a word at the end of the process."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
