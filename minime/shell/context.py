"""The files of a project that speak to an agent, such as AGENTS.md, read for the system prompt."""

from pathlib import Path

from minime.core.config.settings import Settings, origin
from minime.shell.tools.inside import read_head

MOST_BYTES = 200_000


def context_files(settings: Settings, project: Path) -> tuple[tuple[str, bytes], ...]:
    """Name and content of the files of `context` that are there, paths taken from the project.

    The file that is looked for without anybody's word must lie in the project, links followed: a cloned
    project must not be able to show a model what lies elsewhere.
    """
    unasked = origin(settings, "context") == "default"
    root = project.resolve()
    found: list[tuple[str, bytes]] = []
    for name in settings.context:
        try:
            path = (root / Path(name).expanduser()).resolve()
            if not unasked or path.is_relative_to(root):
                found.append((name, read_head(path, MOST_BYTES)))
        except (OSError, RuntimeError):
            continue
    return tuple(found)
