import asyncio
import threading
import time
from pathlib import Path

import pytest

from minime.core.tools.toolbox import ListDirectory, RunCommand, Search
from minime.shell.tools.inside import Inside, Place
from minime.shell.tools.search_tool import list_directory, search
from minime.shell.tools.tools import Ready, Tools
from tests.support.hands import do, files

CATASTROPHE = Search("(a+)+$")
TRAP = "a" * 40 + "!\n"


async def found(root: Path, pattern: str, path: str = ".", glob: str = "") -> str:
    result = await do(Tools(root, root), Search(pattern, path, glob))
    assert not result.failed
    return result.content


async def test_matching_lines_come_with_path_and_number(tmp_path: Path) -> None:
    files(tmp_path, {"src/a.py": "import os\ndef f():\n", "b.txt": "def\r\n", "bin": b"def\0", "u": "déf"})
    assert await found(tmp_path, "def") == "src/a.py:2: def f():\nb.txt:1: def"
    assert await found(tmp_path, r"^def$") == "no line matches"
    assert await found(tmp_path, "(?i)DEF", "b.txt") == "b.txt:1: def"
    assert await found(tmp_path, "def", ".", "*.{py,js}") == "src/a.py:2: def f():"
    assert await found(tmp_path, "def", "src", "*.txt") == "no line matches"
    assert await found(tmp_path, "d.f", ".", "u") == "u:1: déf"


async def test_ignored_files_are_passed_over_unless_asked_for(tmp_path: Path) -> None:
    files(tmp_path, {".gitignore": "/build\n", "build/x": "needle", ".git/x": "needle", "a": "needle"})
    assert await found(tmp_path, "needle") == "a:1: needle"
    assert await found(tmp_path, "needle", "build/x") == "build/x:1: needle"
    assert await found(tmp_path, "needle", "build") == "build/x:1: needle"


async def test_what_is_no_regular_expression_is_said(tmp_path: Path) -> None:
    result = await do(Tools(tmp_path, tmp_path), Search("("))
    assert result.failed
    assert result.content.startswith("not a regular expression: missing )")
    missing = await do(Tools(tmp_path, tmp_path), Search("x", "nowhere"))
    assert missing.content == "nowhere: No such file or directory"
    assert missing.failed


async def test_long_lines_and_many_matches_are_cut(tmp_path: Path) -> None:
    files(tmp_path, {"long": "x" * 10_000 + "needle" + "x" * 10_000 + "\n", "many": "hit\n" * 500})
    line = await found(tmp_path, "needle")
    assert "needle" in line
    assert len(line) < 400
    lines = (await found(tmp_path, "hit")).split("\n")
    assert len(lines) == 201
    assert lines[-1].startswith("… stopped after 200 lines")


def place(root: Path) -> Place:
    found = Inside(root, root).place(".")
    assert isinstance(found, Place)
    return found


def test_a_pattern_that_takes_for_ever_is_ended_and_what_was_found_is_kept(tmp_path: Path) -> None:
    files(tmp_path, {"1": "aaa\n", "2": TRAP})
    start = time.monotonic()
    said = search(place(tmp_path), CATASTROPHE, {}, threading.Event(), seconds=1)
    assert time.monotonic() - start < 2.5
    assert said.text == "1:1: aaa\n… stopped after 1 s; there may be more: search in fewer files …"


async def test_a_search_is_cancelled_at_once_and_the_loop_goes_on_meanwhile(tmp_path: Path) -> None:
    files(tmp_path, {"2": TRAP})
    hands = Tools(tmp_path, tmp_path)
    ready = await hands.prepare(CATASTROPHE)
    assert isinstance(ready, Ready)
    task = asyncio.create_task(hands.run("1", ready, lambda text: None))
    await asyncio.sleep(0.3)
    task.cancel()
    start = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - start < 1


async def test_a_module_in_the_project_is_not_run_by_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files(tmp_path, dict.fromkeys(("re.py", "json.py", "minime/__init__.py", "site.py"), "open('ran', 'w')"))
    monkeypatch.chdir(tmp_path)
    assert "re.py:1:" in await found(tmp_path, "open")
    assert not (tmp_path / "ran").exists()


def ignoring_for_ever(root: Path) -> None:
    """A folder with a `.gitignore` whose patterns take for ever."""
    files(root, {".gitignore": "*a" * 14 + "b\n", "first/x": "", "a" * 200: "", "z": ""})


def test_a_listing_ends_in_time_whatever_is_ignored(tmp_path: Path) -> None:
    ignoring_for_ever(tmp_path)
    began = time.monotonic()
    said = list_directory(place(tmp_path), ListDirectory(), {}, threading.Event(), seconds=1)
    assert time.monotonic() - began < 5
    assert "stopped after 1 s" in said.text
    assert said.failed


async def test_a_listing_is_cancelled_at_once(tmp_path: Path) -> None:
    ignoring_for_ever(tmp_path)
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await do(Tools(tmp_path, tmp_path), ListDirectory())
    assert time.monotonic() - began < 3


async def test_what_is_too_long_for_a_command_line_is_said_without_a_path_of_ours(tmp_path: Path) -> None:
    for action in (Search("x" * 200_000), RunCommand("echo " + "x" * 200_000)):
        result = await do(Tools(tmp_path, tmp_path), action)
        assert result.failed
        assert result.content == "could not be done: Argument list too long"
