"""Conversations as other agents keep them: 1,000 short ones and a long one, with the same words in each agent's own
form, and the time until an editor has the list of them, or has the long one whole.
"""

import json
import os
import re
import sqlite3
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from threading import Timer
from typing import Any
from uuid import UUID

from minime.core.codec import encode
from minime.core.values import Stamp
from minime.shell.clock import now
from tests.bench.editors import MESSAGES, RESULT, conversation
from tests.bench.rows import Sample

MANY = 1_000
PATIENCE = 120
"""Seconds that an agent may take for a whole exchange."""
SHORT, LONG = 2, MESSAGES // 4
"""Turns of a conversation: a question, a call with its result, an answer."""

QUESTION, ANSWER = (
    "What does the file number {} do?",
    "It holds lines – “as they may well be” – and nothing else.",
)


def keep_in_mm(cwd: Path) -> str:
    """Fills the project; the id of the long conversation."""
    folder = cwd / ".mm" / "sessions"
    folder.mkdir(parents=True)
    for number in range(MANY + 1):
        id = f"20260916-101530-{number:08x}"
        kept = conversation(Stamp(now(), id), LONG if number == MANY else SHORT)
        (folder / f"{id}.json").write_bytes(encode(kept))
    return id


def keep_in_claude(home: Path, cwd: Path) -> str:
    """Files of JSON lines in a folder with the name of the project's path. No id: to load, it wants a key."""
    folder = home / ".claude" / "projects" / re.sub(r"\W", "-", str(cwd).replace("_", "-"))
    folder.mkdir(parents=True)
    for number in range(MANY + 1):
        id = str(UUID(int=number << 64))
        lines = _claude_lines(id, str(cwd), LONG if number == MANY else SHORT)
        (folder / f"{id}.jsonl").write_text(
            "".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8"
        )
    return ""


def _claude_lines(id: str, cwd: str, turns: int) -> Iterator[dict[str, Any]]:
    before = None
    for turn in range(turns):
        call = {
            "type": "tool_use",
            "id": f"toolu_{turn}",
            "name": "Read",
            "input": {"file_path": f"{cwd}/main.py"},
        }
        result = {"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": RESULT}
        answer = {"type": "text", "text": ANSWER}
        said = (
            ("user", QUESTION.format(turn)),
            ("assistant", [call]),
            ("user", [result]),
            ("assistant", [answer]),
        )
        for place, (role, content) in enumerate(said):
            own = str(UUID(int=(turn << 8) + place + 1))
            yield {
                "parentUuid": before,
                "isSidechain": False,
                "cwd": cwd,
                "sessionId": id,
                "version": "2.0.0",
                "type": role,
                "message": {"role": role, "content": content},
                "uuid": own,
                "timestamp": "2026-09-16T10:15:30.000Z",
            }
            before = own


def keep_in_opencode(home: Path, cwd: Path, command: tuple[str, ...], env: Mapping[str, str]) -> str:
    """Rows of the database that its first session makes; the id of the long conversation."""
    new = ("session/new", {"cwd": str(cwd), "mcpServers": []})
    exchange(command, cwd, env, new)
    with closing(sqlite3.connect(home / ".local" / "share" / "opencode" / "opencode.db")) as base, base:
        base.row_factory = sqlite3.Row
        first = dict(base.execute("SELECT * FROM session").fetchone())
        base.execute("DELETE FROM session")
        for number in range(MANY + 1):
            id, at = f"ses_{number:026d}", first["time_created"] + number
            own = {**first, "id": id, "slug": str(number), "time_created": at, "time_updated": at}
            _insert(base, "session", own)
            for table, row in _opencode_rows(id, number, str(cwd), LONG if number == MANY else SHORT):
                _insert(base, table, row)
    return id


