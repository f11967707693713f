"""Exports on a real disk: what is written where, and what is never written over."""

import json
import os
import stat
from pathlib import Path

import pytest

from minime.core.acp.effects import Send
from minime.core.codec import decode, encode
from minime.core.config.settings import Settings
from minime.core.formats import Wanted
from minime.core.transcript.markdown import session_markdown
from minime.core.transcript.page import session_html
from minime.core.values import Session
from minime.shell.agent import Agent
from minime.shell.editor_session import EditorSession
from minime.shell.export_verbs import export_session
from minime.shell.exporting import NotWritten, Written, export_beside, export_pieces, write_file
from minime.shell.pictures import Pictures
from minime.shell.store import Store
from tests.conftest import GOLDEN
from tests.support.acp import Conversation
from tests.support.mm import Visitor, run_mm
from tests.support.values import ID, hello_turn, talked, tool_turn

FILES = sorted((GOLDEN / "session").glob("*.json"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".mm" / "sessions").mkdir(parents=True)
    (folder / ".mm" / "sessions" / f"{ID}.json").write_bytes(encode(kept()))
    return folder


def kept() -> Session:
    return talked(hello_turn(), tool_turn())


def no(_: str) -> bool:
    return False


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_export_for_an_editor_is_what_a_load_sends(file: Path) -> None:
    session = decode(file.read_bytes())
    talk = Conversation()
    talk.disk[session.id] = session
    talk.ask("session/load", sessionId=session.id, cwd="/w", mcpServers=[])
    sent = [effect.line for effect in talk.done if isinstance(effect, Send)]
    answer = next(n for n, line in enumerate(sent) if "result" in json.loads(line))
    assert list(export_pieces(session, "acp", Path("/w"), Pictures())) == sent[:answer]


def test_a_conversation_goes_to_stdout_in_each_form(
    project: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    store = Store(project)
    forms = {
        "markdown": session_markdown(kept()).encode(),
        "html": session_html(kept()).encode(),
        "json": store.read(ID),
        "acp": b"".join(export_pieces(kept(), "acp", project, Pictures())),
    }
    for form, expected in forms.items():
        assert export_session(store, "1", format=form, output=None, cwd=project, ask=no) == 0  # type: ignore[arg-type]
        assert capfdbinary.readouterr() == (expected, b"")


def test_the_end_of_the_name_tells_the_form_and_a_file_that_is_there_stays(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, page = Store(project), project / "talk.html"
    assert export_session(store, "last", format=None, output=page, cwd=project, ask=no) == 0
    assert page.read_text(encoding="utf-8") == session_html(kept())
    page.write_text("mine", encoding="utf-8")
    assert export_session(store, "1", format=None, output=page, cwd=project, ask=no) == 1
    assert page.read_text(encoding="utf-8") == "mine"
    asked: list[str] = []

    def yes(question: str) -> bool:
        asked.append(question)
        return True

    assert export_session(store, "1", format="json", output=page, cwd=project, ask=yes) == 0
    assert page.read_bytes() == store.read(ID)
    assert asked == [f"Write over {page}?"]
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == [
        f"wrote {page}",
        f"mm: {page} is there already and stays as it is; give another name or --yes",
        f"wrote {page}",
    ]
    assert names(project) == [".mm", "talk.html"]


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("gone/a.md", "No such file or directory"),
        (".", "is a folder"),
        (f".mm/sessions/{ID}.json", "among the files of mm itself"),
        ("link/x.md", "among the files of mm itself"),
        ("dangling", "is there already"),
        ("a\0b", "null byte"),
        ("n" * 300, "too long"),
    ],
)
def test_an_export_that_cannot_be_changes_nothing(project: Path, place: str, reason: str) -> None:
    (project / "link").symlink_to(".mm")
    (project / "dangling").symlink_to("nowhere")
    before = names(project), names(project / ".mm"), Store(project).read(ID)
    done = export_beside(kept(), Wanted("markdown", place), project, Pictures())
    assert isinstance(done, NotWritten)
    assert reason in done.line
    assert (names(project), names(project / ".mm"), Store(project).read(ID)) == before


def test_an_export_without_a_name_takes_a_free_one(project: Path) -> None:
    for number in range(3):
        done = export_beside(kept(), Wanted("markdown"), project, Pictures())
        assert done == Written(project / f"{ID}{f'-{number + 1}' if number else ''}.md")
    assert names(project) == [".mm", f"{ID}-2.md", f"{ID}-3.md", f"{ID}.md"]


def test_an_export_that_breaks_off_leaves_no_half_file(project: Path) -> None:
    page = project / "a.md"
    page.write_text("mine", encoding="utf-8")

    def broken() -> object:
        yield b"half"
        raise OSError(28, os.strerror(28))

    done = write_file(page, broken(), over=True)  # type: ignore[arg-type]
    assert done == NotWritten(f"cannot write {page}: No space left on device")
    assert page.read_text(encoding="utf-8") == "mine"
    assert names(project) == [".mm", "a.md"]


def test_an_export_over_a_link_writes_where_it_leads_and_is_readable_as_other_files_are(
    project: Path,
) -> None:
    (project / "real.md").write_text("mine", encoding="utf-8")
    (project / "link.md").symlink_to("real.md")
    assert isinstance(write_file(project / "link.md", [b"new"], over=True), Written)
    assert (project / "link.md").is_symlink()
    assert (project / "real.md").read_bytes() == b"new"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((project / "real.md").stat().st_mode) == 0o666 & ~umask


def test_the_verb_as_it_is_typed(project: Path) -> None:
    done = run_mm("sessions", "export", "1", "--format", "html", cwd=project)
    assert (done.returncode, done.stdout, done.stderr) == (0, session_html(kept()), "")
    done = run_mm("sessions", "export", "7", cwd=project)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "mm: no session number 7: there is 1\n")


