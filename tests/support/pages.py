"""An exported page as a test reads it: its tags have to be those of mm, its words those of the conversation."""

from html.parser import HTMLParser

TAGS = frozenset({
    "html", "head", "meta", "title", "style", "body", "header", "h1", "h3", "h4", "h5", "h6", "dl", "div", "dt",
    "dd", "main", "section", "a", "p", "details", "summary", "pre", "code", "span", "aside", "footer", "ul", "ol",
    "li", "blockquote", "hr", "br", "table", "thead", "tbody", "tr", "th", "td", "strong", "em", "del",
})  # fmt: skip
VOID = {"meta", "hr", "br"}
ATTRIBUTES = frozenset({
    "lang", "charset", "http-equiv", "content", "name", "dir", "class", "id", "href", "rel", "open",
    "data-language", "start",
})  # fmt: skip


class Page(HTMLParser):
    """Reads a page and complains about whatever mm does not write. `text` is what a person reads."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.words: list[str] = []
        self.links: list[str] = []
        self.classes: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    @property
    def text(self) -> str:
        return "".join(self.words)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        names = [name for name, _ in attrs]
        assert set(names) <= ATTRIBUTES, names
        assert len(set(names)) == len(names)
        given = dict(attrs)
        if "href" in given:
            self.links.append(given["href"] or "")
        self.classes += (given.get("class") or "").split()
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data!r}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data!r}")