def _opencode_rows(session: str, number: int, cwd: str, turns: int) -> Iterator[tuple[str, dict[str, Any]]]:
    model = {"providerID": "opencode", "modelID": "none"}
    tokens = {"input": 1, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    for turn in range(turns):
        question = f"msg_{number:06d}{3 * turn:020d}"
        asked = {"role": "user", "agent": "build", "model": model, "time": {"created": 1}}
        answered = {
            "role": "assistant",
            "parentID": question,
            "mode": "build",
            "agent": "build",
            "path": {"cwd": cwd, "root": "/"},
            "cost": 0,
            "tokens": tokens,
            **model,
            "time": {"created": 1, "completed": 1},
        }
        ran = {
            "status": "completed",
            "input": {"filePath": f"{cwd}/main.py"},
            "output": RESULT,
            "title": "main.py",
            "metadata": {},
            "time": {"start": 1, "end": 2},
        }
        said = (
            (asked, {"type": "text", "text": QUESTION.format(turn)}),
            (
                {**answered, "finish": "tool-calls"},
                {"type": "tool", "callID": f"call_{turn}", "tool": "read", "state": ran},
            ),
            ({**answered, "finish": "stop"}, {"type": "text", "text": ANSWER}),
        )
        for place, (message, part) in enumerate(said):
            id, at = f"msg_{number:06d}{3 * turn + place:020d}", 3 * turn + place
            times = {"session_id": session, "time_created": at, "time_updated": at}
            yield "message", {"id": id, **times, "data": json.dumps(message)}
            yield (
                "part",
                {"id": id.replace("msg", "prt"), "message_id": id, **times, "data": json.dumps(part)},
            )


def _insert(base: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    places = ",".join("?" * len(row))
    base.execute(f"INSERT INTO {table} ({','.join(row)}) VALUES ({places})", tuple(row.values()))


def until_listed(command: tuple[str, ...], cwd: Path, env: Mapping[str, str]) -> Sample:
    """From nothing until the editor has the list of all conversations that it can have, page by page."""
    return exchange(command, cwd, env, ("session/list", {"cwd": str(cwd)}))[0]


def listed(command: tuple[str, ...], cwd: Path, env: Mapping[str, str]) -> int:
    """How many of the conversations an editor can have in its list."""
    return exchange(command, cwd, env, ("session/list", {"cwd": str(cwd)}))[1]


def until_loaded(command: tuple[str, ...], cwd: Path, env: Mapping[str, str], id: str) -> Sample:
    """From nothing until the editor has the long conversation whole."""
    wish = {"cwd": str(cwd), "sessionId": id, "mcpServers": []}
    sample, found = exchange(command, cwd, env, ("session/load", wish))
    assert found >= 3 * LONG, f"{found} updates"
    return sample


def exchange(
    command: tuple[str, ...], cwd: Path, env: Mapping[str, str], wish: tuple[str, dict[str, Any]]
) -> tuple[Sample, int]:
    """One run of an editor's agent up to the answer to a request behind `initialize`, and to those for the
    further pages: the run, and how many sessions were listed or updates sent."""
    method, params = wish
    began = time.monotonic()
    with subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        patience = Timer(PATIENCE, process.kill)
        patience.start()
        try:
            answer, _ = _ask(process, 1, "initialize", {"protocolVersion": 1})
            found, number, cursor = 0, 1, None
            while number == 1 or cursor:
                number += 1
                answer, told = _ask(
                    process, number, method, {**params, **({"cursor": cursor} if cursor else {})}
                )
                cursor = answer.get("nextCursor")
                found += told + len(answer.get("sessions", ()))
            wall = time.monotonic() - began
            memory = subprocess.check_output(["ps", "-o", "rss=", "-p", str(process.pid)])
        finally:
            patience.cancel()
            process.kill()
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return Sample(wall, used.ru_utime + used.ru_stime, int(memory) / 2**10), found


def _ask(
    process: subprocess.Popen[bytes], id: int, method: str, params: dict[str, Any]
) -> tuple[dict[str, Any], int]:
    """The result of a request, and how many messages came before it."""
    assert process.stdin is not None
    assert process.stdout is not None
    request = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    for told, line in enumerate(process.stdout):
        said = json.loads(line)
        if said.get("id") == id and "method" not in said:
            result: dict[str, Any] = said["result"]
            return result, told
    raise ValueError("no answer")
