"""A conversation in which everybody tries to break out of the document that it is exported to."""

import msgspec

from minime.core.session import record_error
from minime.core.turn import Turn
from minime.core.values import Assistant, Diff, ErrorRecord, Pending, Session, Tool, User, tool_call
from tests.support.values import NOW, fresh, talked

PROBE = "http://127.0.0.1:9/probe"
"""What every attack wants to have fetched."""

ATTACKS = (
    "<script>document.title='broken'</script>",
    f"<img src={PROBE} onerror=\"document.title='broken'\">",
    f'"><svg onload="document.title=\'broken\'"><use href="{PROBE}#a"/></svg>',
    f"<iframe src='{PROBE}'></iframe><object data='{PROBE}'></object><embed src='{PROBE}'>",
    f"<link rel=stylesheet href={PROBE}><style>body{{display:none}} @import '{PROBE}';</style>",
    f'<base href="{PROBE}"><meta http-equiv="refresh" content="0;url={PROBE}">',
    f"<form action='{PROBE}'><input autofocus onfocus=\"document.title='broken'\"></form>",
    "</code></pre></div></details></section></main></body><!-- ",
    "]]><![CDATA[ <?xml ?> <!DOCTYPE x>",
    f"[click](javascript:document.title='broken') [me](data:text/html,x) ![picture]({PROBE}) <javascript:alert(1)>",
    f"[x]: {PROBE} 'title'\n\n[x] <{PROBE}> [a](http://e.com/\"onmouseover=alert(1)//)",
    "`<b>` ``<i>`<u>`` \\`<s>\\` `unclosed <a>",
    "```html\n<script>document.title='broken'</script>\n```` \n~~~\n</details>",
    "- item\n      ```\n      <b>\n",
    "    <script>indented</script>\n\t<b>tab</b>",
    "> quote\n```\n<!--\n",
    "\u202egnp.exe\u202c \u2066x\u2069 \x00\x07\x1b[31mred\x9b0m \u2028 \ufeff",
    "# heading\n===\n---\n1. one\n* * *\n| a | b |\n|---|---|\n| <td> | \\| |",
    "&lt;b&gt; &amp;amp; &#60;script&#62; &nbsp;",
    "@everyone #1 <details open><summary>x",
)


def hostile() -> Session:
    """Each attack as a question, a thought, words, a name, arguments, a result, a diff, an error and a title."""
    all_of = "\n\n".join(ATTACKS)
    turns = [
        Turn((
            User(f"q{n} {attack}", typed=f"q{n}" if n % 3 == 0 else ""),
            Assistant(
                f"a{n} {attack}",
                (
                    tool_call(f"c{n}", attack if n % 2 else "run_command", attack if n % 3 else "{}"),
                    tool_call(f"d{n}", "edit_file", '{"path": "<b>", "old_text": "x", "new_text": "y"}'),
                ),
                reasoning_content=f"t{n} {attack}",
            ),
            Tool(f"c{n}", attack, failed=n % 2 == 0),
            Tool(f"d{n}", attack, diff=Diff(attack, attack, attack + "\n" + attack)),
            Assistant(attack),
        ))
        for n, attack in enumerate(ATTACKS)
    ]
    turns.append(Turn((User(all_of), Assistant(all_of, stopped="length"))))
    session = talked(*turns)
    for n, attack in enumerate(ATTACKS):
        record = ErrorRecord(
            time=NOW, kind="generation", turns=n, question=attack, message=attack, detail=attack
        )
        session = record_error(session, record)
    return msgspec.structs.replace(
        session,
        title=ATTACKS[0],
        model=ATTACKS[1],
        pending=Pending(NOW, "failed", turns[0].messages[:3]),
        messages=(fresh().messages[0], *session.messages[1:]),
    )
