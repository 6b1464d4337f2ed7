"""The tree: folders a newcomer can take in; statistics stand on the nouns alone."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path

import dpassay

ROOT = Path(__file__).parents[2]
MOST = 29
"""Files of code in a folder; the command line has one for each command."""
TOPS = ("audit", "mechanisms", "attacks", "reports", "tests", "benchmarks")
NOUNS = {"claims", "data", "errors", "laws", "noise", "numerics", "pairs", "seeds", "mechanism"}
ALLOWED = {"numpy", "scipy"} | set(sys.stdlib_module_names)


def code() -> list[Path]:
    return [path for top in TOPS for path in (ROOT / top).rglob("*.py")]


def test_no_folder_has_too_many_files() -> None:
    files = Counter(path.parent.relative_to(ROOT) for path in code() if path.name != "__init__.py")
    assert files[Path("audit/stats")] > 10
    assert {str(folder): number for folder, number in files.items() if number > MOST} == {}


def imported(path: Path) -> set[str]:
    """Modules that a file imports, those for type checkers alone among them."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_statistics_stand_on_numpy_scipy_and_the_nouns() -> None:
    names = {name for path in (ROOT / "audit" / "stats").glob("*.py") for name in imported(path)}
    ours = {name.partition(".")[2] for name in names if name.partition(".")[0] == "dpassay"}
    assert all(each.partition(".")[0] == "stats" or each in NOUNS for each in ours), ours
    assert {name.partition(".")[0] for name in names} <= ALLOWED | {"dpassay"}


def test_every_name_that_is_promised_can_be_imported() -> None:
    """What type checkers are told and what is found lazily are two lists."""
    tree = ast.parse((ROOT / "audit" / "__init__.py").read_text(encoding="utf-8"))
    told = {
        name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dpassay.")
        for name in node.names
    }
    assert told == set(dpassay.__all__)
    for name in told:
        assert getattr(dpassay, name) is not None
