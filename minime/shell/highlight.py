"""Lines of code, one after the other, to pieces with colours, by the lexers that rich brings."""

import contextlib
from typing import Any

from minime.core.pieces import Style

LONGEST = 1_000
"""Characters of a line beyond which it is not coloured."""

MOST_LINES = 100
"""Lines of a text in quotes after which a new start is made."""

_STYLES: tuple[tuple[str, Style], ...] = (
    ("Comment", "dim"),
    ("Keyword", "magenta"),
    ("Literal.String", "green"),
    ("Literal.Number", "cyan"),
    ("Name.Function", "blue"),
    ("Name.Class", "blue bold"),
    ("Name.Builtin", "cyan"),
    ("Name.Decorator", "yellow"),
    ("Name.Tag", "blue"),
    ("Name.Attribute", "cyan"),
    ("Name.Variable", "yellow"),
    ("Operator.Word", "magenta"),
    ("Generic.Deleted", "red"),
    ("Generic.Inserted", "green"),
    ("Generic.Heading", "bold"),
    ("Generic.Subheading", "cyan"),
)


class Highlighter:
    """Colours one block of code. A line inside a text or comment of many lines is read with those above."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._lexer = _lexer(language)
        self._above: list[str] = []

    def line(self, text: str) -> list[tuple[str, Style]]:
        """The line in pieces."""
        if self._lexer is None or len(text) > LONGEST:
            return [(text, "")]
        above = "".join(f"{line}\n" for line in self._above)
        pieces: list[tuple[str, Style]] = []
        start = len(above)
        place = 0
        inside = False
        for kind, token in self._lexer.get_tokens(f"{above}{text}\n"):
            name = str(kind)
            shown = token[max(0, start - place) :].rstrip("\n")
            if place + len(token) > start and shown:
                pieces.append((shown, _style(name)))
            place += len(token)
            inside = token.endswith("\n") and _goes_on(name)
        if "".join(piece for piece, _ in pieces) != text:
            return [(text, "")]
        self._above = [*self._above, text] if inside and len(self._above) < MOST_LINES else []
        return pieces


def _goes_on(name: str) -> bool:
    return "String" in name or ("Comment" in name and "Single" not in name)


def _style(name: str) -> Style:
    return next((style for kind, style in _STYLES if name.startswith(f"Token.{kind}")), "")


def _lexer(language: str) -> Any:
    from rich.syntax import Syntax

    lexer = None
    with contextlib.suppress(Exception):  # a lexer is code of others, and colours are no need
        lexer = Syntax("", language).lexer
        if lexer is not None:
            lexer.stripnl = lexer.stripall = lexer.ensurenl = False
            lexer.tabsize = 0
    return lexer
