"""Images: what bytes show of them, and how a session names, owns and tells of them."""

import base64

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minime.core.budget import IMAGE_BYTES, size
from minime.core.images import (
    MOST_SENT,
    Kept,
    all_urls,
    data_url,
    image_name,
    image_place,
    image_text,
    image_url,
    image_urls,
    images_of,
    mime_of,
    own_images,
    to_send,
    with_images,
    words_of,
)
from minime.core.session import fork
from minime.core.turn import Turn
from minime.core.values import ImagePart, ImageUrl, Pending, TextPart, User
from tests.support.values import ID, NOW, OTHER_ID, OTHER_STAMP, PIXEL, fresh, hello_turn, talked

PNG = base64.b64decode(PIXEL)
NAME = image_name(PNG)
GIF = b"GIF89a" + (640).to_bytes(2, "little") + (480).to_bytes(2, "little")
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc2\x00\x0b\x08\x01\xe0\x02\x80\x01\x01\x11\x00"
WEBP = b"RIFF\x00\x00\x00\x00WEBP"
LOSSY = WEBP + b"VP8 " + bytes(10) + (640).to_bytes(2, "little") + (480).to_bytes(2, "little")
LOSSLESS = WEBP + b"VP8L\x00\x00\x00\x00\x2f" + (639 | 479 << 14).to_bytes(4, "little") + bytes(8)
EXTENDED = WEBP + b"VP8X" + bytes(8) + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        pytest.param(PNG, "a (PNG, 1×1, 1 kB)", id="png"),
        pytest.param(GIF, "a (GIF, 640×480, 1 kB)", id="gif"),
        pytest.param(JPEG, "a (JPEG, 640×480, 1 kB)", id="jpeg"),
        pytest.param(LOSSY, "a (WEBP, 640×480, 1 kB)", id="webp lossy"),
        pytest.param(LOSSLESS, "a (WEBP, 640×480, 1 kB)", id="webp lossless"),
        pytest.param(EXTENDED, "a (WEBP, 640×480, 1 kB)", id="webp extended"),
        pytest.param(PNG + bytes(2_500_000), "a (PNG, 1×1, 2.5 MB)", id="large"),
        pytest.param(PNG[:14], "a (PNG, 1 kB)", id="cut png"),
        pytest.param(JPEG[:9], "a (JPEG, 1 kB)", id="cut jpeg"),
        pytest.param(WEBP + b"VP9 " + bytes(20), "a (WEBP, 1 kB)", id="strange webp"),
        pytest.param(b"hello", "a (1 kB)", id="no image"),
    ],
)
def test_an_image_is_told_by_kind_extent_and_size(data: bytes, told: str) -> None:
    assert image_text("a", data) == told


@given(st.sampled_from((PNG[:16], GIF[:6], JPEG[:4], WEBP)), st.binary(max_size=60))
def test_no_bytes_are_too_strange(begin: bytes, rest: bytes) -> None:
    assert image_text("", begin + rest).startswith("an image (")


@pytest.mark.parametrize("data", [b"", b"<svg>", b"%PDF-1.4", b"RIFF\x00\x00\x00\x00WAVE", b"BM", b"\x89PNG"])
def test_what_no_model_takes_is_no_image(data: bytes) -> None:
    assert mime_of(data) is None


def test_equal_bytes_have_one_name_and_others_another() -> None:
    assert image_name(bytes(PNG)) == NAME
    assert image_name(PNG + b"x") != NAME
    assert image_place(image_url(ID, NAME)) == (ID, NAME)


@pytest.mark.parametrize(
    "url",
    [
        "",
        f"../{ID}.files/{NAME}",
        f"{ID}.files/../{NAME}",
        f"/etc/{ID}.files/{NAME}",
        f"{ID}.files/{NAME}/x",
        f"{ID}.files/{NAME}\n",
        f"{ID}.files/passwd",
        f"{ID}.files/{NAME.replace('png', 'svg')}",
        "https://example.org/a.png",
        "data:image/png;base64,aGk=",
    ],
)
def test_an_address_that_mm_did_not_make_leads_nowhere(url: str) -> None:
    assert image_place(url) is None


def asked(*urls: str, text: str = "What is it?") -> User:
    return User(with_images(text, tuple(Kept(url, f"{n}.png (PNG)") for n, url in enumerate(urls))))


def test_a_question_holds_its_words_and_behind_each_description_the_image() -> None:
    user = asked("x", "y")
    assert [type(part) for part in user.content] == [TextPart, TextPart, ImagePart, TextPart, ImagePart]
    assert words_of(user) == "What is it?"
    assert images_of(user) == (Kept("x", "0.png (PNG)"), Kept("y", "1.png (PNG)"))
    assert words_of(asked("x", text="")) == ""
    assert with_images("plain", ()) == "plain"
    assert (words_of(User("plain")), images_of(User("plain"))) == ("plain", ())


def test_an_image_of_another_writer_is_shown_without_words() -> None:
    user = User((ImagePart(ImageUrl("x")), TextPart("see?")))
    assert images_of(user) == (Kept("x", "an image"),)
    assert words_of(user) == "see?"


def test_after_a_fork_each_image_is_named_in_the_folder_of_the_copy() -> None:
    user = asked(image_url(ID, NAME), "https://example.org/a.png")
    session = msgspec.structs.replace(
        talked(hello_turn(), Turn((user,))), pending=Pending(NOW, "failed", (user,))
    )
    assert own_images(session) is session
    copy = own_images(fork(session, OTHER_STAMP))
    assert all_urls(copy) == (image_url(OTHER_ID, NAME), "https://example.org/a.png")
    assert msgspec.structs.replace(copy, pending=None) == own_images(
        msgspec.structs.replace(fork(session, OTHER_STAMP), pending=None)
    )
    assert own_images(msgspec.structs.replace(copy, id=ID)).messages == session.messages
    assert own_images(copy) is copy
    assert own_images(fresh()) == fresh()


def test_the_newest_images_go_first_as_many_as_fit() -> None:
    third = MOST_SENT // 3 + 1
    assert to_send({"a": third, "b": third, "c": third}, ("a", "b", "c")) == ("b", "c")
    assert to_send({"a": 1, "b": MOST_SENT + 1}, ("a", "b", "gone")) == ("a",)


def test_an_image_takes_room_in_the_window_and_not_that_of_its_bytes() -> None:
    user = asked("x")
    assert size((user,)) - size((User(words_of(user)),)) > IMAGE_BYTES
    assert size((user,)) < 2 * IMAGE_BYTES
    assert image_urls((user, user)) == ("x",)


def test_servers_take_an_image_as_an_address_that_holds_it() -> None:
    assert data_url(image_url(ID, NAME), PNG) == f"data:image/png;base64,{PIXEL}"


def test_an_image_is_told_apart_from_words_that_look_like_its_description() -> None:
    user = User((TextPart("a"), TextPart("Image: 0.png (PNG)"), ImagePart(ImageUrl("x")), TextPart("b")))
    assert words_of(user) == "a\nb"
