"""What a project's own agent.yaml asks for beyond the harmless (`wants`), and the file without it
(`harmless`): a cloned project must not run code or send secrets because it brings a file."""

from typing import Any

import msgspec

from minime.core.config.configuration import Layer
from minime.core.config.expansion import variables_in
from minime.core.config.shapes import shown
from minime.core.model.servers import is_loopback

LONGEST_SHOWN = 2_000


def paths_named(layer: Layer) -> tuple[str, ...]:
    """The paths in a layer whose place matters: its `.gguf` file and its `context` files, as written."""
    model, context = layer.values.get("model"), layer.values.get("context")
    found = [model] if _is_gguf(model) else []
    found += context if isinstance(context, list) else [context]
    return tuple(path for path in found if isinstance(path, str))


def wants(layer: Layer, outside: frozenset[str]) -> tuple[str, ...]:
    """What the layer asks for beyond the harmless, one line each, for a person to judge.

    `outside` holds those of `paths_named` that lead out of the project.
    """
    lines = [line for key, value in layer.values.items() for line in _asks(str(key), value, outside)]
    return tuple(lines)


def harmless(layer: Layer, outside: frozenset[str]) -> Layer:
    """The layer without what `wants` tells: whole keys are left out, of `permissions` the single rules."""
    kept: dict[Any, Any] = {}
    lines = dict(layer.lines)
    for key, value in layer.values.items():
        if key == "permissions" and isinstance(value, list):
            places = [place for place, rule in enumerate(value) if not _rule_asks(place, rule)]
            if places or not value:
                kept[key] = [value[place] for place in places]
            lines = _moved(lines, places)
        elif not _asks(str(key), value, outside):
            kept[key] = value
    return msgspec.structs.replace(layer, values=kept, lines=lines)


def left_out(layer: Layer, outside: frozenset[str]) -> tuple[str, ...]:
    """The keys that `harmless` leaves out, or leaves out a part of."""
    return tuple(str(key) for key, value in layer.values.items() if _asks(str(key), value, outside))


def left_out_text(source: str, keys: tuple[str, ...]) -> str:
    """The line that tells which keys do not count yet, and how to change that."""
    return f"{source} is not trusted yet, so this is left out: {', '.join(keys)}; mm trust shows it and asks"


def _asks(key: str, value: Any, outside: frozenset[str]) -> list[str]:
    if value is None or value in ("", [], {}):
        return []
    match key, value:
        case "permissions", list():
            return [line for place, rule in enumerate(value) for line in _rule_asks(place, rule)]
        case "mcp", dict():
            asks = [f"mcp.{name}: {_server_text(server)}" for name, server in value.items()]
        case "headers", dict():
            asks = [f"headers: send {', '.join(_plain(name) for name in value)} with each request"]
        case "apiKey", _:
            asks = ["apiKey: send a key of its own"] if not variables_in(value) else []
        case (("headers" | "mcp"), _):
            asks = [f"{key}: {_plain(value)}"]
        case "baseUrl", str() if not variables_in(value) and not is_loopback(value):
            asks = [f"baseUrl: send the conversation to {_plain(value)}"]
        case "model", str() if value in outside:
            asks = [f"model: load {_plain(value)}, which is outside the project"]
        case "context", _:
            paths = value if isinstance(value, list) else [value]
            asks = [
                f"context: read {_plain(path)}, which is outside the project"
                for path in paths
                if isinstance(path, str) and path in outside
            ]
        case _:
            asks = []
    return asks + [f"{key}: use the environment variable {name}" for name in variables_in(value)]


def _rule_asks(place: int, rule: Any) -> list[str]:
    if not isinstance(rule, dict):
        return []
    asks = [f"permissions[{place}]: use the environment variable {name}" for name in variables_in(rule)]
    if rule.get("do") == "allow":
        asks.append(
            f"permissions[{place}]: allow {_plain(rule.get('tool', '?'))} "
            f"{_plain(rule.get('match', '*'))} without a question"
        )
    return asks


def _server_text(server: Any) -> str:
    if not isinstance(server, dict):
        return _plain(server)
    if "command" in server:
        args = server.get("args")
        words = [server["command"], *(args if isinstance(args, list) else [])]
        env = server.get("env")
        names = (
            f" with {', '.join(_plain(name) for name in env)} set" if isinstance(env, dict) and env else ""
        )
        return "run " + " ".join(_plain(word) for word in words) + names
    return f"connect to {_plain(server.get('url', '?'))}"


def _moved(lines: dict[Any, int], places: list[int]) -> dict[Any, int]:
    """The lines with the rules of `permissions` at `places` now standing one behind the other."""
    moved = {path: line for path, line in lines.items() if path[0] != "permissions" or len(path) == 1}
    for new, old in enumerate(places):
        for path, line in lines.items():
            if path[:2] == ("permissions", old):
                moved["permissions", new, *path[2:]] = line
    return moved


def _is_gguf(model: Any) -> bool:
    return isinstance(model, str) and model.strip().lower().endswith(".gguf")


def _plain(value: Any) -> str:
    """A value as a person may judge it: whole, without the quotes where it has only plain characters."""
    if isinstance(value, str) and value.isprintable() and value and len(value) <= LONGEST_SHOWN:
        return value
    if isinstance(value, str):
        escaped = value.encode("unicode_escape").decode()
        return escaped if len(escaped) <= LONGEST_SHOWN else escaped[:LONGEST_SHOWN] + "…"
    return shown(value)
