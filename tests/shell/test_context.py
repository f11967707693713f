"""AGENTS.md and its like stand behind the instruction, and nothing from outside slips in unasked."""

import os
from pathlib import Path

import pytest

from minime.core.config.settings import Settings
from minime.core.instructions import MOST_TEXT, project_part, system_prompt, with_folder_words
from minime.core.values import Tool
from minime.shell.context import context_files, folder_files
from tests.support.mm import run_mm
from tests.support.server import ScriptedServer, calls, says


def test_a_file_stands_behind_the_instruction_by_its_name() -> None:
    assert system_prompt("Be brief.\n", (("AGENTS.md", b"Use tabs.\n"),)) == (
        "Be brief.\n\nThe project's AGENTS.md says:\n\nUse tabs."
    )


def test_without_files_the_instruction_is_as_it_was() -> None:
    assert system_prompt("Be brief.\n", (("AGENTS.md", b" \n"),)) == "Be brief.\n"


def test_a_long_file_is_cut_and_bytes_are_cleaned() -> None:
    prompt = system_prompt("x", (("AGENTS.md", b"\x1b[31ma\xff" + b"y" * 50_000),))
    assert len(prompt) < MOST_TEXT + 200
    assert "says:\n\na�yyy" in prompt
    assert "left out" in prompt


def test_the_model_is_told_what_the_project_says(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Answer in French.\n")
    with ScriptedServer([says("oui")]) as server:
        run_mm("q", cwd=tmp_path, env={"MM_BASE_URL": server.url, "MM_MODEL": "tiny"})
        system = server.requests[0].json["messages"][0]
    assert system["role"] == "system"
    assert system["content"].endswith("The project's AGENTS.md says:\n\nAnswer in French.")


def test_a_default_file_that_leads_out_of_the_project_is_not_read(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret").write_text("key")
    (project / "AGENTS.md").symlink_to(tmp_path / "secret")
    assert context_files(Settings(), project) == ()


def test_what_the_user_names_is_read_wherever_it_lies(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "notes.md").write_text("mine")
    named = Settings(context=(str(tmp_path / "notes.md"), "absent.md"), origins={"context": "agent.yaml:1"})
    assert context_files(named, project) == ((str(tmp_path / "notes.md"), b"mine"),)


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop"])
def test_what_is_no_file_is_passed_over(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "AGENTS.md"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(path)
    assert context_files(Settings(), tmp_path) == ()


def test_the_files_of_the_folders_down_to_the_start_stand_behind_those_of_the_project(tmp_path: Path) -> None:
    start = tmp_path / "web" / "app"
    start.mkdir(parents=True)
    for folder, words in ((tmp_path, "Use tabs."), (tmp_path / "web", "Use spaces."), (start, "Say so.")):
        (folder / "AGENTS.md").write_text(words)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "AGENTS.md").write_text("Not for us.")
    found = context_files(Settings(), tmp_path, start)
    assert system_prompt("x", found) == (
        "x\n\nThe project's AGENTS.md says:\n\nUse tabs.\n\n"
        "The project's web/AGENTS.md says of files below web, before all else:\n\nUse spaces.\n\n"
        "The project's web/app/AGENTS.md says of files below web/app, before all else:\n\nSay so."
    )
    assert context_files(Settings(), tmp_path, tmp_path.parent) == found[:1]


def test_a_folder_below_speaks_only_with_files_of_the_project(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "web").mkdir(parents=True)
    (tmp_path / "secret").write_text("key")
    (project / "AGENTS.md").write_text("Use tabs.")
    (project / "web" / "AGENTS.md").symlink_to(tmp_path / "secret")
    (project / "web" / "NOTES.md").symlink_to(project / "AGENTS.md")
    named = Settings(context=("AGENTS.md", "NOTES.md"), origins={"context": "agent.yaml:1"})
    assert context_files(named, project, project / "web") == (("AGENTS.md", b"Use tabs."),)


def test_what_the_files_take_is_told_apart(tmp_path: Path) -> None:
    prompt = system_prompt("Be brief.", (("AGENTS.md", b"Use tabs."),))
    assert project_part(prompt) == "\n\nThe project's AGENTS.md says:\n\nUse tabs."
    assert project_part("Be brief.") == ""
    (tmp_path / "AGENTS.md").write_text("Use tabs.\n")
    shown = run_mm("config", cwd=tmp_path).stdout
    assert shown.endswith("\nBehind the system prompt: AGENTS.md (10 bytes)\n")


SPACES = "The project's web/AGENTS.md says of files below web, before all else:\n\nUse spaces."


def test_what_a_folder_further_down_says_is_for_those_who_look_there(tmp_path: Path) -> None:
    (tmp_path / "web" / "app").mkdir(parents=True)
    (tmp_path / "api").mkdir()
    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    (tmp_path / "web" / "AGENTS.md").write_text("Use spaces.")
    (tmp_path / "web" / "app" / "AGENTS.md").write_text("Say so.")
    (tmp_path / "web" / "app" / "a.js").write_text("x")
    web, app = ("web/AGENTS.md", b"Use spaces."), ("web/app/AGENTS.md", b"Say so.")

    def found(start: str, path: str) -> tuple[tuple[str, bytes], ...]:
        return folder_files(Settings(), tmp_path, tmp_path / start, tmp_path / path)

    assert found("", "web/app/a.js") == (web, app)
    assert found("", "web/app/new.js") == (web, app)
    assert found("", "web") == (web,)
    assert found("web", "web/app/a.js") == (app,)
    assert found("api", "web/b.js") == (web,)
    assert found("", "b.js") == found("web/app", "web/app/a.js") == ()
    assert found("", "web/AGENTS.md") == ()
    assert found("", "../elsewhere/a.js") == ()


def test_each_folders_words_are_told_once_as_long_as_they_stand_there() -> None:
    files = (("web/AGENTS.md", b"Use spaces.\n"), ("web/empty/AGENTS.md", b" "))
    first = with_folder_words(Tool("a", "x = 1"), files, (), 1_000)
    assert first.content == f"x = 1\n\n{SPACES}"
    again = Tool("b", "y = 2")
    assert with_folder_words(again, files, (first,), 1_000) is again
    assert with_folder_words(again, files, (Tool("a", "x = 1"),), 1_000).content == f"y = 2\n\n{SPACES}"
    long = with_folder_words(again, (("web/AGENTS.md", b"z" * 9_000),), (), 1_000)
    assert len(long.content) < 1_200


def test_the_model_reads_them_with_the_first_file_there_and_so_does_the_session(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "AGENTS.md").write_text("Use spaces.\n")
    for name in "ab":
        (tmp_path / "web" / f"{name}.js").write_text(f"{name}\n")
    reads = [calls(("read_file", {"path": f"web/{name}.js"})) for name in "ab"]
    with ScriptedServer([*reads, says("Done."), reads[0], says("Again.")]) as server:
        env = {"MM_BASE_URL": server.url, "MM_MODEL": "tiny"}
        run_mm("Look.", cwd=tmp_path, env=env)
        run_mm("--continue", "Once more.", cwd=tmp_path, env=env)
        results = [m["content"] for m in server.requests[-1].json["messages"] if m["role"] == "tool"]
    assert results == [f"a\n\n\n{SPACES}", "b\n", "a\n"]
