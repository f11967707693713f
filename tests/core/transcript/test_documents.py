"""A session as a document, in both forms: each message once, errors in their place, nothing breaks out."""

import base64
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token
from syrupy.assertion import SnapshotAssertion

from minime.core.codec import decode
from minime.core.images import Kept, image_url, with_images
from minime.core.session import record_error
from minime.core.transcript.entries import Called, Left, Wrong, entries
from minime.core.transcript.markdown import contained, session_markdown
from minime.core.transcript.page import policy, session_html
from minime.core.turn import Turn
from minime.core.values import (
    Assistant,
    Diff,
    ErrorRecord,
    Message,
    Pending,
    Session,
    TextPart,
    Tool,
    User,
    tool_call,
)
from tests.conftest import GOLDEN
from tests.support.hostile import ATTACKS, hostile
from tests.support.pages import Page
from tests.support.values import ID, NOW, PIXEL, hello_turn, sessions, talked

Golden = Callable[[str], SnapshotAssertion]
FILES = sorted((GOLDEN / "session").glob("*.json"))
OURS = re.compile(r"<details>\n<summary>[^<>]*</summary>\n|</details>\n")


def html_of(markdown: str) -> list[str]:
    """The raw HTML in a Markdown document, as CommonMark reads it."""

    def walk(tokens: list[Token]) -> list[str]:
        found = []
        for token in tokens:
            if token.type in {"html_block", "html_inline", "image"}:
                found.append(token.content if token.type != "image" else "a picture")
            found += walk(token.children or [])
        return found

    return walk(MarkdownIt("commonmark").enable("table").parse(markdown))


def marked() -> Session:
    """Every place where words can stand holds a word of its own."""
    talk = Turn((
        User("w1 is typed\n\nw2 was added", typed="w1 is typed"),
        Assistant("w3", (tool_call("a", "run_command", '{"command": "w4"}'),), reasoning_content="w5"),
        Tool("a", "w6"),
        Assistant("w7 `w8` **w9**\n\n- w10\n\n```\nw11\n```"),
    ))
    edit = Turn((
        User((TextPart("w12"),)),
        Assistant("", (tool_call("a", "edit_file", "{}"), tool_call("b", "x", "w13"))),
        Tool("a", "w14", diff=Diff("w15", "w16", "w17")),
        Tool("b", "w18", failed=True),
        Tool("z", "w19"),
        Assistant("w20", stopped="length"),
    ))
    session = talked(talk, edit)
    error = ErrorRecord(time=NOW, kind="generation", turns=1, question="w21", message="w22", detail="w23")
    system, *rest = session.messages
    summary = (User("w24", compacted=3), Assistant("w25"))
    pending = Pending(NOW, "failed", (User("w26"), Assistant("w27", (tool_call("p", "search", "{}"),))))
    return msgspec.structs.replace(
        record_error(session, error),
        title="A title",
        messages=(msgspec.structs.replace(system, content="w28"), *summary, *rest),
        pending=pending,
    )


@pytest.mark.parametrize("form", [session_markdown, lambda s: Page(session_html(s)).text], ids=["md", "html"])
def test_each_piece_of_a_conversation_stands_in_the_document_once(form: Callable[[Session], str]) -> None:
    text = form(marked())
    counts = {n: len(re.findall(rf"\bw{n}\b", text)) for n in range(1, 29)}
    twice = {4}  # the command is the title of its call, and one of its arguments
    assert counts == {n: 2 if n in twice else 1 for n in counts}


def test_what_went_wrong_stands_behind_the_turn_that_was_the_newest_then() -> None:
    session = talked(*(Turn((User(f"q{n}"), Assistant("a"))) for n in range(3)))
    for turns in (0, 2, 3):
        record = ErrorRecord(time=NOW, kind="generation", turns=turns, message=f"e{turns}")
        session = record_error(session, record)
    text = session_markdown(session)
    places = [text.index(word) for word in ("e0", "> q0", "> q1", "e2", "> q2", "e3")]
    assert places == sorted(places)


def test_a_result_is_found_behind_its_own_call_only() -> None:
    messages: tuple[Message, ...] = (
        Assistant("", (tool_call("a", "x", "{}"), tool_call("a", "y", "{}"))),
        Tool("a", "first"),
        Tool("a", "second"),
        Tool("a", "third"),
        User("q"),
        Tool("a", "late"),
    )
    session = msgspec.structs.replace(talked(), messages=messages)
    found = [entry for entry in entries(session) if isinstance(entry, Called | Left)]
    assert [entry.result.content for entry in found if entry.result] == ["first", "second", "third", "late"]
    assert [type(entry) for entry in found] == [Called, Called, Left, Left]


