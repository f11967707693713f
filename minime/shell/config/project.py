"""`find_project`: the folder where mm was started becomes the folder that the sessions belong to."""

import errno
import os
from pathlib import Path


def current_folder() -> Path:
    """The folder where mm was started. Raises OSError, with words for it, when that has been removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise FileNotFoundError(
            errno.ENOENT, "the current folder has been removed; cd to one that is there"
        ) from None


def find_project(start: Path, home: Path) -> Path:
    """The nearest folder from `start` upward that holds `.mm/`, `agent.yaml` or `.git`, links resolved.

    Above `start` only folders count that belong to the user and lie below `home`; when there is none, it is
    `start` itself. The home folder itself is a project only when mm starts there.
    """
    first = Path(os.path.realpath(start))
    top = Path(os.path.realpath(home))
    for folder in (first, *first.parents):
        if _is_marked(folder) and (folder == first or (top in folder.parents and _is_own(folder))):
            return folder
    return first


def _is_marked(folder: Path) -> bool:
    # os.path answers False where pathlib raises PermissionError.
    return (
        os.path.isdir(folder / ".mm")  # noqa: PTH112
        or os.path.isfile(folder / "agent.yaml")  # noqa: PTH113
        or os.path.exists(folder / ".git")  # noqa: PTH110
    )


def _is_own(folder: Path) -> bool:
    if not hasattr(os, "getuid"):
        return True
    try:
        return folder.stat().st_uid == os.getuid()
    except OSError:
        return False
