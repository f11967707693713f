"""The system prompt: the instruction, and behind it what the project's own files say to an agent."""

from posixpath import dirname

from minime.core.text import clean, clip, one_line

MOST_TEXT = 20_000
"""Characters of one file; a longer one is cut in the middle, and says so."""

_BEGINS = "The project's "


def system_prompt(instruction: str, files: tuple[tuple[str, bytes], ...]) -> str:
    """The instruction with each file, by name and content, behind it. Empty files are left out. Names with
    a folder (`web/AGENTS.md`) stand for what lies below it, and go before those of the folders above."""
    texts = [(name, clip(clean(data).strip(), MOST_TEXT)) for name, data in files]
    said = [f"{_BEGINS}{name} says{_scope(name)}:\n\n{text}" for name, text in texts if text]
    return "\n\n".join([instruction.strip(), *said]) if said else instruction


def files_text(files: tuple[tuple[str, bytes], ...]) -> str:
    """The files by name and size, for a person."""
    return ", ".join(f"{one_line(name)} ({max(1, len(data)):,} bytes)" for name, data in files)


def project_part(prompt: str) -> str:
    """What the project's files say in a system prompt; empty when they say nothing."""
    _, begins, rest = prompt.partition(f"\n\n{_BEGINS}")
    return begins + rest


def _scope(name: str) -> str:
    folder = dirname(name)
    if not folder or name.startswith(("/", "~", "..")):
        return ""
    return f" of files below {folder}, before all else"
