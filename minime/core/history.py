"""The lines typed at the prompt, and the text of the file that keeps them: one entry a line, oldest first."""

import re

MOST = 2_000
"""Entries that are kept."""

LONGEST = 20_000
"""Characters of an entry; a longer one, which somebody has pasted, is kept for its visit only."""

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def entry_line(entry: str) -> str:
    """The entry as a line of the file, without the line end; empty when it is not kept there: a blank one, a
    very long one, and one that begins with a space, as shells have it."""
    if not entry.strip() or entry.startswith(" ") or len(entry) > LONGEST:
        return ""
    return entry.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def entries(text: str) -> tuple[str, ...]:
    """The newest entries of a file's text. A line that is cut off or was written by another program is taken
    as it is."""
    lines = [line for line in text.split("\n") if line.strip()]
    return tuple(_ESCAPED.sub(_plain, line) for line in lines[-MOST:])


def shortened(text: str) -> str | None:
    """The file's text with the newest entries alone; None while it holds hardly more than those."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) <= MOST + MOST // 10:
        return None
    return "".join(f"{line}\n" for line in lines[-MOST:])


def _plain(match: re.Match[str]) -> str:
    return {"n": "\n", "r": "\r", "\\": "\\"}.get(match[1], match[0])
