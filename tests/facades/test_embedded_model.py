"""The main job with nothing but mm: no server on the machine, the small model answers for real.

Asserted is the shape of what it does, never its prose.
"""

import asyncio
from pathlib import Path

import pytest

from minime.core.codec import decode
from minime.core.values import Assistant, Tool
from minime.shell.model.embedded import find_weights, has_engine
from minime.shell.model.servers import find_server
from tests.support.mm import run_mm, session_files

pytestmark = [
    pytest.mark.skipif(
        not has_engine() or find_weights({}) is None,
        reason="the engine or the weights are not installed (uv sync brings both)",
    ),
    pytest.mark.skipif(
        asyncio.run(find_server()) is not None,
        reason="a model server listens on this machine, and would answer in the small model's place",
    ),
]
README = "# tally\n\ntally is a command-line tool that counts lines of code per language.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "README.md").write_text(README)
    return tmp_path


def test_a_question_about_a_file_is_answered_by_a_real_model_and_kept(project: Path) -> None:
    done = run_mm("What does README.md say?", cwd=project)
    assert done.returncode == 0, done.stderr
    assert "SmolLM2" in done.stderr
    assert done.stdout.strip()
    [file] = session_files(project)
    session = decode(file.read_bytes())
    call, result, answer = session.messages[2:]
    assert isinstance(call, Assistant)
    assert [c.function.name for c in call.tool_calls] == ["read_file"]
    assert isinstance(result, Tool)
    assert not result.failed
    assert isinstance(answer, Assistant)
    assert answer.content.strip() == done.stdout.strip()
    assert answer.usage is not None
    assert session.errors == ()
    assert session.pending is None
