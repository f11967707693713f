import asyncio
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from minime.core.tools.toolbox import RunCommand
from minime.core.values import Tool
from minime.shell.tools.tools import Impossible, Ready, Tools
from tests.support.hands import do


async def run(root: Path, command: str, timeout: float = 0.0, **more: object) -> Tool:
    return await do(Tools(root, root, **more), RunCommand(command, timeout))  # type: ignore[arg-type]


async def start(root: Path, command: str, heard: list[str] | None = None) -> "asyncio.Task[Tool]":
    hands = Tools(root, root)
    ready = await hands.prepare(RunCommand(command))
    assert isinstance(ready, Ready)
    shown = heard if heard is not None else []
    return asyncio.create_task(hands.run("1", ready, shown.append))


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that is dead and not yet waited for does not."""
    told = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return told.stdout.strip()[:1] not in {"", "Z"}


async def pid_in(path: Path) -> int:
    for _ in range(500):
        written = path.read_text("utf-8") if path.exists() else ""
        if written.strip():
            return int(written)
        await asyncio.sleep(0.01)
    raise AssertionError(f"nothing was written to {path}")


async def ended(pid: int, within: float) -> bool:
    until = time.monotonic() + within
    while is_alive(pid):
        if time.monotonic() > until:
            return False
        await asyncio.sleep(0.02)
    return True


async def test_output_and_errors_come_in_the_order_written_with_the_status(tmp_path: Path) -> None:
    result = await run(tmp_path, "echo one; echo two >&2; echo three; exit 3")
    assert result == Tool("call_1", "one\ntwo\nthree\n(exit status 3)", failed=True)
    assert await run(tmp_path, "true") == Tool("call_1", "(exit status 0)")
    assert (await run(tmp_path, "printf x")).content == "x\n(exit status 0)"
    assert (await run(tmp_path, "kill -9 $$")) == Tool("call_1", "(ended by signal 9)", failed=True)
    assert (await run(tmp_path, "no-such-program")).content.endswith("(exit status 127)")


async def test_a_command_runs_in_the_current_folder_without_terminal_and_input(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    hands = Tools(tmp_path, tmp_path / "sub")
    result = await do(
        hands, RunCommand("pwd -P; cat; test -t 0 || test -t 1 || echo none; (: < /dev/tty) || echo no tty")
    )
    lines = result.content.split("\n")
    assert lines[:2] == [str((tmp_path / "sub").resolve()), "none"]
    assert "no tty" in lines


async def test_output_is_clean_text(tmp_path: Path) -> None:
    result = await run(tmp_path, r"printf '\033[31mred\033]0;t\007 \351 a\000b\r\nc\rd'")  # T02, T03, T05
    assert result.content == "red \ufffd ab\nc\nd\n(exit status 0)"


async def test_a_giant_output_keeps_its_head_and_tail_and_little_memory(tmp_path: Path) -> None:  # T06
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = await run(tmp_path, "echo first; yes 0123456789 | head -c 30000000; echo last")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert len(result.content) <= 30_000
    assert result.content.startswith("first\n")
    assert result.content.endswith("last\n(exit status 0)")
    head, _, tail = result.content.partition("characters left out …")
    left_out = int(head.rpartition("… ")[2].strip().replace(",", ""))
    kept = len(head.rpartition("\n… ")[0]) + len(tail.removeprefix("\n").removesuffix("(exit status 0)"))
    assert left_out + kept == 30_000_011
    assert grown < (30_000 if sys.platform == "linux" else 30_000_000)


async def test_output_is_shown_as_it_comes(tmp_path: Path) -> None:
    heard: list[str] = []
    task = await start(tmp_path, "echo one; until [ -e go ]; do sleep 0.02; done; echo two", heard)
    while not heard:
        await asyncio.sleep(0.01)
    assert heard == ["one\n"]
    (tmp_path / "go").touch()
    await task
    assert "".join(heard) == "one\ntwo\n"


async def test_a_flood_is_not_shown_whole(tmp_path: Path) -> None:
    heard: list[str] = []
    await (await start(tmp_path, "yes | head -c 20000000", heard))
    assert sum(map(len, heard)) < 300_000


async def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    began = time.monotonic()
    result = await run(tmp_path, "echo before; sleep 60; echo after", timeout=0.3)
    assert time.monotonic() - began < 1.5
    assert result.content == "before\n(timed out after 0.3 s and was ended)"
    assert result.failed
    assert (await run(tmp_path, "sleep 60", command_timeout=0.2)).failed


async def test_a_command_that_ignores_the_request_to_end_is_killed(tmp_path: Path) -> None:
    began = time.monotonic()
    result = await run(tmp_path, "trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done", timeout=0.3)
    assert time.monotonic() - began < 2
    assert "timed out" in result.content
    assert await ended(int((tmp_path / "pid").read_text()), 0.5)


async def test_what_is_left_in_the_background_is_ended(tmp_path: Path) -> None:
    began = time.monotonic()
    result = await run(tmp_path, "sleep 100 & echo $! > pid; echo hi")
    assert time.monotonic() - began < 1.5
    assert result.content == "hi\n(exit status 0)"
    assert await ended(int((tmp_path / "pid").read_text()), 0.5)


async def test_a_cancelled_command_is_gone_within_a_second(tmp_path: Path) -> None:  # H07
    task = await start(tmp_path, "sleep 100 & echo $! > pid; wait")
    pid = await pid_in(tmp_path / "pid")
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await ended(pid, 0.5)
    assert time.monotonic() - began < 1.5


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="strays are found by /proc")
async def test_a_cancelled_command_takes_along_what_left_its_group(tmp_path: Path) -> None:
    program = "import os,time; os.setsid(); open('pid','w').write(str(os.getpid())); time.sleep(100)"
    task = await start(tmp_path, f'{sys.executable} -c "{program}" & wait')
    pid = await pid_in(tmp_path / "pid")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await ended(pid, 0.5)


async def test_a_command_ends_with_mm_even_when_mm_is_killed(tmp_path: Path) -> None:
    program = f"""
