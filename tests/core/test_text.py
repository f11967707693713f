from itertools import pairwise
from unicodedata import category

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.text import HELD_AT_MOST, clean, clip, clip_ends, feed, indented, is_clean, mask, one_line

# Pieces that make escape sequences, line ends and secrets likely, whole and cut in two.
TOKENS = "a é \n \r \t \x00 \x07 \x1b [ 3 1m ] 0;t \\ P \x9b \x9c m \ud83d \x85 se cret sec K3y-1 K3y (B"
AWKWARD = st.lists(st.sampled_from(TOKENS.split(" ")), max_size=30).map("".join)


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        pytest.param(b"\xff\xfeok", "\ufffd\ufffdok", id="T01-bytes"),
        pytest.param("\ud83d!", "\ufffd!", id="T01-lone-surrogate"),
        pytest.param("\x1b[31mred\x1b]0;t\x07", "red", id="T02"),
        pytest.param("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link", id="T02-hyperlink"),
        pytest.param("\x1bP1$r0m\x1b\\a\x1b(Bb\x1b7c\x9b1md", "abcd", id="T02-others"),
        pytest.param("\x1b]0;never ended\nnext", "\nnext", id="T02-unfinished-title"),
        pytest.param("a\x00b\x07\x7f\x85", "ab", id="T03"),
        pytest.param("a\r\nb\rc\td\n", "a\nb\nc\td\n", id="T03-line-ends"),
        pytest.param(b"\xe9", "\ufffd", id="T05"),
        pytest.param("\x1b\x1b[31m[31mx", "[31mx", id="nested"),
        pytest.param("héllo 🚗", "héllo 🚗", id="plain"),
    ],
)
def test_cleaning_leaves_the_text_alone(raw: str | bytes, plain: str) -> None:
    assert clean(raw) == plain


@given(AWKWARD | st.text(st.characters()) | st.binary())
def test_clean_text_is_clean_for_good_and_can_be_stored(raw: str | bytes) -> None:
    once = clean(raw)
    assert clean(once) == once
    assert msgspec.json.decode(msgspec.json.encode(once)) == once
    assert not any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in once)


@given(
    AWKWARD, st.lists(st.integers(0, 60), max_size=5), st.sampled_from([(), ("secret",), ("K3y-1", "secret")])
)
def test_text_in_pieces_comes_out_as_the_whole_would(
    raw: str, cuts: list[int], secrets: tuple[str, ...]
) -> None:
    edges = [0, *sorted(cuts), len(raw)]
    held, out = "", ""
    for start, end in pairwise(edges):
        held, ready = feed(held, raw[start:end], secrets)
        out += ready
    assert out + mask(clean(held), secrets) == mask(clean(raw), secrets)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_secret_that_comes_in_pieces_is_masked_even_where_one_begins_with_the_other(size: int) -> None:
    secrets = ("abcd", "abcdefgh", "dxyz1")
    text = "1 abcd 2 abcdefgh 3 dxyz1 abcd"
    held, out = "", ""
    for place in range(0, len(text), size):
        held, ready = feed(held, text[place : place + size], secrets)
        out += ready
    assert out + mask(held, secrets) == "1 *** 2 *** 3 *** ***"


def test_an_escape_sequence_without_end_is_not_waited_for_for_ever() -> None:
    held, _ = feed("", "\x1b]0;" + "x" * 20_000)
    assert held == ""


def test_a_secret_is_masked_and_a_very_short_one_is_not() -> None:
    assert mask("key=sk-1234 and sk-12345678", ("sk-1234", "sk-12345678", "and", "")) == "key=*** and ***"


def test_a_long_text_keeps_its_head_and_tail_and_says_how_much_is_gone() -> None:  # T06
    text = "head" + "x" * 100_000 + "tail"
    short = clip(text, 1_000)
    head, marker, tail = short.split("\n")
    assert len(short) <= 1_000
    assert head.startswith("head")
    assert tail.endswith("tail")
    assert marker == f"… {len(text) - len(head) - len(tail):,} characters left out …"


@given(st.text(), st.integers(100, 400))
def test_a_text_within_the_limit_is_not_touched_and_no_other_passes_it(text: str, limit: int) -> None:
    text *= 20
    short = clip(text, limit)
    assert len(short) <= limit
    assert (short == text) == (len(text) <= limit)


def test_ends_without_a_middle_are_counted_right() -> None:
    short = clip_ends("a" * 500, "b" * 500, 5_000, 1_000)
    head, marker, tail = short.split("\n")
    assert marker == f"… {6_000 - len(head) - len(tail):,} characters left out …"


def test_a_title_is_one_line_that_hides_nothing() -> None:
    assert one_line("rm\u202e x\n\x1b[8m-rf  /\u200b") == "rm x -rf /"
    assert one_line("x" * 500, 10) == "x" * 9 + "…"


@given(st.text("ab \u00e9", max_size=80), st.integers(0, 60))
def test_what_is_broken_at_words_keeps_them_all(text: str, width: int) -> None:
    shown = indented(text, "in  ", "    ", width)
    assert shown.split() == ["in", *text.split()]
    if width >= 24 and max(map(len, text.split()), default=0) < width - 5:
        assert all(len(line) < width for line in shown.splitlines())
    if width == 0:
        assert shown == f"in  {text}\n"


@given(st.text(st.characters() | st.sampled_from("\x00\t\n\r\x1b\x7f\x80\x85\x9f\xa0\ud800\u202e é")))
def test_a_clean_text_is_one_without_controls_and_halves_of_letters_and_stays_as_it_is(text: str) -> None:
    harmless = all(letter in "\t\n" or category(letter) not in {"Cc", "Cs"} for letter in text)
    assert is_clean(text) == harmless
    assert clean(text) == text or not harmless


def test_a_sequence_that_never_ends_is_not_held_for_ever() -> None:
    held, ready = feed("", "a\x1b]0;" + "t" * HELD_AT_MOST)
    assert (held, ready[:1]) == ("", "a")


def test_a_secret_that_may_be_unfinished_is_held_with_one_that_it_overlaps() -> None:
    held, ready = feed("", "xxabcabcd", ("abcabcdef", "bcabc"))
    assert "abc" not in ready
    assert mask(clean(held), ("abcabcdef", "bcabc")).count("abcabc") == 0
