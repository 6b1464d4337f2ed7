"""What is installed is what lies in the folders, and importing it is cheap."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

import dpassay

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "dpassay": "audit",
    "dpassay/mechanisms": "mechanisms",
    "dpassay/attacks": "attacks",
    "dpassay/reports": "reports",
}
SLOW = {"pandas", "sklearn", "statsmodels", "seaborn", "matplotlib", "jinja2", "jsonschema"}
SLOW |= {"joblib", "scipy.stats"}
HEAVY = SLOW | {"numpy", "scipy", "rich"}
CHARTS = ["matplotlib", "pandas", "scipy.stats", "seaborn", "statsmodels"]
GRAMMARS = {"lark", "rfc3987", "rfc3987_syntax", "isoduration", "webcolors"}
"""What jsonschema imports where it is installed, for formats that no schema of ours names."""
ROW = "chaudhuri-vinterbo-2013/lemma-4/by-content"


def sources() -> set[str]:
    return {
        f"{package}/{path.relative_to(ROOT / folder)}"
        for package, folder in FOLDERS.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_editable_install_links_every_file() -> None:
    installed = Path(dpassay.__file__).parent
    linked = {
        f"dpassay/{path.relative_to(installed)}" for path in installed.rglob("*") if path.is_file()
    }
    assert {name for name in linked if "__pycache__" not in name} == sources()


@pytest.mark.slow
def test_the_wheel_holds_every_file(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in tracked.splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    words = ["-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(copy)]
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == sources()


def test_every_folder_is_declared_and_the_version_is_said_once() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())
    code = [Path(name) for name in sources() if name.endswith(".py")]
    with_code = {path.parent.as_posix().replace("/", ".") for path in code}
    assert with_code == set(told["tool"]["setuptools"]["packages"])
    assert told["project"]["version"] == dpassay.__version__


def test_importing_and_help_load_nothing_heavy(tmp_path: Path) -> None:
    helped = "try: main(['--help'])\nexcept SystemExit: pass"
    assert loaded(tmp_path, HEAVY, before=helped) == []


def loaded(folder: Path, modules: set[str], *commands: str, before: str = "") -> list[str]:
    """Which of some modules some commands import, one after the other in one process."""
    probe = (
        f"import sys\nfrom dpassay.cli.main import main\n{before}\n"
        f"for words in {[command.split() for command in commands]!r}:\n"
        "    assert main(words) in (0, 4)\n"
        f"print('LOADED', *sorted({modules!r} & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, cwd=folder
    ).stdout
    words = found.splitlines()[-1].split()
    assert words[0] == "LOADED"
    return words[1:]


def test_a_command_that_audits_nothing_loads_nothing_heavy(tmp_path: Path) -> None:
    assert loaded(tmp_path, HEAVY, "config --show", "list") == ["rich"]
    assert loaded(tmp_path, SLOW, "list --json", "theorem list") == []


def test_a_sampled_audit_loads_nothing_slow(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def answer(data, rng):\n    return int(rng.random() < 0.5)\n")
    few = f"sys.path.append({str(ROOT)!r})\nfrom tests.warm import shorten\nshorten(setattr)"
    assert loaded(tmp_path, SLOW, "run one:answer --claim epsilon=1 --budget 100", before=few) == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with records of a run and of a theorem, and their witnesses."""
    found = tmp_path_factory.mktemp("records")
    run = "run projected-walk --mode exact --queries 3 -q --out run"
    loaded(found, SLOW, run, f"theorem run {ROW} -q --out theorems")
    return found


@pytest.mark.parametrize(
    ("commands", "needed"),
    [
        (
            (
                "explain projected-walk.printed.exact --record run/record.json",
                "compare run/record.json run/record.json",
                "replay run/witnesses/projected-walk.printed.exact.json",
                "compare theorems/theorems.json theorems/theorems.json",
                f"theorem replay theorems/witnesses/{ROW.replace('/', '%2F')}.json",
            ),
            ["jsonschema"],
        ),
        (["report run/record.json --out pages"], ["jinja2", "jsonschema", *CHARTS]),
        (["report theorems/theorems.json --out pages"], ["jinja2", "jsonschema"]),
    ],
)
def test_a_command_that_reads_loads_nothing_slow_but_what_it_needs(
    commands: Sequence[str], needed: list[str], folder: Path
) -> None:
    assert loaded(folder, SLOW | GRAMMARS, *commands) == needed
