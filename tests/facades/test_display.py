"""What moves on a terminal and what looks depend on: the line that passes, colours, harm done by no text."""

import re
from pathlib import Path

from tests.support.mm import Visitor, only_session
from tests.support.server import Answer, ScriptedServer, Stream, chunk, closing, says

MOVING = "[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]"
COLOUR = re.compile(rb"\x1b\[(?:[0-9]+;)*3[0-7]m")


def ask(folder: Path, answer: Answer, *words: str, columns: int = 80, **env: str) -> Visitor:
    """One question at a terminal, seen to its end."""
    with ScriptedServer([answer]) as server:
        env = {"MM_BASE_URL": server.url, "MM_MODEL": "tiny", **env}
        with Visitor("tell", "me", *words, cwd=folder, env=env, columns=columns, rows=400) as mm:
            mm.leave()
    return mm


def test_while_nothing_comes_a_line_says_so_and_goes_away_without_a_trace(tmp_path: Path) -> None:
    answer = Stream((
        1.2, chunk({"reasoning_content": "A hard one."}), 0.6, chunk({"content": "It is a long"}), 0.9,
        chunk({"content": "er one."}), *closing("stop"),
    ))  # fmt: skip
    with ScriptedServer([answer]) as server:
        env = {"MM_BASE_URL": server.url, "MM_MODEL": "tiny"}
        with Visitor("tell", "me", cwd=tmp_path, env=env) as mm:
            mm.see(f"^{MOVING} \\d s")
            mm.see(f"{MOVING} thinking \\d s · A hard one\\.")
            mm.see(f"It is a long {MOVING} \\d s")
            assert mm.leave() == 0
    assert re.fullmatch(r"thought for .* s\nIt is a longer one\.", mm.screen)


def test_without_colours_the_structure_stays(tmp_path: Path) -> None:
    answer = says("# Head\n\n- **bold** `code`\n\n```python\ndef f(): pass\n```\n")
    coloured = ask(tmp_path, answer, NO_COLOR="")
    bare = ask(tmp_path, answer)
    assert bare.screen == coloured.screen == "Head\n\n• bold code\n\n```python\ndef f(): pass\n```"
    assert COLOUR.search(coloured.raw)
    assert not COLOUR.search(bare.raw)
    assert b"\x1b[1mbold\x1b[0m" in bare.raw


def test_a_terminal_that_can_do_nothing_gets_the_text_as_it_came(tmp_path: Path) -> None:
    mm = ask(tmp_path, says("# Head\n", "**bold** wo", "rds\n"), TERM="dumb")
    assert b"\x1b" not in mm.raw
    assert mm.screen == "# Head\n**bold** words"


def test_no_text_of_a_model_does_harm(tmp_path: Path) -> None:
    text = (
        "[bold]x[/bold] \x1b[2J\x1b]0;title\x07\x9b2J e\u0301 中文 👩\u200d👧 مرحبا \u202eabc\u202c "
        + "x" * 10_000
    )
    mm = ask(tmp_path, says(text), columns=40)
    assert b"\x1b[2J" not in mm.raw
    assert b"title" not in mm.raw
    assert "\u202e".encode() not in mm.raw
    assert mm.screen.startswith("[bold]x[/bold] ")
    assert mm.screen.replace("\n", "").count("x") == 10_001
    assert "\u202e" in only_session(tmp_path)["messages"][-1]["content"]
