"""What is installed is what lies in the folders, and importing it is cheap."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
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
SLOW = {
    *(
        "pandas",
        "sklearn",
        "statsmodels",
        "seaborn",
        "matplotlib",
        "jinja2",
        "jsonschema",
        "joblib",
    ),
    "scipy.stats",
}
HEAVY = SLOW | {"numpy", "scipy", "rich"}
CHARTS = ["matplotlib", "pandas", "scipy.stats", "seaborn", "statsmodels"]
GRAMMARS = {"lark", "rfc3987", "rfc3987_syntax", "isoduration", "webcolors"}
"""What jsonschema imports where it is installed, for formats that no schema of ours names."""
ROW = "chaudhuri-vinterbo-2013/lemma-4/by-content"


def sources() -> set[str]:
    found = set()
    for package, folder in FOLDERS.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                found.add(f"{package}/{path.relative_to(ROOT / folder)}")
    return found


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
    subprocess.run(
        [
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
            str(tmp_path),
            str(copy),
        ],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == sources()


def test_every_folder_is_declared() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"][
        "packages"
    ]
    with_code = {
        Path(name).parent.as_posix().replace("/", ".") for name in sources() if name.endswith(".py")
    }
    assert with_code == set(declared)


@pytest.mark.parametrize(
    "code",
    [
        "import dpassay",
        "from dpassay.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass",
    ],
)
def test_importing_and_help_load_nothing_heavy(code: str) -> None:
    probe = f"{code}\nimport sys\nprint('LOADED', *sorted({HEAVY!r} & set(sys.modules)))"
    found = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    ).stdout
    assert found.splitlines()[-1].split() == ["LOADED"]


def loaded(command: str, folder: Path, modules: set[str]) -> list[str]:
    """Which of some modules a command imports."""
    probe = (
        "import sys\nfrom dpassay.cli.main import main\n"
        f"assert main({command.split()!r}) in (0, 4)\n"
        f"print('LOADED', *sorted({modules!r} & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, cwd=folder
    ).stdout
    words = found.splitlines()[-1].split()
    assert words[0] == "LOADED"
    return words[1:]


def test_the_catalogue_in_full_loads_nothing_slow(tmp_path: Path) -> None:
    assert loaded("list --json", tmp_path, SLOW) == []


@pytest.mark.parametrize("command", ["config --show", "list"])
def test_a_command_that_audits_nothing_loads_nothing_heavy(command: str, tmp_path: Path) -> None:
    assert loaded(command, tmp_path, HEAVY) == ["rich"]


def test_a_sampled_audit_loads_nothing_slow(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def answer(data, rng):\n    return int(rng.random() < 0.5)\n")
    assert loaded("run one:answer --claim epsilon=1 --budget 100", tmp_path, SLOW) == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with records of a run and of a theorem, and their witnesses."""
    found = tmp_path_factory.mktemp("records")
    loaded("run projected-walk --mode exact --queries 3 -q --out run", found, SLOW)
    loaded(f"theorem run {ROW} -q --out theorems", found, SLOW)
    return found


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        ("explain projected-walk.printed.exact --record run/record.json", ["jsonschema"]),
        ("compare run/record.json run/record.json", ["jsonschema"]),
        ("replay run/witnesses/projected-walk.printed.exact.json", ["jsonschema"]),
        ("report run/record.json --out pages", ["jinja2", "jsonschema", *CHARTS]),
        ("compare theorems/theorems.json theorems/theorems.json", ["jsonschema"]),
        ("report theorems/theorems.json --out pages", ["jinja2", "jsonschema"]),
        ("theorem list", []),
        (f"theorem replay theorems/witnesses/{ROW.replace('/', '%2F')}.json", ["jsonschema"]),
    ],
)
def test_a_command_that_reads_loads_nothing_slow_but_what_it_needs(
    command: str, needed: list[str], folder: Path
) -> None:
    assert loaded(command, folder, SLOW | GRAMMARS) == needed


def test_version_is_said_once() -> None:
    assert (
        tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
        == dpassay.__version__
    )
