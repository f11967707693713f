"""What `/export` was asked for."""

import pytest

from minime.core.formats import Wanted, parse_export


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("", Wanted("markdown")),
        ("html", Wanted("html")),
        ("md  my notes.txt", Wanted("markdown", "my notes.txt")),
        ("ACP talk", Wanted("acp", "talk")),
        ("my talk.HTML", Wanted("html", "my talk.HTML")),
        ("a/b.jsonl", Wanted("acp", "a/b.jsonl")),
    ],
)
def test_words_behind_export_name_a_form_a_file_both_or_neither(words: str, wanted: Wanted) -> None:
    assert parse_export(words) == wanted


def test_what_is_neither_a_form_nor_tells_one_is_answered_with_the_way_it_goes() -> None:
    told = parse_export("pdf")
    assert isinstance(told, str)
    assert "/export [markdown|html|json|acp] [FILE]" in told
