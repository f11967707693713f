"""A paragraph of Markdown to HTML: code, bold, italic, links. All patterns are bounded, so that no text
makes the work more than its length is worth."""

import re

from minime.core.transcript.escaping import escaped, quoted

DEEPEST = 4
LONGEST_ADDRESS = 2_000

_SIGNS = ("`", "*", "_", "[", "://", "~", "\\", "  \n")
_PHRASE = re.compile(
    r"\\(?P<escape>[!-/:-@\[-`{-~])"
    r"|(?<!`)(?P<ticks>`{1,3})(?!`)(?P<code>[^`](?:[^`]{0,1000}?|.{0,1000}?[^`]))(?P=ticks)(?!`)"
    r"|!?\[(?P<label>[^\[\]\n]{1,300})\]\((?P<url>[^\s()<>]{1,1000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?)"
    r'(?: +"[^"\n]{0,200}")?\)'
    r"|(?P<bare>https?://[^\s<>\"'`\])]{1,2000})"
    r"|\*\*(?=\*[^\s*])(?P<strong3>\*[^*]{1,400}?(?<=\S)\*)\*\*"
    r"|\*\*(?=\S)(?P<strong>(?:[^*]|\*(?!\*)){1,400}?)(?<=\S)\*\*"
    r"|(?<!\w)__(?=\S)(?P<strong2>[^_]{1,400}?)(?<=\S)__(?!\w)"
    r"|\*(?=[^\s*])(?P<em>[^*\n]{1,400}?)(?<=\S)\*(?!\*)"
    r"|(?<!\w)_(?=[^\s_])(?P<em2>[^_\n]{1,400}?)(?<=\S)_(?!\w)"
    r"|~~(?=\S)(?P<del>[^~]{1,400}?)(?<=\S)~~"
    r"|(?P<break> {2}\n)"
)
_SAFE = re.compile(r"(?:https?://|mailto:|#)[^\s\x00-\x20]*", re.IGNORECASE)


def phrases_html(text: str, depth: int = 0) -> str:
    """The text with its phrases marked."""
    if depth > DEEPEST or not any(sign in text for sign in _SIGNS):
        return escaped(text)
    made: list[str] = []
    place = 0
    for found in _PHRASE.finditer(text):
        if found.start() > place:
            made.append(escaped(text[place : found.start()]))
        made.append(_phrase(found, depth))
        place = found.end()
    made.append(escaped(text[place:]))
    return "".join(made)


def _phrase(found: re.Match[str], depth: int) -> str:
    match found.lastgroup or "":
        case "escape":
            return escaped(found["escape"])
        case "code":
            return f"<code>{escaped(_trimmed(found['code']))}</code>"
        case "url":
            return _link(found["url"], phrases_html(found["label"], depth + 1), found[0])
        case "bare":
            address = found["bare"].rstrip(".,;:!?*_~")
            return _link(address, escaped(address), address) + escaped(found["bare"][len(address) :])
        case "break":
            return "<br>\n"
        case name:
            tag = name.rstrip("23")
            return f"<{tag}>{phrases_html(found[name], depth + 1)}</{tag}>"


def _trimmed(code: str) -> str:
    """Code in ticks without the one space on each side that keeps them apart."""
    return code[1:-1] if len(code) > 2 and code[0] == code[-1] == " " and code.strip() else code


def _link(address: str, label: str, written: str) -> str:
    """A link that leads to the web; any other address stays the text that it was."""
    if not _SAFE.fullmatch(address) or len(address) > LONGEST_ADDRESS:
        return escaped(written)
    return f'<a href={quoted(address)} rel="noopener noreferrer nofollow">{label}</a>'
