"""An exported page in a real browser: it folds, fits, fetches nothing, and runs nothing of what it shows."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from minime.core.transcript.page import session_html
from tests.support.browser import Browser, find_browser
from tests.support.hostile import ATTACKS, hostile

PROGRAM = find_browser()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium on this machine")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert PROGRAM is not None
    with Browser(PROGRAM, tmp_path_factory.mktemp("browser")) as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Path:
    file = tmp_path / "talk.html"
    file.write_text(session_html(hostile()), encoding="utf-8")
    browser.size(1280)
    browser.open(file)
    return file


def test_a_page_full_of_attacks_runs_nothing_and_fetches_nothing(browser: Browser, page: Path) -> None:
    assert browser.ask("document.title") == ATTACKS[0]
    assert (
        browser.ask(
            "document.querySelectorAll('script, img, iframe, object, embed, svg, form, link, base').length"
        )
        == 0
    )
    assert (
        browser.ask(
            "[...document.querySelectorAll('*')].flatMap(e => [...e.attributes]).filter(a => /^on|^style$/.test(a.name)).length"
        )
        == 0
    )
    assert browser.ask("getComputedStyle(document.body).display") == "block"
    assert [address for address in browser.asked if not address.startswith("file:")] == []


def test_the_policy_forbids_what_the_escaping_should_have_kept_out_anyway(
    browser: Browser, page: Path
) -> None:
    """The same page with its escaping undone: the second wall holds alone."""
    text = page.read_text(encoding="utf-8")
    probe = "<script>document.title='broken'</script><img src='http://127.0.0.1:9/x' onerror=\"document.title='broken'\"><style>body{display:none}</style>"
    page.write_text(text.replace("<main>", f"<main>{probe}", 1), encoding="utf-8")
    browser.open(page)
    assert browser.ask("document.title") == ATTACKS[0]
    assert browser.ask("document.querySelectorAll('main script, main img').length") == 2
    assert browser.ask("getComputedStyle(document.body).display") == "block"


def test_folds_open_with_a_click_and_close_again(browser: Browser, page: Path) -> None:
    is_open = "document.querySelector('details.thought').open"
    assert browser.ask(is_open) is False
    browser.click("details.thought > summary")
    assert browser.ask(is_open) is True
    browser.click("details.thought > summary")
    assert browser.ask(is_open) is False


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_page_fits_the_window_with_all_folds_open(browser: Browser, page: Path, width: int) -> None:
    browser.size(width)
    browser.ask("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.ask("document.documentElement.scrollWidth") <= width


def test_what_went_wrong_stands_in_the_margin_where_there_is_one(browser: Browser, page: Path) -> None:
    beside = "document.querySelector('.errors').getBoundingClientRect().left >= document.querySelector('.ask').getBoundingClientRect().right"
    assert browser.ask(beside) is True
    browser.size(390)
    assert browser.ask(beside) is False


def test_the_page_follows_light_and_dark(browser: Browser, page: Path) -> None:
    def paper(scheme: str) -> str:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.do("Emulation.setEmulatedMedia", media="", features=[feature])
        return str(browser.ask("getComputedStyle(document.body).backgroundColor"))

    assert (paper("light"), paper("dark")) == ("rgb(251, 250, 248)", "rgb(21, 24, 28)")


def test_on_paper_the_folds_are_open(browser: Browser, page: Path) -> None:
    fold = "document.querySelector('details.thought').getBoundingClientRect().height"
    browser.do("Emulation.setEmulatedMedia", media="screen", features=[])
    before = browser.ask(fold)
    browser.do("Emulation.setEmulatedMedia", media="print", features=[])
    assert browser.ask(fold) > before + 20
