import asyncio
import os
import stat
from pathlib import Path

import pytest

from minime.core.tools.toolbox import Action, EditFile, WriteFile
from minime.core.values import Diff
from minime.shell.tools.tools import Ready, Tools
from tests.support.hands import do, files, refused


def hands(root: Path) -> Tools:
    return Tools(root, root)


def left_behind(root: Path) -> list[str]:
    return [path.name for path in root.rglob("*") if path.name.endswith(".tmp")]


async def test_a_file_is_written_with_the_folders_above_it(tmp_path: Path) -> None:
    result = await do(hands(tmp_path), WriteFile("src/new/a.py", "x = 1\ny = 2\n"))
    assert (tmp_path / "src/new/a.py").read_bytes() == b"x = 1\ny = 2\n"
    assert result.content == "wrote src/new/a.py (2 lines)"
    assert result.diff == Diff("src/new/a.py", None, "x = 1\ny = 2\n")
    assert not left_behind(tmp_path)


async def test_what_is_shown_before_consent_is_what_is_done(tmp_path: Path) -> None:
    files(tmp_path, {"a.py": "one\ntwo\nthree\n"})
    ready = await hands(tmp_path).prepare(EditFile("a.py", "two", "2"))
    assert isinstance(ready, Ready)
    assert ready.diff == Diff("a.py", "one\ntwo\nthree\n", "one\n2\nthree\n")
    assert (tmp_path / "a.py").read_text() == "one\ntwo\nthree\n"
    result = await hands(tmp_path).run("7", ready, lambda text: None)
    assert (result.tool_call_id, result.content, result.diff) == ("7", "edited a.py", ready.diff)
    assert (tmp_path / "a.py").read_text() == "one\n2\nthree\n"


@pytest.mark.parametrize("after", [b"changed", None])
async def test_a_file_that_changed_after_the_look_is_left_alone(tmp_path: Path, after: bytes | None) -> None:
    path = files(tmp_path, {"a.py": "one\n"}) / "a.py"
    ready = await hands(tmp_path).prepare(EditFile("a.py", "one", "two"))
    assert isinstance(ready, Ready)
    path.write_bytes(after) if after is not None else path.unlink()
    result = await hands(tmp_path).run("1", ready, lambda text: None)
    assert result.failed
    assert result.diff is None
    assert result.content == "a.py has changed meanwhile; nothing was written: read it again"
    assert (path.read_bytes() if path.exists() else None) == after


async def test_a_file_that_appeared_after_the_look_is_left_alone(tmp_path: Path) -> None:
    ready = await hands(tmp_path).prepare(WriteFile("a.py", "mine"))
    assert isinstance(ready, Ready)
    files(tmp_path, {"a.py": "theirs"})
    assert (await hands(tmp_path).run("1", ready, lambda text: None)).failed
    assert (tmp_path / "a.py").read_text() == "theirs"


@pytest.mark.parametrize(
    ("before", "action", "after"),
    [
        (b"a\r\nb\r\n", EditFile("f", "a\nb", "x\ny"), b"x\r\ny\r\n"),
        (b"a\r\nb\r\n", WriteFile("f", "x\ny\n"), b"x\r\ny\r\n"),
        (b"\xef\xbb\xbfa\n", EditFile("f", "a", "\u00e9"), b"\xef\xbb\xbf\xc3\xa9\n"),
        (b"\xef\xbb\xbfa\n", WriteFile("f", "b\n"), b"\xef\xbb\xbfb\n"),
        ("\ufeffa\n".encode("utf-16-le"), EditFile("f", "a", "→"), "\ufeff→\n".encode("utf-16-le")),
        (b"caf\xe9 a\n", EditFile("f", "a\n", "b\n"), b"caf\xe9 b\n"),
        (b"caf\xe9 a\n", EditFile("f", "café", "thé"), b"th\xe9 a\n"),
        (b"no newline", EditFile("f", "no ", ""), b"newline"),
        (b"a a a", EditFile("f", "a", "b", all=True), b"b b b"),
        (b"", WriteFile("f", "a\r\nb\n"), b"a\r\nb\n"),
        (b"\0\1", WriteFile("f", "text"), b"text"),
    ],
)
async def test_encoding_mark_and_line_ends_are_kept(
    tmp_path: Path, before: bytes, action: Action, after: bytes
) -> None:
    files(tmp_path, {"f": before})
    assert not (await do(hands(tmp_path), action)).failed
    assert (tmp_path / "f").read_bytes() == after


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o640])
async def test_the_mode_is_kept(tmp_path: Path, mode: int) -> None:
    path = files(tmp_path, {"run.sh": "old"}) / "run.sh"
    path.chmod(mode)
    await do(hands(tmp_path), WriteFile("run.sh", "new"))
    await do(hands(tmp_path), EditFile("run.sh", "new", "newer"))
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_text() == "newer"