@pytest.mark.parametrize("name", ["edit-and-refusal", "failed-after-a-tool", "tool-call"])
def test_a_golden_session_as_documents(golden: Golden, name: str) -> None:
    session = decode((GOLDEN / "session" / f"{name}.json").read_bytes())
    assert session_markdown(session) == golden(f"transcript/{name}.md")
    if name == "edit-and-refusal":
        assert session_html(session) == golden(f"transcript/{name}.html")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_golden_session_holds_in_both_forms(file: Path) -> None:
    session = decode(file.read_bytes())
    wrong = sum(isinstance(entry, Wrong) for entry in entries(session))
    assert wrong == len(session.errors)
    assert Page(session_html(session)).classes.count("wrong") == wrong
    assert session_markdown(session).count("> [!WARNING]") == wrong


@given(sessions())
def test_any_session_is_a_page_of_mm_s_own_tags_and_a_document_of_its_own_folds(session: Session) -> None:
    page = Page(session_html(session))
    assert all(re.match(r"#t\d+$|https?://|mailto:", link) for link in page.links)
    assert all(OURS.fullmatch(html) for html in html_of(session_markdown(session)))


def test_nothing_that_anybody_wrote_becomes_markup_of_the_page() -> None:
    html = session_html(hostile())
    page = Page(html)
    assert all(re.match(r"#t\d+$|https?://|#", link) for link in page.links)
    assert f'content="{policy()}"' in html
    for attack in ATTACKS[:8]:
        assert attack in page.text
    assert "U+202E" in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", html)


def test_nothing_that_anybody_wrote_becomes_markup_of_the_document() -> None:
    found = html_of(session_markdown(hostile()))
    assert [html for html in found if not OURS.fullmatch(html)] == []
    assert found.count("</details>\n") * 2 == len(found)


def test_the_same_attacks_in_any_order_break_nothing_either() -> None:
    for turn in range(len(ATTACKS)):
        mixed = "\n".join(ATTACKS[turn:] + ATTACKS[:turn])
        assert html_of(contained(mixed) + "\nbehind") == []


def test_markdown_of_a_model_stays_as_it_is_where_it_breaks_nothing() -> None:
    text = "# A\n\n1. *b* `<c>` a < b\n   ```html\n   <d>\n   ```\n\n| x |\n|---|\n| **y** |\n"
    assert contained(text) == text.replace("a < b", "a \\< b")


def test_the_fence_around_a_text_is_longer_than_any_inside() -> None:
    session = talked(
        Turn((User("q"), Assistant("", (tool_call("a", "x", "{}"),)), Tool("a", "````\nx\n````")))
    )
    assert "\n`````text\n````\nx\n````\n`````\n" in session_markdown(session)


def test_a_page_begins_with_the_first_question_where_there_is_no_system_prompt() -> None:
    session = msgspec.structs.replace(talked(hello_turn()), messages=hello_turn().messages)
    html = session_html(session)
    assert html.count('<section class="turn">') == 1
    assert "system prompt" not in html


def test_an_answer_that_was_stopped_after_too_many_rounds_says_so() -> None:
    session = talked(Turn((User("go"), Assistant("so far", stopped="steps"))))
    assert "stopped after too many tool rounds" in session_html(session)


def test_an_image_is_on_the_page_and_named_in_the_document() -> None:
    url = image_url(ID, f"{'0' * 32}.png")
    asked = User(with_images("What is it?", (Kept(url, "<a>.png (PNG, 1 kB)"),)))
    session = talked(Turn((asked, Assistant("A dot."))))
    page = session_html(session, {url: base64.b64decode(PIXEL)})
    assert f'<img src="data:image/png;base64,{PIXEL}" alt="&lt;a&gt;.png (PNG, 1 kB)">' in page
    assert "img-src data:; " in page
    without = session_html(session)
    assert '<p class="label" dir="auto">&lt;a&gt;.png (PNG, 1 kB)</p>' in without
    assert "<img" not in without
    assert "img-src" not in without
    [line] = [line for line in session_markdown(session).splitlines() if url in line]
    assert line.startswith("> *")
    assert line.endswith(f"{url}*")
    assert not html_of(session_markdown(session).partition("## You")[2])
