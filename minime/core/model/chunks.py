"""One payload of a model's stream in, what it says out: the one place that reads a server's JSON.

Servers differ in everything but the intention, so each key is taken where it has a sense and passed over
where it has none. A whole answer that is no stream (`message` instead of `delta`) reads as one chunk.
"""

import json
from typing import Any, Literal

import msgspec

from minime.core.model.sse import DONE
from minime.core.values import Usage

THOUGHT_KEYS = ("reasoning_content", "reasoning", "thinking")
"""The names servers give to a thought; some send the same words under two of them."""


class Fragment(msgspec.Struct, frozen=True):
    """A piece of a tool call. `legacy` marks the older `function_call`, which some servers send as well."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""
    legacy: bool = False


class Chunk(msgspec.Struct, frozen=True):
    """What one payload adds to the answer. `whole` says that it is all of it."""

    text: str = ""
    thought: str = ""
    fragments: tuple[Fragment, ...] = ()
    finish: str = ""
    usage: Usage | None = None
    model: str = ""
    whole: bool = False

    @property
    def is_words(self) -> bool:
        """Whether it adds words of the answer and nothing else, as nearly all do."""
        return not (self.thought or self.fragments or self.finish or self.usage or self.whole)


class ErrorSent(msgspec.Struct, frozen=True):
    """The server says in the middle of its stream that it failed; `raw` is its own JSON."""

    raw: str


class End(msgspec.Struct, frozen=True):
    """The end mark."""


class Unreadable(msgspec.Struct, frozen=True):
    """No JSON object: not an answer."""

    raw: str


Said = Chunk | ErrorSent | End | Unreadable
"""What a payload may say."""


class _Delta(msgspec.Struct):
    content: str
    reasoning_content: None = None
    reasoning: None = None
    thinking: None = None
    tool_calls: None = None
    function_call: None = None


class _Choice(msgspec.Struct):
    delta: _Delta
    index: Literal[0] | None = None
    finish_reason: None = None
    message: None = None
    text: None = None


class _Words(msgspec.Struct):
    """The payload that nearly all are: a few words and nothing else. Every key that `_read` looks at is here,
    most of them as nothing, so that what decodes as this means the same both ways."""

    choices: tuple[_Choice]
    model: str = ""
    object: str = ""
    usage: None = None
    error: None = None


_WORDS = msgspec.json.Decoder(_Words)


def read_chunk(payload: bytes) -> Said:
    """What the payload says. Never raises, whatever the bytes are."""
    if not payload.endswith(b"}"):
        return _read(payload)
    try:
        words = _WORDS.decode(payload)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return _read(payload)
    if words.object == "error":
        return _read(payload)
    return Chunk(words.choices[0].delta.content, model=words.model)


def _read(payload: bytes) -> Said:
    """`read_chunk` for any payload."""
    stripped = payload.strip()
    if stripped == DONE:
        return End()
    # Half an object is told by its end: finding that out by decoding is slow, where a stream is full of them.
    decoded = decode(payload) if stripped.endswith((b"}", b"]")) else None
    if isinstance(decoded, list):
        decoded = next((entry for entry in decoded if isinstance(entry, dict)), None)
    if not isinstance(decoded, dict):
        text = payload.decode("utf-8", "replace")
        return ErrorSent(text) if payload.lstrip().startswith(b'{"error"') else Unreadable(text)
    if decoded.get("error") or decoded.get("object") == "error":
        return ErrorSent(payload.decode("utf-8", "replace"))
    choice = _choice(decoded.get("choices"))
    whole = isinstance(choice.get("message"), dict)
    message = choice["message"] if whole else _mapping(choice.get("delta"))
    finish = choice.get("finish_reason")
    content, thought = _content(message.get("content") or choice.get("text"))
    for key in THOUGHT_KEYS:
        thought = thought or _text(message.get(key))
    return Chunk(
        text=content,
        thought=thought,
        fragments=_fragments(message),
        finish="" if finish is None else str(finish),
        usage=_usage(decoded.get("usage")),
        model=_text(decoded.get("model")),
        whole=whole,
    )


def decode(payload: bytes) -> Any:
    """The JSON of a server: also with lone surrogates, NaN, raw control characters, a byte order mark, bytes
    that are no UTF-8. None when it is none."""
    try:
        return msgspec.json.decode(payload)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        pass
    try:
        return json.loads(payload.decode("utf-8", "replace").removeprefix("\ufeff"), strict=False)
    except (ValueError, RecursionError):
        return None


def _choice(choices: Any) -> dict[str, Any]:
    """The first of the choices; mm asks for one only."""
    if not isinstance(choices, list):
        return {}
    return next((c for c in choices if isinstance(c, dict) and c.get("index") in (0, None)), {})


def _content(content: Any) -> tuple[str, str]:
    """Text and thought of a `content`, which may be a list of parts of both."""
    if isinstance(content, str):
        return content, ""
    if not isinstance(content, list):
        return "", ""
    parts = [part for part in content if isinstance(part, dict)]
    text = "".join(_text(part.get("text")) for part in parts)
    thoughts = [part.get("thinking") for part in parts]
    return text, "".join(_content(thought)[0] for thought in thoughts)


def _fragments(message: dict[str, Any]) -> tuple[Fragment, ...]:
    calls = message.get("tool_calls")
    if isinstance(calls, dict):
        calls = [calls]
    if isinstance(calls, list) and calls:
        return tuple(_fragment(call) for call in calls if isinstance(call, dict))
    legacy = message.get("function_call")
    if not isinstance(legacy, dict):
        return ()
    return (Fragment(None, "", _text(legacy.get("name")), _arguments(legacy.get("arguments")), legacy=True),)


def _fragment(call: dict[str, Any]) -> Fragment:
    index = call.get("index")
    function = call.get("function")
    if not isinstance(function, dict):
        function = call
    return Fragment(
        index if isinstance(index, int) else None,
        _text(call.get("id")),
        _text(function.get("name")),
        _arguments(function.get("arguments")),
    )


def _arguments(value: Any) -> str:
    """The text of arguments, which some servers send as an object."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    prompt, completion = _count(value.get("prompt_tokens")), _count(value.get("completion_tokens"))
    if not prompt and not completion:
        return None
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=_count(value.get("total_tokens")) or prompt + completion,
    )


def _count(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) and 0 < value < 2**53 else 0


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
