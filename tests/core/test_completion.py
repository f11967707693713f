"""What could stand at the end of a line that is being typed."""

import pytest

from minime.core.completion import (
    Want,
    command_offers,
    name_offers,
    path_offers,
    shown,
    wanted,
)

NAMES = (("src", True), ("main.py", False), ("my notes.txt", False), (".env", False), ("Makefile", False))


@pytest.mark.parametrize(
    ("line", "kind", "begin", "word"),
    [
        ("/re", "command", 0, "re"),
        ("/resume 2026", "session", 8, "2026"),
        ("/model  qw", "model", 8, "qw"),
        ("/mode a", "choice", 6, "a"),
        ("/permissions ", "choice", 13, ""),
        ("look at @src/ma", "mention", 8, "ma"),
        ('look at @"my no', "mention", 8, "my no"),
        ("(@", "mention", 1, ""),
        ("!cat my\\ no", "path", 5, "my no"),
    ],
)
def test_what_is_wanted_depends_on_what_stands_before(line: str, kind: str, begin: int, word: str) -> None:
    want = wanted(line)
    assert want is not None
    assert (want.kind, want.begin, want.word) == (kind, begin, word)


@pytest.mark.parametrize("line", ["", "why", "me@exa", "/unknown x", "/help x", "what is /re", "/quit "])
def test_nothing_is_offered_where_nothing_is_known(line: str) -> None:
    assert wanted(line) is None


def test_commands_that_take_words_get_their_space() -> None:
    assert command_offers(Want("command", 0, "re")) == ("/resume ", "/retry")


def test_a_name_is_found_by_its_beginning_or_when_only_one_holds_the_word() -> None:
    names = ("20260916-101530-4f2a9c1e", "20260917-101530-00000000")
    assert name_offers(Want("session", 8, "2026"), names) == names
    assert name_offers(Want("session", 8, "4F2A"), names) == names[:1]
    assert name_offers(Want("session", 8, "0000"), names) == names[1:]
    assert name_offers(Want("session", 8, "1015"), names) == ()


@pytest.mark.parametrize(
    ("want", "offers"),
    [
        (Want("mention", 0, ""), ("@src/", "@main.py ", '@"my notes.txt" ', "@Makefile ")),
        (Want("mention", 0, "m", folder="a/"), ("@a/main.py ", '@"a/my notes.txt" ')),
        (Want("mention", 0, "make"), ("@Makefile ",)),
        (Want("mention", 0, "."), ("@.env ",)),
        (Want("path", 0, "my"), ("my\\ notes.txt ",)),
        (Want("mention", 0, "zzz"), ()),
    ],
)
def test_a_path_goes_on_behind_a_folder_and_is_quoted_where_it_has_to_be(
    want: Want, offers: tuple[str, ...]
) -> None:
    assert path_offers(want, NAMES) == offers


def test_offers_are_listed_in_columns_and_a_long_list_is_cut() -> None:
    assert shown(("a", "bb", "c"), 8) == "a   c\nbb"
    assert shown(("a",) * 70, 3).endswith("\n… and 10 more")
