"""The list that an editor asks for: from the heads of the files, and page by page from one look at them."""

import os
import time
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from minime.core.acp.effects import ListSessions
from minime.core.acp.inputs import Listed
from minime.core.codec import encode
from minime.core.session import with_title
from minime.shell.editor_session import Projects
from tests.support.values import ID, hello_turn, talked, tool_turn

COUNT = 20


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / ".mm" / "sessions"
    folder.mkdir(parents=True)
    for number in range(COUNT):
        id = f"20260916-101530-{number:08x}"
        session = with_title(msgspec.structs.replace(talked(hello_turn(), tool_turn()), id=id), f"№ {number}")
        data = encode(session)
        (folder / f"{id}.json").write_bytes(data[:-3] + b" " * 50_000 + data[-3:])
    return tmp_path


def listed(projects: Projects, project: Path, cursor: str = "", command: str = "") -> Listed:
    return projects.list_sessions(ListSessions(1, str(project), cursor, command))


def bytes_read() -> int:
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("rchar"))


counted = pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="this system does not count reads")


@counted
def test_a_list_reads_the_heads_and_a_further_page_reads_nothing(project: Path) -> None:  # P03
    listed(Projects(os.environ, None, project), project)  # modules that are loaded now are read, too
    projects = Projects(os.environ, None, project)
    before = bytes_read()
    first = listed(projects, project)
    assert [row.title for _, row in first.rows] == [f"№ {number}" for number in reversed(range(COUNT))]
    assert bytes_read() - before < (COUNT + 2) * 4096
    before = bytes_read()
    assert listed(projects, project, cursor="x").rows == first.rows
    assert bytes_read() - before < 4096


def test_a_first_page_is_always_of_today(project: Path) -> None:
    projects = Projects(os.environ, None, project)
    assert len(listed(projects, project).rows) == COUNT
    (project / ".mm" / "sessions" / "20260916-101530-00000003.json").unlink()
    assert len(listed(projects, project).rows) == COUNT - 1
    assert len(listed(Projects(os.environ, None, project), project, cursor="x").rows) == COUNT - 1


def test_the_command_shows_turns_and_damage_of_the_newest(project: Path) -> None:
    file = project / ".mm" / "sessions" / f"20260916-101530-{COUNT - 1:08x}.json"
    file.write_bytes(file.read_bytes()[:2_000])
    rows = [row for _, row in listed(Projects(os.environ, None, project), project, command=ID).rows]
    assert (rows[0].damaged, rows[1].turns) == ("truncated", 2)
    assert [row.number for row in rows] == list(range(1, COUNT + 1))


def test_the_command_shows_times_as_the_terminal_does(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC-5")
    time.tzset()
    try:
        [(_, row), *_] = listed(Projects(os.environ, None, project), project, command=ID).rows
    finally:
        monkeypatch.undo()
        time.tzset()
    assert row.updated is not None
    assert row.updated.utcoffset() == timedelta(hours=5)
