"""What the project's own files say to an agent: behind the instruction in the system prompt, and behind the
first result about a folder that has words of its own."""

from collections.abc import Iterable
from posixpath import dirname

import msgspec

from minime.core.text import clean, clip, one_line
from minime.core.values import Message, Tool

MOST_TEXT = 20_000
"""Characters of one file; a longer one is cut in the middle, and says so."""

_BEGINS = "The project's "


def system_prompt(instruction: str, files: tuple[tuple[str, bytes], ...]) -> str:
    """The instruction with each file, by name and content, behind it. Empty files are left out. Names with
    a folder (`web/AGENTS.md`) stand for what lies below it, and go before those of the folders above."""
    said = _said(files, MOST_TEXT)
    return "\n\n".join([instruction.strip(), *said]) if said else instruction


def with_folder_words(
    result: Tool, files: tuple[tuple[str, bytes], ...], given: Iterable[Message], limit: int
) -> Tool:
    """The result of a tool, and behind it what the folders of its file say to an agent, in at most so many
    characters each; of the files those alone that no result among the messages has told already."""
    results = [message.content for message in given if isinstance(message, Tool)]
    new = tuple(
        (name, data) for name, data in files if not any(_heading(name) in content for content in results)
    )
    said = _said(new, min(limit, MOST_TEXT))
    return msgspec.structs.replace(result, content="\n\n".join((result.content, *said))) if said else result


def files_text(files: tuple[tuple[str, bytes], ...]) -> str:
    """The files by name and size, for a person."""
    return ", ".join(f"{one_line(name)} ({max(1, len(data)):,} bytes)" for name, data in files)


def project_part(prompt: str) -> str:
    """What the project's files say in a system prompt; empty when they say nothing."""
    _, begins, rest = prompt.partition(f"\n\n{_BEGINS}")
    return begins + rest


def _said(files: tuple[tuple[str, bytes], ...], limit: int) -> list[str]:
    texts = [(name, clip(clean(data).strip(), limit)) for name, data in files]
    return [f"{_heading(name)}\n\n{text}" for name, text in texts if text]


def _heading(name: str) -> str:
    return f"{_BEGINS}{name} says{_scope(name)}:"


def _scope(name: str) -> str:
    folder = dirname(name)
    if not folder or name.startswith(("/", "~", "..")):
        return ""
    return f" of files below {folder}, before all else"
