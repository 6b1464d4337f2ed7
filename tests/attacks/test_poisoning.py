"""Canaries and their exposure, poisoned backgrounds, chosen queries, and results on slices."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.attacks.experiment.models import (
    Coins,
    ExperimentData,
    Training,
    build_data,
    models,
    toss,
)
from dpassay.attacks.experiment.one_run import CrossFitted
from dpassay.attacks.experiment.outcomes import Attacked, Sliced, exposure, parts, sliced
from dpassay.attacks.experiment.poisoning import (
    CLOSE,
    NEAR,
    STEPS,
    balance,
    better,
    candidates,
    choose,
    plant,
    surround,
)
from dpassay.attacks.experiment.record import make_attack_record
from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.experiment.scenario import Scenario, lay
from dpassay.attacks.experiment.subjects import Learner
from dpassay.attacks.scores import ATTACKS, lira
from dpassay.data import Labelled, load
from dpassay.errors import InvalidInput
from dpassay.mechanisms.shared.learners import estimator_of
from dpassay.trials.ledger import Ledger
from tests.attacks.command import attack
from tests.attacks.toys import Memory, Nothing
from tests.attacks.twins import twin_scores

TREE = Learner(make=estimator_of("tree"), name="tree")


def laid(**options: Any) -> ExperimentData:
    return lay(load("breast-cancer"), Scenario(**{"records": 200, "copies": 0} | options))[0]


def attacked(floor: ExperimentData) -> Attacked:
    target, design = Target(name="tree", subject=TREE), Design(references=16, targets=8)
    (found,) = experiment([target], floor, {"lira": lira}, design)
    return found


def of(found: Attacked, name: str) -> Sliced:
    return next(part for part in found.outcomes[0].sliced if part.name == name)


def test_training_sets_that_differ_in_a_coin_differ_in_one_record() -> None:
    floor = laid(adversary="pois-minq")
    heads = toss(1, 200, seed=0, who="target").heads
    other = heads.copy()
    other[0, 7] = ~other[0, 7]
    one, two = floor.training(Coins(heads=heads), 0), floor.training(Coins(heads=other), 0)
    assert len(one) == len(two) == 140
    assert ((one.X != two.X).any(axis=1) | (one.y != two.y)).sum() == 1
    assert floor.background is not None
    for data in (one, two):
        np.testing.assert_array_equal(data.X[100:], floor.background.X)
        np.testing.assert_array_equal(data.y[100:], floor.background.y)


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_poison_lies_close_around_the_record_with_another_label(copies: int) -> None:
    records = laid().records
    places = np.array([3, 8])
    poison = surround(records, places, copies, seed=1)
    assert len(poison) == 2 * copies
    for i, place in enumerate(places.tolist()):
        mine = np.arange(len(poison)) % 2 == i
        assert (poison.y[mine] != records.y[place]).all()
        away = (poison.X[mine] - records.X[place]) / records.X.std(axis=0)
        np.testing.assert_allclose(np.abs(away), NEAR, rtol=1e-6)
        if copies >= 2:
            np.testing.assert_allclose(away[0], -away[1], rtol=1e-6)


@pytest.mark.parametrize("copies", [1, 5, 25])
def test_a_record_decides_the_vote_of_its_nearest(copies: int) -> None:
    records = laid().records
    places = np.array([3, 8, 40])
    poison = balance(records, places, copies, seed=1)
    assert len(poison) == 3 * copies
    X, y = np.vstack([records.X, poison.X]), np.concatenate([records.y, poison.y])
    assert np.linalg.norm(poison.X - np.tile(records.X[places], (copies, 1)), axis=1).max() <= (
        2.01 * CLOSE * np.linalg.norm(records.X.std(axis=0))
    )
    for place in places.tolist():
        far = np.linalg.norm(X - X[place], axis=1)
        votes = {}
        for inside in (True, False):
            far[place] = 0.0 if inside else np.inf
            nearest = np.argsort(far, kind="stable")[:copies]
            votes[inside] = int((y[nearest] == y[place]).sum())
        assert votes == {True: (copies + 1) // 2, False: (copies - 1) // 2}


@pytest.mark.slow
def test_balance_breaks_no_claim_and_hides_little_of_a_membership(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = "private-knn --against mechanism --epsilon 2 --adversary pois-minq --budgets 8"
    words += " --copies 0 --poison-labels balanced --poisoned 20 --models 200 --seed 3 --json"
    # 200 models cannot certify 16, the loss of 8 answers
    assert attack(f"{words} --attacks likelihood-ratio,loss-threshold,lira") == 4
    record = json.loads(capsys.readouterr().out)
    (found,) = record["subjects"]
    for outcome in found["outcomes"]:
        (poisoned,) = (part for part in outcome["slices"] if part["slice"] == "poisoned")
        # the vote moves by 2 of 25: Bin(8, q) and Bin(8, 1 - q) are told apart with .977
        assert 0.95 < poisoned["auc"] < 0.99
    (repeated,) = record["repeated"]
    assert all(0 < rung["lower"] < rung["m"] * 2.0 for rung in repeated["rungs"])
    assert all(0 < told["lower"] < 8 * 2.0 for told in found["certified"])


def test_candidates_are_the_record_its_copies_and_the_way_to_the_other_class() -> None:
    records = Labelled(
        np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 40.0], [8.0, 80.0]]), np.array([0, 1, 1, 0])
    )
    floor = build_data(records, records, copies=2, noise=0.1, seed=0)
    points = candidates(floor)
    assert points.shape == (1 + 2 + 2 * len(STEPS), 4, 2)
    np.testing.assert_array_equal(points[0], records.X)
    np.testing.assert_array_equal(points[1:3], floor.points.copies[:, :4])
    scale = records.X.std(axis=0)
    for i in range(4):
        others = sorted(
            (z for z in range(4) if records.y[z] != records.y[i]),
            key=lambda z: sum(((records.X[z] - records.X[i]) / scale) ** 2),
        )
        expected = [
            records.X[i] + step * (records.X[z] - records.X[i]) for z in others for step in STEPS
        ]
        np.testing.assert_allclose(points[3:, i], expected)


def test_a_query_is_moved_only_where_chance_does_not_explain_the_gain() -> None:
    rng = np.random.default_rng(5)
    membership = rng.random((64, 500)) < 0.5
    own = (rng.random((64, 16, 500)) < 0.5).astype(float)
    own[:, 0] = membership  # the record tells everything, the others nothing
    assert (better(own, membership) == 0).all()
    own[:, 0] = 0.5  # nothing tells anything
    assert (better(own, membership) != 0).mean() < 0.1
    own[:, 4] = np.where(membership, 0.9, 0.2)
    assert (better(own, membership) == 4).all()
    assert (better(own, np.ones_like(membership)) == 0).all()


def test_chosen_queries_tell_more_where_the_record_itself_tells_nothing() -> None:
    X = np.arange(12.0).reshape(-1, 1) * 10
    labels = np.arange(12) // 2 % 2
    records = Labelled(X, labels)
    floor = replace(build_data(records, records, copies=0, noise=0.1, seed=0), adversarial=True)

    class Blind:
        def fit(self, X: np.ndarray, y: np.ndarray) -> Blind:
            self.known = {(float(x[0]), int(label)) for x, label in zip(X, y, strict=True)}
            return self

        def predict_proba(self, X: np.ndarray) -> np.ndarray:
            return np.array([self.share(float(x[0])) for x in X])

        def share(self, x: float) -> tuple[float, float]:
            near = round(x / 10)
            inside = (10.0 * near, int(labels[near])) in self.known and x != 10.0 * near
            return (1.0 - labels[near], labels[near] * 1.0) if inside else (0.5, 0.5)

    moved = choose(Learner(make=Blind, name="blind"), floor, 16)
    asked, e = moved.points.X[:, 0], len(records)
    elsewhere = asked[:e] != X[:, 0]
    assert elsewhere[:-1].all()  # beside the last one, all points are nearer to its partner
    np.testing.assert_array_equal(np.round(asked[:e] / 10)[elsewhere] * 10, X[elsewhere, 0])
    # the test records are asked about as they are
    np.testing.assert_array_equal(asked[e:], X[:, 0])


def test_poison_separates_more_than_natural_data() -> None:
    natural, poisoned = attacked(laid()), laid(adversary="pois-minq")
    found, places = attacked(poisoned), poisoned.slices["poisoned"]
    assert found.exposure[places].mean() > natural.exposure[places].mean()
    assert (of(found, "poisoned").auc or 0) > natural.outcomes[0].auc
    for each in (found, attacked(laid(adversary="pois-miaq"))):
        assert (of(each, "poisoned").advantage or 0) > 0.9


def test_canaries_poison_and_chosen_queries_go_together() -> None:
    setting = Scenario(records=40, copies=2, canaries=6, adversary="pois-miaq", poisoned=5)
    floor, facts = lay(load("breast-cancer"), setting)
    subject = Learner(make=estimator_of("tree"), name="tree", copies=2)
    moved = choose(subject, floor, 8)
    near = moved.points.copies - moved.points.X
    np.testing.assert_allclose(near, floor.points.copies - floor.points.X, atol=1e-9)
    attacks, design = {"loss": ATTACKS["loss-threshold"]}, Design(references=4, targets=4)
    (found,) = experiment([Target(name="tree", subject=subject)], floor, attacks, design)
    names, records = ["canaries", "poisoned", "natural"], found.outcomes[0].sliced
    assert [part.name for part in records] == names
    assert [part.records for part in records[:2]] == [6, 5]
    assert (len(facts["canaries"]), len(facts["poisoned"]), facts["background"]) == (6, 5, 10)
    record = make_attack_record(facts, floor.records, [found])
    assert [part["slice"] for part in record["subjects"][0]["outcomes"][0]["slices"]] == names
    json.dumps(record, allow_nan=False)


def test_models_are_kept_apart_by_where_they_are_asked(tmp_path: Path) -> None:
    subject = Learner(make=estimator_of("tree"), name="tree", copies=3)
    coins = toss(4, 60, seed=0, who="target")
    floors = [laid(records=60, copies=3, noise=noise) for noise in (0.0, 3.0)]
    with Ledger(tmp_path / "models.sqlite", resume=True) as ledger:
        near, far = (
            models(subject, floor, coins, "target", Training(ledger=ledger)) for floor in floors
        )
    np.testing.assert_array_equal(near.observed[0].seen, far.observed[0].seen)
    assert not np.array_equal(near.observed[2].seen, far.observed[2].seen)


@pytest.mark.parametrize("adversary", ["nat-miaq", "pois-miaq"])
def test_claims_of_a_private_mechanism_stay_unbroken(
    adversary: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"soft-majority --against mechanism --epsilon 1 --adversary {adversary} --records 60 -q"
    words += " --references 8 --models 60 --budgets 1 --copies 0 --json -p r=5 --attacks lira"
    poison = " --poison 5 --poisoned 6" if adversary == "pois-miaq" else ""
    assert attack(words + poison) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["run"]["adversary"] == adversary
    assert (
        record["run"]["background"] == len(record["run"]["poisoned"]) * 5 == (30 if poison else 0)
    )
    (subject,) = record["subjects"]
    assert subject["error"] is None
    assert all(each["lower"] <= 1 for each in subject["certified"])
    assert subject["claim"]["epsilon"] == pytest.approx(1)


@pytest.mark.parametrize(("words", "said"), [
    ("--adversary pois", "pois"),
    ("--adversary pois-minq --poison 0", "--poison = 0"),
    ("--adversary pois-minq --poisoned 500", "--poisoned = 500"),
    ("--canaries 500", "--canaries = 500"),
    ("--canaries 2 --attribute label", "--canaries = 2"),
    ("--attribute colour", "--attribute = 'colour'"),
])  # fmt: skip
def test_wrong_options_are_named(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert attack(f"--against base {words}") == 2
    assert said in capsys.readouterr().err


def test_pages_tell_canaries_and_poison_apart(tmp_path: Path) -> None:
    words = "--against base --records 60 --references 6 --models 4 --attacks lira -q --copies 0"
    assert attack(f"{words} --canaries 4 --adversary pois-miaq --out {tmp_path}") == 0
    for name in ("attack.html", "attack.md"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "4 records were replaced by canaries" in text
        assert "40 poisoned records into every training set" in text
        assert "a point chosen on the reference models, not the record" in text
        assert "Groups of records apart" in text


def some(e: int = 40, K: int = 3) -> Labelled:
    rng = np.random.default_rng(e)
    return Labelled(rng.normal(size=(e, 4)), rng.integers(K, size=e))


def remembered(learner: type[Memory], canaries: int = 12) -> tuple[Attacked, Coins, list[int]]:
    floor, facts = lay(load("breast-cancer"), Scenario(records=60, copies=0, canaries=canaries))
    design = Design(references=4, targets=6)
    target = Target(name="it", subject=Learner(make=learner, name=learner.__name__))
    (found,) = experiment([target], floor, {"loss": ATTACKS["loss-threshold"]}, design)
    return found, toss(6, 60, seed=0, who="target"), facts["canaries"]


def test_exposure_is_that_of_the_twin() -> None:
    rng = np.random.default_rng(3)
    scores = rng.integers(6, size=(20, 30)).astype(float)  # with ties
    membership = rng.random((20, 30)) < 0.5
    flags = rng.random(30) < 0.6
    found = exposure(scores, membership, flags)
    for t in range(20):
        own, inside = scores[t, flags].tolist(), membership[t, flags].tolist()
        for c in range(int(flags.sum())):
            if inside[c]:
                assert found[t, c] == pytest.approx(twin_scores.exposure(own, inside, c), abs=1e-12)
            else:
                assert math.isnan(found[t, c])


def test_by_chance_a_canary_has_1_44_bits() -> None:
    rng = np.random.default_rng(4)
    scores, membership = rng.random((60, 600)), rng.random((60, 600)) < 0.5
    bits = exposure(scores, membership, np.ones(600, dtype=bool))
    assert np.nanmean(bits) == pytest.approx(1 / math.log(2), abs=0.05)


def test_a_learner_that_memorises_exposes_canaries_fully() -> None:
    found, coins, canaries = remembered(Memory)
    (part, natural) = found.outcomes[0].sliced
    out = (~coins.membership[:, canaries]).sum(axis=1)
    assert (part.name, part.records) == ("canaries", 12)
    assert (natural.name, natural.records) == ("natural", 48)
    np.testing.assert_allclose(part.exposure, np.log2(out + 1))
    assert part.auc == 1.0
    assert part.highest == pytest.approx(float(np.log2(out + 1).mean()))
    assert part.one_run is not None
    assert (part.one_run.v, part.one_run.r, part.one_run.m) == (72, 72, 72)


def test_a_learner_that_learns_nothing_exposes_nothing() -> None:
    found, _, _ = remembered(Nothing)
    part = found.outcomes[0].sliced[0]
    np.testing.assert_array_equal(part.exposure, 0.0)
    assert (part.auc, part.advantage) == (0.5, 0.0)


def test_canaries_are_mislabelled_at_most_one_of_a_pair() -> None:
    records = some()
    planted, places = plant(records, 15, seed=1)
    assert len(set((places // 2).tolist())) == 15
    others = np.setdiff1d(np.arange(40), places)
    assert (planted.y[places] != records.y[places]).all()
    assert (planted.y[others] == records.y[others]).all()
    np.testing.assert_array_equal(planted.X, records.X)
    assert set(planted.y.tolist()) <= set(records.y.tolist())
    again, same = plant(records, 15, seed=1)
    assert again.digest == planted.digest
    assert same.tolist() == places.tolist()


def test_features_of_canaries_come_from_different_records() -> None:
    records = some()
    planted, places = plant(records, 10, kind="features", seed=1)
    others = np.setdiff1d(np.arange(40), places)
    np.testing.assert_array_equal(planted.y, records.y)
    np.testing.assert_array_equal(planted.X[others], records.X[others])
    for place in places.tolist():
        assert all(planted.X[place, j] in records.X[:, j] for j in range(4))
        assert not any((planted.X[place] == x).all() for x in records.X)


def test_canaries_that_cannot_be_are_refused() -> None:
    for number in (0, 21):
        with pytest.raises(InvalidInput, match=r"--canaries = .*1\.\.20"):
            plant(some(), number, seed=1)
    with pytest.raises(InvalidInput, match="at least two"):
        plant(some(K=1), 2, seed=1)


def test_slices_without_members_say_so() -> None:
    coins = Coins(heads=np.array([[True, False], [True, True]]))
    flags = np.array([True, False, False, False])  # in both targets
    known = CrossFitted(guesses=np.ones((2, 2)), heads=coins.heads)
    scores = np.arange(8.0).reshape(2, 4)
    part = sliced("canaries", flags, scores, coins, known=known, alpha=0.05)
    assert (part.auc, part.advantage, part.auc_interval) == (None, None, None)
    assert part.exposure.tolist() == [0.0, 0.0]
    none = sliced("canaries", np.roll(flags, 1), scores, coins, known=known, alpha=0.05)
    assert np.isnan(none.exposure).all()


def test_natural_records_are_those_of_no_slice() -> None:
    one, other = np.array([True, False, False]), np.array([False, True, False])
    assert parts({}) == {}
    assert parts({"a": one, "b": other})["natural"].tolist() == [False, False, True]
    assert list(parts({"a": one, "b": ~one})) == ["a", "b"]
