"""Markdown as models write it to HTML: paragraphs, headings, lists, quotes, tables, fenced code.

Whatever is no Markdown is text. No tag of the text itself ever becomes one of the page.
"""

import re
from collections.abc import Iterator

from minime.core.transcript.colouring import code_html
from minime.core.transcript.escaping import escaped, quoted
from minime.core.transcript.phrases import phrases_html

DEEPEST = 6
"""Levels of lists and quotes inside each other; what lies deeper is text."""

FENCE = re.compile(r"( *)(`{3,}(?=[^`]*$)|~{3,}) *([^\s`{]*)")
_ITEM = re.compile(r"( *)([-*+]|\d{1,9}[.)])( +(?=\S)|$)")
_HEADING = re.compile(r" {0,3}(#{1,6}) +(.*?)(?: +#+)? *$")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_DELIMITERS = re.compile(r" *\|?(?: *:?-+:? *\|)+(?: *:?-+:? *)?\|? *$|^ *\| *:?-+:? *\| *$")
_OPENS = re.compile(r" {0,3}(?:[-*+#>|~`_]|\d)")
_CELL = re.compile(r"(?<!\\)\|")
_TASK = re.compile(r"\[([ xX])\] ")


def prose_html(text: str, *, colours: bool = True) -> str:
    """The text as blocks of HTML."""
    lines = text.expandtabs(4).split("\n") if "\t" in text else text.split("\n")
    return "".join(_blocks(lines, 0, colours))


def code_block(code: str, language: str = "", *, colours: bool = True) -> str:
    """A block of code, named by its language where it has one."""
    head = f" data-language={quoted(language[:30])}" if language else ""
    return f'<pre dir="ltr"{head}><code>{code_html(code, language, colours=colours)}</code></pre>\n'


def _blocks(lines: list[str], depth: int, colours: bool) -> Iterator[str]:
    place, count = 0, len(lines)
    while place < count:
        line = lines[place]
        if not line.strip():
            place += 1
            continue
        if _OPENS.match(line) or line[:4] == "    ":
            end, made = _special(lines, place, depth, colours)
            if made:
                yield made
                place = end
                continue
        end = place + 1
        while end < count and lines[end].strip() and not (_OPENS.match(lines[end]) and _breaks(lines, end)):
            end += 1
        yield f'<p dir="auto">{phrases_html(_unindented(lines[place:end]))}</p>\n'
        place = end


def _unindented(lines: list[str]) -> str:
    return "\n".join(line.strip() for line in lines) if len(lines) > 1 else lines[0].strip()


def _breaks(lines: list[str], place: int) -> bool:
    """Whether a new block begins in the middle of a paragraph."""
    line = lines[place]
    item = _ITEM.match(line)
    return bool(
        FENCE.match(line)
        or _HEADING.match(line)
        or _RULE.match(line)
        or line.lstrip()[:1] == ">"
        or (item and (not item[2][0].isdigit() or item[2][:-1] == "1"))
        or _is_table(lines, place)
    )


def _is_table(lines: list[str], place: int) -> bool:
    return "|" in lines[place] and place + 1 < len(lines) and bool(_DELIMITERS.match(lines[place + 1]))


def _special(lines: list[str], place: int, depth: int, colours: bool) -> tuple[int, str]:
    """`(end, html)` of the block that begins here; no html where it is a plain paragraph."""
    line = lines[place]
    if found := FENCE.match(line):
        return _fenced(lines, place, found, colours)
    if found := _HEADING.match(line):
        level = min(len(found[1]) + 2, 6)
        return place + 1, f'<h{level} dir="auto">{phrases_html(found[2])}</h{level}>\n'
    if _RULE.match(line):
        return place + 1, "<hr>\n"
    if _is_table(lines, place):
        return _table(lines, place)
    if depth < DEEPEST and line.lstrip()[:1] == ">":
        return _quote(lines, place, depth, colours)
    if depth < DEEPEST and _ITEM.match(line):
        return _list(lines, place, depth, colours)
    if line[:4] == "    ":
        end = place
        while end < len(lines) and (lines[end][:4] == "    " or not lines[end].strip()):
            end += 1
        code = "\n".join(line[4:] for line in lines[place:end]).rstrip()
        return end, code_block(code + "\n", colours=colours)
    return place, ""


