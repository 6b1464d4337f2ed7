"""The tree: folders that a newcomer can take in, statistics that stand on the nouns alone, old addresses that still work."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from dpassay.mechanisms.moved import MOVED

ROOT = Path(__file__).parents[2]
MOST = 25
"""Files of code in a folder."""
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


@pytest.mark.parametrize("path", sorted((ROOT / "audit" / "stats").glob("*.py")), ids=lambda path: path.stem)
def test_statistics_stand_on_numpy_scipy_and_the_nouns(path: Path) -> None:
    for name in imported(path):
        first, _, rest = name.partition(".")
        if first == "dpassay":
            assert rest.partition(".")[0] == "stats" or rest in NOUNS, name
        else:
            assert first in ALLOWED, name


@pytest.mark.parametrize(
    ("old", "name"),
    [("erm", "ERM"), ("psgd", "PSGD"), ("erm_class", "ClassERM"), ("interface", "PredictionInterface"), ("pate", "Pate")],
)
def test_an_old_address_gives_the_very_same_class(old: str, name: str) -> None:
    program = (
        "import importlib; from dpassay.mechanisms.moved import MOVED; "
        f"old = importlib.import_module('dpassay.mechanisms.{old}'); "
        f"new = importlib.import_module('dpassay.mechanisms.' + MOVED['{old}']); "
        f"assert old.{name} is new.{name}; assert old.__doc__ == new.__doc__; from dpassay.mechanisms.{old} import {name}"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


def test_every_old_address_leads_somewhere() -> None:
    there = {
        ".".join(path.relative_to(ROOT / "mechanisms").with_suffix("").parts) for path in (ROOT / "mechanisms").rglob("*.py")
    }
    assert set(MOVED.values()) <= there
    assert len(MOVED) > 70
