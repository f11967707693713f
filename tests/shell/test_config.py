"""Real files in real folders become settings, or lines with file and line."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from minime.core.config.settings import Settings, origin
from minime.core.tools.permissions import PermissionRule
from minime.shell.config.config import Broken, Loaded, load_settings
from minime.shell.config.places import user_file
from minime.shell.config.project import find_project
from minime.shell.config.yaml_file import Unusable, Yaml, parse_yaml

WHOLE = Path(__file__).parent.parent / "data" / "config" / "whole.yaml"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    return {"HOME": str(home)}


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def loaded(project: Path, environ: dict[str, str], **rest: Any) -> Settings:
    result = load_settings(project, environ=environ, **rest)
    assert isinstance(result, Loaded), result
    return result.settings


def broken(project: Path, environ: dict[str, str], **rest: Any) -> tuple[str, ...]:
    result = load_settings(project, environ=environ, **rest)
    assert isinstance(result, Broken), result
    return result.lines


def test_without_any_file_the_defaults_work_and_yaml_is_not_imported(
    project: Path, environ: dict[str, str]
) -> None:
    assert loaded(project, environ).model is None
    code = (
        "import sys, pathlib; from minime.shell.config.config import load_settings;"
        f"load_settings(pathlib.Path({str(project)!r}), environ={environ!r});"
        "sys.exit('yaml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_projects_file_goes_over_the_users_and_each_value_knows_its_line(
    project: Path, environ: dict[str, str]
) -> None:
    write(user_file(environ), "model: mine\nmaxSteps: 4\npermissions:\n- {tool: run_command, do: allow}\n")
    write(project / "agent.yaml", "# words\nmodel: theirs\npermissions:\n- {tool: run_command, do: deny}\n")
    settings = loaded(project, environ)
    assert (settings.model, origin(settings, "model")) == ("theirs", "agent.yaml:2")
    assert (settings.max_steps, origin(settings, "maxSteps")) == (4, "~/.config/mm/agent.yaml:2")
    assert [rule.do for rule in settings.permissions] == ["allow", "deny"]
    assert origin(settings, "permissions.0") == "~/.config/mm/agent.yaml:4"
    assert origin(settings, "permissions.1") == "agent.yaml:4"


def test_the_first_file_of_the_project_is_the_only_one(project: Path, environ: dict[str, str]) -> None:
    write(project / ".mm" / "agent.yaml", "model: hidden\nmaxSteps: 3")
    assert origin(loaded(project, environ), "model") == ".mm/agent.yaml:1"
    write(project / "agent.yaml", "model: seen")
    assert (loaded(project, environ).model, loaded(project, environ).max_steps) == ("seen", 50)


def test_a_config_file_takes_the_projects_place_and_is_trusted(
    project: Path, environ: dict[str, str]
) -> None:
    write(project / "agent.yaml", "maxSteps: 3")
    other = write(project / "other.yaml", "apiKey: sk-12345\nbaseUrl: https://host.example/v1")
    result = load_settings(project, environ=environ, config=other)
    assert isinstance(result, Loaded)
    assert (result.settings.api_key, result.settings.max_steps) == ("sk-12345", 50)
    assert (result.notices, result.asks) == ((), None)


def test_a_config_file_that_is_not_there_is_told(project: Path, environ: dict[str, str]) -> None:
    assert broken(project, environ, config=project / "no.yaml") == (
        f"{project}/no.yaml: there is no such file",
    )


def test_environment_and_options_go_before_files(project: Path, environ: dict[str, str]) -> None:
    write(project / "agent.yaml", "model: file")
    environ |= {"MM_MODEL": "environment", "MM_API_KEY": "sk-12345", "MM_BASE_URL": "http://10.0.0.1/v1"}
    settings = loaded(project, environ)
    assert (settings.model, settings.base_url) == ("environment", "http://10.0.0.1/v1")
    settings = loaded(project, environ, options={"model": "option", "mode": "read-only"})
    assert (settings.model, settings.mode) == ("option", "read-only")


def test_a_wrong_option_is_told(project: Path, environ: dict[str, str]) -> None:
    assert broken(project, environ, options={"mode": "atuo"}) == (
        'option --mode: mode: expected one of ask, auto-edit, auto, read-only, found "atuo"'
        "; did you mean auto?",
    )


def test_xdg_config_home_is_followed_when_it_is_absolute(environ: dict[str, str], tmp_path: Path) -> None:
    assert user_file({**environ, "XDG_CONFIG_HOME": str(tmp_path)}) == tmp_path / "mm" / "agent.yaml"
    assert user_file({**environ, "XDG_CONFIG_HOME": "relative"}) == user_file(environ)


def test_the_users_own_file_is_not_asked_about_in_its_own_folder(environ: dict[str, str]) -> None:
    own = write(user_file(environ), "apiKey: sk-12345")
    result = load_settings(own.parent, environ=environ)
    assert isinstance(result, Loaded)
    assert (result.settings.api_key, result.asks) == ("sk-12345", None)


def test_a_file_with_every_key_is_read_whole(project: Path, environ: dict[str, str]) -> None:
    write(project / "agent.yaml", WHOLE.read_bytes())
    settings = loaded(project, environ, trust=True)
    assert settings.permissions == (PermissionRule("run_command", "git status*", "allow"),)
    assert {key for key, place in settings.origins.items() if place == "default"} == {"apiKey", "mode"}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("model: a\nmaxStep: 3\n", "agent.yaml:2: maxStep: unknown key; did you mean maxSteps?"),
        ("model: a\nmodel: b", "agent.yaml:2: model: said twice, first in line 1; take one away"),
        ("mcp:\n  a: {env: {X: 1, X: 2}}", "agent.yaml:2: X: said twice, first in line 2; take one away"),
        ("model: no", "agent.yaml:1: model: expected text, found false; YAML reads yes, no, on and off"),
        ("model: 12:30:45", "agent.yaml:1: model: expected text, found 45045; write it in quotes"),
        ("model: 010", "agent.yaml:1: model: expected text, found 8; write it in quotes"),
        ("model: 2026-09-16", "agent.yaml:1: model: expected text, found 2026-09-16; write it in quotes"),
        ("model: 2026-99-99", 'agent.yaml:1: model: "2026-99-99" is no date and no number'),
        (
            "seed: 1e3",
            'agent.yaml:1: seed: expected a whole number from -2147483648 to 4294967295, found "1e3"',
        ),
        ("no: 1", "agent.yaml:1: no: unknown key"),
        ("sessions:\n\tenabled: true", "agent.yaml:2: not valid YAML: found character"),
        ("model: [a", "agent.yaml:1: not valid YAML:"),
        ("a: 1\n---\nb: 2", "agent.yaml:2: not valid YAML:"),
        ("- a", "agent.yaml:1: expected keys and values, found a list"),
        ("hello", 'agent.yaml:1: expected keys and values, found "hello"'),
        ("model: !!python/object/apply:os.system [x]", "agent.yaml:1: model: expected text, found a list"),
        ("model: !!python/name:os.system x", "agent.yaml:1: model: the tag"),
        ("? [a]\n: b", "agent.yaml:1: expected a key of plain text"),
        (b"model: a\nx: \xff", "agent.yaml:2: not UTF-8 text"),
        (b"model: a\nx: \x00", "agent.yaml:2: holds a character that YAML does not allow"),
        ("model: *x", "agent.yaml:1: not valid YAML: found undefined alias"),
        ("context: &a [*a]", "agent.yaml:1: too many values; does an alias repeat itself?"),
        (
            "permissions:\n- tool: x\n- tool: y\n  do: alow",
            "agent.yaml:4: permissions[1].do: expected one of",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_fault_in_a_file_is_one_line_with_its_place(
    project: Path, environ: dict[str, str], text: str | bytes, line: str
) -> None:
    write(project / "agent.yaml", text)
    (found,) = broken(project, environ)
    assert found.startswith(line)
    assert "\n" not in found


def test_aliases_that_multiply_are_refused(project: Path, environ: dict[str, str]) -> None:
    laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
    )
    write(project / "agent.yaml", laughs)
    (line,) = broken(project, environ)
    assert "too many values; does an alias repeat itself?" in line


@pytest.mark.parametrize("depth", [40, 100_000])
def test_what_is_nested_too_deeply_is_refused(depth: int) -> None:
    result = parse_yaml(b"context: " + b"[" * depth + b"]" * depth)
    assert isinstance(result, Unusable)
    assert "nest" in result.text


def test_an_alias_in_moderation_is_read() -> None:
    lines = {("a",): 1, ("a", 0): 1, ("b",): 2, ("b", 0): 1}
    assert parse_yaml(b"a: &x [1]\nb: *x") == Yaml({"a": [1], "b": [1]}, lines)


@pytest.mark.parametrize("data", [b"", b"\n", b"# words only\n", b"---\n", b"~", b"\xef\xbb\xbf# a\n"])
def test_a_file_that_says_nothing_is_an_empty_one(data: bytes) -> None:
    assert parse_yaml(data) == Yaml({}, {})


def test_a_byte_order_mark_is_no_part_of_the_first_key() -> None:
    assert parse_yaml(b"\xef\xbb\xbfmodel: a") == Yaml({"model": "a"}, {("model",): 1})


def test_a_file_that_is_too_large_is_refused(project: Path, environ: dict[str, str]) -> None:
    write(project / "agent.yaml", "#" * 1_000_001)
    assert broken(project, environ) == ("agent.yaml: is larger than 1 MB",)


def test_what_is_no_file_is_refused_at_once(project: Path, environ: dict[str, str]) -> None:
    os.mkfifo(project / "agent.yaml")
    assert broken(project, environ) == ("agent.yaml: cannot be read: it is not a file",)
    (project / "agent.yaml").unlink()
    (project / "agent.yaml").mkdir()
    (line,) = broken(project, environ)
    assert line.startswith("agent.yaml: cannot be read: ")


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read_is_told(project: Path, environ: dict[str, str]) -> None:
    write(project / "agent.yaml", "model: a").chmod(0)
    assert broken(project, environ) == ("agent.yaml: cannot be read: Permission denied",)


def test_faults_of_both_files_are_told_together(project: Path, environ: dict[str, str]) -> None:
    write(user_file(environ), "maxSteps: x")
    write(project / "agent.yaml", "maxStep: 1")
    assert [line.split(": ")[0] for line in broken(project, environ)] == [
        "~/.config/mm/agent.yaml:1",
        "agent.yaml:1",
    ]


def test_unusable_is_told_for_each_file_that_does_not_parse(project: Path, environ: dict[str, str]) -> None:
    write(user_file(environ), "[")
    write(project / "agent.yaml", "]")
    assert len(broken(project, environ)) == 2
    assert isinstance(parse_yaml(b"["), Unusable)


class TestFindProject:
    @pytest.fixture
    def home(self, tmp_path: Path) -> Path:
        (tmp_path / "home" / "code" / "deep").mkdir(parents=True)
        return tmp_path / "home"

    @pytest.mark.parametrize("marker", [".mm", ".git", "agent.yaml"])
    def test_it_is_the_nearest_marked_folder(self, home: Path, marker: str) -> None:
        place = home / "code" / marker
        place.touch() if marker == "agent.yaml" else place.mkdir()
        (home / ".git").mkdir()
        assert find_project(home / "code" / "deep", home) == home / "code"
        assert find_project(home / "code", home) == home / "code"

    def test_the_nearer_one_wins(self, home: Path) -> None:
        (home / "code" / ".git").mkdir()
        (home / "code" / "deep" / ".mm").mkdir()
        assert find_project(home / "code" / "deep", home) == home / "code" / "deep"

    def test_without_a_mark_it_is_the_start(self, home: Path) -> None:
        assert find_project(home / "code" / "deep", home) == home / "code" / "deep"

    def test_the_home_folder_counts_only_as_the_start(self, home: Path) -> None:
        (home / ".git").mkdir()
        assert find_project(home / "code", home) == home / "code"
        assert find_project(home, home) == home

    def test_outside_the_home_folder_only_the_start_counts(self, home: Path, tmp_path: Path) -> None:
        (tmp_path / "srv" / "a" / "b").mkdir(parents=True)
        (tmp_path / "srv" / "a" / ".git").mkdir()
        assert find_project(tmp_path / "srv" / "a" / "b", home) == tmp_path / "srv" / "a" / "b"
        assert find_project(tmp_path / "srv" / "a", home) == tmp_path / "srv" / "a"

    def test_a_worktrees_git_file_is_a_mark_and_a_file_named_mm_is_none(self, home: Path) -> None:
        (home / "code" / "deep" / ".mm").touch()
        (home / "code" / ".git").write_text("gitdir: /elsewhere", encoding="utf-8")
        assert find_project(home / "code" / "deep", home) == home / "code"

    def test_f18_a_project_reached_through_a_link_is_the_same(self, home: Path, tmp_path: Path) -> None:
        (home / "code" / ".git").mkdir()
        link = tmp_path / "link"
        link.symlink_to(home / "code" / "deep")
        assert find_project(link, home) == home / "code"

    @pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
    def test_a_strangers_folder_is_passed_over(self, home: Path) -> None:
        (home / "code" / ".git").mkdir()
        os.chown(home / "code", 12345, 12345)
        assert find_project(home / "code" / "deep", home) == home / "code" / "deep"
