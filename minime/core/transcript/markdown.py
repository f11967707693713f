"""A session to a Markdown document that reads well as text and on a code host.

What a model wrote in Markdown stays Markdown; what would break the document around it does not: tags are
escaped, an unclosed fence is closed, and the fence around a text is longer than any inside.
"""

import re
from collections.abc import Iterator

from minime.core.text import clean
from minime.core.transcript.colouring import diff_lines
from minime.core.transcript.entries import (
    Asked,
    Called,
    Entry,
    Left,
    Prompt,
    Said,
    SummedUp,
    Thought,
    Unfinished,
    Wrong,
    arguments_text,
    call_title,
    cut_text,
    entries,
    error_head,
    facts,
    title_text,
)
from minime.core.transcript.prose import FENCE
from minime.core.values import ErrorRecord, Session, Tool

_LAID_OUT = re.compile(r"^(?: {4}|\t| {0,3}(?:```|~~~))", re.MULTILINE)
_TICKS = re.compile(r"`{3,}")
_MARKS = re.compile(r"[\\`*\[<~|]|(?<![^\W_])_|_(?![^\W_])|^ {0,3}>", re.MULTILINE)
_BEGINS = re.compile(r"^( {0,3})(#{1,6}(?= |$)|[-+](?= |$)|=+ *$|-+ *$|(\d{1,9})([.)])(?= |$))", re.MULTILINE)
_LINE_END = re.compile(r"(?<=\S) *\n(?=\S)")
_ITEM = re.compile(r" *(?:[-*+]|\d{1,9}[.)]) +(?=\S)")
_OUTSIDE_CODE = re.compile(r"\\[\s\S]|(?<!`)(`+)(?!`)(?:(?!\n\n)[\s\S]){1,1000}?(?<!`)\1(?!`)|(<)|(!)(?=\[)")


def session_markdown(session: Session) -> str:
    """The document, with a line end behind it."""
    return "".join(markdown_pieces(session))


def markdown_pieces(session: Session) -> Iterator[str]:
    """The document piece by piece, in order."""
    yield f"# {_line(title_text(session))}\n\n"
    yield "".join(f"- {name}: {_line(value)}\n" for name, value in facts(session))
    speaks = ""
    for entry in entries(session):
        speaker = "You" if isinstance(entry, Asked) else "mini-me" if _is_of_model(entry) else ""
        if speaker and (speaker != speaks or isinstance(entry, Asked)):
            number = f" · {entry.number}" if isinstance(entry, Asked) else ""
            yield f"\n## {speaker}{number}\n"
        speaks = speaker
        yield "\n" + _entry_text(entry)


def _is_of_model(entry: Entry) -> bool:
    return isinstance(entry, Thought | Said | Called | Left)


def _entry_text(entry: Entry) -> str:
    match entry:
        case Called():
            return _call_text(entry)
        case Said(text=text, stopped=stopped):
            line = cut_text(stopped)
            return contained(text) + (f"\n*{_line(line)}*\n" if line else "")
        case Asked(text=text, added=added, images=images):
            typed = fenced(text) if _LAID_OUT.search(text) else _plain(text) + "\n"
            typed += "".join(f"\n*{_line(image.told)}: {_line(image.url)}*\n" for image in images)
            return _quoted(typed) + (f"\n{_fold('Added to the question', fenced(added))}" if added else "")
        case SummedUp(text=text):
            return f"*{_line(text)}*\n"
        case Thought(text=text):
            return _fold("Thought", fenced(text))
        case Prompt(text=text):
            return _fold("System prompt", fenced(text))
        case Left(result=result):
            return _fold("✗ a result without its call", fenced(result.content))
        case Wrong(record=record):
            return _wrong_text(record)
        case Unfinished(reason=reason):
            return (
                f"---\n\n*Unfinished: {'the turn failed' if reason == 'failed' else 'mm ended before it'}*\n"
            )


