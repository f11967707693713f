"""The file of the lines typed, shared by launches."""

import threading
from pathlib import Path

from minime.shell.history import HistoryFile


def test_launches_that_run_at_once_lose_no_line_of_each_other(tmp_path: Path) -> None:  # L05
    environ = {"XDG_STATE_HOME": str(tmp_path)}

    def add(name: int) -> None:
        history = HistoryFile(environ)
        for number in range(700):
            history.add(f"{name}\n{number} {'x' * 60}")

    threads = [threading.Thread(target=add, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = HistoryFile(environ).read()
    assert len(kept) == 2_000
    for name in range(4):
        mine = [int(entry.split("\n")[1].split()[0]) for entry in kept if entry.startswith(f"{name}\n")]
        assert mine == list(range(700 - len(mine), 700))
    assert [path.name for path in sorted((tmp_path / "mm").iterdir())] == ["history", "history.lock"]


def test_a_history_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "mm").write_text("a file where the folder should be")
    history = HistoryFile({"XDG_STATE_HOME": str(tmp_path)})
    history.add("x")
    assert history.read() == ()
