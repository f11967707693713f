"""Code and diffs to coloured HTML: comments, strings, numbers and the words that many languages share."""

import difflib
import html
import re
from collections.abc import Iterator
from functools import cache

from minime.core.transcript.escaping import escaped, shown
from minime.core.values import Diff

MOST_COLOURED = 50_000
"""Characters of one block of code; a longer one stays plain."""

MOST_COMPARED = 4_000
"""Lines of a file, before and after; more are not compared line by line, which would take too long."""

_FAMILIES = {
    "hash": "python py python3 sh bash zsh shell fish yaml yml toml ini ruby rb r perl pl make makefile "
    "dockerfile docker nim elixir ex julia jl nix cmake awk tcl conf",
    "slash": "javascript js jsx mjs typescript ts tsx java c h cpp c++ cc hpp cs csharp go rust rs swift "
    "kotlin kt scala dart php zig v json json5 jsonc proto groovy solidity css scss less glsl",
    "dash": "sql postgresql mysql sqlite lua haskell hs elm ada vhdl",
    "markup": "html xml svg vue xhtml htm",
}
_COMMENTS = {
    "hash": r"(?:(?<=\s)|^)\#.*",
    "slash": r"//.*|/\*[\s\S]*?(?:\*/|\Z)",
    "dash": r"--.*|/\*[\s\S]*?(?:\*/|\Z)",
    "markup": r"&lt;!--[\s\S]*?(?:--&gt;|\Z)",
}
_STRINGS = (
    r'"""[\s\S]*?(?:"""|\Z)'
    r"|'''[\s\S]*?(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|(?<!\w)'(?:[^'\\\n]|\\.)*+'"
    r"|`(?:[^`\\]|\\.)*+`"
)
_WORDS = (
    "abstract alias and as assert async await begin break case catch chan class const constexpr continue def "
    "default defer del delete do done elif else elseif elsif end enum esac except export extends extern fi "
    "final finally fn for foreach from func function global go goto guard if impl implements import in "
    "init instanceof interface is lambda let local loop macro match mod module move mut namespace new nil "
    "nonlocal not null of operator or override package pass private protected pub public raise ref require "
    "rescue return self select static struct super switch template then this throw throws trait try type "
    "typedef typeof union unless unsafe until use using var virtual void volatile where while with yield "
    "True False None true false undefined"
)
_SQL = (
    "select from where insert into values update set delete create table alter drop index view join left "
    "right inner outer on as and or not null is in order by group having limit offset union all distinct "
    "primary key foreign references default unique case when then else end begin commit rollback with exists"
)


def code_html(code: str, language: str, *, colours: bool = True) -> str:
    """Code between the tags of a `pre`; without colours where its language is not known."""
    name = language.lower()
    if not colours or len(code) > MOST_COLOURED:
        return escaped(code)
    if name in {"diff", "patch"}:
        return "".join(_line_html(line) for line in code.splitlines(keepends=True))
    family = _family(name)
    if not family:
        return escaped(code)
    return shown(_pattern(family).sub(_token, html.escape(code, quote=False)))


def diff_html(diff: Diff) -> str:
    """What an edit changed, line by line, between the tags of a `pre`."""
    return "".join(_line_html(line + "\n") for line in diff_lines(diff))


def diff_lines(diff: Diff) -> Iterator[str]:
    """What an edit changed as a unified diff, without its head of file names."""
    before, after = (diff.old_text or "").splitlines(), diff.new_text.splitlines()
    if len(before) > MOST_COMPARED or len(after) > MOST_COMPARED:
        yield from (f"-{line}" for line in before)
        yield from (f"+{line}" for line in after)
        return
    lines = difflib.unified_diff(before, after, lineterm="", n=3)
    yield from (line for place, line in enumerate(lines) if place > 1)


def _line_html(line: str) -> str:
    """The line, its end inside: the span is a block of its own, so that its ground reaches across."""
    kind = {"+": "ins", "-": "del", "@": "at"}.get(line[:1])
    return f'<span class="{kind}">{escaped(line)}</span>' if kind else escaped(line)


def _token(found: re.Match[str]) -> str:
    return f'<span class="{found.lastgroup}">{found[0]}</span>'


def _family(name: str) -> str:
    return next((family for family, names in _FAMILIES.items() if name in names.split()), "")


@cache
def _pattern(family: str) -> re.Pattern[str]:
    """Tokens in code that is escaped already: no entity holds a quote, a digit or one of the words."""
    words = _SQL if family == "dash" else _WORDS
    known = rf"\b(?:{'|'.join(words.split())})\b"
    if family == "markup":
        known = r"&lt;/?[A-Za-z][\w:.-]*"
    flags = re.MULTILINE | (re.IGNORECASE if family == "dash" else 0)
    return re.compile(
        rf"(?P<c>{_COMMENTS[family]})|(?P<s>{_STRINGS})|(?P<n>\b\d[\w.]*)|(?P<k>{known})", flags
    )
