"""The door of `mm` and `python -m minime`: what can be answered at once is, before heavy imports."""

import os
import sys
from collections.abc import Sequence

VERBS = frozenset({
    "acp", "config", "doctor", "errors", "explain", "init", "schema", "sessions", "setup", "trust",
})  # fmt: skip
"""The words that `mm` does not take for a question when they come first."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs mm with `arguments` (default: those of the process). The result is the exit status.

    Never shows a traceback.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    if words == ["--version"]:
        from minime import __version__

        print(f"mm {__version__}")  # noqa: T201
        return 0
    try:
        return _do(words)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _pipe_closed()
    except OSError as error:
        _warn(f"mm: {error}")
        return 1
    finally:
        _flush()


def _do(words: list[str]) -> int:
    """A question or an editor, without options, needs no CLI library, which takes a third of the start."""
    if words == ["acp"]:
        from minime.shell.acp import serve

        return serve(os.environ)
    if words[:1] and (words[0] in VERBS or any(word.startswith("-") for word in words)):
        from minime.cli import run

        return run(words)
    from pathlib import Path

    from minime.shell.opening import Wishes, talk

    return talk(words, Wishes(Path.cwd()))


def _warn(text: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(f"{text}\n")


def _pipe_closed() -> int:
    """Whoever read the output has left: nothing to say, and nobody to say it to."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _pipe_closed()
    except (OSError, ValueError) as error:
        _warn(f"mm: cannot write the output: {error}")


if __name__ == "__main__":
    sys.exit(main())
