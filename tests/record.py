"""The visit of the screens as a picture for the README: `python -m tests.record` writes docs/session.svg."""

import io
import re
import tempfile
from itertools import groupby
from pathlib import Path

from pyte.screens import Char
from rich.console import Console
from rich.style import Style
from rich.text import Text

from tests.conftest import ROOT
from tests.support.mm import Visitor
from tests.support.scene import play

TARGET = ROOT / "docs" / "session.svg"
COLUMNS = 80


def look(cell: Char) -> Style:
    """How a character looks."""
    colour = {"default": None, "brown": "yellow"}.get(cell.fg, cell.fg)
    return Style(color=colour, bold=cell.bold, italic=cell.italics, underline=cell.underscore)


def lines(mm: Visitor) -> list[Text]:
    """The rows of the screen with their colours, without the empty ones at the end."""
    rows = []
    for row in range(len(mm.screen.splitlines())):
        line = Text()
        for style, cells in groupby(mm.cells(row), look):
            line.append("".join(cell.data for cell in cells), style)
        line.rstrip()
        rows.append(line)
    return rows


def main() -> None:
    """Writes the picture."""
    with tempfile.TemporaryDirectory() as folder:
        mm = play(Path(folder), COLUMNS, NO_COLOR="")
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    for line in lines(mm):
        line.plain = re.sub(r"(127\.0\.0\.1):[0-9]{5}", r"\1:11434", line.plain)
        console.print(line, soft_wrap=True, highlight=False)
    TARGET.write_text(console.export_svg(title="mm", unique_id="mm"), encoding="utf-8")


if __name__ == "__main__":
    main()
