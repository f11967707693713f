"""The page on security: each promise is numbered and has a test by name, and each named test is there."""

import ast
import re
from collections import Counter

from tests.conftest import ROOT
from tests.support import docs

PAGE = ROOT / "docs" / "reference" / "security.md"
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.*) \|$", re.MULTILINE)


def test_each_promise_has_a_number_and_tests_that_are_there() -> None:
    there = Counter(
        node.name
        for file in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(docs.read(file)))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    rows = ROW.findall(docs.read(PAGE))
    assert [int(number) for number, _, _ in rows] == list(range(1, len(rows) + 1))
    assert len(rows) > 20
    for number, _, cell in rows:
        names = re.findall(r"`(test_\w+)`", cell)
        assert names, f"promise {number} has no test"
        assert not [name for name in names if there[name] != 1], f"promise {number}: no such test, or two"