def _fenced(lines: list[str], place: int, found: re.Match[str], colours: bool) -> tuple[int, str]:
    """A fenced block; one that is never closed goes to the end."""
    indent, fence, language = len(found[1]), found[2], found[3]
    end = place + 1
    while end < len(lines):
        closing = lines[end].strip()
        if closing[:1] == fence[0] and not closing.strip(fence[0]) and len(closing) >= len(fence):
            break
        end += 1
    code = [line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in lines[place + 1 : end]]
    return end + 1, code_block("".join(f"{line}\n" for line in code), language, colours=colours)


def _quote(lines: list[str], place: int, depth: int, colours: bool) -> tuple[int, str]:
    end = place
    inner: list[str] = []
    while end < len(lines) and lines[end].lstrip()[:1] == ">":
        inner.append(re.sub(r"^ *> ?", "", lines[end], count=1))
        end += 1
    return end, f"<blockquote>\n{''.join(_blocks(inner, depth + 1, colours))}</blockquote>\n"


def _list(lines: list[str], place: int, depth: int, colours: bool) -> tuple[int, str]:
    first = _ITEM.match(lines[place])
    assert first is not None, "it begins with an item"
    indent, ordered = len(first[1]), first[2][0].isdigit()
    items: list[list[str]] = []
    inside = 0
    while place < len(lines):
        line = lines[place]
        item = _ITEM.match(line)
        lead = len(line) - len(line.lstrip(" "))
        if item and lead <= indent + 1 and lead < max(inside, indent + 2):
            if lead < indent or item[2][0].isdigit() != ordered or _RULE.match(line):
                break
            inside = len(item[0])
            items.append([line[inside:]])
        elif not line.strip():
            after = next((later for later in lines[place + 1 : place + 3] if later.strip()), "")
            again = _ITEM.match(after)
            if not (after[: indent + 2].strip() == "" and after) and not (again and len(again[1]) >= indent):
                break
            items[-1].append("")
        elif lead >= indent + 2:
            items[-1].append(line[min(lead, inside) :])
        elif items[-1][-1].strip() and not (_OPENS.match(line) and _breaks(lines, place)):
            items[-1].append(line.lstrip())
        else:
            break
        place += 1
    tag = "ol" if ordered else "ul"
    start = f' start="{first[2][:-1]}"' if ordered and first[2][:-1] != "1" else ""
    made = "".join(_item(item, depth, colours) for item in items)
    return place, f"<{tag}{start}>\n{made}</{tag}>\n"


def _item(lines: list[str], depth: int, colours: bool) -> str:
    head = '<li dir="auto">'
    if task := _TASK.match(lines[0]):
        head = f'<li class="task" dir="auto">{"☐" if task[1] == " " else "☑"} '
        lines = [lines[0][task.end() :], *lines[1:]]
    if len(lines) == 1 and not _OPENS.match(lines[0]):
        return f"{head}{phrases_html(lines[0])}</li>\n"
    return f"{head}{''.join(_blocks(lines, depth + 1, colours))}</li>\n"


def _table(lines: list[str], place: int) -> tuple[int, str]:
    head, end = _cells(lines[place]), place + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    rows = [_cells(line) for line in lines[place + 2 : end]]
    body = "".join(_row(row[: len(head)], "td") for row in rows)
    return end, (
        f'<div class="wide"><table>\n<thead>{_row(head, "th")}</thead>\n<tbody>{body}</tbody>\n'
        "</table></div>\n"
    )


def _cells(line: str) -> list[str]:
    return [
        cell.strip().replace(r"\|", "|")
        for cell in _CELL.split(line.strip().removeprefix("|").removesuffix("|"))
    ]


def _row(cells: list[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{phrases_html(cell)}</{tag}>' for cell in cells)}</tr>"


def plain_html(text: str) -> str:
    """Text as it was typed: its lines stay, nothing in it is read as Markdown."""
    return f'<p class="typed" dir="auto">{escaped(text)}</p>\n'
