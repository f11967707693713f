"""The lines typed, and the text of the file that keeps them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.history import LONGEST, MOST, entries, entry_line, shortened


@given(st.text().filter(lambda text: text.strip() and not text.startswith(" ")))
def test_an_entry_comes_back_as_it_was_and_takes_one_line(entry: str) -> None:
    line = entry_line(entry)
    assert "\n" not in line
    assert entries(f"one\n{line}\n") == ("one", entry)


@pytest.mark.parametrize("entry", ["", "  \n", " secret", "x" * (LONGEST + 1)])
def test_a_blank_a_huge_one_and_one_behind_a_space_are_not_kept(entry: str) -> None:
    assert entry_line(entry) == ""


def test_the_newest_stay_and_the_file_is_cut_when_it_is_well_over() -> None:
    text = "".join(f"{number}\n" for number in range(MOST + 50))
    assert entries(text) == tuple(map(str, range(50, MOST + 50)))
    assert shortened(text) is None
    longer = "".join(f"{number}\n" for number in range(2 * MOST))
    short = shortened(longer)
    assert short is not None
    assert entries(short) == entries(longer)
    assert shortened(short) is None


def test_what_another_program_wrote_is_taken_as_it_is() -> None:
    assert entries("plain\n\n\\q\\") == ("plain", "\\q\\")
