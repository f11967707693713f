"""A session to one page of HTML that holds all it needs: no script, nothing fetched, folds without either.

The page's own policy forbids everything but its style sheet, which it knows by its digest: whatever a model
or a file wrote, a browser runs nothing of it and asks nobody for anything.
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from functools import cache

from minime.core.images import NO_IMAGES, Kept, data_url
from minime.core.text import one_line
from minime.core.transcript.colouring import diff_html
from minime.core.transcript.entries import (
    Asked,
    Called,
    Entry,
    Left,
    Prompt,
    Said,
    Spoken,
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
from minime.core.transcript.escaping import escaped
from minime.core.transcript.look import STYLE
from minime.core.transcript.prose import code_block, plain_html, prose_html
from minime.core.values import Diff, ErrorRecord, Session, Tool

MOST_COLOURED = 3_000_000
"""Characters of a conversation whose code is coloured; a browser takes a longer one better without."""

OPEN_LINES = 40
"""An edit of no more lines is shown unfolded."""


def session_html(session: Session, images: Mapping[str, bytes] = NO_IMAGES) -> str:
    """The page, with a line end behind it."""
    return "".join(page_pieces(session, images))


def page_pieces(session: Session, images: Mapping[str, bytes] = NO_IMAGES) -> Iterator[str]:
    """The page piece by piece, in order. `images` are those that it shows, by the names that the session has
    for them."""
    title = escaped(title_text(session))
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(with_images=bool(images))}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n"
        f'<h1 dir="auto">{title}</h1>\n'
        f"{_facts_html(session)}</header>\n<main>\n"
    )
    colours = _size(session) <= MOST_COLOURED
    yield from _turns(entries(session), colours, images)
    yield "</main>\n<footer><p>A conversation with mini-me, in one file.</p></footer>\n</body>\n</html>\n"


@cache
def policy(*, with_images: bool = False) -> str:
    """The content security policy of the page; it shows images only that stand in the page itself."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    images = "img-src data:; " if with_images else ""
    return f"default-src 'none'; {images}style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _turns(shown: Iterator[Entry], colours: bool, images: Mapping[str, bytes]) -> Iterator[str]:
    """A section for what stands before the first question, for each turn, and for a turn broken off; the
    errors of each stand beside it."""
    body: list[str] = []
    errors: list[str] = []
    head = ""
    for entry in shown:
        match entry:
            case Wrong(record=record):
                errors.append(_wrong_html(record))
                continue
            case Asked(number=number):
                label = f'<a class="number" id="t{number}" href="#t{number}">{number}</a>\n'
            case SummedUp() | Unfinished():
                label = '<span class="number"></span>\n'
            case _:
                body.append(_entry_html(entry, colours, images))
                continue
        if not body or not body[0].startswith('<p class="label">Unfinished'):
            yield _section(head, body, errors)
            body, errors, head = [], [], label
        else:
            head = label
        body.append(_entry_html(entry, colours, images))
    yield _section(head, body, errors)


def _section(head: str, body: list[str], errors: list[str]) -> str:
    if not body and not errors:
        return ""
    beside = f'<aside class="errors">\n{"".join(errors)}</aside>\n' if errors else ""
    return f'<section class="turn">\n{head}<div>\n{"".join(body)}</div>\n{beside}</section>\n'


def _entry_html(entry: Spoken, colours: bool, images: Mapping[str, bytes]) -> str:
    match entry:
        case Called():
            return _call_html(entry, colours)
        case Said(text=text, stopped=stopped):
            line = cut_text(stopped)
            cut = f'<p class="cut">{escaped(line)}</p>\n' if line else ""
            return f'<div class="said">\n{prose_html(text, colours=colours)}{cut}</div>\n'
        case Asked(text=text, added=added, images=given):
            more = f'<pre class="result" dir="auto">{escaped(added)}</pre>\n' if added else ""
            behind = _fold("added", f"added to the question ({_length(added)})", more) if added else ""
            shown = "".join(_image_html(image, images.get(image.url)) for image in given)
            return f'<div class="ask">{plain_html(text)}{shown}{behind}</div>\n'
        case Thought(text=text):
            return _fold("thought", f"thought ({_length(text)})", prose_html(text, colours=colours))
        case Prompt(text=text):
            return _fold("prompt", "system prompt", f'<pre class="result" dir="auto">{escaped(text)}</pre>\n')
        case SummedUp(text=text):
            return f'<p class="label" dir="auto">{escaped(text)}</p>\n'
        case Left(result=result):
            return _fold("call bad", "a result without its call", _result_html(result))
        case Unfinished(reason=reason):
            why = "the turn failed" if reason == "failed" else "mm ended before the turn did"
            return f'<p class="label">Unfinished: {why}</p>\n'


def _image_html(image: Kept, data: bytes | None) -> str:
    told = escaped(one_line(image.told, 300))
    if data is None:
        return f'<p class="label" dir="auto">{told}</p>\n'
    return (
        f'<figure><img src="{data_url(image.url, data)}" alt="{told}">'
        f'<figcaption dir="auto">{told}</figcaption></figure>\n'
    )


def _call_html(entry: Called, colours: bool) -> str:
    result = entry.result
    good = result is not None and not result.failed
    title = f'<span class="mark">{"✓" if good else "✗"}</span>{escaped(call_title(entry.call))}'
    if result is not None and result.diff is not None and good:
        changed = _diff_block(result.diff)
        few = changed.count("\n") <= OPEN_LINES
        inner = changed + _result_html(result)
        return _fold_html("call good", title, inner, unfolded=few)
    arguments, language = arguments_text(entry.call)
    inner = code_block(arguments, language, colours=colours)
    if result is None:
        inner += '<p class="cut">no result was recorded</p>\n'
    else:
        inner += (_diff_block(result.diff) if result.diff else "") + _result_html(result)
    return _fold_html(f"call {'good' if good else 'bad'}", title, inner)


def _diff_block(diff: Diff) -> str:
    name = escaped(one_line(diff.path, 300))
    new = " (new)" if diff.old_text is None else ""
    return f'<p class="label">{name}{new}</p>\n<pre dir="ltr"><code>{diff_html(diff)}</code></pre>\n'


def _result_html(result: Tool) -> str:
    return f'<pre class="result" dir="auto">{escaped(result.content)}</pre>\n' if result.content else ""


def _wrong_html(record: ErrorRecord) -> str:
    about = f" · “{escaped(record.question)}”" if record.question else ""
    detail = f'<pre dir="auto">{escaped(record.detail)}</pre>\n' if record.detail else ""
    return (
        f'<div class="wrong">\n<p class="when" dir="auto">{escaped(error_head(record))}{about}</p>\n'
        f'<p dir="auto">{escaped(record.message)}</p>\n{detail}</div>\n'
    )


def _facts_html(session: Session) -> str:
    rows = "".join(f"<div><dt>{name}</dt><dd>{escaped(value)}</dd></div>" for name, value in facts(session))
    return f'<dl class="facts">{rows}</dl>\n'


def _fold(kind: str, title: str, inner: str) -> str:
    return _fold_html(kind, escaped(title), inner)


def _fold_html(kind: str, title: str, inner: str, *, unfolded: bool = False) -> str:
    opened = " open" if unfolded else ""
    return (
        f'<details class="{kind}"{opened}><summary>{title}</summary>\n<div class="inside">\n{inner}</div>'
        "</details>\n"
    )


def _length(text: str) -> str:
    lines = text.count("\n") + 1
    return f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"


def _size(session: Session) -> int:
    """Characters of the conversation, about."""
    return sum(len(m.content) for m in session.messages)
