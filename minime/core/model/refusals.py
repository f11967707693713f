"""A server's refusal in, status and body, what it means out: each server has words of its own for a fault."""

import re
from typing import Any, Literal

import msgspec

from minime.core.model.chunks import decode
from minime.core.text import one_line

MOST_READ = 20_000
LONGEST_LINE = 300

Meaning = Literal[
    "overflow",  # the request is larger than the context window
    "no-tools",  # model or server cannot call tools
    "no-model",  # the model is not there
    "no-images",
    "key",
    "memory",  # the model does not fit the machine
    "loading",
    "busy",
    "server",  # a fault of the server that may pass
    "request",  # a fault of the request that will not
    "path",  # nothing answers at this address
]

# Texts, and compiled where they are used: nearly every run of mm has nothing to read here.
_OVERFLOW = (
    r"(?s)exceed\w*\s.{0,60}context|context_length_exceeded|exceed_context_size"
    r"|context size has been exceeded|maximum context length|reached context length"
    r"|longer than the (maximum )?(model|context)"
    r"|context (length|window|size).{0,60}(exceeded|too (small|long|large)|not enough|overflow)"
    r"|context the overflows|(greater|larger|longer) than the context|context (length )?of only"
    r"|prompt (is )?too long|too many (input )?tokens|input (is )?too (long|large)|input length exceeds"
    r"|exceeds? (the )?(model'?s )?max(imum)?[ _](model[ _]len|context|sequence|input|prompt)"
    r"|max_model_len|reduce the length of|shorten the (conversation|prompt|input|messages)"
    r"|(prompt|input|request|messages?)\b[^.]{0,60}\d tokens\b[^.]{0,60}\bcontext (is|of|has|holds)\b"
)
_NO_TOOLS = (
    r"(not|n't) (currently )?support\w* (tools?|function|tool.?(calls?|calling|use|choice))\b"
    r"|(tools?|tool.?(calls?|calling|use|choice)|functions?|function.?calling) (is |are )?"
    r"(not supported|unsupported|not available|disabled)"
    r"|tools? param\w* requires|tool choice requires|requires? --(jinja|enable-auto-tool-choice)"
    r"|no (tool|function).?(call\w*)? support|unrecognized request argument\w*: tools"
)
_NO_MODEL = (
    r"(?s)model.{0,120}(not found|does not exist|doesn't exist|not exist|is not available|unknown|not loaded)"
    r"|(no such|unknown|invalid|could not find|cannot find) model|model_not_found|no models? (is )?loaded"
    r"|not found.{0,30}pull|unable to load model"
)
_NO_IMAGES = (
    r"image.{0,40}not support|mmproj|not support.{0,20}(image|vision)|not a multimodal|at most 0 image"
    r"|missing data required for image|image_url is only supported|no endpoints found that support image"
)
_MEMORY = (
    r"more system memory|out of memory|insufficient memory|not enough (gpu |system |free )?(memory|vram)"
    r"|cudamalloc failed|insufficient system resources|runner process has terminated"
)
_KEY = r"(invalid|incorrect|missing|no|wrong) (api|auth\w*)[ _-]?(key|token|header)|unauthorized"
_REQUEST_FAULT = (
    r"pars(e|ing)|json|schema|template|jinja|validation|alternate|\broles?\b|invalid|\bexpected|required"
    r"|must be|not supported|unsupported|grammar"
)
_WINDOWS = (
    r"n_ctx\W{1,4}(\d+)",
    r"model length of (\d+)",
    r"context (?:size|length|window)\D{0,40}?(\d{3,})",
    r"context (?:is|of|has|holds) (?:only )?(\d{3,})",
)


class Refusal(msgspec.Struct, frozen=True):
    """What a server's error means; `text` is the server's own line, at most 300 characters, and `window`
    the size of its context window in tokens where it tells (0: it does not)."""

    meaning: Meaning
    text: str
    window: int = 0


def read_refusal(status: int, body: bytes) -> Refusal:
    """The meaning of an answer with an error status, or (status 0) of an error in the middle of a stream."""
    text = error_text(body)
    words = body[:MOST_READ].decode("utf-8", "replace").lower()
    meaning = _meaning(status or _code(body), words)
    return Refusal(meaning, text, _window(words) if meaning == "overflow" else 0)


def error_text(body: bytes) -> str:
    """The one line of an error body that is meant for people; of a web page its title. May be empty."""
    decoded = decode(body)
    if decoded is None:
        text = body[:MOST_READ].decode("utf-8", "replace")
        title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        return one_line(title[1] if title else re.sub(r"<[^>]*>", " ", text), LONGEST_LINE)
    return one_line(_message(decoded), LONGEST_LINE)


def _message(value: Any, depth: int = 0) -> str:
    """The words in an error of any shape: `error` or `detail` as text, object or list, `message`, …"""
    if depth > 5:
        return ""
    match value:
        case str():
            inner = decode(value.encode("utf-8", "replace")) if value.startswith("{") else None
            return (_message(inner, depth + 1) if inner else "") or value
        case {"msg": str(fault), "loc": [*place]}:
            return f"{'.'.join(map(str, place))}: {fault}"
        case dict():
            keys = (
                "error",
                "message",
                "detail",
                "details",
                "msg",
                "errors",
                "reason",
                "title",
                "type",
                "code",
            )
            return next((text for key in keys if (text := _message(value.get(key), depth + 1))), "")
        case list():
            return "; ".join(filter(None, (_message(entry, depth + 1) for entry in value[:3])))
        case int() if not isinstance(value, bool):
            return str(value)
        case _:
            return ""


def _meaning(status: int, words: str) -> Meaning:
    if status == 429:
        return "busy"
    if status == 401:
        return "key"
    if status == 413 or re.search(_OVERFLOW, words):
        return "overflow"
    if "loading model" in words or ("loading" in words and status == 503):
        return "loading"
    if re.search(_NO_TOOLS, words):
        return "no-tools"
    if status in {0, 400, 404, 422, 500} and re.search(_NO_MODEL, words):
        return "no-model"
    if re.search(_NO_IMAGES, words):
        return "no-images"
    if re.search(_MEMORY, words):
        return "memory"
    if status == 403 or re.search(_KEY, words):
        return "key"
    if status in {404, 405}:
        return "path"
    if status == 408:
        return "busy"
    # llama.cpp answers 500 to mistakes of the client: asking again would not help.
    if status >= 500 and not (status == 500 and re.search(_REQUEST_FAULT, words)):
        return "server"
    return "server" if not status and not re.search(_REQUEST_FAULT, words) else "request"


def _code(body: bytes) -> int:
    """The status that an error in a stream carries; 0 when it has none."""
    decoded = decode(body)
    error = decoded.get("error") if isinstance(decoded, dict) else None
    if isinstance(error, dict) and isinstance(error.get("error"), dict):
        error = error["error"]
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 0


def _window(words: str) -> int:
    found = next((found for pattern in _WINDOWS if (found := re.search(pattern, words))), None)
    return int(found[1]) if found else 0
