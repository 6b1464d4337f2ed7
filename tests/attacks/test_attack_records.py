"""Records that `dpassay attack` writes: valid under the schema, and what is made from them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.attacks.experiment.certified import exposed
from dpassay.attacks.experiment.outcomes import separation
from dpassay.attacks.experiment.run import experiment
from dpassay.attacks.observed import Observed
from dpassay.cli import attack as attack_command
from dpassay.cli.main import main
from tests.attacks.command import attack, record_of

SMALL = "-q --records 60 --references 6 --models 4 --attacks lira,loss-threshold,gap"
TWO = "soft-majority -p r=5 --epsilon 1,8 --budgets 1,2 --transcripts 1000"
FAILING = """
from dataclasses import dataclass
from dpassay.claims import DP

@dataclass(frozen=True)
class Failing:
    epsilon: float = 1.0
    labels = (0, 1)
    claims = property(lambda self: (DP(epsilon=self.epsilon),))

    def prepare(self, data):
        return None

    def sample(self, state, queries, size, rng):
        raise ValueError("broken on purpose")
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with attacks on the learner and on one mechanism."""
    folder = tmp_path_factory.mktemp("attack")
    assert attack(f"{SMALL} {TWO} --out {folder}") == 4  # four guesses could have shown nothing
    names = ["tree (unprotected)", "soft-majority, epsilon = 1", "soft-majority, epsilon = 8"]
    assert [each["name"] for each in record_of(folder)["subjects"]] == names
    return folder


def test_a_record_of_the_learner_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert attack(f"{SMALL} --against base --json --out {tmp_path}") == 0
    record = record_of(tmp_path)
    assert json.loads(capsys.readouterr().out) == record
    assert record["subjects"][0]["claim"] is None
    assert len(record["subjects"][0]["separations"]) == 41


def test_the_folder_and_the_table(both: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = "attack.json attack.html attack.md attack.xml records.csv.gz models.sqlite sidecar.json"
    assert {path.name for path in both.iterdir()} == set(files.split())
    before = (both / "attack.json").read_text()
    # from the models that are kept
    assert attack(f"{SMALL.removeprefix('-q ')} {TWO} --out {both}") == 4
    printed = capsys.readouterr()
    assert " ".join(printed.out.split()).startswith(
        "Attacks on 3 subjects: 2 claims, 0 broken, 0 not broken (could have seen it), 2 could "
        "not have been seen "
    )
    assert max(map(len, printed.out.splitlines())) <= 80
    assert printed.err.endswith(f"report: {both / 'attack.html'}\n")
    assert (both / "attack.json").read_text() == before


def test_a_mechanism_that_fails_has_its_error_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "failing_one.py").write_text(FAILING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    words = "failing_one:Failing soft-majority --against mechanism --epsilon 1 --budgets 1"
    assert attack(f"{SMALL} {words} --out {tmp_path / 'out'}") == 3
    failing, other = record_of(tmp_path / "out")["subjects"]
    assert "broken on purpose" in failing["error"]
    assert other["error"] is None
    assert "1 failed" in (tmp_path / "out" / "attack.md").read_text()


def test_an_interrupted_run_keeps_what_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*given: Any, **named: Any) -> Iterator[Any]:
        yield next(experiment(*given, **named))
        raise KeyboardInterrupt

    monkeypatch.setattr(attack_command, "experiment", cut)
    assert attack(f"{SMALL} private-knn --epsilon 1 --transcripts 0 --out {tmp_path}") == 130
    record = record_of(tmp_path)
    assert not record["run"]["complete"]
    assert len(record["subjects"]) == 1
    assert "The run was interrupted" in (tmp_path / "attack.html").read_text()


def test_reports_from_the_record(both: Path, tmp_path: Path) -> None:
    assert main(["report", str(both / "attack.json"), "-o", str(tmp_path), "--exit-code"]) == 4
    kinds = "json", "html", "md", "xml"
    assert {path.name for path in tmp_path.iterdir()} == {f"attack.{kind}" for kind in kinds}
    assert all(path.read_bytes() == (both / path.name).read_bytes() for path in tmp_path.iterdir())
    assert main(["explain", str(both / "attack.json"), "x"]) == 2


@pytest.mark.parametrize(("where", "value", "said"), [
    (("subjects", 0, "outcomes", 0, "auc"), "high", '"high": must be a finite number'),
    (("subjects", 1, "certified", 0, "view"), "no view", "is damaged: it lacks 'no view'"),
    (("run", "complete"), 1, "run.complete = 1: must be true or false"),
])  # fmt: skip
def test_a_damaged_record_is_refused(
    both: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    where: tuple[Any, ...],
    value: Any,
    said: str,
) -> None:
    record = json.loads((both / "attack.json").read_text())
    place = record
    for step in where[:-1]:
        place = place[step]
    place[where[-1]] = value
    path = tmp_path / "attack.json"
    path.write_text(json.dumps(record))
    assert main(["report", str(path), "-o", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "is damaged" in error
    assert said in error


@pytest.mark.parametrize(("lower", "code"), [(1.5, 1), (0.5, 4)])
def test_a_bound_above_its_claim_is_refuted(
    both: Path, tmp_path: Path, lower: float, code: int
) -> None:
    record = json.loads((both / "attack.json").read_text())
    bound = record["subjects"][1]["certified"][0]
    fresh = {"x": 190, "n1": 200, "y": 10, "n0": 200}
    counts = {name: bound["counts"][name] + number for name, number in fresh.items()}
    bound |= {"lower": lower, "counts": counts, "fresh": fresh}
    path = tmp_path / "attack.json"
    words = ["report", str(path), "-o", str(tmp_path / "out"), "--exit-code", "--format", "json"]
    path.write_text(json.dumps(record))
    assert main(words) == code
    bound["lower"] = 0.0
    rung = {"m": 2, "basic": 1.0, "lower": lower, "broken": code == 1}
    record["repeated"] = [{"name": "soft-majority", "rungs": [rung]}]
    path.write_text(json.dumps(record))
    assert main(words) == code


def test_separation_does_not_divide_by_rounding() -> None:
    membership = np.array([[True], [True], [False], [False]] * 3)
    shares = np.where(membership, 0.9, 0.1) + np.array([1e-17, 0.0, 1e-17, 0.0] * 3)[:, None]
    seen = np.stack([1 - shares, shares], axis=2)
    found = separation(Observed(seen=seen, y=np.array([1]), m=None), membership)
    assert found.tolist() == pytest.approx([2 * np.log(9)])


def test_unbalanced_coins_make_no_record_exposed() -> None:
    """A rule that always says 'member' is right as often as the coins fell so: that is nothing."""
    membership = np.array([[k < 9, k % 2 == 0, True] for k in range(12)])
    second = [(0.9 if k % 2 == 0 else 0.1) if k > 3 else 0.5 for k in range(12)]
    shares = np.array([[0.5, share, 0.5] for share in second])
    seen = np.stack([1 - shares, shares], axis=2)
    first, *rest = exposed(Observed(seen=seen, y=np.array([1, 1, 1]), m=None), membership, 3)
    assert (first.record, first.above) == (1, True)
    assert first.expected == pytest.approx(5 / 6)
    assert [rule.expected for rule in rest] == [0.5, 0.5]
