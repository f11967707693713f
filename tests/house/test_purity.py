"""The core is pure: what imports and calls in its source show. Layers are held by import-linter."""

import ast
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

CORE = sorted((ROOT / "minime" / "core").rglob("*.py"))
ALL = sorted((ROOT / "minime").rglob("*.py"))

# Of the standard library, what can be had without touching the world. `pathlib` for its pure paths alone.
PURE = {
    "base64", "bisect", "codecs", "collections", "contextlib", "dataclasses", "datetime", "difflib", "email", "enum", "fnmatch",
    "functools", "hashlib", "html", "io", "ipaddress", "itertools", "json", "math", "operator", "pathlib", "posixpath", "re", "shlex",
    "string", "textwrap", "types", "typing", "unicodedata", "urllib",
}  # fmt: skip
OTHERS = {"msgspec", "minime"}
FORBIDDEN_CALLS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint", "globals", "exit"}
FORBIDDEN_ATTRIBUTES = {"now", "today", "utcnow", "astimezone_local", "Path", "request", "urlopen"}


def imports(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("file", CORE, ids=lambda file: file.stem)
def test_the_core_imports_nothing_that_touches_the_world(file: Path) -> None:
    names = imports(ast.parse(file.read_text(encoding="utf-8")))
    tops = {name.split(".")[0] for name in names}
    assert tops <= PURE | OTHERS
    assert not {"pathlib.Path", "urllib.request", "minime.shell", "minime.cli"} & names


@pytest.mark.parametrize("file", CORE, ids=lambda file: file.stem)
def test_the_core_has_no_async_no_clock_no_dice_and_prints_nothing(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        assert not isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith)
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(id=name):
                    assert name not in FORBIDDEN_CALLS
                case ast.Attribute(attr=name):
                    assert name not in FORBIDDEN_ATTRIBUTES
                case _:
                    pass


@pytest.mark.parametrize("file", ALL, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_module_is_one_room_and_says_what_it_holds(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))
    assert len(text.splitlines()) <= 300


def test_the_pure_part_of_the_standard_library_is_spelled_right() -> None:
    assert set(sys.stdlib_module_names) >= PURE
