"""Canaries, their exposure, and results on slices."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpassay.attacks.experiment.models import Coins, toss
from dpassay.attacks.experiment.one_run import CrossFitted
from dpassay.attacks.experiment.outcomes import Attacked, exposure, parts, sliced
from dpassay.attacks.experiment.poisoning import plant
from dpassay.attacks.experiment.run import Design, Target, experiment
from dpassay.attacks.experiment.scenario import Scenario, lay
from dpassay.attacks.experiment.subjects import Learner
from dpassay.attacks.scores import ATTACKS
from dpassay.data import Labelled, load
from dpassay.errors import InvalidInput
from tests.attacks.remembering import Memory, Nothing
from tests.attacks.twins import twin_scores


def some(e: int = 40, K: int = 3) -> Labelled:
    rng = np.random.default_rng(e)
    return Labelled(rng.normal(size=(e, 4)), rng.integers(K, size=e))


def attacked(learner: type[Memory], canaries: int = 12) -> tuple[Attacked, Coins, list[int]]:
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
    found, coins, canaries = attacked(Memory)
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
    found, _, _ = attacked(Nothing)
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


@pytest.mark.parametrize("number", [0, 21])
def test_too_many_canaries_are_refused(number: int) -> None:
    with pytest.raises(InvalidInput, match=r"--canaries = .*1\.\.20"):
        plant(some(), number, seed=1)


def test_one_label_cannot_be_flipped() -> None:
    with pytest.raises(InvalidInput, match="at least two"):
        plant(some(K=1), 2, seed=1)


def test_slices_without_members_say_so() -> None:
    coins = Coins(heads=np.array([[True, False], [True, True]]))
    flags = np.array([True, False, False, False])  # in both targets
    known = CrossFitted(guesses=np.ones((2, 2)), heads=coins.heads)
    part = sliced("canaries", flags, np.arange(8.0).reshape(2, 4), coins, known=known, alpha=0.05)
    assert (part.auc, part.advantage, part.auc_interval) == (None, None, None)
    assert part.exposure.tolist() == [0.0, 0.0]
    none = sliced(
        "canaries", np.roll(flags, 1), np.arange(8.0).reshape(2, 4), coins, known=known, alpha=0.05
    )
    assert np.isnan(none.exposure).all()


def test_natural_records_are_those_of_no_slice() -> None:
    one, other = np.array([True, False, False]), np.array([False, True, False])
    assert parts({}) == {}
    assert parts({"a": one, "b": other})["natural"].tolist() == [False, False, True]
    assert list(parts({"a": one, "b": ~one})) == ["a", "b"]
