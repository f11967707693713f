"""The embedded model for real: it starts, calls tools, answers, and never outlives mm.

Asserted is the shape of what it says, never its words: it is a very small model.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from minime.core.model.embedded import SMOLLM2, Stuck
from minime.core.tools.toolbox import TOOLS, tool_declarations
from minime.shell.model import embedded
from minime.shell.model.embedded import Embedded, find_weights, has_engine, start

WEIGHTS = find_weights(os.environ)
real = pytest.mark.skipif(
    WEIGHTS is None or not has_engine(),
    reason="needs the engine and the weights: uv sync --group embedded",
)
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
NAMES = tuple(tool.name for tool in TOOLS)
README = "# tally\n\nCounts words in text files.\n"


def started(**more: Any) -> Embedded:
    assert WEIGHTS is not None
    model = asyncio.run(start(WEIGHTS, threads=1, template=True, **more))
    assert isinstance(model, Embedded), model
    return model


@pytest.fixture(scope="module")
def model() -> Iterator[Embedded]:
    model = started()
    yield model
    model.close()


@pytest.fixture
def client(model: Embedded) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {model.api_key}"}
    with httpx.Client(base_url=model.server.base_url, headers=headers, trust_env=False, timeout=60) as client:
        yield client


def answer(client: httpx.Client, *messages: dict[str, Any], tools: bool) -> dict[str, Any]:
    body: dict[str, Any] = {"messages": messages, "max_tokens": 60}
    if tools:
        body["tools"] = tool_declarations(NAMES)
    response = client.post("/chat/completions", json=body)
    assert response.status_code == 200, response.text
    message: dict[str, Any] = response.json()["choices"][0]["message"]
    return message


def prompt(client: httpx.Client, *messages: dict[str, Any], tools: tuple[str, ...]) -> str:
    """What the model is given to read."""
    body = {"messages": messages, "tools": tool_declarations(tools)}
    response = client.post(str(client.base_url).replace("/v1/", "/apply-template"), json=body)
    assert response.status_code == 200, response.text
    text: str = response.json()["prompt"]
    return text


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")


def gone(pid: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while is_alive(pid):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@real
def test_it_is_a_server_like_any_other(model: Embedded, client: httpx.Client) -> None:
    assert model.server.kind == "embedded"
    assert client.get(model.server.base_url.removesuffix("/v1") + "/health").status_code == 200
    assert client.get("/models").json()["data"][0]["id"] == model.model


@real
def test_only_mm_may_ask_it(model: Embedded) -> None:
    request = {"messages": [user("hi")], "max_tokens": 1}
    for headers in ({}, {"authorization": "Bearer guess"}):
        refused = httpx.post(
            f"{model.server.base_url}/chat/completions", json=request, headers=headers, trust_env=False
        )
        assert refused.status_code == 401


@real
@linux
def test_its_key_is_in_no_list_of_processes(model: Embedded) -> None:
    entry = Path(f"/proc/{model.pid}")
    assert model.api_key.encode() not in entry.joinpath("cmdline").read_bytes()
    assert model.api_key.encode() not in entry.joinpath("environ").read_bytes()


@real
@linux
def test_the_terminals_ctrl_c_does_not_reach_it(model: Embedded) -> None:
    assert os.getsid(model.pid) == model.pid != os.getsid(0)


@real
def test_a_question_about_a_file_reads_it_and_the_result_is_put_into_words(client: httpx.Client) -> None:
    question = user("What does README.md say?")
    call = answer(client, question, tools=True)
    (wanted,) = call["tool_calls"]
    assert wanted["function"]["name"] == "read_file"
    assert isinstance(json.loads(wanted["function"]["arguments"])["path"], str)
    result = {"role": "tool", "tool_call_id": wanted["id"], "content": README}
    told = answer(client, question, call, result, tools=False)
    assert not told.get("tool_calls")
    assert told["content"].strip()


@real
@pytest.mark.parametrize(
    ("question", "tool"),
    [
        ("What does install.sh say?", "read_file"),
        ("List the files in tests", "list_directory"),
        ("Run git status", "run_command"),
        ("Run the tests in this folder", "run_command"),
        ("Create notes.txt with the text hello", "write_file"),
        ("Where is parse_config used?", "search"),
        ("In config.ini replace debug with release", "edit_file"),
    ],
)
def test_the_examples_are_those_of_the_tool_that_the_question_needs(
    client: httpx.Client, question: str, tool: str
) -> None:
    shown = prompt(client, {"role": "system", "content": "Be brief."}, user(question), tools=NAMES)
    assert {name for name in NAMES if f'"name": "{name}"' in shown} == {tool}


@real
def test_a_tool_that_is_not_offered_is_not_shown(client: httpx.Client) -> None:
    assert '"run_command"' not in prompt(client, user("Run git status"), tools=("read_file", "search"))
    assert "<tool_call>" not in prompt(client, user("Run git status"), tools=())


@real
def test_any_shape_of_history_passes_the_template(client: httpx.Client) -> None:
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "run_command", "arguments": '{"command": "ls"}'},
    }
    history = (
        user("Run ls"),
        {"role": "assistant", "content": "", "tool_calls": [call, {**call, "id": "d"}]},
        {"role": "tool", "tool_call_id": "c", "content": ""},
        {"role": "tool", "tool_call_id": "d", "content": "a.py\n" * 2000},
        {"role": "assistant", "content": "There is a.py."},
    )
    questions = user("Thanks"), user([{"type": "text", "text": "Thanks"}])
    for tools in ((), NAMES):
        for question in questions:
            shown = prompt(client, *history, question, tools=tools)
            assert shown.endswith("user\nThanks<|im_end|>\n<|im_start|>assistant\n")
            assert ("There is a.py." in shown) is not bool(tools), "beside tools only the calls are examples"
        shown = prompt(client, *history[:4], tools=tools)
        assert 500 < shown.count("a.py\n") * 5 <= 600, "a small model reads the head of a long result"


@real
@linux
def test_closing_takes_an_instant_even_in_a_long_prompt() -> None:
    model = started()
    url, headers = f"{model.server.base_url}/chat/completions", {"authorization": f"Bearer {model.api_key}"}
    long = {"messages": [user(" ".join(f"word{n}" for n in range(1500)))]}
    failed: list[Exception] = []

    def ask() -> None:
        try:
            httpx.post(url, json=long, headers=headers, trust_env=False, timeout=60)
        except httpx.HTTPError as error:
            failed.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(0.3)
    begun = time.monotonic()
    model.close()
    assert time.monotonic() - begun < 1
    model.close()
    asking.join(5)
    assert failed
    assert not is_alive(model.pid)


LIKE_MM = """
import asyncio, os, sys
from pathlib import Path
from minime.shell.model.embedded import start
model = asyncio.run(start(Path(sys.argv[1]), threads=1, template=True))
print(model.pid, flush=True)
sys.stdin.read()
"""


@real
@linux
@pytest.mark.parametrize("how", [signal.SIGKILL, None], ids=["killed", "at its end"])
def test_it_ends_with_mm_however_mm_ends(how: signal.Signals | None) -> None:
    mm = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", LIKE_MM, str(WEIGHTS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    with mm:
        assert mm.stdout is not None
        pid = int(mm.stdout.readline())
        assert is_alive(pid)
        if how is not None:
            mm.send_signal(how)
    assert gone(pid, 2)


@real
@linux
def test_it_ends_with_an_mm_that_is_killed_while_it_loads(tmp_path: Path) -> None:
    mm = subprocess.Popen(
        [sys.executable, "-c", LIKE_MM, str(WEIGHTS)], stdin=subprocess.PIPE, cwd=Path(__file__).parents[2]
    )
    children = Path(f"/proc/{mm.pid}/task/{mm.pid}/children")
    with mm:
        while not (pids := children.read_text(encoding="utf-8").split()):
            time.sleep(0.01)
        time.sleep(0.2)
        mm.kill()
    assert gone(int(pids[0]), 2)


@real
@linux
async def test_a_start_that_is_cancelled_leaves_no_process() -> None:
    assert WEIGHTS is not None
    task = asyncio.create_task(start(WEIGHTS, threads=1, template=True))
    await asyncio.sleep(0.2)
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    ours = [pid for pid in children.read_text(encoding="utf-8").split() if "embedded_server" in _command(pid)]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ours
    assert not is_alive(int(ours[-1]))


def _command(pid: str) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")


@real
async def test_a_start_that_takes_too_long_says_so() -> None:
    assert WEIGHTS is not None
    assert await start(WEIGHTS, threads=1, template=True, within=0.05) == Stuck("slow")


@real
async def test_files_that_are_no_models_are_told_apart(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF" + bytes(100))
    text = tmp_path / "text.gguf"
    text.write_text("hello", encoding="utf-8")
    reasons = [
        await start(path, template=False) for path in (damaged, text, tmp_path / "none.gguf", tmp_path)
    ]
    assert [stuck.why for stuck in reasons if isinstance(stuck, Stuck)] == [
        "not loaded",
        "not a model",
        "no file",
        "no file",
    ]


async def test_a_process_that_dies_while_it_loads_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    weights = tmp_path / "some.gguf"
    weights.write_bytes(b"GGUF")
    dying = tmp_path / "dying.py"
    dying.write_text("import os; os.kill(os.getpid(), 4)", encoding="utf-8")
    monkeypatch.setattr(embedded, "SERVER", dying)
    monkeypatch.setattr(embedded, "ENGINE", "json")
    stuck = await start(weights, template=False)
    assert isinstance(stuck, Stuck)
    assert stuck.why == "illegal"


async def test_without_the_engine_it_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(embedded, "ENGINE", "no_such_engine")
    assert await start(tmp_path / "some.gguf", template=False) == Stuck("no engine")


def test_weights_are_found_in_the_cache_when_no_package_brings_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(embedded, "MODULE", "no_such_package")
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    assert find_weights(environ) is None
    path = tmp_path / "mm" / "models" / SMOLLM2.file
    path.parent.mkdir(parents=True)
    path.write_bytes(b"GGUF")
    assert find_weights(environ) is None, "a file of another size is not it"
    os.truncate(path, SMOLLM2.size)
    assert find_weights(environ) == path
