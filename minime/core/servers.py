"""The local model servers that mm knows: where they listen, how they are started, how a model is fetched."""

import ipaddress
from typing import Literal
from urllib.parse import urlsplit

import msgspec

Kind = Literal["ollama", "docker", "llama.cpp", "lm-studio", "vllm", "embedded", "other"]


class Server(msgspec.Struct, frozen=True):
    """A server that speaks the chat-completions API. `base_url` ends in `/v1` (no slash behind it)."""

    kind: Kind
    base_url: str


class Known(msgspec.Struct, frozen=True):
    """What mm knows of a kind of server. `{model}` in a command stands for the model's name."""

    kind: Kind
    name: str
    base_url: str
    start: str
    pull: str


KNOWN = (
    Known("ollama", "Ollama", "http://127.0.0.1:11434/v1", "ollama serve", "ollama pull {model}"),
    Known(
        "docker",
        "Docker Model Runner",
        "http://127.0.0.1:12434/engines/v1",
        "docker desktop enable model-runner --tcp 12434",
        "docker model pull {model}",
    ),
    Known(
        "llama.cpp",
        "llama.cpp",
        "http://127.0.0.1:8080/v1",
        "llama-server -m MODEL.gguf --jinja",
        "llama-server -hf {model} --jinja",
    ),
    Known("lm-studio", "LM Studio", "http://127.0.0.1:1234/v1", "lms server start", "lms get {model}"),
    Known("vllm", "vLLM", "http://127.0.0.1:8000/v1", "vllm serve MODEL", "vllm serve {model}"),
)
"""In the order in which they are looked for when no `baseUrl` is set."""


def known(kind: Kind) -> Known | None:
    """What mm knows of servers of this kind; None for the embedded one and for strangers."""
    return next((entry for entry in KNOWN if entry.kind == kind), None)


def server_name(kind: Kind) -> str:
    """The name of a kind of server, for a sentence."""
    entry = known(kind)
    if entry is not None:
        return entry.name
    return "the embedded model" if kind == "embedded" else "the server"


def is_loopback(url: str) -> bool:
    """Whether an address leads to this machine and nowhere else: `localhost`, `127.…`, `[::1]`."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def parse_models(body: bytes) -> tuple[str, ...]:
    """The names in a server's list of models, in its order; empty when there are none to be read."""
    try:
        decoded = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return ()
    if isinstance(decoded, dict):
        decoded = decoded.get("data") or decoded.get("models")
    names = [_model_name(entry) for entry in decoded] if isinstance(decoded, list) else []
    return tuple(dict.fromkeys(name for name in names if name))


def _model_name(entry: object) -> str:
    if isinstance(entry, dict):
        entry = next((entry[key] for key in ("id", "name", "model") if entry.get(key)), "")
    return entry if isinstance(entry, str) else ""
