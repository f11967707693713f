"""A change of agent.yaml as text: which keys are set, the file's text with them, the lines that differ."""

import difflib
import json
import re
from typing import Any

_BLOCK = re.compile(r"^```(?:ya?ml)?[ \t]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_TOP = re.compile(r"(?P<key>[A-Za-z]\w*)[ \t]*:")
_PLAIN = re.compile(r"[A-Za-z][\w./-]*(?::[\w./-]+)*|\d+(?:\.\d+)?(?:ms|s|m)")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})


def yaml_block(answer: str) -> str:
    """The last fenced block of YAML in a model's answer; empty where there is none."""
    return next(reversed(_BLOCK.findall(answer)), "")


def changed_text(text: str, changes: dict[str, Any]) -> str:
    """The text of an agent.yaml with the top-level keys of `changes` set: each in its place where it stands
    already, else at the end; all other lines, comments too, stay as they are."""
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines()
    for key, value in changes.items():
        start, end = _place(lines, key)
        lines[start:end] = [f"{key}: {value_text(value)}{_comment(lines[start:end])}"]
    return end_of_line.join(lines) + end_of_line


def value_text(value: Any) -> str:
    """A value as YAML on one line."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)


def diff_lines(before: str, after: str, name: str) -> tuple[str, ...]:
    """The lines that differ, in the form of `diff -U0`: what stands beside them may be a secret."""
    return tuple(
        difflib.unified_diff(
            before.splitlines(), after.splitlines(), name if before else "/dev/null", name, lineterm="", n=0
        )
    )


def _place(lines: list[str], key: str) -> tuple[int, int]:
    """Where the key stands with its value: the first line, and the one behind the last. The end of the text
    where it does not stand."""
    start = next(
        (i for i, line in enumerate(lines) if (found := _TOP.match(line)) and found["key"] == key), len(lines)
    )
    if start == len(lines):
        return start, start
    end = start + 1
    for place in range(start + 1, len(lines)):
        line = lines[place]
        if line[:1] in {" ", "\t", "-"} and line.strip() and not line.startswith("---"):
            end = place + 1
        elif line.strip() and not line.startswith("#"):
            break
    return start, end


def _comment(lines: list[str]) -> str:
    """The comment behind a value that stands on one line alone."""
    found = re.search(r"\s+#[^'\"]*$", lines[0]) if len(lines) == 1 else None
    return found[0] if found else ""
