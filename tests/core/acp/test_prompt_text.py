"""The blocks of a prompt: what the model reads of them, and what the person typed."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.acp.prompt_text import image_data, image_name_of, linked_file, question
from minime.core.acp.state import Block, block
from minime.core.images import MOST_BYTES, TOO_LARGE, Kept
from minime.core.tools.toolbox import ReadFile
from minime.core.values import ImagePart, TextPart, content_text, question_text
from tests.support.values import PIXEL


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def link(uri: str, name: str = "") -> dict[str, Any]:
    return {"type": "resource_link", "uri": uri, "name": name}


def made(*raw: dict[str, Any], read: dict[int, str] | None = None) -> tuple[str, str]:
    """What the model reads, and what was typed."""
    blocks = tuple(b for b in map(block, raw) if b is not None)
    user = question(blocks, read or {}).question
    return content_text(user.content), question_text(user)


@pytest.mark.parametrize(
    ("uri", "file"),
    [
        pytest.param("file:///w/a.py", ReadFile("/w/a.py"), id="file"),
        pytest.param("file:///w/my%20file.py", ReadFile("/w/my file.py"), id="acp-50 %20"),
        pytest.param("file:///w/a.py#L10-20", ReadFile("/w/a.py", 10, 11), id="acp-50 lines"),
        pytest.param("file:///w/a.py#L14:21", ReadFile("/w/a.py", 14, 8), id="acp-50 colon"),
        pytest.param("file:///w/a.py#L1-L2", ReadFile("/w/a.py", 1, 2), id="acp-50 two Ls"),
        pytest.param("file:///w/a.py#L7", ReadFile("/w/a.py", 7, 1), id="one line"),
        pytest.param("file:///w/a.py#L20-10", ReadFile("/w/a.py", 20, 1), id="backwards"),
        pytest.param("file:///w/a.py#part", ReadFile("/w/a.py"), id="another fragment"),
        pytest.param("/w/a.py", ReadFile("/w/a.py"), id="bare path"),
        pytest.param("https://example.org/a.py", None, id="http"),
        pytest.param("file://", None, id="no path"),
        pytest.param("http://[broken", None, id="no address at all"),
    ],
)
def test_a_link_names_a_file_and_its_lines(uri: str, file: ReadFile | None) -> None:
    assert linked_file(Block("resource_link", uri=uri)) == file


def test_words_alone_are_the_question() -> None:
    assert made(text("Hello")) == ("Hello", "Hello")
    assert made(text("Hello"), text("there")) == ("Hello\nthere", "Hello\nthere")


def test_a_mention_stays_where_it_was_typed_and_its_file_stands_behind() -> None:
    # acp-50, acp-12
    content, typed = made(
        text("Look at "), link("file:///w/a.py", "a.py"), text(", please"), read={1: "x = 1\n"}
    )
    assert typed == "Look at @a.py , please"
    assert content == f"{typed}\n\nfile:///w/a.py:\n```\nx = 1\n```"


@pytest.mark.parametrize(
    ("raw", "read", "words"),
    [
        pytest.param(link("file:///w/a.py"), "x = 1", "x = 1", id="acp-50 file"),
        pytest.param(link("file:///w/gone.py"), "no such file: gone.py", "no such file", id="acp-50 missing"),
        pytest.param(link("https://example.org/page", "a page"), None, "https://example.org/page", id="acp-50 http"),
        pytest.param({"type": "resource", "resource": {"uri": "file:///w/a", "text": "hi"}}, None, "hi", id="acp-50 text"),
        pytest.param(
            {"type": "resource", "resource": {"uri": "file:///w/a.bin", "blob": "aGk=", "mimeType": "x/y"}}, None, "x/y",
            id="acp-50 binary",
        ),
        pytest.param({"type": "image", "data": "aGk=", "mimeType": "image/png"}, None, "image/png", id="image"),
        pytest.param({"type": "hologram"}, None, "hologram", id="a kind of the future"),
    ],
)  # fmt: skip
def test_whatever_is_given_reaches_the_model_also_alone(
    raw: dict[str, Any], read: str | None, words: str
) -> None:
    content, typed = made(raw, read={} if read is None else {0: read})
    assert words in content
    assert typed.strip()


blocks = st.builds(
    Block,
    st.sampled_from(("text", "resource_link", "resource", "image", "x")),
    text=st.text(max_size=20),
    uri=st.sampled_from(("file:///a#L1-9", "http://[", "//", "file:///%", "")) | st.text(max_size=20),
    name=st.text(max_size=5),
)


@given(st.lists(blocks, max_size=4).map(tuple))
def test_no_prompt_is_too_strange(given_blocks: tuple[Block, ...]) -> None:
    turn = question(given_blocks, {0: "text"})
    for b in given_blocks:
        linked_file(b)
        if b.type == "text":
            assert b.text.strip("\n") in content_text(turn.question.content)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"type": "image", "data": "A" * 16_000, "mimeType": "image/png"}, "an image (image/png, 12 kB)"),
        (
            {"type": "image", "data": "AAAA", "mimeType": "image/png", "uri": "file:///w/a%20b.png"},
            "an image (a b.png, image/png, 1 kB)",
        ),
        ({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}, "a sound (audio/wav, 1 kB)"),
        ({"type": "novel"}, "something (novel)"),
    ],
)
def test_what_a_model_is_not_shown_is_told_by_name_type_and_size(raw: dict[str, Any], words: str) -> None:
    assert made(raw)[0].endswith(f"The user gave {words}, which this model is not shown.")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (Block("text", text="x"), b""),
        (Block("resource", uri="a.py", mime="text/x-python", data="aGk="), b""),
        (Block("image", mime="image/png"), "which was not sent along"),
        (Block("image", data="!"), "whose data is damaged"),
        (Block("image", data="aGk="), "which is no PNG, JPEG, GIF or WebP"),
        (Block("image", data="A" * (MOST_BYTES * 4 // 3 + 8)), TOO_LARGE),
        (Block("image", data=PIXEL), base64.b64decode(PIXEL)),
        (Block("image", data=f"data:image/png;base64,{PIXEL}"), base64.b64decode(PIXEL)),
        (Block("resource", uri="a.png", mime="image/png", data=PIXEL), base64.b64decode(PIXEL)),
    ],
)
def test_an_image_is_what_its_bytes_say(given: Block, found: bytes | str) -> None:
    assert image_data(given) == found


def test_images_stand_behind_the_words_and_are_no_part_of_what_was_typed() -> None:
    shown = Block("image", data=PIXEL, uri="file:///w/a%20b.png")
    assert image_name_of(shown) == "a b.png"
    asked = question((Block("text", text="Look"), shown), {}, {1: Kept("u", "a b.png (PNG)")}).question
    assert question_text(asked) == "Look"
    assert not isinstance(asked.content, str)
    assert [type(part) for part in asked.content] == [TextPart, TextPart, ImagePart]
    alone = question((shown,), {}, {0: Kept("u", "a b.png (PNG)")}).question
    assert question_text(alone) == "[image]"
    refused = question((Block("text", text="Look"), shown), {}, {1: "which is odd"}).question
    assert "The user gave an image (a b.png, image, 1 kB), which is odd." in content_text(refused.content)
