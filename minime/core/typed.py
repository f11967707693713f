"""What is typed at the terminal's prompt: whether it goes on, and the keys that came while a turn ran."""

import re

import msgspec

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)
_KEYS = re.compile(
    r"\x1b\[200~(?P<pasted>.*?)(?:\x1b\[201~|\Z)"
    r"|\x1b\[[0-?]*[ -/]*[@-~]|\x1bO.|\x1b.?"  # arrows and their like mean nothing where no line is shown
    r"|(?P<key>.)",
    re.DOTALL,
)
_END = "\x04"
_RUBOUTS = frozenset("\x7f\x08")
_KILL_LINE = "\x15"
_KILL_WORD = "\x17"
HELP = """@path      puts a file or a folder's list into the question (@src/a.py:10-20)
!command   runs a command of your own, outside of the conversation
Tab        completes commands, sessions, models and paths
\\          at the end of a line: the question goes on in the next one"""
CONSENT_ANSWERS = frozenset({"y", "yes", "a", "always", "n", "no", "e", "explain"})


class Ahead(msgspec.Struct, frozen=True):
    """What was typed ahead: whole lines, the one that is not finished, and whether Ctrl-D came on an empty
    line."""

    lines: tuple[str, ...] = ()
    rest: str = ""
    ended: bool = False


def is_open(text: str) -> bool:
    """Whether the question goes on in the next line: a backslash stands at its end, or a fence is open."""
    return _ends_in_backslash(text) or _in_fence(text)


def go_on(text: str, line: str) -> str:
    """The question with one line more. The backslash was for mm, but one in a command is for its shell."""
    if _ends_in_backslash(text) and not _in_fence(text) and shell_command(text) is None:
        text = text[:-1].rstrip(" ")
    return f"{text}\n{line}"


def shell_command(text: str) -> str | None:
    """The command of the person's own in a line that begins with `!`; None for another line."""
    text = text.strip()
    return text[1:].strip() if text.startswith("!") else None


def typed_ahead(text: str) -> Ahead:
    """The keys of `text` as a line editor reads them. What is pasted keeps its line ends."""
    lines: list[str] = []
    line = ""
    for match in _KEYS.finditer(text):
        key = match["key"]
        if match["pasted"] is not None:
            line += match["pasted"].replace("\r\n", "\n").replace("\r", "\n")
        elif key is None:
            continue
        elif key in {"\r", "\n"}:
            lines.append(line)
            line = ""
        elif key == _END and not line:
            return Ahead(tuple(lines), "", ended=True)
        elif key in _RUBOUTS:
            line = line[:-1]
        elif key == _KILL_LINE:
            line = ""
        elif key == _KILL_WORD:
            line = line.rstrip()[: -len(line.split()[-1])] if line.strip() else ""
        elif key >= " " or key == "\t":
            line += key
    return Ahead(tuple(lines), line)


def together(before: Ahead, then: Ahead) -> Ahead:
    """What was typed ahead of one turn and is still waiting, and what was typed ahead of the next."""
    if not then.lines:
        return Ahead(before.lines, before.rest + then.rest, before.ended or then.ended)
    first, *others = then.lines
    return Ahead((*before.lines, before.rest + first, *others), then.rest, before.ended or then.ended)


def after_turn(ahead: Ahead, *, went_well: bool, asked_for_consent: bool) -> Ahead:
    """What of it holds when the turn is over. Lines are questions if the turn went well and nobody was asked
    anything meanwhile; else they wait at the prompt, for they may have been meant for something else. An
    answer to a question of consent is none by then."""
    lines = tuple(line for line in ahead.lines if line.strip())
    if asked_for_consent:
        lines = tuple(line for line in lines if line.strip().lower() not in CONSENT_ANSWERS)
    if went_well and not asked_for_consent:
        return Ahead(lines, ahead.rest, ahead.ended)
    waits = (*lines, ahead.rest) if ahead.rest else lines
    return Ahead((), "\n".join(waits), ahead.ended and went_well)


def _ends_in_backslash(text: str) -> bool:
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _in_fence(text: str) -> bool:
    """Whether a fence at the beginning of a line is still open; only one as long of its kind closes it."""
    fence = ""
    for found in _FENCE.findall(text):
        if not fence:
            fence = found
        elif found.startswith(fence):
            fence = ""
    return bool(fence)
