"""What an author might try so that a gate is green: none of it turns a refutation into exit 0."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpassay.cli.main import main
from tests.hostile.running import AUDITEES, SMALL

BIN = Path(sys.executable).parent
DPASSAY = [str(BIN / "dpassay")]
MODULE = [sys.executable, "-m", "dpassay"]
ENDS = "import os\nos._exit(0)\n"
SHADOWS = (
    *("jinja2", "matplotlib", "seaborn", "rich", "pandas", "argcomplete"),
    *("jsonschema", "statsmodels"),
)
"""What the judge imports when the auditees have run."""
AT_THE_END = (
    "import atexit, os\natexit.register(os._exit, 0)\nfrom hostile_table import near as f\n"
)
LEAKS = "from hostile_table import near as f\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(AUDITEES, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__*"))
    (tmp_path / "leaks.py").write_text(LEAKS)
    return tmp_path


def ends(folder: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_class_cannot_declare_its_own_claim_wrong(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    assert main(["run", "hostile_forgeries:Expected", *SMALL, "-q"]) == 1
    assert "as declared" not in "".join(capsys.readouterr())


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [[*MODULE, "run", "leaks:f"], [*DPASSAY, "run", "projected-walk", "leaks:f"]],
    ids=["python -m dpassay", "dpassay, beside a name of the catalogue"],
)
def test_modules_of_the_working_directory_are_not_the_judges(
    project: Path, words: list[str]
) -> None:
    for name in SHADOWS:
        (project / f"{name}.py").write_text(ENDS)
    (project / "sitecustomize.py").write_text(ENDS)
    code, text = ends(project, *words, "--claim", "epsilon=1", *SMALL, "-q", "--out", "out")
    assert code == 1, text
    assert (project / "out/index.html").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "text", "wanted"),
    [
        (["run"], AT_THE_END, 1),
        (["run"], ENDS, 3),
        (["attack", "--against", "mechanism"], AT_THE_END, 1),
    ],
)
def test_an_import_cannot_end_the_command_with_0(
    project: Path, command: list[str], text: str, wanted: int
) -> None:
    (project / "ends.py").write_text(text)
    sizes = SMALL if command == ["run"] else ["--records", "30", "--references", "4"]
    words = [*DPASSAY, *command, "ends:f", "--claim", "epsilon=1", *sizes, "-q", "--out", "out"]
    code, said = ends(project, *words)
    assert code == wanted, said


ASSAY = """
import numpy as np
import pytest
import hostile_forgeries as forgeries
import hostile_output as output
from dpassay import DP, replace_one
from hostile_table import near

X, y = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 0, 1])
PAIRS = replace_one(X, y, pool=(X + 0.5, 1 - y))

ASKED = [
    near, output.exit_0, output.raises_exit_0, output.raises_interrupt, output.answers_equal,
    forgeries.counts_negative, forgeries.Slippery(), forgeries.Expected(), forgeries.Mimics(),
]
NOT_ASKED = [near, output.exit_0, forgeries.Mimics()]

@pytest.mark.parametrize(
    ("auditee", "asks"), [*((each, True) for each in ASKED), *((each, False) for each in NOT_ASKED)]
)
def test_gate(assay, auditee, asks):
    result = assay(auditee, claim=DP(epsilon=1.0), pairs=PAIRS, queries=[[0.0]], budget=300)
    if asks:
        result.assert_not_refuted()
"""


@pytest.mark.slow
def test_a_test_of_a_hostile_function_fails(project: Path) -> None:
    (project / "test_gate.py").write_text(ASSAY)
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no", "test_gate.py"]
    code, text = ends(project, sys.executable, *words)
    assert code == 1, text
    # who does not ask passes, and fails at its end
    found = re.findall(r"(\d+) (?:failed|errors?)", text.splitlines()[-1])
    assert sum(map(int, found)) == 12, text


@pytest.mark.slow
def test_a_configuration_that_is_rewritten_does_not_excuse_the_next_step(
    project: Path, warm: Path
) -> None:
    """What an auditee writes during the run lets nothing pass in the check of the baseline."""
    entry = '[[mechanisms]]\nname = "it"\ntarget = "{}"\nclaim = {{ epsilon = 1.0 }}\n'
    (project / "dpassay.toml").write_text(entry.format("hostile_table:fair"))
    dpassay = str(warm / "dpassay")
    words = [dpassay, "run", *SMALL, "-q", "--out", "out"]
    code, text = ends(project, *words, "--allow-inconclusive")
    assert code == 0, text
    assert ends(project, dpassay, "baseline", "accept", "out/record.json")[0] == 0
    (project / "dpassay.toml").write_text(entry.format("hostile_system:suppresses_itself"))
    assert ends(project, *words)[0] in (1, 3)
    code, text = ends(project, dpassay, "baseline", "check", "out/record.json")
    assert code != 0, text
    verdicts = {
        each["verdict"] for each in json.loads((project / "out/record.json").read_text())["results"]
    }
    assert verdicts <= {"refuted", "error"}
