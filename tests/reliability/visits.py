"""The real mm, visited without looking: each step is sent, and done when mm says that it waits again.

A visit ends when its steps are done or mm is gone; `done` counts the steps that mm has confirmed.
"""

import json
import os
import pty
import select
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.support.mm import MM, environment

PROMPT = "› ".encode()
PATIENCE = 60.0


def in_terminal(
    steps: tuple[str, ...], project: Path, env: Mapping[str, str], before: tuple[str, ...], *words: str
) -> int:
    """Visits `mm` at a pseudo-terminal: how many steps are confirmed by the next prompt."""
    ours, theirs = pty.openpty()
    shown = 1 + (
        "--resume" in words
    )  # a session that is taken up shows its last question behind the same sign
    with _process(before, words, project, env, stdin=theirs, stdout=theirs, stderr=theirs) as mm:
        os.close(theirs)
        said = b""
        try:
            for done, step in enumerate((*steps, "/quit")):
                while said.count(PROMPT) < shown + done:
                    piece = _read(ours, said)
                    if not piece:
                        return max(done - 1, 0)
                    said += piece
                os.write(ours, step.encode() + b"\r")
            mm.wait(PATIENCE)
        finally:
            os.close(ours)
        return len(steps)


def _read(terminal: int, said: bytes) -> bytes:
    """What comes next; nothing when mm is gone."""
    if not select.select([terminal], [], [], PATIENCE)[0]:
        raise TimeoutError(f"mm does not answer: {said[-2000:].decode(errors='replace')}")
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def in_editor(
    steps: tuple[str, ...],
    project: Path,
    env: Mapping[str, str],
    before: tuple[str, ...],
    *words: str,
    id: str = "",
) -> int:
    """Visits `mm acp` over pipes: how many steps are confirmed by the answer to their request."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with _process(before, ("acp", *words), project, env, **pipes) as mm:
        number = 0

        def ask(method: str, **params: Any) -> Any:
            nonlocal number
            number += 1
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            mm.stdin.write(json.dumps(message).encode() + b"\n")
            mm.stdin.flush()
            for line in mm.stdout:
                said = json.loads(line)
                if said.get("id") == number and "method" not in said:
                    return said.get("result")
            raise BrokenPipeError

        done = 0
        with suppress(BrokenPipeError, ConnectionResetError):
            ask("initialize", protocolVersion=1, clientCapabilities={})
            if id:
                ask("session/load", sessionId=id, cwd=str(project), mcpServers=[])
            else:
                id = ask("session/new", cwd=str(project), mcpServers=[])["sessionId"]
            for step in steps:
                ask("session/prompt", sessionId=id, prompt=[{"type": "text", "text": step}])
                done += 1
            ask("session/close", sessionId=id)
        with suppress(BrokenPipeError):
            mm.stdin.close()
        mm.wait(PATIENCE)
        return done


def at_command_line(
    steps: tuple[str, ...], project: Path, env: Mapping[str, str], before: tuple[str, ...], *words: str
) -> int:
    """Asks each question in a process of its own: how many are confirmed by exit status 0."""
    nothing = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for done, step in enumerate(steps):
        with _process(before, (*words, step), project, env, **nothing) as mm:
            if mm.wait(PATIENCE):
                return done
    return len(steps)


@contextmanager
def _process(
    before: tuple[str, ...], words: tuple[str, ...], project: Path, env: Mapping[str, str], **pipes: Any
) -> Iterator[Any]:
    settings = {"TERM": "dumb", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1", **env}
    with subprocess.Popen(
        [*before, *MM, *words], cwd=project, env=environment(settings), start_new_session=True, **pipes
    ) as process:
        try:
            yield process
        finally:
            process.kill()
