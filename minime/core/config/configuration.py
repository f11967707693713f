"""`parse_settings`: what files, environment and options say (`Layer`) becomes `Settings`, or the list of all
that is wrong with it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from minime.core.config.agent_yaml import KEYS
from minime.core.config.reading import Complaint, Reading, read_keys
from minime.core.config.settings import Origins, Settings
from minime.core.config.shapes import Choice, Key, Path, Table, shown
from minime.core.tools.permissions import MODES

MODE = Key("mode", Choice(MODES))


class Layer(msgspec.Struct, frozen=True, kw_only=True):
    """One place that says something: a file, a variable of the environment, an option.

    `source` is its name as people read it, `values` what it says as YAML gave it, `lines` the line of each
    path in a file. Only a file has its `${NAME}` filled in, and only an option may set the mode.
    """

    source: str
    values: dict[Any, Any]
    lines: dict[Path, int] = {}
    expands: bool = True
    option: bool = False


class Problem(msgspec.Struct, frozen=True):
    """Something wrong with what a place says; `line` is 0 and `key` empty where there is none."""

    source: str
    line: int
    key: str
    text: str


def problem_text(problem: Problem) -> str:
    """The problem in one line: `agent.yaml:3: maxStep: unknown key; did you mean maxSteps?`."""
    place = f"{problem.source}:{problem.line}" if problem.line else problem.source
    return ": ".join(part for part in (place, problem.key, problem.text) if part)


def environment_layers(environ: Mapping[str, str]) -> tuple[Layer, ...]:
    """What `MM_MODEL`, `MM_BASE_URL` and `MM_API_KEY` say; an empty one says nothing."""
    names = {"MM_MODEL": "model", "MM_BASE_URL": "baseUrl", "MM_API_KEY": "apiKey"}
    return tuple(
        Layer(source=f"environment {name}", values={key: environ[name].strip()}, expands=False)
        for name, key in names.items()
        if environ.get(name, "").strip()
    )


def option_layers(options: Mapping[str, object]) -> tuple[Layer, ...]:
    """What the options `--model`, `--mode`, … say; None and an empty text say nothing."""
    return tuple(
        Layer(source=f"option --{name}", values={name: value}, expands=False, option=True)
        for name, value in options.items()
        if value is not None and value != ""
    )


def parse_settings(layers: tuple[Layer, ...], environ: Mapping[str, str]) -> Settings | tuple[Problem, ...]:
    """The settings that hold when later layers go before earlier ones, key by top-level key; or all problems.

    `permissions` are not replaced but joined, those of the earlier layers first.
    """
    said: dict[str, Any] = {}
    origins: Origins = {key.name: "default" for key in (*KEYS, MODE)}
    variables: dict[str, dict[str, str]] = {}
    problems: list[Problem] = []
    for layer in layers:
        reading = Reading(environ, layer.expands)
        found = read_keys(_keys(layer), layer.values, (), reading)
        problems += [_problem(layer, complaint) for complaint in reading.complaints]
        shift = len(said.get("permissions", ()))
        for key in (*KEYS, MODE):
            if key.field not in found:
                continue
            if key.name == "permissions":
                found[key.field] = said.get(key.field, ()) + found[key.field]
            else:
                _forget(key.name, origins, variables)
            said[key.field] = found[key.field]
            origins |= _origins(layer, key, shift)
            variables |= {
                _dotted(path): filled for path, filled in reading.variables.items() if path[0] == key.name
            }
        if layer.source == "environment MM_API_KEY" and "api_key" in found:
            variables["apiKey"] = {"MM_API_KEY": found["api_key"]}
    if problems:
        return tuple(problems)
    return Settings(**said, origins=origins, variables=variables)


def _keys(layer: Layer) -> tuple[Key, ...]:
    return (*KEYS, MODE) if layer.option else KEYS


def _problem(layer: Layer, complaint: Complaint) -> Problem:
    path = complaint.path
    line = next((layer.lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in layer.lines), 0)
    text = complaint.text
    if path == (MODE.name,) and not layer.option:
        text = f"unknown key; the mode is an option: --mode {'|'.join(MODES)}"
    return Problem(layer.source, line, _bracketed(path), text)


def _origins(layer: Layer, key: Key, shift: int) -> Origins:
    """Where a key comes from, and each entry inside it that can come from elsewhere or be left out."""
    value = layer.values[key.name]
    origins = {key.name: _place(layer, (key.name,))}
    if isinstance(key.shape, Table) and isinstance(value, dict):
        origins |= {
            f"{key.name}.{inner}": _place(layer, (key.name, inner))
            for inner, said in value.items()
            if said is not None
        }
    elif key.name == "permissions":
        origins |= {
            f"permissions.{shift + place}": _place(layer, (key.name, place)) for place in range(len(value))
        }
    return origins


def _place(layer: Layer, path: Path) -> str:
    line = layer.lines.get(path)
    return f"{layer.source}:{line}" if line else layer.source


def _forget(name: str, *tables: dict[str, Any]) -> None:
    for table in tables:
        for path in [path for path in table if path == name or path.startswith(f"{name}.")]:
            del table[path]


def _dotted(path: Path) -> str:
    return ".".join(str(part) for part in path)


def _bracketed(path: Path) -> str:
    """A path as people read it: `permissions[0].do`. A key that is no plain word is quoted."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if part.isprintable() and len(part) < 60 else shown(part))
    return text
