"""Markdown as models write it, as HTML: what a reader would see of it."""

import time

import pytest

from minime.core.transcript.colouring import MOST_COLOURED, MOST_COMPARED, code_html, diff_lines
from minime.core.transcript.phrases import phrases_html
from minime.core.transcript.prose import prose_html
from minime.core.values import Diff
from tests.support.pages import Page

CASES = {
    "words": ("a\nb", '<p dir="auto">a\nb</p>'),
    "hard break": ("a  \nb", '<p dir="auto">a\nb</p>'),
    "heading": ("## A `b`", '<h4 dir="auto">A <code>b</code></h4>'),
    "no heading": ("#hash", '<p dir="auto">#hash</p>'),
    "emphasis": ("*a* **b** _c_ __d__ ~~e~~ ***f***", '<p dir="auto"><em>a</em> <strong>b</strong> <em>c</em> '
                 "<strong>d</strong> <del>e</del> <strong><em>f</em></strong></p>"),
    "no emphasis": ("a_b_c 2 * 3 * 4 **", '<p dir="auto">a_b_c 2 * 3 * 4 **</p>'),
    "code": ("`a *b* <c>` ``x ` y``", '<p dir="auto"><code>a *b* &lt;c&gt;</code> <code>x ` y</code></p>'),
    "escapes": (r"\*a\* \<b>", '<p dir="auto">*a* &lt;b&gt;</p>'),
    "link": ("[a *b*](https://e.org/x_(y)?a=1&b)", '<p dir="auto"><a href="https://e.org/x_(y)?a=1&amp;b" '
             'rel="noopener noreferrer nofollow">a <em>b</em></a></p>'),
    "bare link": ("see https://e.org/a_b_c.", '<p dir="auto">see <a href="https://e.org/a_b_c" '
                  'rel="noopener noreferrer nofollow">https://e.org/a_b_c</a>.</p>'),
    "no link": ("[a](javascript:x) [b](file:///etc)", '<p dir="auto">[a](javascript:x) [b](file:///etc)</p>'),
    "list": ("- a\n- b\n  c", '<ul>\n<li dir="auto">a</li>\n<li dir="auto"><p dir="auto">b\nc</p>\n</li>\n</ul>'),
    "numbers": ("3. a\n4. b", '<ol start="3">\n<li dir="auto">a</li>\n<li dir="auto">b</li>\n</ol>'),
    "nested": ("- a\n  - b", '<ul>\n<li dir="auto"><p dir="auto">a</p>\n<ul>\n<li dir="auto">b</li>\n</ul>\n</li>\n</ul>'),
    "tasks": ("- [x] a", '<ul>\n<li class="task" dir="auto">☑ a</li>\n</ul>'),
    "quote": ("> a\n> b", '<blockquote>\n<p dir="auto">a\nb</p>\n</blockquote>'),
    "rule": ("a\n\n---", '<p dir="auto">a</p>\n<hr>'),
    "fence": ("~~~ py x\n<a>\n", '<pre dir="ltr" data-language="py"><code>&lt;a&gt;\n\n</code></pre>'),
    "fence in a list": ("1. a\n   ```\n   b\n     c\n   ```\n2. d", '<ol>\n<li dir="auto"><p dir="auto">a</p>\n<pre dir="ltr">'
                        '<code>b\n  c\n</code></pre>\n</li>\n<li dir="auto">d</li>\n</ol>'),
    "table": ("|a|b|\n|-|:-:|\n|`c\\|d`||", '<div class="wide"><table>\n<thead><tr><th>a</th><th>b</th></tr></thead>\n'
              "<tbody><tr><td><code>c|d</code></td><td></td></tr></tbody>\n</table></div>"),
    "indented": ("a\n\n    b\n", '<p dir="auto">a</p>\n<pre dir="ltr"><code>b\n</code></pre>'),
    "nothing": ("\n \n", ""),
}  # fmt: skip