def test_a_long_conversation_goes_through_the_pager_on_a_terminal(project: Path, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\nhead -1\nread -r line </dev/tty\necho "left: $line"\n', encoding="utf-8")
    pager.chmod(0o700)
    long = talked(*([hello_turn()] * 3000))
    (project / ".mm" / "sessions" / f"{ID}.json").write_bytes(encode(long))
    with Visitor("sessions", "show", "1", cwd=project, env={"PAGER": str(pager)}, rows=30) as visitor:
        visitor.see(f"What is 2 . 2. · {ID}")
        visitor.type("enough")
        visitor.see("left: enough")
        assert visitor.leave() == 0


@pytest.mark.parametrize("pager", ["", "no-such-pager"])
def test_without_a_pager_it_is_put_down_as_it_is(project: Path, pager: str) -> None:
    with Visitor("sessions", "show", "1", cwd=project, env={"PAGER": pager}, rows=4) as visitor:
        assert visitor.leave() == 0
        assert "It prints hi." in visitor.screen


def test_the_conversation_in_hand_is_exported_from_the_terminal(project: Path) -> None:
    with Visitor("-r", "last", cwd=project, env={"MM_BASE_URL": "http://127.0.0.1:9/v1"}) as visitor:
        visitor.prompt(1)
        visitor.type("/export")
        visitor.see(f"wrote {ID}.md")
        visitor.type("/export html talk.html")
        visitor.see("wrote talk.html")
        visitor.type("/export talk.html")
        visitor.see("is there already and stays")
        visitor.type("/export pdf")
        visitor.see("neither a form nor a file")
        visitor.press("d")
        assert visitor.leave() == 0
    assert names(project) == [".mm", f"{ID}.md", "talk.html"]
    assert "It prints hi." in (project / f"{ID}.md").read_text(encoding="utf-8")


async def test_an_editor_has_its_conversation_exported_where_the_session_works(tmp_path: Path) -> None:
    session = EditorSession(Agent(Settings(), tmp_path, tmp_path, {}), None)
    assert session.export(kept(), Wanted("html")) == f"wrote {tmp_path}/{ID}.html"
    assert (tmp_path / f"{ID}.html").read_text(encoding="utf-8") == session_html(kept())
    await session.agent.close()
