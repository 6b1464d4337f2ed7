"""A baseline of attacks: what turns the gate red, what does not, and what cannot be compared."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binom

from dpassay.cli.exit_codes import Exit
from dpassay.cli.main import main
from dpassay.record.attack_compare import counted_again
from dpassay.record.baseline import CURVES, without_curves
from dpassay.record.compare import compare
from dpassay.record.files import dumps
from dpassay.record.schemas import fault
from tests.record.made_attacks import Record, attacked


@pytest.fixture(scope="module")
def old() -> Record:
    return attacked(0.1)


@pytest.fixture(scope="module")
def risen(old: Record) -> Record:
    """tells = 0.85 loses 2.51 of the claimed 3: nothing is broken, but it was 0.2."""
    return attacked(0.85, old)


def kinds(old: Record, new: Record, **more: Any) -> dict[str, str]:
    return {each.kind: each.words for each in compare(old, new, **more).changes}


def test_a_leak_that_rises_below_its_claim_is_a_regression_that_says_what_it_compares(
    old: Record, risen: Record
) -> None:
    found = kinds(old, risen)
    assert "refuted" not in found
    guesses = r"right guesses at record .*: \d+ of 300, and \d+ of 300 before"
    assert re.search(guesses, found["rose"])
    assert found["rose"].endswith("with 99.9 % confidence")
    assert not compare(old, risen).blind


def test_a_leak_that_falls_is_no_regression(old: Record, risen: Record) -> None:
    comparison = compare(risen, old)
    assert not comparison.regressions
    assert "fell" in {each.kind for each in comparison.changes}


def test_a_broken_claim_is_red_even_where_the_baseline_has_it() -> None:
    one = attacked(1.0, epsilon=0.5)
    assert "the claim is broken: guesses certify" in kinds(one, one)["refuted"]


def test_a_correct_mechanism_passes_with_other_coins(old: Record) -> None:
    """It is called worse with probability at most 0.1 %."""
    comparison = compare(old, attacked(0.1, old, name="other coins"))
    assert not comparison.blind
    assert not {"rose", "refuted"} & {each.kind for each in comparison.changes}


def entry(right: Any, n: int) -> Record:
    """Guesses at ten records of a view of which nothing is claimed."""
    certified = [
        {
            "view": "one label", "record": k, "lower": 0.0, "alpha": 0.01,
            "rule": {"record": k, "threshold": 1.0, "above": True, "expected": 0.9},
            "counts": {"x": int(each), "n1": n, "y": 0, "n0": 0},
        }
        for k, each in enumerate(right)
    ]  # fmt: skip
    outcome = {"view": {"name": "one label"}, "allowed": None}
    subject = {"error": None, "certified": certified, "outcomes": [outcome]}
    return {"subject": subject, "repeated": None}


@pytest.mark.parametrize("chance", [0.5, 0.9])
def test_false_alarms_of_equal_chances(chance: float) -> None:
    """Ten numbers of an entry share 2 alpha = 0.2; what is correlated changes nothing."""
    rng = np.random.default_rng(7)
    n, repeats, alpha = 150, 500, 0.1
    alarms = 0
    for _ in range(repeats):
        one, other = (entry(rng.binomial(n, chance, 10), n) for _ in range(2))
        alarms += any(each.moved == "rose" for each in counted_again(one, other, 0.0, alpha)[0])
    assert alarms <= binom.ppf(0.99, repeats, 2 * alpha)
    typical, raised = (
        entry(np.full(10, round(n * min(1.0, each))), n) for each in (chance, chance + 0.35)
    )
    assert any(each.moved == "rose" for each in counted_again(typical, raised, 0.0, alpha)[0])


def test_numbers_of_an_entry_share_its_error_probability_by_hand() -> None:
    """Ten numbers, two limits each: Clopper-Pearson limits at 0.1 / 20."""
    one = counted_again(entry([120] * 10, 150), entry([120] * 10, 150), 0.0, 0.1)[0][3]
    limits = np.array([beta.ppf(0.005, 120, 31), beta.ppf(0.995, 121, 30)])
    losses = np.log(limits / (1 - limits)).tolist()
    assert one.before == one.after == pytest.approx(tuple(losses))
    wrong = counted_again(entry([120] * 10, 150), entry([30] * 10, 150), 0.0, 0.1)[0][3]
    assert wrong.after == pytest.approx(one.after), "the opposite rule shows the same loss"


def test_where_nothing_is_counted_again_it_says_so_instead_of_passing(
    old: Record, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = copy.deepcopy(old)
    for each in new["subjects"][0]["certified"]:  # as other references choose other rules
        each["rule"]["threshold"] += 0.001
    assert compare(old, new).blind
    write(folder, old, new)
    assert main(["baseline", "check", "attack.json", "--baseline", "base.json"]) == 4
    said = " ".join(capsys.readouterr().out.split())
    assert "no rise could have been seen, however much leaks" in said


def test_too_few_targets_to_show_any_rise_say_so_instead_of_passing(old: Record) -> None:
    comparison = compare(old, attacked(0.1, old, models=8))
    assert comparison.blind
    assert "blinder" in {each.kind for each in comparison.regressions}  # the cap exceeded the claim


def test_of_what_nothing_is_claimed_a_rise_is_seen_unless_it_leaks_everything_already() -> None:
    one, everything = (attacked(tells, epsilon=None) for tells in (0.1, 1.0))
    assert "rose" in kinds(one, attacked(0.85, one, epsilon=None))
    comparison = compare(everything, everything)
    assert not comparison.changes
    assert comparison.blind


def test_an_estimate_fails_only_where_it_is_asked_for(old: Record) -> None:
    new = copy.deepcopy(old)
    new["subjects"][0]["outcomes"][0] |= {"auc": 0.9, "auc_low": 0.89, "auc_high": 0.91}
    comparison = compare(old, new)
    assert [each.kind for each in comparison.changes] == ["estimated"]
    assert not comparison.regressions
    (asked,) = compare(old, new, strict=True).regressions
    assert asked.kind == "rose"
    assert "certifies nothing" in asked.words


def repeated(old: Record, **rung: Any) -> Record:
    """Two answers to one query beside what an old record has."""
    each = {"name": "toy", "epsilon": 2.0, "delta": 0.0, "rungs": [{"m": 2, "basic": 4.0} | rung]}
    return copy.deepcopy(old) | {"repeated": [each]}


def test_exact_losses_are_compared_as_they_are(old: Record) -> None:
    one, other = (repeated(old, lower=0.1, limits={"epsilon": loss}) for loss in (1.0, 1.4))
    assert "2 answers to one query" in kinds(one, other)["rose"]
    assert "rose" not in kinds(one, other, tolerance=0.11)
    assert not compare(one, one).changes
    other["repeated"][0]["delta"] = 0.1
    assert "rose" not in kinds(one, other), "a loss at another delta is another number"


@pytest.mark.parametrize(
    ("scores", "threshold", "same"),
    [([0.7, -0.6], 1.4, True), ([0.5, -0.5], -0.1, False), ([-0.5, 0.5], 1.0, False)],
)
def test_events_are_the_same_if_the_same_answers_are_called(
    old: Record, scores: list[float], threshold: float, same: bool
) -> None:
    """(0.5, -0.5) from 1 on calls two answers 0: as do other scores, estimated on other coins."""
    one, other = (
        repeated(
            old,
            lower=x / 1000,
            losing="a pair",
            broken=False,
            counts={"x": x, "n1": 2000, "y": 200, "n0": 2000},
            event={"scores": called, "threshold": cut, "from_base": True},
        )
        for called, cut, x in (([0.5, -0.5], 1.0, 300), (scores, threshold, 1900))
    )
    found = kinds(one, other)
    assert ("rose" in found) == same
    assert same or "not certified" in found["elsewhere"]
    other["repeated"][0]["rungs"][0]["losing"] = "another pair"
    assert "rose" not in kinds(one, other)


def test_subjects_and_claims_that_change(old: Record) -> None:
    def changed(**fields: Any) -> dict[str, str]:
        subject = copy.deepcopy(old["subjects"][0])
        subject["claim"] |= fields.pop("claim", {})
        return kinds(old, old | {"subjects": [subject | fields]})

    assert set(changed(name="another")) == {"vanished", "new"}
    assert "(3, 0.01) and was (3, 0)" in changed(claim={"delta": 0.01})["weakened"]
    assert "tightened" in changed(claim={"epsilon": 1.5})
    failed = {"name": "toy", "claim": None, "error": "raised ValueError"}
    assert "raised ValueError" in kinds(old, old | {"subjects": [failed]})["failed"]


def test_a_baseline_is_a_sound_record_without_its_curves(old: Record) -> None:
    kept = without_curves(old)
    assert fault(kept, "attack") == fault(old, "attack") == ""
    assert kept["subjects"][0]["outcomes"][0]["roc"] == CURVES["roc"]
    assert not compare(kept, old).changes


def write(folder: Path, baseline: Any, record: Any) -> None:
    for name, held in (("base.json", baseline), ("attack.json", record)):
        text = held if isinstance(held, str) else dumps(held)
        (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_accepted_though_it_could_not_be_broken_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder, "", attacked(0.1, epsilon=8.0, models=40))
    assert main(["baseline", "accept", "attack.json", "--baseline", "new.json"]) == 0
    assert "could not have seen it: no leak can fail the gate" in capsys.readouterr().err


def changed(*path: Any, to: Any) -> Callable[[Record], str]:
    def make(record: Record) -> str:
        held = copied = copy.deepcopy(record)
        for key in path[:-1]:
            held = held[key]
        held[path[-1]] = to
        return dumps(copied)

    return make


CERTIFIED = ("subjects", 0, "certified", 0)
HOSTILE: dict[str, tuple[Callable[[Record], str], str]] = {
    "truncated": (lambda record: dumps(record)[:-200], "is not valid JSON"),
    "NaN": (lambda record: dumps(record).replace('"auc": ', '"auc": NaN, "x": '), "is not valid"),
    "empty": (lambda _: "", "is not valid JSON"),
    "of a run": (lambda _: '{"schema": "dpassay/record/3"}', "is of `dpassay run`"),
    "later": (changed("schema", to="dpassay/attack/9"), "is of schema dpassay/attack/9"),
    "text": (changed(*CERTIFIED, "lower", to="many"), "is damaged"),
    "no counts": (changed(*CERTIFIED, "counts", to={}), "is damaged"),
    "other seed": (changed("run", "seed", to=3), "is stale: it has seed = 3, the record 0"),
    "other data": (changed("run", "data", to={"name": "x"}), "is stale: it has data."),
    "other mechanism": (changed("subjects", 0, "name", to="x"), "none of the subjects"),
    "no fact": (changed("run", to={"complete": True}), "is damaged"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_baselines_are_refused_in_one_line(
    case: str, old: Record, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, said = HOSTILE[case]
    write(folder, make(old), old)
    for words in (
        ["baseline", "check", "attack.json", "--baseline", "base.json"],
        ["compare", "base.json", "attack.json"],
    ):
        assert main(words) == Exit.USAGE
        told = capsys.readouterr()
        assert said in told.err or words[0] == "compare"
        assert len(told.err.splitlines()) == 1
        assert told.out == ""
