"""`config_text`: settings become aligned lines, each value with the place it comes from, secrets masked."""

import json
from typing import Any

from minime.core.config.agent_yaml import KEYS
from minime.core.config.configuration import MODE
from minime.core.config.fit import fit_for
from minime.core.config.settings import McpCommand, McpServer, Settings, is_secret, origin, secrets
from minime.core.config.shapes import Duration, Key, Named, Table

MASK = "***"
WIDEST = 48


def config_text(settings: Settings) -> str:
    """One line for each value, `key: value   (origin)`, in the order of the documentation; below them what
    holds when the embedded model answers, where it may."""
    rows = [row for key in (*KEYS, MODE) for row in _rows(key, settings)]
    hidden = secrets(settings)
    lines = []
    keys = max(len(name) for name, _, _ in rows) + 2
    shown_rows = [(f"{name}:", _masked(value, hidden), place) for name, value, place in rows]
    values = min(WIDEST, max(len(value) for _, value, _ in shown_rows)) + 2
    for name, value, place in shown_rows:
        lines.append(f"{name:<{keys}}{value:<{values}} ({place})")
    if settings.base_url is None:
        lines += ["", _small_model_text(settings)]
    return "\n".join(lines) + "\n"


def _small_model_text(settings: Settings) -> str:
    fit = fit_for(True, settings)
    return (
        "When the embedded model answers: "
        "tools only for questions that name a file or a command, "
        f"maxSteps {fit.max_steps}, maxOutput {fit.max_output}, temperature {fit.temperature:g}, "
        f"repeat penalty {fit.repeat_penalty} in prose."
    )


def _rows(key: Key, settings: Settings) -> list[tuple[str, str, str]]:
    value = getattr(settings, key.field)
    place = origin(settings, key.name)
    match key.shape:
        case Table(keys):
            return [
                (
                    f"{key.name}.{inner.name}",
                    _value_text(inner, getattr(value, inner.field)),
                    origin(settings, f"{key.name}.{inner.name}"),
                )
                for inner in keys
            ]
        case Named() if value and key.name == "mcp":
            return [
                (f"mcp.{name}", _server_text(name, server, settings), place) for name, server in value.items()
            ]
        case Named() if value:
            return [
                (
                    f"{key.name}.{name}",
                    MASK if is_secret(settings, f"{key.name}.{name}") else _word(text),
                    place,
                )
                for name, text in value.items()
            ]
        case _ if key.name == "permissions" and value:
            return [
                (
                    f"permissions[{number}]",
                    f"{rule.do} {_word(rule.tool)} {_word(rule.match)}",
                    origin(settings, f"permissions.{number}"),
                )
                for number, rule in enumerate(value)
            ]
        case _ if key.name == "apiKey" and value:
            return [(key.name, MASK, place)]
        case _ if key.default and value in (None, (), {}) and place == "default":
            return [(key.name, key.default, place)]
        case _ if key.name in {"instruction", "tools"} and place == "default":
            return [(key.name, key.default, place)]
        case _:
            return [(key.name, _value_text(key, value), place)]


def _value_text(key: Key, value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"{value:g}s" if isinstance(key.shape, Duration) else f"{value:.12g}"
        case tuple():
            return f"[{', '.join(_word(one) for one in value)}]"
        case dict():
            return "{}"
        case _:
            return _text(str(value))


def _text(text: str) -> str:
    first, *rest = text.strip().split("\n")
    return f"{first} … ({len(rest) + 1} lines)" if rest else first


def _word(text: str) -> str:
    """A text as YAML takes it inside a list: in quotes where it would mean something else."""
    plain = text.isprintable() and not set(text) & set(" ,[]{}:#\"'&*!|>%@`")
    return text if plain and text else json.dumps(text, ensure_ascii=False)


def _server_text(name: str, server: McpServer, settings: Settings) -> str:
    if isinstance(server, McpCommand):
        shown = " ".join(_word(word) for word in (server.command, *server.args))
        path, table = "env", server.env
    else:
        shown = server.url
        path, table = "headers", server.headers
    pairs = [
        f"{key}={MASK if is_secret(settings, f'mcp.{name}.{path}.{key}') else _word(text)}"
        for key, text in table.items()
    ]
    return " ".join([shown, *pairs])


def _masked(text: str, hidden: tuple[str, ...]) -> str:
    for secret in hidden:
        text = text.replace(secret, MASK)
    return text
