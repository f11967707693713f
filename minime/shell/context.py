"""The files of a project that speak to an agent, such as AGENTS.md, read for the system prompt."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from minime.core.config.settings import Settings, origin
from minime.shell.tools.inside import read_head

MOST_BYTES = 200_000


def context_files(
    settings: Settings, project: Path, cwd: Path | None = None
) -> tuple[tuple[str, bytes], ...]:
    """Name and content of the files of `context` that are there: those in the project's folder, and those of
    the same name in each folder from there down to `cwd`, the nearest last.

    A file that is looked for without anybody's word must lie in the project, links followed: a cloned
    project must not be able to show a model what lies elsewhere.
    """
    root = project.resolve()
    return _files(settings, root, _folders(root, (cwd or project).resolve()))


def folder_files(settings: Settings, project: Path, cwd: Path, path: Path) -> tuple[tuple[str, bytes], ...]:
    """The same of the folders that lie on the way to `path` and not on that to `cwd`, whose files the system
    prompt holds: what they say is wanted only when something there is. `path` is true, its links followed."""
    root = project.resolve()
    known = set(_folders(root, cwd.resolve()))
    below = _folders(root, path if path.is_dir() else path.parent)
    return _files(settings, root, (folder for folder in below if folder not in known), besides=path)


def _files(
    settings: Settings, root: Path, folders: Iterable[Path], besides: Path | None = None
) -> tuple[tuple[str, bytes], ...]:
    unasked = origin(settings, "context") == "default"
    found: dict[Path, tuple[str, bytes]] = {}
    for folder in folders:
        for name in settings.context:
            try:
                path = (folder / Path(name).expanduser()).resolve()
                # A folder below speaks for the project only with files of the project's own.
                if (
                    path != besides
                    and path not in found
                    and (path.is_relative_to(root) or (folder == root and not unasked))
                ):
                    found[path] = (_shown(name, folder, root), read_head(path, MOST_BYTES))
            except (OSError, RuntimeError):
                continue
    return tuple(found.values())


def _folders(root: Path, cwd: Path) -> Iterator[Path]:
    yield root
    if cwd.is_relative_to(root):
        folder = root
        for part in cwd.relative_to(root).parts:
            folder /= part
            yield folder


def _shown(name: str, folder: Path, root: Path) -> str:
    return name if folder == root else Path(os.path.relpath(folder / name, root)).as_posix()
