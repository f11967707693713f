"""Where agent.yaml files may lie, of a project and of the user, and whether there is any."""

import os
from collections.abc import Mapping
from pathlib import Path

from minime.shell.config.trust import home_folder

FILE_NAME = "agent.yaml"


def user_file(environ: Mapping[str, str]) -> Path:
    """Where the user's own agent.yaml lies: `mm/agent.yaml` in `$XDG_CONFIG_HOME`, else in `~/.config`."""
    place = environ.get("XDG_CONFIG_HOME", "")
    root = Path(place) if place.startswith("/") else home_folder(environ) / ".config"
    return root / "mm" / FILE_NAME


def project_files(project: Path) -> tuple[Path, ...]:
    """Where a project's agent.yaml may lie; the first that is there counts."""
    return project / FILE_NAME, project / ".mm" / FILE_NAME


def has_file(project: Path, environ: Mapping[str, str]) -> bool:
    """Whether there may be an agent.yaml that counts: something has the name of one."""
    return any(map(os.path.lexists, (user_file(environ), *project_files(project))))
