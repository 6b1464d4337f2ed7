"""The tree: folders a newcomer can take in, independent statistics, old addresses.

Statistics stand on the nouns alone, and old addresses still work.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import dpassay
from dpassay.api import audit
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority
from dpassay.pairs import replace_one
from dpassay.targets.moved import MOVED, known_as

ROOT = Path(__file__).parents[2]
MOST = 25
"""Files of code in a folder."""
TOPS = ("audit", "mechanisms", "attacks", "reports", "tests", "benchmarks")
NOUNS = {"claims", "data", "errors", "laws", "noise", "numerics", "pairs", "seeds", "mechanism"}
ALLOWED = {"numpy", "scipy"} | set(sys.stdlib_module_names)


COUNTS = [(54, 17), (48, 23)]
"""Seen on the tree of before the move, commit a74348c."""


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


@pytest.mark.parametrize(
    "path", sorted((ROOT / "audit" / "stats").glob("*.py")), ids=lambda path: path.stem
)
def test_statistics_stand_on_numpy_scipy_and_the_nouns(path: Path) -> None:
    for name in imported(path):
        first, _, rest = name.partition(".")
        if first == "dpassay":
            assert rest.partition(".")[0] == "stats" or rest in NOUNS, name
        else:
            assert first in ALLOWED, name


@pytest.mark.parametrize(
    ("old", "name"),
    [
        ("erm", "ERM"),
        ("psgd", "PSGD"),
        ("erm_class", "ClassERM"),
        ("interface", "PredictionInterface"),
        ("pate", "Pate"),
    ],
)
def test_an_old_address_gives_the_very_same_class(old: str, name: str) -> None:
    program = (
        "import importlib; from dpassay.targets.moved import MOVED; old = "
        f"importlib.import_module('dpassay.mechanisms.{old}'); new = "
        f"importlib.import_module('dpassay.mechanisms.' + MOVED['{old}']); assert old.{name} is "
        f"new.{name}; assert old.__doc__ == new.__doc__; from dpassay.mechanisms.{old} import "
        f"{name}"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)


def test_every_old_address_leads_somewhere() -> None:
    there = {
        ".".join(path.relative_to(ROOT / "mechanisms").with_suffix("").parts)
        for path in (ROOT / "mechanisms").rglob("*.py")
    }
    assert set(MOVED.values()) <= there
    assert len(MOVED) > 70


def test_names_and_with_them_random_streams_are_those_of_before_the_move() -> None:
    """A stream is derived from the name of a mechanism.

    The name of a class of ours holds where it lay.
    """
    assert known_as("dpassay.mechanisms.relatives.pate") == "dpassay.mechanisms.pate"
    assert known_as("dpassay.selftest.known") == "dpassay.rehearsal"
    assert known_as("my_module") == "my_module"
    pairs = replace_one([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], neighbours="flip")
    mechanism = SoftMajority(epsilon=1.0, r=2, learner="majority")
    result = audit(mechanism, pairs=pairs, queries=[[0.0]], mode="monte-carlo", budget=100)
    assert result.target.name == "dpassay.mechanisms.soft_majority:SoftMajority"
    assert result.evidence is not None
    assert [
        counts and (counts.x, counts.y)
        for cell in result.evidence.cells
        for counts in [cell.lower.counts]
    ] == COUNTS


def test_every_name_that_is_promised_can_be_imported() -> None:
    """What type checkers are told and what is found lazily are two lists."""
    tree = ast.parse((ROOT / "audit" / "__init__.py").read_text(encoding="utf-8"))
    told = {
        name.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        if name.asname
    }
    assert told == set(dpassay.__all__)
    for name in told:
        assert getattr(dpassay, name) is not None
    assert dpassay.AuditeeError is dpassay.TargetError
