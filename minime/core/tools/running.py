"""What a command gets along (its environment, its time), and its end in words."""

import re
from collections.abc import Mapping, Set
from typing import Literal

LONGEST = 600.0
"""Seconds that a model may ask for, unless the configured time is longer."""

_ENDING = re.compile(r"(?:\A|\n)\((exit status \d+|ended by signal \d+|timed out after [^\n]*|stopped)\)\Z")

_QUIET = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "TERM": "dumb"}
"""Nobody is there to turn pages or to type a password."""


def command_environment(
    environment: Mapping[str, str], secret_names: Set[str], secrets: tuple[str, ...]
) -> dict[str, str]:
    """The environment of a command: without the variables named, without any whose value is a secret, and
    such that nothing waits for a person."""
    hidden = {secret for secret in secrets if secret}
    kept = {
        name: value
        for name, value in environment.items()
        if name not in secret_names and name != "MM_API_KEY" and value not in hidden
    }
    return kept | _QUIET


def command_seconds(asked: float, configured: float) -> float:
    """How long a command may run, in seconds (0: no bound). `asked` is the model's wish; what is not a
    positive number means the configured time."""
    if not asked > 0:
        return max(0.0, configured)
    return min(asked, max(LONGEST, configured))


def end_text(status: int, why: Literal["exit", "timeout", "stop"], seconds: float) -> str:
    """How a command ended. A negative `status` is the signal that ended it; `seconds` is the time it had."""
    if why == "timeout":
        return f"timed out after {seconds:g} s and was ended"
    if why == "stop":
        return "stopped"
    return f"ended by signal {-status}" if status < 0 else f"exit status {status}"


def ending(result: str) -> str:
    """How a command ended, from the last line of its result; empty when that does not say."""
    found = _ENDING.search(result)
    return found[1] if found else ""
