"""The door of `mm` and `python -m minime`: what can be answered at once is, before heavy imports."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs mm with `arguments` (default: those of the process). The result is the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    if words == ["--version"]:
        from minime import __version__

        print(f"mm {__version__}")  # noqa: T201
        return 0
    from minime.cli import run

    return run(words)


if __name__ == "__main__":
    sys.exit(main())
