"""What every test may use: the golden files, a home folder of its own, and no leftovers."""

import asyncio
import inspect
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "golden"
settings.register_profile("quick", max_examples=25, deadline=None)
settings.load_profile("quick")
USED = pytest.StashKey[set[str]]()


class GoldenFile(SingleFileSnapshotExtension):
    """One case in one readable file below `golden/`, named after its subject and not after its test."""

    _write_mode = WriteMode.TEXT
    file_extension = ""

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        return str(index)

    @classmethod
    def get_location(cls, *, test_location: PyTestLocation, index: SnapshotIndex) -> str:
        return str(GOLDEN / str(index))

    def is_snapshot_location(self, *, location: str) -> bool:
        """Whether a file is unused is found out below, across all tests and not beside one."""
        return False


@pytest.fixture
def golden(request: pytest.FixtureRequest, snapshot: SnapshotAssertion) -> Callable[[str], SnapshotAssertion]:
    """`assert text == golden("session/fresh.json")`; `just golden` writes what is new or changed."""
    used = request.config.stash.setdefault(USED, set())

    def named(name: str) -> SnapshotAssertion:
        used.add(name)
        return snapshot(name=name, extension_class=GoldenFile)

    return named


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """No setting, key, proxy or home of the person who runs the tests reaches one. The result is the home."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if (
            name.startswith(("MM_", "XDG_"))
            or name.lower().endswith("_proxy")
            or name in {"NO_COLOR", "FORCE_COLOR"}
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("MM_EMBEDDED_THREADS", "1")
    monkeypatch.setenv("TZ", "UTC")
    return home


def pytest_testnodedown(node: Any) -> None:
    """A worker process hands over which golden files its tests used."""
    node.config.stash.setdefault(USED, set()).update(getattr(node, "workeroutput", {}).get("goldens", ()))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """After a run of the whole suite, every golden file must have been used by a test."""
    config = session.config
    used = config.stash.get(USED, set())
    worker: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if worker is not None:
        worker["goldens"] = sorted(used)
        return
    whole = not config.getoption("keyword") and config.args == config.getini("testpaths")
    if not whole or exitstatus != pytest.ExitCode.OK or config.getoption("collectonly"):
        return
    unused = sorted({str(p.relative_to(GOLDEN)) for p in GOLDEN.rglob("*") if p.is_file()} - used)
    if config.getoption("update_snapshots"):
        for name in unused:
            (GOLDEN / name).unlink()
    elif unused:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print(f"\ngolden files that no test uses: {', '.join(unused)} (just golden removes them)")


def pytest_configure() -> None:
    """A launcher that ignores signals (`nohup`, a job in the background) hands that on; the tests send some."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """An `async def` test runs in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
