"""What servers say of whether a model takes images: which page tells it, and what its body comes to."""

from typing import Any

import msgspec

from minime.core.model.servers import Server
from minime.core.model.windows import Page, at, entries, server_root

BLIND = "{model} takes no images: it reads their names and sizes"


def blind_text(model: str) -> str:
    """The line for a person whose image the model is not shown."""
    return BLIND.format(model=model)


def sight_page(server: Server, model: str) -> Page | None:
    """The page that tells whether the model takes images; None where no page of such a server does."""
    root = server_root(server.base_url)
    match server.kind:
        case "ollama":
            return Page("show", f"{root}/api/show", msgspec.json.encode({"model": model}))
        case "llama.cpp":
            return Page("props", f"{root}/props")
        case "lm-studio":
            return Page("loaded", f"{root}/api/v0/models")
        case "docker" | "vllm" | "other" | "embedded":
            return None


def read_sight(model: str, page: Page, body: bytes) -> bool | None:
    """Whether the model takes images; None where the page does not tell."""
    try:
        read: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    match page.reads:
        case "show":
            told = at(read, "capabilities")
            return "vision" in told if isinstance(told, list) else None
        case "props":
            told = at(read, "modalities", "vision")
            return told if isinstance(told, bool) else None
        case "loaded":
            kinds = {"vlm": True, "llm": False}
            return next((kinds.get(str(entry.get("type"))) for entry in entries(read, model)), None)
        case _:
            return None