async def test_a_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    files(tmp_path, {"src/a": "old"})
    (tmp_path / "link").symlink_to("src/a")
    result = await do(hands(tmp_path), WriteFile("link", "new"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "src/a").read_text() == "new"
    assert result.diff is not None
    assert result.diff.path == "src/a"


@pytest.mark.parametrize(
    ("action", "why"),
    [
        (EditFile("a.py", "nothing", "x"), "a.py: old_text was not found"),
        (EditFile("a.py", "one", "x"), "a.py: old_text was found 3 times"),
        (EditFile("a.py", "", "x"), "a.py: old_text is empty"),
        (EditFile("b.py", "x", "y"), "no such file: b.py; there is a.py"),
        (EditFile("zzz", "x", "y"), "no such file: zzz; write_file makes a new one"),
        (EditFile("bin", "x", "y"), "bin is a binary file"),
        (EditFile("latin", "a", "→"), "latin is not UTF-8"),
        (WriteFile("latin", "→"), "latin is not UTF-8"),
        (EditFile("src", "x", "y"), "src is a folder"),
        (WriteFile("src", "x"), "src is a folder"),
        (WriteFile(".", "x"), ". is a folder"),
        (WriteFile("../x", "x"), "../x is outside the project"),
        (WriteFile(".git/config", "x"), ".git/config cannot be written"),
        (WriteFile("src/.GIT/hooks/x", "x"), "src/.GIT/hooks/x cannot be written"),
        (EditFile(".mm/sessions/x.json", "x", "y"), ".mm/sessions/x.json cannot be written"),
        (WriteFile("hooks/pre-commit", "x"), ".git/hooks/pre-commit cannot be written"),
        (WriteFile("a.py/x", "x"), "a.py/x: not a folder"),
    ],
)
async def test_nobody_is_asked_for_an_edit_that_is_not_possible(
    tmp_path: Path, action: Action, why: str
) -> None:
    files(
        tmp_path, {"a.py": "one one one", "src/x": "", "bin": b"\0x", "latin": b"\xe9 a", ".git/config": "x"}
    )
    (tmp_path / "hooks").symlink_to(".git/hooks")
    assert (await refused(hands(tmp_path), action)).startswith(why)


async def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everything")
    path = files(tmp_path, {"a": "x"}) / "a"
    path.chmod(0o444)
    assert "Permission denied" in await refused(hands(tmp_path), WriteFile("a", "y"))


async def test_a_write_that_fails_says_why_and_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # F01, F02
    files(tmp_path, {"a": "old"})

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    result = await do(hands(tmp_path), WriteFile("a", "new"))
    assert result.failed
    assert result.content == "nothing was written: a: No space left on device"
    assert (tmp_path / "a").read_text() == "old"
    assert not left_behind(tmp_path)


async def test_a_secret_is_not_shown_in_a_diff(tmp_path: Path) -> None:
    files(tmp_path, {"a": "key = sk-12345\n"})
    result = await do(Tools(tmp_path, tmp_path, secrets=("sk-12345",)), EditFile("a", "key", "token"))
    assert result.diff == Diff("a", "key = ***\n", "token = ***\n")
    assert (tmp_path / "a").read_text() == "token = sk-12345\n"


async def test_writes_at_the_same_time_leave_one_of_them_whole(tmp_path: Path) -> None:
    texts = ["a" * 100_000, "b" * 100_000, "c" * 100_000]
    ready = [await hands(tmp_path).prepare(WriteFile("f", text)) for text in texts]
    runs = (hands(tmp_path).run("1", each, lambda text: None) for each in ready if isinstance(each, Ready))
    results = await asyncio.gather(*runs)
    assert (tmp_path / "f").read_text() in texts
    assert any(not result.failed for result in results)
    assert not left_behind(tmp_path)
