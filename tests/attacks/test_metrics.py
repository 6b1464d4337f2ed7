"""Estimates of attacks: bands around curves, intervals around areas, the best of many attacks."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, norm

from dpassay.attacks.experiment.metrics import (
    AT_ONCE,
    TOSSES,
    Roc,
    auc,
    auc_interval,
    band,
    best_of,
    interval,
    roc,
    thin,
    tossed_again,
)
from dpassay.attacks.experiment.models import Coins, toss
from dpassay.attacks.experiment.one_run import CrossFitted
from dpassay.attacks.experiment.outcomes import sliced
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.attacks.scores import lira


def drawn(rng: np.random.Generator, models: int, shared: float) -> tuple[Array, Flags]:
    """Scores of members are 1 higher; each model moves all of its own scores."""
    inside = Coins(heads=rng.random((models, 50)) < 0.5).membership
    own = shared * rng.normal(size=(models, 1))
    noise = np.sqrt(1 - shared**2) * rng.normal(size=inside.shape)
    return own + noise + inside, inside


@pytest.mark.parametrize("shared", [0.0, 0.6])
def test_it_holds_the_true_curve_as_often_as_it_says(shared: float) -> None:
    rng, runs = np.random.default_rng(3), 300
    asked = np.array([0.02, 0.1, 0.3, 0.6])
    truth, held = norm.sf(norm.isf(asked) - 1), np.zeros(4)
    for _ in range(runs):
        scores, inside = drawn(rng, 32, shared)
        curve = thin(roc(scores[inside], scores[~inside]))
        low, high = band(curve, scores, inside)
        ends = [np.interp(asked, curve.fpr, end) for end in (low, high)]
        held += (ends[0] <= truth) & (truth <= ends[1])
    # an estimate: between 90 % and 98 % of the time, tested at 10^-4 each
    assert (binom.cdf(held, runs, 0.90) > 1e-4).all()
    assert (binom.sf(held - 1, runs, 0.98) > 1e-4).all()


def test_targets_that_agree_leave_no_doubt_and_others_do() -> None:
    scores = np.tile([[3.0, 0.0, 2.0, 1.0]], (6, 1))
    inside = np.tile([[True, False, True, False]], (6, 1))
    curve = roc(scores[inside], scores[~inside])
    low, high = band(curve, scores, inside)
    np.testing.assert_allclose(low, curve.tpr)
    np.testing.assert_allclose(high, curve.tpr)
    scores[0] = scores[0, ::-1]
    curve = roc(scores[inside], scores[~inside])
    low, high = band(curve, scores, inside)
    assert (high - low).max() > 0.1
    assert (low >= 0).all()
    assert (high <= 1).all()


def test_one_threshold_has_students_interval() -> None:
    rng = np.random.default_rng(0)
    scores, inside = (rng.random((9, 8)) < 0.5).astype(float), np.tile([True, False], (9, 4))
    curve = Roc(fpr=np.zeros(1), tpr=np.array([0.5]), thresholds=np.array([1.0]))
    hits = np.array([row[flags].mean() for row, flags in zip(scores, inside, strict=True)])
    low, high = band(curve, scores, inside)
    half = 2.306004 * hits.std(ddof=1) / 3  # Student's quantile at .975 with 8 degrees of freedom
    assert (low[0], high[0]) == (pytest.approx(0.5 - half, rel=1e-6), pytest.approx(0.5 + half))


@pytest.mark.parametrize("scores", [[3.0, 1.0, 2.0, 5.0, 0.5, 0.7], [1.0, 1.0, 2.0, 1.0, 2.0, 2.0]])
def test_every_toss_is_as_likely_and_none_else_comes(scores: list[float]) -> None:
    row = np.array([scores])
    known: list[float] = []
    for heads in product((True, False), repeat=3):
        inside = Coins(heads=np.array([heads])).membership
        known.append(round(auc(row[inside], row[~inside]), 9))
    found = tossed_again(row)
    assert found.shape == (TOSSES,)
    counts = Counter(np.round(found, 9).tolist())
    assert counts.keys() == set(known)
    for value, number in counts.items():
        low, high = (binom.ppf(q, TOSSES, known.count(value) / 8) for q in (1e-6, 1 - 1e-6))
        assert low <= number <= high


def test_many_coins_are_tossed_in_parts() -> None:
    scores = np.random.default_rng(0).normal(size=(2 * AT_ONCE // 100 + 1, 200))
    found = tossed_again(scores)
    pairs = scores.size / 2
    assert abs(found.mean() - 0.5) < 6 * found.std() / np.sqrt(TOSSES)
    # n members, n others, all of them different: the variance of Mann and Whitney, nearly
    assert found.std() == pytest.approx(np.sqrt((2 * pairs + 1) / (12 * pairs**2)), rel=0.2)


def test_where_nothing_leaks_the_best_is_higher_once_in_twenty() -> None:
    rng, above, runs, attacks = np.random.default_rng(4), 0, 200, 12
    for _ in range(runs):
        scores = rng.normal(size=(attacks, 8, 20))
        scores[1:6] += scores[0]  # attacks agree with each other
        inside = Coins(heads=rng.random((8, 10)) < 0.5).membership
        bound = best_of([tossed_again(each) for each in scores])
        assert bound.attacks == attacks
        assert 0.5 < bound.middle < bound.high
        above += max(auc(each[inside], each[~inside]) for each in scores) > bound.high
    # 400 tosses estimate the 95 % point: its own level is 0.05 +- 0.011
    assert binom.cdf(above, runs, 0.05) > 1e-4
    assert binom.sf(above - 1, runs, 0.06) > 1e-4


def test_one_attack_has_less_chance_than_the_best_of_many() -> None:
    scores = np.random.default_rng(1).normal(size=(36, 8, 40))
    again = [tossed_again(each) for each in scores]
    assert best_of(again[:1]).high < best_of(again).high


def drifting(models: int, seed: int, shift: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    """Scores that tell members apart within a model, and that lie elsewhere in every model."""
    rng = np.random.default_rng(seed)
    membership = toss(models, 40, seed=seed, who="target").membership
    return membership + 0.3 * rng.normal(size=membership.shape) + shift * rng.normal(
        size=(models, 1)
    ), membership


@pytest.mark.parametrize("seed", range(2))
def test_an_auc_lies_in_its_own_interval(seed: int) -> None:
    scores, membership = drifting(12, seed)
    whole = auc(scores[membership], scores[~membership])
    found = auc_interval(scores, membership)
    assert found is not None
    low, high = found
    assert 0 <= low < whole < high <= 1
    areas = [auc(row[inside], row[~inside]) for row, inside in zip(scores, membership, strict=True)]
    assert not low <= np.mean(areas) <= high  # the old interval was around this, another number
    coins = toss(12, 40, seed=seed, who="target")
    known = CrossFitted(guesses=coins.guesses(scores), heads=coins.heads)
    part = sliced("natural", np.arange(40) < 20, scores, coins, known=known, alpha=0.1)
    assert part.auc is not None
    assert part.auc_interval is not None
    assert 0 <= part.auc_interval[0] <= part.auc <= part.auc_interval[1] <= 1


def test_the_jackknife_is_that_of_the_definition() -> None:
    scores, membership = drifting(6, 9, shift=0.5)
    scores = np.round(scores, 1)  # with ties
    n = len(scores)

    def area(rows: np.ndarray) -> float:
        return auc(scores[rows][membership[rows]], scores[rows][~membership[rows]])

    without = np.array([area(np.delete(np.arange(n), i)) for i in range(n)])
    half = 2.5705818366147395 * np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    whole = area(np.arange(n))
    assert auc_interval(scores, membership) == pytest.approx(
        (max(0, whole - half), min(1, whole + half))
    )


def test_no_interval_leaves_what_there_can_be() -> None:
    scores, membership = drifting(2, 1)
    found = auc_interval(scores, membership)
    assert found is not None
    assert 0 <= found[0] <= found[1] <= 1
    low, high = interval([0.95, 1.0])
    assert (low >= 0, high) == (True, 1.0)
    assert auc_interval(scores[:1], membership[:1]) is None
    assert auc_interval(np.array([[1.0, 0.0]] * 3), np.array([[True, False]] * 3)) == (1.0, 1.0)


def test_the_interval_covers_as_often_as_it_says() -> None:
    """400 models of one law, AUC = Phi(1 / sqrt 2): below .90 would show."""
    rng, hits = np.random.default_rng(3), 0
    for k in range(400):
        membership = toss(20, 10, seed=k, who="target").membership
        found = auc_interval(membership + rng.normal(size=membership.shape), membership)
        assert found is not None
        hits += found[0] <= 0.7602499389065233 <= found[1]
    assert hits >= binom.ppf(0.01, 400, 0.95)


@pytest.mark.parametrize("online", [True, False])
@pytest.mark.parametrize("models", [20, 80])
def test_records_that_look_alike_tie(online: bool, models: int) -> None:
    """Every record gets the same answers from other models: only rounding tells them apart."""
    rng = np.random.default_rng(0)
    membership = toss(models, 60, seed=0, who="reference", mirrored=True).membership
    shares = np.empty(membership.shape)
    for e in range(60):
        for kind in (True, False):
            rows = rng.permutation(np.flatnonzero(membership[:, e] == kind))
            shares[rows, e] = np.linspace(0.1, 0.9, len(rows))[:: 1 if kind else -1] ** (
                1.5 if kind else 1
            )
    y = np.zeros(60, dtype=int)
    reference = Observed(seen=np.stack([shares, 1 - shares], axis=2), y=y, m=None)
    fitted = lira(reference, membership, online=online)
    asked = np.repeat(np.linspace(0.05, 0.95, 7)[:, None], 60, axis=1)
    scores = fitted(Observed(seen=np.stack([asked, 1 - asked], axis=2), y=y, m=None))
    assert (scores == scores[:, :1]).all()


def test_labels_that_never_move_score_zero() -> None:
    membership = toss(80, 10, seed=1, who="reference", mirrored=True).membership
    seen = np.zeros((80, 10, 2))
    seen[..., 0] = 1.0
    observed = Observed(seen=seen, y=np.arange(10) % 2, m=1)
    assert (lira(observed, membership)(observed) == 0).all()
