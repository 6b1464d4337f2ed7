"""examples/ten_lines: a test file of ten lines for each kind of user, and what breaks it."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.needed import lacks
from tests.warm import FEW_PAIRS

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "ten_lines"
SERVICE = ROOT / "examples" / "process" / "release_service.py"
LINES = 10
FLAWS = {
    "dataframe_three_classes": ("scale=2", "scale=0.5"),
    "regression": ("scale=2", "scale=0.5"),
    "random_forest_votes": ("scale=5", "scale=1"),
    "node_process": ("epsilon=1", "epsilon=0.33"),
    "http_endpoint": ("epsilon=1", "epsilon=0.33"),
    "c_program": ("epsilon=1", "epsilon=0.33"),
}
"""What is written, and what a mistake is: too little noise, or a claim of a third."""
FEW = {"dataframe_three_classes": 2_000, "random_forest_votes": 10_000}
"""Their runs take milliseconds: with less of the budget they see what they are asked to see too."""
PROGRAMS = {"node_process": "node", "c_program": "cc"}
ELSEWHERE = ("opendp_", "diffprivlib_", "dp_accounting")
"""Examples with libraries that are not among what dpassay needs; they are run by other tests."""
FILES = sorted(EXAMPLES.glob("*.py"))


def lines_of_code(source: str) -> int:
    """Count lines but blank ones, comments and the docstring."""
    first, *_ = ast.parse(source).body
    docstring = range(0)
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        docstring = range(first.lineno, (first.end_lineno or 0) + 1)
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in docstring
        for number, line in enumerate(source.splitlines(), 1)
    )


@contextmanager
def service() -> Iterator[str]:
    """Run the service of examples/process at a free port."""
    with subprocess.Popen(
        [sys.executable, str(SERVICE), "0"], stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        try:
            yield running.stdout.readline().strip()
        finally:
            running.terminate()


def run(python: Path, file: Path, folder: Path, *words: str, **variables: str) -> tuple[int, str]:
    """Run an example as a pipeline does, from the folder of the project."""
    found = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--dpassay-seed", "0",
         "--dpassay-out", str(folder), *words, str(file)],
        cwd=ROOT, env=os.environ | {FEW_PAIRS: "yes"} | variables, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return found.returncode, found.stdout + found.stderr


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_ten_lines_or_fewer(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    assert 0 < lines_of_code(source) <= LINES
    assert "def test_" in source
    assert "assay(" in source


def test_lines_are_counted() -> None:
    assert lines_of_code('"""One.\n\nTwo."""\n\n# three\nimport os\n\n\nx = 1  # four\n') == 2


def test_every_example_is_run() -> None:
    ours = {file.stem for file in FILES if not file.stem.startswith(ELSEWHERE)}
    assert ours == set(FLAWS)


@pytest.mark.slow
@pytest.mark.parametrize("name", FLAWS)
def test_it_passes_and_its_flaw_is_found(name: str, tmp_path: Path, warm: Path) -> None:
    program = PROGRAMS.get(name)
    if program is not None and shutil.which(program) is None:
        lacks(f"no {program} on this machine", could_have=False)
    good = EXAMPLES / f"{name}.py"
    source = good.read_text(encoding="utf-8")
    right, wrong = FLAWS[name]
    assert source.count(right) == 1
    bad = tmp_path / f"{name}.py"
    bad.write_text(source.replace(right, wrong), encoding="utf-8")
    with service() as url:
        few = ("--dpassay-budget", str(FEW[name])) if name in FEW else ()
        code, said = run(warm / "python", good, tmp_path, *few, SERVICE_URL=url)
        assert code == 0, said
        assert "1 passed" in said
        assert "at least 0." in said
        code, said = run(warm / "python", bad, tmp_path, "--dpassay-stop-early", SERVICE_URL=url)
        assert code == 1, said
        assert "is refuted" in said
