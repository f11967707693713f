"""`load_settings`: the agent.yaml files on disk, the environment and the options become the settings of this
run."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from minime.core.config.configuration import (
    Layer,
    Problem,
    environment_layers,
    option_layers,
    parse_settings,
    problem_text,
)
from minime.core.config.settings import Settings
from minime.core.config.trusting import harmless, left_out, left_out_text, paths_named, wants
from minime.shell.config.places import project_files, user_file
from minime.shell.config.trust import digest, home_folder, is_trusted, remember
from minime.shell.config.yaml_file import Unusable, parse_yaml, read_bytes


class Asks(msgspec.Struct, frozen=True):
    """What the project's file asks for beyond the harmless, one line each; `key` stands for it as it is,
    to be handed to `remember` when the user trusts it."""

    path: Path
    source: str
    key: str
    wants: tuple[str, ...]
    trusted: bool


class Loaded(msgspec.Struct, frozen=True):
    """The settings, lines that the user should see, and what the project's file asks for, if anything."""

    settings: Settings
    notices: tuple[str, ...] = ()
    asks: Asks | None = None


class Broken(msgspec.Struct, frozen=True):
    """What is wrong with the configuration, one line each."""

    lines: tuple[str, ...]


class _File(msgspec.Struct, frozen=True):
    path: Path
    data: bytes
    layer: Layer


def load_settings(
    project: Path,
    *,
    environ: Mapping[str, str],
    config: Path | None = None,
    options: Mapping[str, object] | None = None,
    trust: bool = False,
) -> Loaded | Broken:
    """The settings for `project`: its agent.yaml (or `config`) over the user's own, the environment over
    both, `options` (by name: `model`, `mode`) over all.

    What the project's file asks for beyond the harmless counts only once it is trusted; with `trust` it is
    from now on.
    """
    own_path = user_file(environ)
    theirs = _first_file(project, config, own_path, environ)
    own = _read(own_path, own_path, environ)
    broken = tuple(problem_text(found) for found in (own, theirs) if isinstance(found, Problem))
    if broken:
        return Broken(broken)
    layers: list[Layer] = []
    notices: list[str] = []
    asks = None
    if isinstance(own, _File):
        layers.append(own.layer)
    if isinstance(theirs, _File):
        outside = frozenset() if config else _leading_out(theirs.layer, project)
        if config is None:
            asks = _asks(theirs, outside, environ)
        if asks is not None and trust and not asks.trusted:
            trouble = remember(asks.key, asks.path, environ)
            notices += [f"trusted for this run only: {trouble}"] if trouble else []
            asks = msgspec.structs.replace(asks, trusted=True)
        if asks is None or asks.trusted:
            layers.append(theirs.layer)
        else:
            layers.append(harmless(theirs.layer, outside))
            notices.append(left_out_text(asks.source, left_out(theirs.layer, outside)))
    layers += [*environment_layers(environ), *option_layers(options or {})]
    parsed = parse_settings(tuple(layers), environ)
    if isinstance(parsed, Settings):
        return Loaded(parsed, tuple(notices), asks)
    return Broken(tuple(problem_text(problem) for problem in parsed))


def _first_file(
    project: Path, config: Path | None, own: Path, environ: Mapping[str, str]
) -> _File | Problem | None:
    if config is not None:
        return _read(config, config, environ) or Problem(str(config), 0, "", "there is no such file")
    for path in project_files(project):
        # Started in the folder of the user's own file: it is the user's, not a stranger's.
        if os.path.realpath(path) == os.path.realpath(own):
            continue
        found = _read(path, path.relative_to(project), environ)
        if found is not None:
            return found
    return None


def _read(path: Path, shown: Path, environ: Mapping[str, str]) -> _File | Problem | None:
    source = _tilde(shown, environ)
    data = read_bytes(path)
    if data is None:
        return None
    parsed = data if isinstance(data, Unusable) else parse_yaml(data)
    if isinstance(data, Unusable) or isinstance(parsed, Unusable):
        trouble = parsed if isinstance(parsed, Unusable) else data
        assert isinstance(trouble, Unusable)
        return Problem(source, trouble.line, trouble.key, trouble.text)
    return _File(path, data, Layer(source=source, values=parsed.values, lines=parsed.lines))


def _asks(file: _File, outside: frozenset[str], environ: Mapping[str, str]) -> Asks | None:
    asked = wants(file.layer, outside)
    if not asked:
        return None
    key = digest(file.path, file.data)
    return Asks(file.path, file.layer.source, key, asked, is_trusted(key, environ))


def _leading_out(layer: Layer, project: Path) -> frozenset[str]:
    """Those of the paths a layer names that lead out of the project, links resolved."""
    root = os.path.realpath(project)
    return frozenset(
        path
        for path in paths_named(layer)
        if "\0" not in path
        and not Path(os.path.realpath(Path(root) / os.path.expanduser(path))).is_relative_to(root)  # noqa: PTH111
    )


def _tilde(path: Path, environ: Mapping[str, str]) -> str:
    home = home_folder(environ)
    text = f"~/{path.relative_to(home)}" if path.is_relative_to(home) else os.fspath(path)
    return "".join(letter if letter.isprintable() else "?" for letter in text)
