import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.tools.filetext import Script, codec_of, decode, encode, newline_of, with_newline

MARKS = (b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE)


@given(st.sampled_from(MARKS), st.binary() | st.text().map(str.encode))
def test_what_was_read_is_written_back_byte_for_byte(mark: bytes, data: bytes) -> None:
    file = decode(mark + data)
    if file is not None:
        assert encode(file.text, file.script) == mark + data


@pytest.mark.parametrize(
    ("data", "text", "script"),
    [
        (b"a\r\nb\r\n", "a\r\nb\r\n", Script("utf-8", b"", "\r\n")),
        (b"a\r\nb\n", "a\r\nb\n", Script("utf-8", b"", "")),
        (codecs.BOM_UTF8 + b"a", "a", Script("utf-8", codecs.BOM_UTF8, "\n")),
        (
            codecs.BOM_UTF16_LE + "é\n".encode("utf-16-le"),
            "é\n",
            Script("utf-16-le", codecs.BOM_UTF16_LE, "\n"),
        ),
        ("caf\xe9\n".encode("latin-1"), "café\n", Script("latin-1", b"", "\n")),
        (b"x" * 9_000 + b"\xe9", "x" * 9_000 + "é", Script("latin-1", b"", "\n")),
        (b"", "", Script("utf-8", b"", "\n")),
    ],
)
def test_encoding_mark_and_line_ends_are_found(data: bytes, text: str, script: Script) -> None:
    assert decode(data) == (text, script)


@pytest.mark.parametrize(
    "data", [b"\x7fELF\x02\x01\x01\x00\x00", b"PK\x03\x04\x14\x00", bytes(range(1, 256)), b"a\0b"]
)
def test_what_holds_no_text_is_binary(data: bytes) -> None:  # T07
    assert codec_of(data) is None
    assert decode(data) is None


def test_a_character_cut_in_two_at_the_end_of_the_head_is_no_reason_for_doubt() -> None:
    assert codec_of("é".encode()[:1]) == ("utf-8", b"")


def test_what_an_encoding_has_no_characters_for_is_not_written() -> None:
    assert encode("→", Script("latin-1")) is None


@given(st.lists(st.sampled_from(["a", "\n", "\r\n"])).map("".join))
def test_line_ends_come_out_alike(text: str) -> None:
    assert "\r" not in with_newline(text, "\n")
    assert newline_of(with_newline(text, "\r\n")) == ("\r\n" if "\n" in text else "\n")
    assert with_newline(text, "") == text
