"""What a person sees in a whole visit, on terminals of three widths."""

import html
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.conftest import GOLDEN, ROOT
from tests.support.scene import play

Golden = Callable[[str], SnapshotAssertion]


@pytest.mark.parametrize("columns", [40, 80, 160])
def test_a_visit_on_a_terminal(tmp_path: Path, golden: Golden, columns: int) -> None:
    screen = play(tmp_path, columns).screen
    assert re.sub(r"(127\.0\.0\.1):[0-9]{5}", r"\1:11434", screen) + "\n" == golden(f"screens/{columns}.txt")


def test_the_picture_in_the_readme_shows_that_visit() -> None:
    picture = (ROOT / "docs" / "session.svg").read_text(encoding="utf-8")
    shown = html.unescape("".join(re.findall(r"<text[^>]*>([^<]*)</text>", picture)))
    screen = (GOLDEN / "screens" / "80.txt").read_text(encoding="utf-8")
    assert "".join(screen.split()) in "".join(shown.split()), "just record draws it anew"
