"""How models write thoughts and tool calls into plain text: an answer's text in, its parts out."""

import json
import re
from typing import Any, Literal

import msgspec

THOUGHT_TAGS = (("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]"))
CALL_MARKS = ("<tool_call>", "<function=", "<|python_tag|>", "[TOOL_CALLS]")
JSON_STARTS = ('{"name"', '{"function"', '{"arguments"', '{"parameters"', '{"type":"function"')
MOST_BEFORE_CALL = 200
"""Characters after which a text that has not begun a call, or a thought, is an answer in words."""


class Splitter(msgspec.Struct, frozen=True):
    """Where a growing text stands: at its start (a thought may begin), in a thought that ends with `close`,
    or in the answer. `held` is what cannot be told yet; `behind` says that a thought has gone before."""

    place: Literal["start", "thought", "answer"] = "start"
    held: str = ""
    close: str = ""
    behind: bool = False


def split(state: Splitter, piece: str) -> tuple[Splitter, str, str]:
    """The state behind `piece`, and what of the text is thought and what is answer now.

    A thought stands at the start of the text or right behind another one; a tag in the middle of a
    sentence is part of the sentence. White space behind a thought goes with it.
    """
    thought, text = "", piece
    while True:
        if state.place == "answer":
            return state, thought, text
        text = state.held + text
        if state.place == "thought":
            inside, closed, text = text.partition(state.close)
            if not closed:
                keep = _begun(inside, state.close)
                cut = len(inside) - keep
                return Splitter("thought", inside[cut:], state.close), thought + inside[:cut], ""
            thought += inside
            state = Splitter(behind=True)
            continue
        words = text.lstrip()
        opened = next((tags for tags in THOUGHT_TAGS if words.startswith(tags[0])), None)
        if opened is not None:
            text = words.removeprefix(opened[0])
            state = Splitter("thought", close=opened[1])
        elif len(text) < MOST_BEFORE_CALL and any(tag.startswith(words) for tag, _ in THOUGHT_TAGS):
            return Splitter("start", words if state.behind else text, "", state.behind), thought, ""
        else:
            text = words if state.behind else text
            state = Splitter("answer")


def split_end(state: Splitter) -> tuple[str, str]:
    """Thought and answer that were still held when the text ended."""
    return (state.held, "") if state.place == "thought" else ("", state.held)


def without_lone_close(text: str) -> tuple[str, str]:
    """Thought and answer of a text whose thought was opened in the prompt, so that only the closing tag,
    on a line of its own, is to be seen; an empty thought and the text itself for any other."""
    for _, close in THOUGHT_TAGS:
        before, found, after = text.partition(close)
        alone = not before.rpartition("\n")[2].strip() and not after.partition("\n")[0].strip()
        if found and alone and before.strip():
            return before, after.lstrip()
    return "", text


def may_be_call(text: str) -> bool | None:
    """Whether an answer that begins like this may turn out to be a tool call; None: too early to tell."""
    start = text[:MOST_BEFORE_CALL].lstrip()
    if any(start.startswith(mark) for mark in CALL_MARKS):
        return True
    undecided = len(text) < MOST_BEFORE_CALL
    if any(mark.startswith(start) for mark in ("```", *CALL_MARKS)):
        return None if undecided else False
    if start.startswith("```"):
        language, line_end, start = start[3:].partition("\n")
        if not line_end:
            return None if undecided and (language.strip().isidentifier() or not language) else False
    compact = "".join(start.split()).removeprefix("[")
    if any(compact.startswith(begin) for begin in JSON_STARTS):
        return True
    return None if undecided and any(begin.startswith(compact) for begin in JSON_STARTS) else False


def calls_in_text(text: str, tools: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """The calls that `text` is, each as the tool's name and its arguments in JSON. Empty unless the whole
    text is calls, and of known tools: an example in an explanation is not a call."""
    calls: list[tuple[str, str]] = []
    place = _skip_space(text, 0)
    while place < len(text):
        read = _read_tagged(text, place) or _read_function(text, place) or _read_json(text, place, bare=True)
        if read is None:
            return ()
        found, place = read
        calls += found
        place = _skip_space(text, place)
    return tuple(calls) if calls and all(name in tools for name, _ in calls) else ()


Read = tuple[list[tuple[str, str]], int]
"""Calls, and where the text goes on behind them."""

_SPACE = re.compile(r"\s*")
_OPEN = re.compile(r"<tool_call>|<\|python_tag\|>|\[TOOL_CALLS\]")
_FENCE = re.compile(r"```[\w-]*[ \t]*\n")
_FUNCTION = re.compile(r"<function=([\w.-]+)>\s*")
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>\s*", re.DOTALL)
_READER = json.JSONDecoder(strict=False)


def _read_tagged(text: str, place: int) -> Read | None:
    """`<tool_call>…</tool_call>` and its kin. The closing tag is often forgotten."""
    opened = _OPEN.match(text, place)
    if opened is None:
        return None
    calls: list[tuple[str, str]] = []
    place = _skip_space(text, opened.end())
    while read := _read_function(text, place) or _read_json(text, place, bare=False):
        calls += read[0]
        place = _skip_space(text, read[1])
    return (calls, _skip(text, place, "</tool_call>")) if calls else None


def _read_function(text: str, place: int) -> Read | None:
    """`<function=name>` around a JSON object or around `<parameter=key>value</parameter>`."""
    opened = _FUNCTION.match(text, place)
    if opened is None:
        return None
    place = opened.end()
    decoded = _decode(text, place)
    if decoded is not None:
        arguments, place = decoded
    else:
        arguments = {}
        while parameter := _PARAMETER.match(text, place):
            arguments[parameter[1]] = parameter[2]
            place = parameter.end()
    if not isinstance(arguments, dict):
        return None
    return [(opened[1], _json(arguments))], _skip(text, _skip_space(text, place), "</function>")


def _read_json(text: str, place: int, *, bare: bool) -> Read | None:
    """An object, or a list of objects, that holds a name and arguments; in a code fence if `bare`, where
    arguments must be there: any object may have a name."""
    fence = _FENCE.match(text, place) if bare else None
    decoded = _decode(text, _skip_space(text, fence.end() if fence else place))
    if decoded is None:
        return None
    value, place = decoded
    entries = value if isinstance(value, list) else [value]
    calls = [call for entry in entries if (call := _call(entry, bare=bare)) is not None]
    if not calls or len(calls) != len(entries):
        return None
    if fence is None:
        return calls, place
    place = _skip_space(text, place)
    return (calls, place + 3) if text.startswith("```", place) else None


def _call(entry: Any, *, bare: bool) -> tuple[str, str] | None:
    if not isinstance(entry, dict):
        return None
    inner = entry.get("function")
    if isinstance(inner, dict):
        entry = inner
    name = inner if isinstance(inner, str) else entry.get("name")
    arguments = entry.get("arguments", entry.get("parameters"))
    if not isinstance(name, str) or (bare and arguments is None):
        return None
    if isinstance(arguments, str):
        return name, arguments
    return name, _json(arguments or {})


def _decode(text: str, place: int) -> tuple[Any, int] | None:
    if not text.startswith(("{", "["), place):
        return None
    try:
        return _READER.raw_decode(text, place)
    except (ValueError, RecursionError):
        return None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _skip_space(text: str, place: int) -> int:
    space = _SPACE.match(text, place)
    return space.end() if space else place


def _skip(text: str, place: int, word: str) -> int:
    return place + len(word) if text.startswith(word, place) else place


def _begun(text: str, tag: str) -> int:
    """How many characters at the end of `text` may be the beginning of `tag`."""
    return next((n for n in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:n])), 0)
