"""Several mm at once on one project: a small crowd; `just reliability` takes a larger one."""

from pathlib import Path

from tests.reliability.crowd import crowd


def test_every_turn_that_was_answered_is_in_some_file_whoever_else_wrote_there(tmp_path: Path) -> None:
    found = crowd(tmp_path, processes=3, turns=4)
    assert (found.turns, found.lost) == (12, ())
    assert found.files == 3, "one of the two that share a session has to go on in a file of its own"
