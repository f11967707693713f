import pytest

from minime.core.tools.places import closed_to_readers, closed_to_writers, glob_patterns, passed_over


@pytest.mark.parametrize("name", [".mm", ".MM", ".mm.", ".m\u200cm", ".ｍm"])
def test_the_history_is_closed_however_its_name_is_written(name: str) -> None:
    assert closed_to_readers(("src", name, "sessions"))
    assert closed_to_writers((name,))
    assert passed_over(name)


@pytest.mark.parametrize("name", [".git", ".GIT", ".gi\u200dt", ".git "])
def test_git_is_read_when_asked_for_and_never_written(name: str) -> None:
    assert closed_to_writers(("sub", name, "config"))
    assert not closed_to_readers((name, "config"))
    assert passed_over(name)


@pytest.mark.parametrize("name", [".gitignore", ".github", "git", ".mmx", "mm", "a.mm"])
def test_names_that_only_look_alike_are_open(name: str) -> None:
    assert not closed_to_writers((name,))
    assert not passed_over(name)


@pytest.mark.parametrize(
    ("glob", "patterns"),
    [
        ("", ()),
        ("*.py", ("*.py",)),
        ("./src/**/*.py", ("src/**/*.py",)),
        ("*.{ts,tsx}", ("*.ts", "*.tsx")),
        ("{a,b}/{c,d}", ("a/c", "a/d", "b/c", "b/d")),
        ("!x", ("\\!x",)),
    ],
)
def test_a_file_pattern_is_written_out(glob: str, patterns: tuple[str, ...]) -> None:
    assert glob_patterns(glob) == patterns


def test_a_pattern_of_patterns_does_not_explode() -> None:
    assert len(glob_patterns("{a,b,c,d,e,f,g,h}" * 20)) <= 100
    assert len(glob_patterns("{" + "a," * 1_000 + "}")) <= 100
