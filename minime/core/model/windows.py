"""What servers say of a model's context window: which pages tell it, and what their bodies come to.

Only the window that is loaded counts. The longest that a model could have (`n_ctx_train`,
`max_context_length`, `….context_length` of a model file) is told by all of them and true of none.
"""

import re
from collections.abc import Iterator
from typing import Any, Literal
from urllib.parse import quote

import msgspec

from minime.core.model.servers import SHARED_PORTS, Kind, Server, is_loopback, recognise, server_name

LEAST, MOST = 256, 100_000_000
"""Tokens; a number outside of this is no context window."""

ASSUMED_ORIGIN = "assumed"
ASSUMED = 8192
ASSUMED_OF: dict[Kind, int] = {"ollama": 4096, "docker": 4096}
"""What servers load where nobody has said anything else."""


class Window(msgspec.Struct, frozen=True):
    """A context window in tokens, and where the number comes from, for a person. `firm`: the number is of the
    model as it is loaded, or was set by the person, and asking again would not change it."""

    tokens: int
    origin: str
    firm: bool = True


class Page(msgspec.Struct, frozen=True):
    """A page that may tell the window: `url`, asked with POST where it has a `body`, and how it is read."""

    reads: Literal["props", "running", "show", "loaded", "packaged", "models"]
    url: str
    body: bytes = b""


def window_pages(server: Server, model: str) -> tuple[Page, ...]:
    """The pages of `server` that may tell the window of `model`, the best first."""
    base, root = server.base_url, server_root(server.base_url)
    models = Page("models", f"{base}/models")
    match server.kind:
        case "ollama":
            asked = msgspec.json.encode({"model": model})
            return (Page("running", f"{root}/api/ps"), Page("show", f"{root}/api/show", asked))
        case "llama.cpp" | "embedded":
            wanted = quote(model, safe="")
            return (Page("props", f"{root}/props?model={wanted}&autoload=false"), models)
        case "lm-studio":
            return (Page("loaded", f"{root}/api/v0/models"),)
        case "docker":
            return (Page("packaged", f"{root}/models"),)
        case "vllm" | "other":
            return (models,)


def server_root(base_url: str) -> str:
    """The address of a server without the path of its chat-completions API."""
    for end in ("/engines/v1", "/engines/llama.cpp/v1", "/v1"):
        if base_url.endswith(end):
            return base_url.removesuffix(end)
    return base_url


def read_window(server: Server, model: str, page: Page, body: bytes) -> Window | None:
    """The window of `model` that the body of `page` tells; None when it tells none."""
    try:
        read = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    firm = True
    match page.reads:
        case "props":
            told = at(read, "default_generation_settings", "n_ctx")
        case "running":
            told = next((entry.get("context_length") for entry in entries(read, model)), None)
        case "show":
            # Loaded with these words at the next request; what is loaded now may be another.
            told, firm = _parameter(at(read, "parameters"), "num_ctx"), False
        case "loaded":
            told = next((entry.get("loaded_context_length") for entry in entries(read, model)), None)
        case "packaged":
            told = next((at(entry, "config", "context_size") for entry in entries(read, model)), None)
        case "models":
            told = next((_listed(entry, server) for entry in entries(read, model)), None)
    if not isinstance(told, int) or isinstance(told, bool) or not LEAST <= told <= MOST:
        return None
    return Window(told, f"told by {server_name(server.kind)}", firm)


def recognised(server: Server, page: Page, body: bytes) -> Server:
    """The server, of the kind that its list of models shows where its address has not told."""
    if page.reads != "models" or server.kind not in {*SHARED_PORTS, "other"}:
        return server
    return Server(recognise(server.kind, {}, body), server.base_url)


def assumed_window(kind: Kind) -> Window:
    """The window where nobody has told one."""
    return Window(ASSUMED_OF.get(kind, ASSUMED), ASSUMED_ORIGIN, firm=False)


def window_text(window: Window) -> str:
    """A window in a few words: `8,192 tokens (told by llama.cpp)`."""
    return f"{window.tokens:,} tokens ({window.origin})"


def _listed(entry: dict[str, Any], server: Server) -> object:
    """The window in an entry of a list of models, in the words of the servers that have one there."""
    told = entry.get("max_model_len") or at(entry, "meta", "n_ctx")
    if told is None and not is_loopback(server.base_url):
        # A service on the net has no other window than the one in its list.
        told = entry.get("context_length") or entry.get("context_window")
    return told


def entries(read: object, model: str) -> Iterator[dict[str, Any]]:
    """The entries about `model` in a list, however the server wraps it."""
    if isinstance(read, dict):
        read = read.get("data") or read.get("models")
    for entry in read if isinstance(read, list) else ():
        if isinstance(entry, dict) and _same(model, _names(entry)):
            yield entry


def _names(entry: dict[str, Any]) -> list[str]:
    tags = entry.get("tags")
    names = [
        entry.get("id"),
        entry.get("name"),
        entry.get("model"),
        *(tags if isinstance(tags, list) else ()),
    ]
    return [name for name in names if isinstance(name, str)]


def _same(model: str, names: list[str]) -> bool:
    """Whether one of the names is the model's; `:latest` may be left out, and the registry of an image."""
    wanted = model.removesuffix(":latest")
    return any(
        name.removesuffix(":latest") in {wanted, f"docker.io/{wanted}", f"index.docker.io/{wanted}"}
        for name in names
    )


def at(read: object, *path: str) -> object:
    """What stands at the path in decoded JSON; None where there is nothing."""
    for key in path:
        read = read.get(key) if isinstance(read, dict) else None
    return read


def _parameter(lines: object, name: str) -> int | None:
    found = re.search(rf"(?m)^{name}\s+(\d{{1,12}})\s*$", lines) if isinstance(lines, str) else None
    return int(found[1]) if found else None
