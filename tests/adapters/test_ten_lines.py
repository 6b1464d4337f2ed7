"""Ten lines of a user's are enough, and they run as they stand in examples/ten_lines.

diffprivlib 0.6.6 goes with scikit-learn 1.6 or 1.7, not with ours: its examples run in an
environment of their own in build/, which is made once. It has these two and takes the rest from
the project's.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import sysconfig
import tokenize
import tomllib
from pathlib import Path

import pytest

import dpassay
from benchmarks.real_bugs import Environment, interpreter

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "ten_lines"
EXAMPLES = sorted(
    path for kind in ("opendp", "diffprivlib") for path in FOLDER.glob(f"{kind}_*.py")
)
"""The others are run by tests/docs/test_ten_lines.py, which counts all lines."""
NAMES = {
    *("opendp_laplace", "opendp_gaussian", "opendp_randomised_response", "opendp_noisy_max"),
    *("diffprivlib_gaussian_nb", "diffprivlib_logistic_regression", "diffprivlib_mean"),
    *("diffprivlib_histogram", "diffprivlib_quantile"),
}
MOST = 10
"""Lines of code in an example."""
CONFIDENCE = "0.999999"
"""OpenDP's coins have no seed, and its randomised response loses all that it claims: at .999 a true
claim is refuted in one run of a thousand."""
OLDER = "scikit-learn==1.6.1"
"""What diffprivlib needs in another release than ours."""
SKIPPED = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


def lines_of_code(source: str) -> int:
    """Lines with anything on them but comments and the docstring of the file."""
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in SKIPPED
    ]
    if tokens and tokens[0].type == tokenize.STRING:
        tokens = tokens[1:]
    return len({line for each in tokens for line in range(each.start[0], each.end[0] + 1)})


def test_every_example_that_is_promised_is_there() -> None:
    assert {path.stem for path in EXAMPLES} == NAMES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_ten_lines_at_most(path: Path) -> None:
    assert 0 < lines_of_code(path.read_text(encoding="utf-8")) <= MOST


def test_lines_are_counted() -> None:
    assert lines_of_code('"""A\n\nB"""\n\nimport a  # c\n\n\n# d\ndef f(\n    x,\n):\n    b\n') == 5
    assert lines_of_code("a = '''x\ny'''\n") == 2


def ran(python: Path, path: Path, folder: Path, warnings: str = "error") -> tuple[int, str]:
    """Run an example as a user's test would be run, with this dpassay."""
    (folder / "import").mkdir()
    (folder / "import" / "dpassay").symlink_to(Path(dpassay.__file__).parent)
    names = [name for name in os.environ if not name.startswith(("PYTEST", "COV", "PYTHOND"))]
    environment = {name: os.environ[name] for name in names}
    found = subprocess.run(
        [
            *(str(python), "-P", "-W", warnings, "-m", "pytest", "-q", "-c", os.devnull),
            *("-p", "no:cacheprovider", "-p", "dpassay.pytest_plugin"),
            *("--rootdir", str(folder), "--dpassay-seed", "7", "--dpassay-confidence", CONFIDENCE),
            str(path),
        ],
        cwd=folder,
        env=environment
        | {"PYTHONPATH": str(folder / "import"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return found.returncode, found.stdout + found.stderr


def examples(prefix: str) -> list[Path]:
    return [path for path in EXAMPLES if path.stem.startswith(prefix)]


@pytest.mark.slow
@pytest.mark.parametrize("path", examples("opendp"), ids=lambda path: path.stem)
def test_an_example_of_opendp_passes(path: Path, tmp_path: Path) -> None:
    code, told = ran(Path(sys.executable), path, tmp_path)
    assert code == 0, told
    assert re.search(r"1 passed", told), told


@pytest.fixture(scope="module")
def older() -> Path:
    """The interpreter of an environment with diffprivlib, before all that the project's has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]["diffprivlib"]
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    environment = Environment("diffprivlib", (), (*extras, OLDER), python=version)
    python = interpreter(environment, ROOT / "build" / "ten_lines")
    packages = python.parents[1] / "lib" / f"python{version}" / "site-packages"
    (packages / "project.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python


@pytest.mark.slow
@pytest.mark.parametrize("path", examples("diffprivlib"), ids=lambda path: path.stem)
def test_an_example_of_diffprivlib_passes(path: Path, older: Path, tmp_path: Path) -> None:
    code, told = ran(older, path, tmp_path, warnings="ignore")  # it is older than its SciPy
    assert code == 0, told
    assert re.search(r"1 passed", told), told


@pytest.mark.slow
def test_an_example_with_half_the_noise_fails(tmp_path: Path) -> None:
    source = (FOLDER / "opendp_laplace.py").read_text(encoding="utf-8")
    assert "opendp.claim(total, d_in=1)" in source
    broken = tmp_path / "opendp_broken.py"
    halved = "dpassay.DP(epsilon=0.5)"
    text = source.replace("opendp.claim(total, d_in=1)", halved).replace(
        "from dpassay.adapters", "import dpassay\nfrom dpassay.adapters"
    )
    broken.write_text(text, encoding="utf-8")
    code, told = ran(Path(sys.executable), broken, tmp_path)
    assert code == 1, told
    assert "DP(0.5) of dpassay.adapters.opendp:Release is refuted" in told