@pytest.mark.parametrize(("text", "html"), CASES.values(), ids=CASES)
def test_markdown_becomes(text: str, html: str) -> None:
    assert prose_html(text).rstrip("\n").replace("<br>", "") == html


@pytest.mark.parametrize(
    ("language", "code", "html"),
    [
        ("python", "x = 'a#b'  # c", "x = <span class=\"s\">'a#b'</span>  <span class=\"c\"># c</span>"),
        ("rust", "let a<'b> = 1;", '<span class="k">let</span> a&lt;\'b&gt; = <span class="n">1</span>;'),
        ("js", "/* a\nb", '<span class="c">/* a\nb</span>'),
        ("sql", "SELECT 1 -- x", '<span class="k">SELECT</span> <span class="n">1</span> <span class="c">-- x</span>'),
        ("html", "<b>&amp;</b>", '<span class="k">&lt;b</span>&gt;&amp;amp;<span class="k">&lt;/b</span>&gt;'),
        ("diff", "+a\n b", '<span class="ins">+a\n</span> b'),
        ("unknown", "if 1 < 2", "if 1 &lt; 2"),
    ],
)  # fmt: skip
def test_code_is_coloured(language: str, code: str, html: str) -> None:
    assert code_html(code, language) == html


def test_a_diff_is_a_unified_one_without_names() -> None:
    assert list(diff_lines(Diff("a", "1\n2\n", "1\n3\n"))) == ["@@ -1,2 +1,2 @@", " 1", "-2", "+3"]
    assert list(diff_lines(Diff("a", None, "x"))) == ["@@ -0,0 +1 @@", "+x"]


@pytest.mark.parametrize(
    "text",
    [
        "**a " * 10_000, "[" * 30_000, "`" * 30_000, "` " * 30_000, "> " * 30_000, "- " * 30_000, "|" * 30_000,
        "*a _b " * 10_000, "    \n" * 10_000, "- a\n\n" * 10_000, "[a](" * 10_000, "\\" * 30_000,
        "|a|\n|-|\n" * 8_000, "".join("  " * n + "- x\n" for n in range(300)), "~~~\n```\n" * 8_000,
        "_" * 30_000, "__a" * 10_000, "http://" * 10_000, "1. a\n" * 6_000, "a  \n" * 8_000,
    ],
    ids=lambda text: repr(text[:8]),
)  # fmt: skip
def test_the_work_grows_with_the_length_alone(text: str) -> None:
    """Against one that is a tenth of it, so that the speed of the machine does not matter."""

    def seconds(size: int) -> float:
        began = time.process_time()
        Page(f"<p>{prose_html(text[:size])}</p>")
        return time.process_time() - began

    assert seconds(len(text)) < 40 * max(seconds(len(text) // 10), 0.01)


def test_a_line_end_behind_two_spaces_is_one() -> None:
    assert phrases_html("a  \nb") == "a<br>\nb"


def test_code_without_colours_is_escaped_code() -> None:
    assert code_html("if a < b", "python", colours=False) == "if a &lt; b"
    assert code_html("<" * (MOST_COLOURED + 1), "python") == "&lt;" * (MOST_COLOURED + 1)


def test_an_edit_that_is_too_long_to_compare_is_all_of_it() -> None:
    long = "".join(f"{n}\n" for n in range(MOST_COMPARED + 1))
    lines = list(diff_lines(Diff("a", long, "x\n")))
    assert (lines[0], lines[-1], len(lines)) == ("-0", "+x", MOST_COMPARED + 2)


def test_an_item_goes_on_in_a_line_that_is_not_indented_and_ends_before_a_block() -> None:
    assert prose_html("- a\nb\n").count("<li") == 1
    assert "a\nb" in prose_html("- a\nb\n")
    html = prose_html("- a\n# head\n")
    assert html.index("</ul>") < html.index("<h")
