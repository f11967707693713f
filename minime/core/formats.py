"""The forms that a conversation can be exported in, and what `/export` was asked for."""

from pathlib import PurePath
from typing import Literal, get_args

import msgspec

Format = Literal["markdown", "html", "json", "acp"]
FORMATS: tuple[Format, ...] = get_args(Format)
SUFFIXES: dict[Format, str] = {"markdown": ".md", "html": ".html", "json": ".json", "acp": ".jsonl"}

NOTHING_YET = "this conversation is empty: there is nothing to export yet"


class Wanted(msgspec.Struct, frozen=True):
    """The form, and the file to put it into; empty for one with a name of its own."""

    format: Format
    file: str = ""


def format_of(name: str) -> Format | None:
    """The form that the end of a file's name stands for; None where it stands for none."""
    ends: dict[str, Format] = {end: format for format, end in SUFFIXES.items()}
    return (ends | {".markdown": "markdown", ".htm": "html"}).get(PurePath(name).suffix.lower())


def parse_export(argument: str) -> Wanted | str:
    """What stands behind `/export`: a form, a file, both or neither; or why it makes no sense."""
    first, _, rest = argument.partition(" ")
    known: dict[str, Format] = {name: name for name in FORMATS}
    form = (known | {"": "markdown", "md": "markdown"}).get(first.lower())
    if form is not None:
        return Wanted(form, rest.strip())
    found = format_of(argument)
    if found is None:
        return f"neither a form nor a file whose name tells one: /export [{'|'.join(FORMATS)}] [FILE]"
    return Wanted(found, argument)
