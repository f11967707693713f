import asyncio
import os
import resource
import sys
from pathlib import Path

import pytest

from minime.core.tools.toolbox import ListDirectory, ReadFile, Search, WriteFile
from minime.shell.tools.tools import Tools
from tests.support.hands import do, files, refused


def tools(root: Path, **more: tuple[str, ...]) -> Tools:
    return Tools(root, root, **more)  # type: ignore[arg-type]


async def read(root: Path, path: str, offset: int = 1, limit: int = 0) -> str:
    result = await do(tools(root), ReadFile(path, offset, limit))
    assert not result.failed
    return result.content


async def unread(root: Path, path: str, offset: int = 1) -> str:
    result = await do(tools(root), ReadFile(path, offset))
    assert result.failed
    return result.content


async def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    files(tmp_path, {"a.py": "print('hi')\n", "src/b.py": "b", "empty": "", "win": "a\r\nb\r\n"})
    assert await read(tmp_path, "a.py") == "print('hi')\n"
    assert await read(tmp_path, "./src/../src/b.py") == "b"
    assert await read(tmp_path, str(tmp_path / "a.py")) == "print('hi')\n"
    assert await read(tmp_path, "empty") == "(empty file)"
    assert await read(tmp_path, "win") == "a\nb\n"


async def test_a_part_of_a_file_says_how_to_go_on(tmp_path: Path) -> None:
    files(tmp_path, {"n": "".join(f"{n}\n" for n in range(1, 101))})
    assert await read(tmp_path, "n", 10, 2) == "10\n11\n… lines 10-11 of 100; go on with offset=12 …"
    assert await read(tmp_path, "n", 99) == "99\n100\n… lines 99-100 of 100 …"
    assert await read(tmp_path, "n", -5, 1) == "1\n… lines 1-1 of 100; go on with offset=2 …"
    assert await unread(tmp_path, "n", 101) == "n has 100 lines; there is no line 101"


async def test_a_long_file_comes_in_parts_that_join_to_the_whole(tmp_path: Path) -> None:
    whole = "".join(f"line {n} {'x' * (n % 90)}\n" for n in range(3_000))
    files(tmp_path, {"long": whole})
    joined, offset = "", 1
    while offset:
        text = await read(tmp_path, "long", offset)
        assert len(text) <= 30_000
        kept, _, note = text.rpartition("… lines ")
        joined += kept
        offset = int(note.split("offset=")[1].split()[0]) if "offset=" in note else 0
    assert joined == whole


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfa\n", "a\n"),
        ("\ufeffé\r\n→\r\n".encode("utf-16-le"), "é\n→\n"),
        ("café\n".encode("latin-1"), "café\n"),
        (b"\x1b[31mred\x1b[0m\x00"[:-1], "red"),
        (b"a" * 9_000 + b"\n\xff\n", "a" * 9_000 + "\n\ufffd\n"),
    ],
)
async def test_text_is_read_in_the_encoding_that_it_has(tmp_path: Path, data: bytes, text: str) -> None:
    files(tmp_path, {"f": data})
    assert await read(tmp_path, "f") == text


async def test_a_binary_file_is_said_to_be_binary(tmp_path: Path) -> None:  # T07
    program = Path(sys.executable).resolve().read_bytes()[:10_000]
    files(tmp_path, {"prog": program})
    assert await unread(tmp_path, "prog") == "prog is a binary file (10,000 bytes)"


async def test_one_line_of_five_megabytes_is_cut(tmp_path: Path) -> None:  # T07
    files(tmp_path, {"min.js": "a" * 5_000_000 + "END\nnext\n"})
    text = await read(tmp_path, "min.js")
    assert len(text) <= 30_000
    assert "characters of this line left out" in text
    assert text.endswith("END\nnext\n")


def endless(root: Path) -> None:
    """A file of a terabyte that begins like text and whose second line has no end."""
    with (root / "endless").open("wb") as file:
        file.write(b"first\n" + b"0123456789" * 3_000)
        file.truncate(1 << 40)


async def test_a_line_without_an_end_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless(tmp_path)
    monkeypatch.setattr("minime.shell.tools.read_tools.SCANNED", 1_000_000)
    text = await read(tmp_path, "endless")
    assert text.startswith("first\n0123456789")
    assert "characters of this line left out" in text
    assert len(text) <= 30_000
    assert "too far into a file" in await unread(tmp_path, "endless", 3)


async def test_reading_is_cancelled_in_the_middle_of_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless(tmp_path)
    monkeypatch.setattr("minime.shell.tools.read_tools.SCANNED", 1 << 40)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await read(tmp_path, "endless")


