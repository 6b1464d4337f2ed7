"""What a command was given is fixed before a user's code runs; a change is told, and is red."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dpassay.cli.main import main
from dpassay.cli.sealed import LIBRARIES, sealed
from dpassay.config.load import load_config
from dpassay.trials.isolation.limits import PROTECTED, protected
from dpassay.trials.ledger import SEALED, code_of

EVIL = """
import os
from pathlib import Path
WHAT, WHERE = Path("what").read_text().split()
if WHERE == "import":
    Path(WHAT).write_text("seed = 2\\n")
def f(data, queries, size, rng):
    if WHERE == "trials":
        Path(WHAT).write_text("seed = 2\\n")
    return rng.integers(0, 2, (size, len(queries)))
def leak(data, queries, size, rng):
    f(data, queries, size, rng)
    return data.y[:1] * rng.integers(1, 2, (size, len(queries)))
"""
WORDS = [*("--claim", "epsilon=9", "--profile", "quick", "--budget", "300", "--train", "10")]
WORDS += [*("--neighbours", "flip", "--queries", "1")]
WORDS += [*("--data", "people.csv", "--label", "y", "-q", "--out", "out")]
SIZES = ["--models", "2", "--references", "4", "--records", "12", "--transcripts", "0"]
SIZES += ["--budgets", "1", "--attacks", "gap"]

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture(autouse=True)
def anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without namespaces, where user code writes into the folder that it is run in."""
    monkeypatch.setattr("dpassay.trials.isolation.host.namespaces", lambda: None)


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a configuration, data and a function that writes where it should not."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("dpassay.toml").write_text("seed = 1\n")
    Path("people.csv").write_text("x,y\n" + "1,0\n2,1\n3,1\n" * 20)
    Path("evil_writer.py").write_text(EVIL)
    return tmp_path


@pytest.mark.parametrize(
    ("what", "where"),
    [
        ("dpassay.toml", "import"),
        ("dpassay-baseline.json", "import"),
        ("evil_writer.py", "trials"),
        ("other.csv", "trials"),
    ],
)
def test_a_change_is_red_and_says_of_what(
    evil: Path, what: str, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("what").write_text(f"{what} {where}")
    code = main(["run", "evil_writer:f", *WORDS, "--allow-inconclusive"])
    run, told = json.loads(Path("out/record.json").read_text())["run"], capsys.readouterr().err
    if what == "other.csv":
        assert (code, run["complete"], "changed" in run) == (0, True, False)
        return
    assert (code, run["complete"]) == (3, False)
    assert f"dpassay: error: '{what}' changed during the run" in told
    assert run["changed"].startswith(f"'{what}' changed during the run")
    assert "changed during the run" in (evil / "out/report.md").read_text()
    assert "changed during the run" in (evil / "out/junit.xml").read_text()
    assert main(["baseline", "accept", "out/record.json"]) == 2
    assert "changed during the run" in capsys.readouterr().err


def test_a_refutation_stays_one(evil: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("what").write_text("dpassay.toml trials")
    assert main(["run", "evil_writer:leak", *WORDS, "--claim", "epsilon=0.5"]) == 1
    assert main(["report", "out/record.json", "--exit-code"]) == 1
    suppression = '[[suppressions]]\nresult = "evil_writer:leak.own.monte-carlo"\n'
    suppression += 'kind = "refuted"\nreason = "ok"\nexpires = 2027-01-15\n'
    (evil / "dpassay.toml").write_text(suppression)
    (evil / "dpassay-baseline.json").write_text((evil / "out/record.json").read_text())
    assert main(["baseline", "check", "out/record.json"]) == 2
    assert "'dpassay.toml' changed during the run" in capsys.readouterr().err


def test_an_attack_tells_it_too(evil: Path) -> None:
    Path("what").write_text("people.csv trials")
    words = ["attack", "evil_writer:f", *SIZES, *WORDS[:2], *WORDS[-7:], "--allow-inconclusive"]
    assert main(words) == 3
    assert "people.csv" in json.loads(Path("out/attack.json").read_text())["run"]["changed"]


def test_the_code_is_known_before_it_runs(evil: Path) -> None:
    from dpassay.claims import DP
    from dpassay.targets.resolve import resolve

    Path("what").write_text("evil_writer.py import")
    with sealed(load_config(), ["run", "evil_writer:f"]) as changed:
        assert str(evil / "dpassay.toml") in PROTECTED
        before = SEALED["evil_writer"]
        target = resolve("evil_writer:f", claims=(DP(epsilon=1.0),))
        assert before in code_of(target)
        assert "evil_writer.py" in changed()["changed"]
    assert (PROTECTED, SEALED) == ([], {})
    assert before not in code_of(target)


def test_slow_libraries_that_a_module_names_are_imported_before_it_runs(
    evil: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that dpassay depends on, by the source of the module that is named; no other."""
    names: list[str] = []
    monkeypatch.setattr("dpassay.cli.sealed.import_module", names.append)
    Path("other.py").write_text("import statsmodels.api")
    for text, expected in (
        ("import os, scipy.special\n  from sklearn.tree import Tree\n", LIBRARIES["sklearn"]),
        ("from scipy import optimize, stats", ("scipy.stats",)),
        ("import scipy.stats as st", ("scipy.stats",)),
    ):
        Path("mine.py").write_text(text)
        with sealed(load_config(), ["config", "mine:f"]):
            assert names == list(expected)
        names.clear()


def test_the_working_directory_is_not_protected(evil: Path) -> None:
    import dpassay

    with sealed(load_config({"out": "."}), ["run"]):
        found = protected()
    assert not any(evil.is_relative_to(path) for path in found)
    assert any(Path(dpassay.__file__).resolve().is_relative_to(path) for path in found)


LATE = """
import os, sys
from dpassay.cli.main import main
from dpassay.trials.isolation import limits
own, late, begun = os.getpid(), [], []
def hook(event, given):
    if os.getpid() == own and (begun or limits.PROTECTED):
        begun.append(1)
        late.extend([given[0]] if event == "import" and given[0].startswith("dpassay") else [])
sys.addaudithook(hook)
main(sys.argv[1:])
print(sorted(late), bool(begun), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "words",
    [
        ["run", "evil_writer:f", *WORDS],
        ["attack", "evil_writer:f", *SIZES, *WORDS[:2], *WORDS[-7:]],
    ],
    ids=["run", "attack"],
)
def test_nothing_of_ours_is_imported_once_user_code_may_have_run(
    evil: Path, words: list[str]
) -> None:
    Path("what").write_text("other.csv trials")
    done = subprocess.run(
        [sys.executable, "-c", LATE, *words], capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1] == "[] True"