def _call_text(entry: Called) -> str:
    result = entry.result
    if result is None:
        inner = fenced(*arguments_text(entry.call)) + "\nNo result was recorded.\n"
    elif result.diff is not None and not result.failed:
        inner = _changed(result)
    else:
        inner = fenced(*arguments_text(entry.call)) + "\n" + _changed(result)
    mark = "✓" if result is not None and not result.failed else "✗"
    return _fold(f"{mark} {call_title(entry.call)}", inner)


def _changed(result: Tool) -> str:
    """The diff of an edit, and what the model read of it."""
    shown = ""
    if result.diff is not None:
        new = " (new)" if result.diff.old_text is None else ""
        shown = (
            f"{_line(result.diff.path)}{new}\n\n" + fenced("\n".join(diff_lines(result.diff)), "diff") + "\n"
        )
    return shown + fenced(result.content)


def _wrong_text(record: ErrorRecord) -> str:
    about = f" · “{_line(record.question)}”" if record.question else ""
    detail = f"\n{fenced(record.detail)}" if record.detail else ""
    return _quoted(f"[!WARNING]\n{error_head(record)}{about}\n\n{_plain(record.message)}\n{detail}")


def _quoted(text: str) -> str:
    return "".join(f"> {line}\n" if line else ">\n" for line in text.removesuffix("\n").split("\n"))


def fenced(text: str, language: str = "text") -> str:
    """The text in a fence that nothing inside it closes."""
    text = clean(text)
    longest = max(map(len, _TICKS.findall(text)), default=2) if "```" in text else 2
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.removesuffix(chr(10))}\n{fence}\n"


def contained(text: str) -> str:
    """Markdown of a model, made so that it ends where it ends: no tag outside of code, every fence closed."""
    text = clean(text).strip("\n")
    if not ("<" in text or "![" in text or "```" in text or "~~~" in text):
        return text + "\n"
    made: list[str] = []
    prose: list[str] = []
    fence, room = "", 0
    for line in text.split("\n"):
        if fence:
            made.append(line)
            closing = line.strip()
            if closing[:1] == fence[0] and not closing.strip(fence[0]) and len(closing) >= len(fence):
                fence = ""
            continue
        item = _ITEM.match(line)
        lead = len(line) - len(line.lstrip(" "))
        room = len(item[0]) if item else room if not line.strip() or lead >= room else 0
        found = FENCE.match(line)
        if found and len(found[1]) - room < 4:
            made += [_without_tags("\n".join(prose))] if prose else []
            prose, fence = [], found[2]
            made.append(line)
        else:
            prose.append(line)
    made += [_without_tags("\n".join(prose))] if prose else []
    made += [" " * room + fence] if fence else []
    return "\n".join(made) + "\n"


def _without_tags(text: str) -> str:
    """Prose whose tags and pictures outside of code in ticks are text."""
    return _OUTSIDE_CODE.sub(lambda found: f"\\{found[0]}" if found[2] or found[3] else found[0], text)


def _plain(text: str) -> str:
    """Words of a person: each character means itself, each line end stays."""
    escaped = _MARKS.sub(_marked, clean(text).strip("\n"))
    escaped = _BEGINS.sub(_begin, escaped).replace("&", "&amp;")
    return _LINE_END.sub("  \n", escaped)


def _marked(found: re.Match[str]) -> str:
    return f"{found[0][:-1]}\\{found[0][-1]}"


def _begin(found: re.Match[str]) -> str:
    number = found[3]
    return f"{found[1]}{number}\\{found[4]}" if number else f"{found[1]}\\{found[2]}"


def _line(text: str) -> str:
    """Words on one line, each character itself."""
    return _plain(" ".join(clean(text).split()))


def _fold(title: str, inner: str) -> str:
    title = " ".join(clean(title).split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<details>\n<summary>{title}</summary>\n\n{inner}\n</details>\n"
