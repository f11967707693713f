"""The local model servers that mm knows: where they listen, how they are started, how a model is fetched."""

import ipaddress
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

import msgspec

Kind = Literal["ollama", "docker", "llama.cpp", "lm-studio", "vllm", "embedded", "other"]


class Server(msgspec.Struct, frozen=True):
    """A server that speaks the chat-completions API. `base_url` ends in `/v1` (no slash behind it)."""

    kind: Kind
    base_url: str


class Offer(msgspec.Struct, frozen=True):
    """A server that answers, and the names of the models on it."""

    server: Server
    models: tuple[str, ...]


class Known(msgspec.Struct, frozen=True):
    """What mm knows of a kind of server. `{model}` in a command stands for the model's name."""

    kind: Kind
    name: str
    base_url: str
    start: str
    pull: str


class _Entry(msgspec.Struct, frozen=True):
    owned_by: str | None = None


class _Listed(msgspec.Struct, frozen=True):
    data: tuple[_Entry, ...] = ()


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


SHARED_PORTS = frozenset({"llama.cpp", "vllm"})
"""Kinds whose port many other programs use too: the port alone does not tell them."""

OWNERS: dict[Kind, frozenset[str]] = {
    "vllm": frozenset({"vllm"}),
    "ollama": frozenset({"library"}),
    "docker": frozenset({"docker"}),
    "lm-studio": frozenset({"organization_owner", "organization-owner"}),
}
"""What `owned_by` says in the list of models of each kind."""


def known(kind: Kind) -> Known | None:
    """What mm knows of servers of this kind; None for the embedded one and for strangers."""
    return next((entry for entry in KNOWN if entry.kind == kind), None)


def server_name(kind: Kind) -> str:
    """The name of a kind of server, for a sentence."""
    entry = known(kind)
    if entry is not None:
        return entry.name
    return "the embedded model" if kind == "embedded" else "the server"


def server_at(base_url: str) -> Server:
    """The server at an address as a person writes it: slashes and blanks at its ends are dropped, nothing
    is added; its kind is read off the port where the port tells."""
    url = base_url.strip().rstrip("/")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return Server("other", url)
    at_home = is_loopback(url)
    for entry in KNOWN:
        if port == urlsplit(entry.base_url).port and (at_home or entry.kind not in SHARED_PORTS):
            return Server(entry.kind, url)
    return Server("other", url)


def offer(entry: Known, status: int, headers: Mapping[str, str], body: bytes) -> Offer | None:
    """What the server looked for as `entry` offers, by its answer to the question for its models; None when
    it is no model server, has no model, or wants a key first."""
    models = parse_models(body) if 200 <= status < 300 else ()
    return Offer(Server(recognise(entry.kind, headers, body), entry.base_url), models) if models else None


def recognise(expected: Kind, headers: Mapping[str, str], body: bytes) -> Kind:
    """What kind of server answered a request for its models where one of kind `expected` was looked for.
    `headers` have names in lower case."""
    owners = {owner.lower() for owner in _owners(body)}
    if "llama.cpp" in headers.get("server", "").lower() or owners & {"llamacpp", "llama.cpp"}:
        return "llama.cpp"
    for kind, marks in OWNERS.items():
        if owners & marks:
            return kind
    return "other" if expected in SHARED_PORTS else expected


def choose_model(configured: str | None, available: tuple[str, ...]) -> str | None:
    """The model to ask: the configured one, else the server's only or first; None when there is none."""
    return configured or next(iter(available), None)


def is_loopback(url: str) -> bool:
    """Whether an address leads to this machine and nowhere else: `localhost`, `127.…`, `[::1]`."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def same_place(one: Server, other: Server) -> bool:
    """Whether two addresses are one: this machine has two names."""
    return one.base_url.replace("//localhost:", "//127.0.0.1:") == other.base_url.replace(
        "//localhost:", "//127.0.0.1:"
    )


def parse_models(body: bytes) -> tuple[str, ...]:
    """The names in a server's list of models, in its order but those that only embed or rank text last;
    empty when there are none to be read."""
    try:
        decoded = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return ()
    if isinstance(decoded, dict):
        decoded = decoded.get("data") or decoded.get("models")
    names = [_model_name(entry) for entry in decoded] if isinstance(decoded, list) else []
    return tuple(sorted(dict.fromkeys(name for name in names if name), key=_only_embeds))


def _only_embeds(name: str) -> bool:
    return any(mark in name.lower() for mark in ("embed", "rerank", "bge-", "minilm"))


def _model_name(entry: object) -> str:
    if isinstance(entry, dict):
        entry = next((entry[key] for key in ("id", "name", "model") if entry.get(key)), "")
    return entry if isinstance(entry, str) else ""


def _owners(body: bytes) -> list[str]:
    try:
        listed = msgspec.json.decode(body, type=_Listed)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return []
    return [entry.owned_by for entry in listed.data if entry.owned_by]
