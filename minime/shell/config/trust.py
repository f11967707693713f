"""Which agent.yaml of a project the user has trusted: a digest of its path and bytes, kept in a file of the
user's own."""

import os
from collections.abc import Mapping
from pathlib import Path


def digest(path: Path, data: bytes) -> str:
    """The SHA-256, in hexadecimal, that stands for this file with these bytes at this place."""
    import hashlib

    # The folder counts with its links resolved, the file does not: a link to a file that is trusted in one
    # project must not be trusted in another.
    place = os.fsencode(os.path.join(os.path.realpath(path.parent), path.name))  # noqa: PTH118
    return hashlib.sha256(len(place).to_bytes(8, "big") + place + data).hexdigest()


def trusted_file(environ: Mapping[str, str]) -> Path:
    """Where the digests are kept: `mm/trusted` in `$XDG_STATE_HOME`, else in `~/.local/state`."""
    state = environ.get("XDG_STATE_HOME", "")
    # The standard says that a relative path there is to be ignored.
    root = Path(state) if state.startswith("/") else home_folder(environ) / ".local" / "state"
    return root / "mm" / "trusted"


def home_folder(environ: Mapping[str, str]) -> Path:
    """The user's home folder."""
    return Path(environ["HOME"]) if environ.get("HOME") else Path.home()


def is_trusted(key: str, environ: Mapping[str, str]) -> bool:
    """Whether the user has trusted the file that `key` (a `digest`) stands for."""
    try:
        lines = trusted_file(environ).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.split(" ", 1)[0] == key for line in lines)


def remember(key: str, path: Path, environ: Mapping[str, str]) -> str | None:
    """Adds a digest to those trusted; None when it is kept, else the reason why it could not be."""
    file = trusted_file(environ)
    # The path stands there for the reader only; it must not be able to make a line of its own.
    line = f"{key} {os.fspath(path).encode('unicode_escape', 'surrogateescape').decode('ascii')}\n"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.chmod(file, 0o600)  # noqa: PTH101
            # The leading line end keeps apart what a crash may have left unfinished.
            os.write(handle, b"\n" + line.encode("ascii") if os.fstat(handle).st_size else line.encode())
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        return f"cannot write {file}: {error.strerror}"
    return None
