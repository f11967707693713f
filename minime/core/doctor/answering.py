"""Facts about servers and models in, findings out: who runs, who answers, with how much room, with tools."""

import difflib
from typing import Literal

import msgspec

from minime.core.doctor.finding import Finding, look, well, wrong
from minime.core.model.embedded import SMOLLM2
from minime.core.model.http_answer import HttpAnswer
from minime.core.model.offers import place_text
from minime.core.model.servers import Known, Offer, Server, is_loopback, known, offer, same_place, server_name
from minime.core.model.windows import ASSUMED_ORIGIN, Window

SHOWN = 6
SMALL = 8192
"""Tokens: with less, a coding agent sums up at every turn."""


class Sighting(msgspec.Struct, frozen=True):
    """What was seen where a server was looked for: its models, none, or the wish for a key first."""

    entry: Known
    seen: Literal["models", "no models", "key"]
    offer: Offer | None = None


class Called(msgspec.Struct, frozen=True):
    """What came of asking the model to call a tool: whether it `called`, whether the server `refused` tools,
    or the line that says why there was no answer; after so many seconds."""

    called: bool = False
    refused: bool = False
    trouble: str = ""
    seconds: float = 0.0


class StandIn(msgspec.Struct, frozen=True):
    """The embedded model: whether its engine is installed, whether its weights are there."""

    engine: bool
    weights: bool


def sighting(entry: Known, answer: HttpAnswer) -> Sighting | None:
    """What answered where the server `entry` was looked for; None when it is no model server."""
    offered = offer(entry, answer.status, answer.headers, answer.body)
    if offered is not None:
        return Sighting(entry, "models", offered)
    if answer.status in {401, 403} and entry.kind != "vllm":
        return Sighting(entry, "key")
    empty = 200 <= answer.status < 300 and answer.body.lstrip()[:1] == b"{" and b'"data"' in answer.body
    return Sighting(entry, "no models") if empty else None


def server_findings(
    sightings: tuple[Sighting, ...], configured: Offer | None, trouble: str
) -> tuple[Finding, ...]:
    """The servers: the one of the settings with the line that says why it does not answer (empty: it does),
    and those found on this machine."""
    found: list[Finding] = []
    if configured is not None and trouble:
        entry = known(configured.server.kind)
        start = entry is not None and is_loopback(configured.server.base_url)
        found.append(
            wrong(
                "server", trouble, entry.start if entry and start else "mm config shows where baseUrl is set"
            )
        )
    elif configured is not None:
        found.append(well("server", _offered(configured)))
    here = configured.server if configured is not None else Server("other", "")
    found += [_seen(s) for s in sightings if not same_place(here, Server("other", s.entry.base_url))]
    if not found:
        text = "none found on this machine"
        found.append(look("servers", text, "ollama serve"))
    return tuple(found)


def model_finding(name: str, server: Server | None, models: tuple[str, ...], trouble: str) -> Finding:
    """The model that will answer: `server` None where none is found, `models` those on it (empty: it does not
    say), `trouble` why a model in a file cannot be used."""
    if trouble:
        return wrong("model", trouble, "mm config shows where model is set")
    if server is None:
        wanted = f"{name}: " if name else ""
        return wrong("model", f"{wanted}no server to ask", "ollama serve, or mm setup for a small model")
    if not name:
        entry = known(server.kind)
        pull = entry.pull.format(model="qwen3:8b") if server.kind == "ollama" and entry else "fetch one there"
        return wrong("model", f"{server_name(server.kind)} has none", pull)
    if models and not {name, f"{name}:latest"} & set(models):
        entry = known(server.kind)
        near = difflib.get_close_matches(name, models, 1, 0.4) or list(models[:1])
        mend = f"mm --model {near[0]}"
        if entry is not None:
            mend = f"{entry.pull.format(model=name)}\n{mend}"
        return wrong("model", f"{name} is not{place_text(server)}: there are {_some(models)}", mend)
    return well("model", f"{name}{place_text(server)}")


def window_finding(window: Window, kind: str) -> Finding:
    """The context window, and where the number comes from."""
    text = f"{window.tokens:,} tokens, {window.origin}"
    more = _ROOM.get(kind, "the server's own setting") + ", or set contextWindow in agent.yaml"
    if window.origin == ASSUMED_ORIGIN:
        return look("context window", f"{text}: the server has not told one", more)
    if window.tokens < SMALL:
        return look("context window", f"{text}: little room for a coding agent", more)
    return well("context window", text)


def tools_finding(name: str, called: Called) -> Finding:
    """Whether the model calls tools, by a real question."""
    took = f"{called.seconds:.1f} s"
    if called.trouble:
        return wrong("tools", called.trouble, "mm doctor --ask, once that is mended")
    if called.refused:
        return wrong(
            "tools", f"the server takes no tools for {name}", "mm --model NAME, one that calls tools"
        )
    if not called.called:
        text = f"{name} answered in {took} and called none when asked to: it may not be made for them"
        return look("tools", text, "mm --model NAME, one that calls tools")
    return well("tools", f"{name} called one when asked to, in {took}")


def stand_in_finding(stand_in: StandIn, needed: bool) -> Finding:
    """The small model that answers where no server does."""
    name = SMOLLM2.file.split(".")[0]
    if stand_in.engine and stand_in.weights:
        return well("stand-in", f"{name} is there, for when no server answers")
    lacks = "its weights are not here" if stand_in.engine else "the engine is not installed"
    mend = "mm setup" if stand_in.engine else "install mm again with its extra `local`, then: mm setup"
    if needed:
        return look("stand-in", f"{name}: {lacks}", mend)
    return well("stand-in", f"none ({lacks}), and none is needed")


_ROOM = {
    "ollama": "OLLAMA_CONTEXT_LENGTH=32768 ollama serve",
    "docker": "docker model configure --context-size 32768 NAME",
    "llama.cpp": "llama-server … -c 32768",
    "lm-studio": "lms load NAME --context-length 32768",
    "vllm": "vllm serve NAME --max-model-len 32768",
}


def _seen(seen: Sighting) -> Finding:
    entry = seen.entry
    match seen.seen:
        case "models":
            assert seen.offer is not None, "models were seen"
            return well("server", _offered(seen.offer))
        case "no models":
            pull = entry.pull.format(model="qwen3:8b" if entry.kind == "ollama" else "MODEL")
            return look("server", f"{entry.name} at {entry.base_url} has no model", pull)
        case "key":
            text = f"{entry.name} at {entry.base_url} wants a key, so the search passes it over"
            return look("server", text, f"export MM_BASE_URL={entry.base_url} MM_API_KEY=KEY")


def _offered(offer: Offer) -> str:
    name, url = server_name(offer.server.kind), offer.server.base_url
    models = f": {_some(offer.models)}" if offer.models else ""
    return f"{url}{models}" if offer.server.kind == "other" else f"{name} at {url}{models}"


def _some(models: tuple[str, ...]) -> str:
    more = f" and {len(models) - SHOWN} more" if len(models) > SHOWN else ""
    return ", ".join(models[:SHOWN]) + more
