"""The twins share nothing with what they check: they import the standard library and `quad`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TWINS = sorted(Path(__file__).parent.rglob("twin_*.py"))
ALLOWED = {
    "__future__",
    "collections.abc",
    "decimal",
    "fractions",
    "functools",
    "itertools",
    "math",
    "scipy.integrate",
    "typing",
}


def imported(source: str) -> set[str]:
    """Names of all modules that a source imports, at any depth."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


def test_a_twin_imports_nothing_of_the_project() -> None:
    assert len(TWINS) >= 16
    for path in TWINS:
        source = path.read_text(encoding="utf-8")
        assert imported(source) <= ALLOWED, path.stem
        assert "__import__" not in source
        assert "importlib" not in source


@pytest.mark.parametrize(
    "line", ["import numpy", "def f():\n    from audit import loss", "from . import x"]
)
def test_the_check_sees_an_import(line: str) -> None:
    assert not imported(line) <= ALLOWED
