"""Killed at a system call: a sample of what `just reliability` does a thousand times."""

import subprocess
import sys
from pathlib import Path

import pytest

from minime.core.codec import decode
from minime.core.values import Stamp
from minime.shell.store import Saved, Store
from tests.conftest import ROOT
from tests.reliability import nursery
from tests.reliability.kills import WALKS, kill, points
from tests.reliability.traced import Point, can_trace, order_fault, strace
from tests.support.talks import ID, LATER, OTHER_ID, talked

pytestmark = pytest.mark.skipif(not can_trace(), reason="strace is not there, or may not trace here")

STATES = tuple(talked(*nursery.TURNS[:number]) for number in (1, 2, 3))


def test_a_save_that_is_killed_at_any_of_its_calls_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    command = (*strace(tmp_path / "log", *nursery.INJECT), sys.executable, "-m", nursery.__name__)
    done = subprocess.run([*command, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "", "these were not hit; has a save become shorter?"
    for name, number in nursery.POINTS:
        project = tmp_path / f"{name}-{number}"
        confirmed = int((project / "confirmed").read_bytes() or b"0")
        folder = project / ".mm" / "sessions"
        assert set(folder.glob("*.json")) <= {folder / f"{ID}.json"}, project.name
        states = [decode(file.read_bytes()) for file in folder.glob("*.json")]
        there = [STATES.index(state) + 1 for state in states] or [0]
        assert there[0] in {confirmed, confirmed + 1}, project.name
        store = Store(project)
        store.tidy()
        store.load(ID)
        saved = store.save(STATES[-1], Stamp(LATER, OTHER_ID))
        assert isinstance(saved, Saved)
        assert saved.session == STATES[-1]
        assert (project / ".mm" / ".gitignore").read_bytes() == b"*\n", project.name
        assert {file.name for file in folder.iterdir()} == {".lock", f"{ID}.json"}, project.name


def test_a_draft_is_written_synced_and_put_in_place_and_then_its_folder_is_synced(tmp_path: Path) -> None:
    """F06, F10: asserted from the calls of the real mm, since a spy could only say what Python was told."""
    lines = [line for _, line in points(WALKS[2], tmp_path)]
    assert order_fault(lines) == ""
    assert [name for name in ("link", "rename") if any(f" {name}(" in line for line in lines)] == [
        "link",
        "rename",
    ]


def test_the_real_mm_goes_on_from_where_it_was_killed(tmp_path: Path) -> None:
    killed = kill(WALKS[2], Point("rename", 2), tmp_path)
    assert (killed.call, killed.touches, killed.fault) == ("rename", True, "")
