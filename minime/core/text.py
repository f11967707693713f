"""Text from outside, made fit for the history: what comes in is anything, what goes out is plain text.

`clean` takes out what would repaint a terminal or break a file, `mask` hides configured secrets, `clip`
keeps to a budget. `feed` does the first two for text that comes in pieces.
"""

import re
from functools import cache

LIMIT = 30_000
"""Characters of a tool's output that the model gets to read."""

SHORTEST_SECRET = 4
"""A shorter secret is not masked: it would be found in half of all words."""

HELD_AT_MOST = 8_192
"""Characters that `feed` keeps back while it waits for the end of an escape sequence."""

# Texts, compiled at their first use: most of what mm reads is plain, and an editor waits for its start.
_ESCAPES = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*+(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]"  # charsets, keypad modes
)
_ESCAPE_BEGUN = (
    r"(?:(?:\x1b\[|\x9b)[0-?]*[ -/]*"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*+\x1b?"
    r"|\x1b[ -/]*"
    r"|\r)\Z"
)
_MAY_BEGIN = re.compile(r"[\x1b\x90\x98\x9b\x9d-\x9f\r]")
_CONTROLS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
_CONTROLS_8BIT = re.compile(r"[\x80-\x9f]")
_UNSEEN = bytes(code for code in range(128) if (code < 32 and code not in b"\t\n") or code == 127)
_C1 = b"\xc2"  # how the controls behind ASCII begin in UTF-8, and few letters
_SURROGATES = r"[\ud800-\udfff]"
_SPOOFS = r"[\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"


def clean(text: str | bytes) -> str:
    """The text alone: decoded as UTF-8 (what is not becomes U+FFFD, and so do lone surrogates), escape
    sequences and control characters but tab and newline taken out, every line end a newline."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if is_clean(text):
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return without_surrogates(re.sub(_CONTROLS, "", re.sub(_ESCAPES, "", text)))


def is_clean(text: str) -> bool:
    """Whether `clean` leaves the text as it is. Said quickly, since nearly all texts are."""
    try:
        data = text.encode()
    except UnicodeEncodeError:  # half a character
        return False
    if len(data.translate(None, _UNSEEN)) < len(data):
        return False
    return _C1 not in data or not _CONTROLS_8BIT.search(text)


def without_surrogates(text: str) -> str:
    """The text with each lone surrogate as U+FFFD, so that it can be encoded."""
    return text if text.isascii() else re.sub(_SURROGATES, "\ufffd", text)


def one_line(text: str, limit: int = 120) -> str:
    """The text on one line of at most `limit` characters, without any that hide or turn round others."""
    text = clean(text)
    line = " ".join((text if text.isascii() else re.sub(_SPOOFS, "", text)).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def indented(text: str, first: str, rest: str, width: int) -> str:
    """The text behind `first`, with a line end; broken at words to fit `width` columns, each further line
    behind `rest`. A `width` of 0 breaks nothing."""
    if width < len(rest) + 20:
        return f"{first}{text}\n"
    import textwrap  # few need it, and all wait for what is imported above

    lines = textwrap.wrap(
        text, width - 1, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
    return "\n".join(lines or [first]) + "\n"


def base64_size(data: str) -> str:
    """How much a text in Base64 stands for: `12 kB`, `3.0 MB`."""
    count = len(data) * 3 // 4
    return f"{count / 1_000_000:.1f} MB" if count >= 1_000_000 else f"{max(1, count // 1_000)} kB"


def visible(text: str) -> str:
    """The text with each character that cannot be seen, or looks like a plain space, as its escape."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in "\n\t" else letter.encode("unicode_escape").decode()
        for letter in text
    )


def mask(text: str, secrets: tuple[str, ...]) -> str:
    """The text with each of the secrets as `***`; secrets shorter than four characters are left alone."""
    pattern = _secrets_pattern(secrets)
    return pattern.sub("***", text) if pattern else text


def clip(text: str, limit: int = LIMIT) -> str:
    """The text in at most `limit` characters: head and tail, and between them how much is left out."""
    if len(text) <= limit:
        return text
    return clip_ends(text, text, len(text) - 2 * (limit // 2), limit)


def clip_ends(head: str, tail: str, left_out: int, limit: int = LIMIT) -> str:
    """`clip` for a text of which only the two ends are there, at least half the limit each, or whatever
    there was; `left_out` counts the characters between the first and the last half of the limit."""
    half = limit // 2
    room = max(0, half - 30)
    head, tail = head[:half], tail[max(0, len(tail) - half) :]
    left_out += max(0, len(head) - room) + max(0, len(tail) - room)
    return f"{head[:room]}\n… {left_out:,} characters left out …\n{tail[max(0, len(tail) - room) :]}"


def fenced(name: str, text: str) -> str:
    """A text under its name, in a fence that nothing in it closes."""
    text = text.rstrip()
    longest = max((len(run) for run in re.findall(r"^ *(`{3,})", text, re.MULTILINE)), default=2)
    fence = "`" * (longest + 1)
    return f"{name}:\n{fence}\n{text}\n{fence}"


def feed(held: str, piece: str, secrets: tuple[str, ...] = ()) -> tuple[str, str]:
    """One step through a text that comes in pieces: what is kept back for the next step (an escape
    sequence, a line end or a secret that may be unfinished), and clean, masked text that is ready.

    All that is ready, with `mask(clean(held))` at the end, is `mask(clean(whole))`.
    """
    text = held + piece
    begun = _unfinished(text)
    if len(text) - begun > HELD_AT_MOST:
        begun = len(text)
    ready = clean(text[:begun])
    cut = _secret_begun(ready, secrets)
    return ready[cut:] + text[begun:], mask(ready[:cut], secrets)


_compiled = cache(re.compile)


def _unfinished(text: str) -> int:
    """Where an escape sequence or line end begins that the end of the text cuts off; else the length."""
    tail = max(0, len(text) - 2 * HELD_AT_MOST)
    place = len(text)
    for start in _MAY_BEGIN.finditer(text, tail):
        if _compiled(_ESCAPE_BEGUN).match(text, start.start()):
            place = start.start()
            break
    return place


def _secret_begun(text: str, secrets: tuple[str, ...]) -> int:
    """Where the longest tail begins that may be the head of a secret; no whole secret is cut in two."""
    known = [secret for secret in secrets if len(secret) >= SHORTEST_SECRET]
    longest = max(map(len, known), default=1)
    cut = next(
        (
            place
            for place in range(max(0, len(text) - longest + 1), len(text))
            if any(len(secret) > len(text) - place and secret.startswith(text[place:]) for secret in known)
        ),
        len(text),
    )
    pattern = _secrets_pattern(secrets)
    for found in pattern.finditer(text) if pattern else ():
        if found.start() < cut < found.end():
            return found.start()
    return cut


def _secrets_pattern(secrets: tuple[str, ...]) -> re.Pattern[str] | None:
    known = sorted((s for s in secrets if len(s) >= SHORTEST_SECRET), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, known))) if known else None


def seconds_text(seconds: float) -> str:
    """How long it took: `under 1 s`, `2.4 s`, `12 s`, `3 min 5 s`; whole seconds without a fraction."""
    if seconds < 1 and not isinstance(seconds, int):
        return "under 1 s"
    if seconds < 9.95 and not isinstance(seconds, int):
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60:,} min {whole % 60} s"
