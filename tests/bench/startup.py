"""Whole processes: from nothing to an answer, to a request at the server, to a list."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.bench.environment import Place
from tests.bench.rows import Row, Sample, by_turns
from tests.support.server import Answer, Recorded, ScriptedServer, says

AREA = "Start"
LAUNCH = Path(__file__).with_name("launch.py")
ONE_POST = """
import asyncio, os
from httpx import AsyncClient

async def main():
    async with AsyncClient(trust_env=False, verify=False) as client:
        body = b'{"model": "tiny", "stream": true, "messages": [{"role": "user", "content": "x"}]}'
        await client.post(os.environ["MM_BASE_URL"] + "/chat/completions", content=body)

asyncio.run(main())
"""


class TimedServer(ScriptedServer):
    """Says the same to every question and notes when it came."""

    came = 0.0

    def _answer_to(self, request: Recorded) -> Answer:
        if request.method == "POST":
            self.came = time.monotonic()
            self.add(says("Hi."))
        return super()._answer_to(request)


def rows(place: Place, folder: Path, runs: int) -> list[Row]:
    """The rows about starting. `folder` is empty and may be filled."""
    server = TimedServer()
    with server:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "MM_BASE_URL": server.url,
            "MM_MODEL": "tiny",
        }
        asking = folder / "asking"
        listing = folder / "listing"
        asking.mkdir()
        listing.mkdir()

        def run(*command: str, cwd: Path = asking) -> Sample:
            return launch(command, cwd, env)[0]

        def until_request(*command: str) -> Sample:
            sample, started = launch(command, asking, env)
            return Sample(server.came - started, sample.cpu, sample.peak)

        def bare() -> Sample:
            return run(place.python, "-c", "pass")

        def post() -> Sample:
            return until_request(place.python, "-c", ONE_POST)

        def ask() -> Sample:
            return until_request(*place.mm, "x")

        run(*place.mm, "x", cwd=listing)
        return [
            Row(
                AREA,
                "`mm --version`",
                "`python -c pass`",
                2.5,
                by_turns(bare, lambda: run(*place.mm, "--version"), runs),
            ),
            Row(
                AREA,
                '`mm "x"`, until its request is at the server',
                "`python -c pass`",
                20.0,
                by_turns(bare, ask, runs),
            ),
            Row(
                AREA,
                '`mm "x"`, until its request is at the server',
                "a script that posts with `httpx.AsyncClient`, until then",
                0,
                by_turns(post, ask, runs),
            ),
            Row(
                AREA,
                "`mm sessions`, one session",
                "`python -c pass`",
                0,
                by_turns(bare, lambda: run(*place.mm, "sessions", cwd=listing), runs),
            ),
        ]


def launch(command: tuple[str, ...], cwd: Path, env: dict[str, str]) -> tuple[Sample, float]:
    """One run of `command`, and when it began on the monotonic clock."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(LAUNCH), *command],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    said = json.loads(done.stdout)
    assert said["status"] == 0, done.stderr.decode()
    return Sample(said["wall"], said["cpu"], said["peak"]), said["started"]