import asyncio
from pathlib import Path
from minime.core.tools.toolbox import RunCommand
from minime.shell.tools.tools import Ready, Tools
root = Path({str(tmp_path)!r})
ready = Ready(RunCommand("trap '' HUP TERM; echo $$ > pid; while :; do sleep 0.1; done"))
asyncio.run(Tools(root, root).run("1", ready, print))
"""
    mm = subprocess.Popen([sys.executable, "-c", program], start_new_session=True)
    pid = await pid_in(tmp_path / "pid")
    assert is_alive(pid)
    mm.send_signal(signal.SIGKILL)
    mm.wait()
    assert await ended(pid, 2)


async def test_a_secret_reaches_neither_the_command_nor_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "MM_API_KEY": "key-1",
        "MY_KEY": "key-2",
        "COPY": "sk-12345",
        "PLAIN": "seen",
    }.items():
        monkeypatch.setenv(name, value)
    result = await run(
        tmp_path, "env; printf sk-; echo 12345", secrets=("sk-12345",), secret_names=("MY_KEY",)
    )
    names = {line.split("=")[0] for line in result.content.split("\n")}
    assert not names & {"MM_API_KEY", "MY_KEY", "COPY"}
    assert {"PLAIN", "GIT_PAGER"} <= names
    assert "PAGER=cat" in result.content
    assert "\n***\n" in result.content


async def test_a_command_that_cannot_be_started_is_a_result(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    result = await run(gone, "true")
    assert result.failed
    assert "No such file or directory" in result.content
    assert await Tools(tmp_path, tmp_path).prepare(RunCommand("  ")) == Impossible("the command is empty")
    assert isinstance(await Tools(tmp_path, tmp_path).prepare(RunCommand("a\0b")), Impossible)
    assert (await run(tmp_path, "x" * 3_000_000)).failed


async def test_nothing_stays_open_after_commands(tmp_path: Path) -> None:
    folder = Path("/dev/fd")
    await run(tmp_path, "true")
    before = len([*folder.iterdir()])
    for command in ("true", "sleep 9 &", "exec >&- 2>&-"):
        await run(tmp_path, command)
    await run(tmp_path / "gone", "true")
    assert len([*folder.iterdir()]) == before


async def test_commands_run_beside_each_other(tmp_path: Path) -> None:
    began = time.monotonic()
    results = await asyncio.gather(*(run(tmp_path, f"sleep 0.3; echo {n}") for n in range(8)))
    assert [result.content.split("\n")[0] for result in results] == [str(n) for n in range(8)]
    assert time.monotonic() - began < 2
