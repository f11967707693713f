"""`mm acp`: from nothing to the answer to an editor's first request, and a long conversation loaded."""

import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from statistics import median

import msgspec

from minime import __version__
from minime.core.acp.effects import Open, Send
from minime.core.acp.inputs import Opened, Opening
from minime.core.acp.machine import step
from minime.core.acp.replay import replay_updates
from minime.core.acp.state import State
from minime.core.codec import decode, encode
from minime.core.session import append_turn, new_session
from minime.core.turn import Turn
from minime.core.values import Assistant, Session, Stamp, Tool, User, tool_call
from tests.bench.environment import Place
from tests.bench.rows import Row, Sample, by_turns, timed

AREA = "Editor"
MOST_MEMORY = 45.0
MESSAGES = 10_000
RATE = 100_000
"""Updates a second that no editor waits for."""

HELLO = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}\n'
SETTINGS = """\
model: tiny
maxSteps: 30
permissions:
  - {tool: run_command, match: "git status*", do: allow}
"""
SDK_ECHO = """
import asyncio
from acp import PROTOCOL_VERSION, Agent, InitializeResponse, run_agent

class Echo(Agent):
    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **rest):
        return InitializeResponse(protocol_version=PROTOCOL_VERSION)

asyncio.run(run_agent(Echo()))
"""
RESULT = "".join(f"{number:>4}: a line of a file, as it may well be\n" for number in range(20))


def starts(place: Place, folder: Path, runs: int) -> list[Row]:
    """The rows about starting. `folder` is empty and may be filled."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    plain, configured = folder / "plain", folder / "configured"
    plain.mkdir()
    configured.mkdir()
    (configured / "agent.yaml").write_text(SETTINGS, encoding="utf-8")

    def bare() -> Sample:
        began = time.monotonic()
        subprocess.run([place.python, "-c", "pass"], cwd=plain, env=env, check=True)
        return Sample(time.monotonic() - began, 0.0)

    def sdk() -> Sample:
        return until_answer(sys.executable, "-c", SDK_ECHO, cwd=plain, env=env)

    def mm(cwd: Path) -> Sample:
        return until_answer(*place.mm, "acp", cwd=cwd, env=env)

    nothing = "`python -c pass`"
    echo = "an agent of the official SDK that does no more (in the current environment), until then"
    answered = "`mm acp`, until it has answered `initialize`"
    first, second = by_turns(bare, lambda: mm(plain), runs), by_turns(sdk, lambda: mm(plain), runs)
    return [
        Row(AREA, answered, nothing, 8.0, first, MOST_MEMORY),
        Row(
            AREA,
            f"{answered}, with an agent.yaml",
            nothing,
            12.0,
            by_turns(bare, lambda: mm(configured), runs),
            MOST_MEMORY,
        ),
        Row(AREA, answered, echo, 0, second, MOST_MEMORY),
    ]


def until_answer(*command: str, cwd: Path, env: Mapping[str, str]) -> Sample:
    """One run of an editor's agent up to the answer to its first request, and its resident memory when it
    then waits for the next."""
    began = time.monotonic()
    with subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(HELLO)
        process.stdin.flush()
        assert b"result" in process.stdout.readline()
        wall = time.monotonic() - began
        memory = subprocess.check_output(["ps", "-o", "rss=", "-p", str(process.pid)])
        process.stdin.close()
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return Sample(wall, used.ru_utime + used.ru_stime, int(memory) / 2**10)


def replay(stamp: Stamp, runs: int) -> Row:
    """A session from the bytes of its file to the lines that an editor is sent when it loads it (P02)."""
    kept = conversation(stamp)
    data, updates = encode(kept), tuple(replay_updates(kept, "/work"))
    wish = Open("load", 1, kept.id, "/work")

    def load() -> None:
        session = decode(data)
        opening = Opening(session, "You are mini-me.", keeps=True, mode="ask")
        _, effects = step(State(__version__), Opened(wish, opening), stamp)
        lines = [effect.line for effect in effects if isinstance(effect, Send)]
        assert len(lines) > len(updates)

    def least() -> None:
        msgspec.json.decode(data, type=Session)
        head = {"jsonrpc": "2.0", "method": "session/update"}
        encoded = (
            msgspec.json.encode({**head, "params": {"sessionId": kept.id, "update": update}})
            for update in updates
        )
        assert sum(map(len, encoded)) > 0

    tracemalloc.start()
    load()
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    pairs = by_turns(timed(least), timed(load), runs)
    rate = len(updates) / median(subject.wall for _, subject in pairs)
    what = f"`session/load` of {MESSAGES:,} messages from their file, {rate:,.0f} updates a second"
    floor = "decode the file and encode the same updates, made before, with `msgspec`"
    measured = tuple((a, msgspec.structs.replace(b, peak=peak)) for a, b in pairs)
    return Row(AREA, what, floor, 3.0, measured, enough=len(updates) / RATE)


def conversation(stamp: Stamp, many: int = MESSAGES // 4) -> Session:
    """So many questions with a call, its result and an answer, four messages each."""
    turns = (
        Turn((
            User(f"What does the file number {number} do?"),
            Assistant("", tool_calls=(tool_call(f"call_{number}", "read_file", '{"path": "main.py"}'),)),
            Tool(f"call_{number}", RESULT),
            Assistant("It holds lines – “as they may well be” – and nothing else.", model="tiny"),
        ))
        for number in range(many)
    )
    grown = append_turn(new_session(stamp, "You are mini-me.", "tiny"), next(turns), stamp.now)
    rest = tuple(message for turn in turns for message in turn.messages)
    return msgspec.structs.replace(grown, messages=grown.messages + rest)
