"""Ten lines of a user's are enough, and they run as they stand in examples/ten_lines.

diffprivlib 0.6.6 goes with scikit-learn 1.6 or 1.7, not with ours: its examples run in an
environment of their own in build/, which is made once. It has these two and takes the rest from
the project's. tests/docs/test_ten_lines.py counts the lines of all examples and runs the others.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

import dpassay
from benchmarks.real_bugs import Environment, interpreter

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "ten_lines"
OPENDP = sorted(FOLDER.glob("opendp_*.py"))
DIFFPRIVLIB = sorted(FOLDER.glob("diffprivlib_*.py"))
NAMES = {
    *("opendp_laplace", "opendp_gaussian", "opendp_randomised_response", "opendp_noisy_max"),
    *("diffprivlib_gaussian_nb", "diffprivlib_logistic_regression", "diffprivlib_mean"),
    *("diffprivlib_histogram", "diffprivlib_quantile"),
}
CONFIDENCE = "0.999999"
"""OpenDP's coins have no seed, and its randomised response loses all that it claims: at .999 a true
claim is refuted in one run of a thousand."""
OLDER = "scikit-learn==1.6.1"
"""What diffprivlib needs in another release than ours."""
SHORTER = """
import pytest
from dpassay import testing
from warm import shorten

def few(*given, budget, **more):
    return whole(*given, budget=min(budget, 5000), **more)

shorten(pytest.MonkeyPatch().setattr)
whole, testing.audit = testing.audit, few
"""
"""A plugin that has a search look at a dozen pairs, and few runs certified: fits are slow."""


def ran(python: Path, paths: Sequence[Path], folder: Path, warnings: str) -> str:
    """Run examples as a user's tests would be run, with this dpassay; return what is printed."""
    (folder / "import").mkdir()
    (folder / "import" / "dpassay").symlink_to(Path(dpassay.__file__).parent)
    (folder / "import" / "shorter.py").write_text(SHORTER, encoding="utf-8")
    names = [name for name in os.environ if not name.startswith(("PYTEST", "COV", "PYTHOND"))]
    environment = {name: os.environ[name] for name in names}
    found = subprocess.run(
        [
            *(str(python), "-P", "-W", warnings, "-m", "pytest", "-rA", "-c", os.devnull),
            *("-p", "no:cacheprovider", "-p", "dpassay.pytest_plugin", "-p", "shorter"),
            *("--rootdir", str(folder), "--dpassay-seed", "7", "--dpassay-confidence", CONFIDENCE),
            *("--dpassay-budget", "2000", *map(str, paths)),
        ],
        cwd=folder,
        env=environment
        | {
            "PYTHONPATH": os.pathsep.join((str(folder / "import"), str(ROOT / "tests"))),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout + found.stderr


def test_every_example_that_is_promised_is_there() -> None:
    assert {path.stem for path in (*OPENDP, *DIFFPRIVLIB)} == NAMES


@pytest.mark.slow
def test_examples_of_opendp_pass_and_one_with_half_the_noise_fails(tmp_path: Path) -> None:
    source = (FOLDER / "opendp_laplace.py").read_text(encoding="utf-8")
    broken = tmp_path / "opendp_broken.py"
    assert "opendp.claim(total, d_in=1)" in source
    text = source.replace("opendp.claim(total, d_in=1)", "dpassay.DP(epsilon=0.5)")
    text = text.replace("budget=5000", "budget=2000").replace(
        "from dpassay.adapters", "import dpassay\nfrom dpassay.adapters"
    )
    broken.write_text(text, encoding="utf-8")
    said = ran(Path(sys.executable), [*OPENDP, broken], tmp_path, "error")
    assert re.search(r"\b1 failed, 4 passed\b", said), said
    assert re.search(r"^FAILED \S*opendp_broken\.py", said, re.MULTILINE), said
    assert "DP(0.5) of opendp.mod:Measurement is refuted" in said


@pytest.mark.slow
def test_examples_of_diffprivlib_pass(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]["diffprivlib"]
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    environment = Environment("diffprivlib", (), (*extras, OLDER), python=version)
    python = interpreter(environment, ROOT / "build" / "ten_lines")
    packages = python.parents[1] / "lib" / f"python{version}" / "site-packages"
    (packages / "project.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    said = ran(python, DIFFPRIVLIB, tmp_path, "ignore")  # it is older than its SciPy
    assert re.search(r"\b5 passed\b", said), said
    assert "failed" not in said, said