async def test_a_huge_file_does_not_fill_the_memory(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.write(b"first\n")
        file.truncate(3_000_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "is a binary file" in await unread(tmp_path, "huge")
    with (tmp_path / "huge.log").open("wb") as file:
        file.write(b"first\n" + b"0123456789" * 3_000 + b"\n" + b"more\n" * 5_000_000)
    text = await read(tmp_path, "huge.log")
    assert "go on with offset=" in text
    assert "of a file of 25,030,007 bytes" in text
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < (60_000 if sys.platform == "linux" else 60_000_000)


async def test_a_file_that_is_not_there_is_named_with_those_that_look_alike(tmp_path: Path) -> None:
    files(tmp_path, {"main.py": "", "other.txt": ""})
    assert await unread(tmp_path, "man.py") == "no such file or folder: man.py; there is main.py"
    assert await unread(tmp_path, "none/x") == "no such file or folder: none/x"


@pytest.mark.parametrize(
    "path", ["..", "../x", "/etc/passwd", "src/../../x", "out", "out/hosts", "loop", "a\0b"]
)
async def test_nothing_outside_the_project_is_reached(tmp_path: Path, path: str) -> None:  # F15
    root = files(tmp_path / "project", {"src/a": ""})
    (root / "out").symlink_to("/etc")
    (root / "loop").symlink_to("loop")
    for action in (ReadFile(path), ListDirectory(path), Search("x", path), WriteFile(path, "x")):
        why = await refused(tools(root), action)
        assert "outside the project" in why or "not a path" in why


async def test_a_link_that_appears_after_the_look_leads_nowhere(tmp_path: Path) -> None:
    root = files(tmp_path / "project", {"src/a": "mine"})
    files(tmp_path / "other", {"a": "secret"})
    hands = tools(root)
    ready = [await hands.prepare(action) for action in (ReadFile("src/a"), ListDirectory("src"))]
    (root / "src").rename(root / "old")
    (root / "src").symlink_to(tmp_path / "other")
    for each in ready:
        result = await hands.run("1", each, lambda text: None)  # type: ignore[arg-type]
        assert result.failed
        assert "secret" not in result.content


async def test_a_link_inside_the_project_is_followed(tmp_path: Path) -> None:
    root = files(tmp_path, {"src/a": "mine"})
    (root / "link").symlink_to("src/a")
    assert await read(root, "link") == "mine"


async def test_a_pipe_or_a_device_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert await unread(tmp_path, "pipe") == "pipe: not a regular file (a pipe, a socket or a device)"
    result = await do(tools(tmp_path), Search("x"))
    assert result.content == "no line matches"


async def test_a_folder_is_not_read_and_a_file_not_listed(tmp_path: Path) -> None:
    files(tmp_path, {"src/a": ""})
    assert await unread(tmp_path, "src") == "src is a folder; list_directory shows what is in it"
    result = await do(tools(tmp_path), ListDirectory("src/a"))
    assert result.content == "src/a is not a folder; read_file reads it"


async def test_an_additional_folder_is_open_too(tmp_path: Path) -> None:
    root, other = files(tmp_path / "project", {"a": "1"}), files(tmp_path / "other", {"b": "2"})
    hands = Tools(root, root, also=(other,))
    assert (await do(hands, ReadFile(str(other / "b")))).content == "2"
    assert (await do(hands, ListDirectory(str(other)))).content == f"{other}/b"


async def test_paths_are_taken_from_the_current_folder_and_shown_from_there(tmp_path: Path) -> None:
    root = files(tmp_path, {"src/a": "x\n", "top": "x\n"})
    hands = Tools(root, root / "src")
    assert (await do(hands, ReadFile("../top"))).content == "x\n"
    assert (await do(hands, ListDirectory(".."))).content == "../src/\n../top"
    assert (await do(hands, Search("x", ".."))).content == "../src/a:1: x\n../top:1: x"
    ready = await hands.prepare(ReadFile("../top"))
    assert getattr(ready, "where", "") == "top"


async def test_a_listing_has_folders_first_and_leaves_out_what_git_ignores(tmp_path: Path) -> None:
    files(
        tmp_path,
        {
            ".gitignore": "*.log\nbuild/\n!keep.log\n",
            ".git/config": "",
            ".mm/sessions/x.json": "",
            "a.log": "",
            "keep.log": "",
            "build/out": "",
            "src/.gitignore": "/gen\n",
            "src/gen/x": "",
            "src/sub/gen": "",
            "src/b.py": "",
            "z.py": "",
        },
    )
    top = await do(tools(tmp_path), ListDirectory())
    assert top.content == "src/\n.gitignore\nkeep.log\nz.py"
    deep = await do(tools(tmp_path), ListDirectory(".", 9))
    assert deep.content.split("\n")[:5] == ["src/", "src/sub/", "src/sub/gen", "src/.gitignore", "src/b.py"]
    asked_for = await do(tools(tmp_path), ListDirectory("build"))
    assert asked_for.content == "build/out"


async def test_a_listing_ends_in_good_time(tmp_path: Path) -> None:
    files(tmp_path, {f"{n:04}": "" for n in range(1_100)})
    lines = (await do(tools(tmp_path), ListDirectory())).content.split("\n")
    assert len(lines) == 1_001
    assert lines[-1] == "… more than 1,000 entries; list a folder of them, or search …"


async def test_the_history_is_never_read_listed_or_searched(tmp_path: Path) -> None:
    files(tmp_path, {".mm/sessions/x.json": "needle", "a": ""})
    for action in (ReadFile(".mm/sessions/x.json"), ListDirectory(".mm"), Search("needle", ".mm")):
        assert "cannot be read" in await refused(tools(tmp_path), action)
    assert (await do(tools(tmp_path), Search("needle"))).content == "no line matches"
    assert (await do(tools(tmp_path), ListDirectory())).content == "a"


async def test_a_secret_in_a_file_is_masked(tmp_path: Path) -> None:
    files(tmp_path, {".env": "KEY=sk-secret-1\n", "sk-secret-1": ""})
    hands = tools(tmp_path, secrets=("sk-secret-1",))
    assert (await do(hands, ReadFile(".env"))).content == "KEY=***\n"
    assert (await do(hands, ListDirectory())).content == ".env\n***"
    assert (await do(hands, Search("sk-.*"))).content == ".env:1: KEY=***"


async def test_a_name_that_is_no_text_does_not_break_the_listing(tmp_path: Path) -> None:  # T01
    try:
        (tmp_path / os.fsdecode(b"a\xff\nb")).touch()
    except OSError:
        pytest.skip("this file system takes text only")
    assert (await do(tools(tmp_path), ListDirectory())).content == "a\ufffd\ufffdb"
