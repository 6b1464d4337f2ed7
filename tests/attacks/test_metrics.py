"""Rates, areas, regions and their intervals: against loops, scikit-learn and linear programs."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom, norm
from sklearn.metrics import roc_auc_score

from dpassay.attacks.experiment.metrics import (
    AT_ONCE,
    TOSSES,
    Roc,
    advantage,
    allowed_tpr,
    at_rate,
    auc,
    auc_interval,
    band,
    best_of,
    interval,
    roc,
    thin,
    tossed_again,
    with_a_coin,
)
from dpassay.attacks.experiment.models import Coins, toss
from dpassay.attacks.experiment.one_run import CrossFitted
from dpassay.attacks.experiment.outcomes import sliced
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.attacks.scores import lira
from dpassay.errors import InvalidInput


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
    for end in band(curve, scores, inside):
        np.testing.assert_allclose(end, curve.tpr)
    scores[0] = scores[0, ::-1]
    low, high = band(roc(scores[inside], scores[~inside]), scores, inside)
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


def drifting(models: int, seed: int, shift: float = 3.0) -> tuple[Array, Flags]:
    """Scores that tell members apart within a model, and that lie elsewhere in every model."""
    rng = np.random.default_rng(seed)
    inside = toss(models, 40, seed=seed, who="target").membership
    noise = 0.3 * rng.normal(size=inside.shape)
    return noise + shift * rng.normal(size=(models, 1)) + inside, inside


def test_an_auc_lies_in_its_own_interval() -> None:
    scores, membership = drifting(12, 0)
    whole, found = auc(scores[membership], scores[~membership]), auc_interval(scores, membership)
    assert found is not None
    assert 0 <= found[0] < whole < found[1] <= 1
    areas = [auc(row[inside], row[~inside]) for row, inside in zip(scores, membership, strict=True)]
    assert not found[0] <= np.mean(areas) <= found[1]  # the old interval was around this
    coins = toss(12, 40, seed=0, who="target")
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


RNG = np.random.default_rng(0)
CASES = [
    *((RNG.normal(0.5, 1, n1), RNG.normal(0, 1, n0)) for n1, n0 in ((1, 1), (5, 3), (40, 60))),
    (RNG.integers(0, 4, 30).astype(float), RNG.integers(0, 3, 50).astype(float)),  # tied
    (np.zeros(7), np.zeros(9)),
    (np.array([np.inf, 1.0, -np.inf]), np.array([-np.inf, 1.0, 1.0, np.inf])),
]


@pytest.mark.parametrize(("one", "other"), CASES)
def test_curve_and_area(one: Array, other: Array) -> None:
    curve = roc(one, other)
    assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1], curve.tpr[-1]) == (0, 0, 1, 1)
    for fpr, tpr, threshold in zip(curve.fpr[1:], curve.tpr[1:], curve.thresholds[1:], strict=True):
        assert tpr == sum(score >= threshold for score in one) / len(one)
        assert fpr == sum(score >= threshold for score in other) / len(other)
    assert np.array_equal(np.unique(np.concatenate([one, other])), np.sort(curve.thresholds[1:]))
    pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in one for b in other]
    assert auc(one, other) == pytest.approx(sum(pairs) / len(pairs), abs=1e-12)
    assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(auc(one, other), abs=1e-12)
    if np.isfinite(np.concatenate([one, other])).all():
        known = roc_auc_score([1] * len(one) + [0] * len(other), np.concatenate([one, other]))
        assert auc(one, other) == pytest.approx(known, abs=1e-12)
    best = max(
        sum(a >= cut for a in one) / len(one) - sum(b >= cut for b in other) / len(other)
        for cut in [*one, *other]
    )
    assert advantage(curve) == pytest.approx(max(0.0, best), abs=1e-12)


def test_rate_is_the_largest_that_does_not_exceed_what_is_asked() -> None:
    rng = np.random.default_rng(1)
    for levels in (5, 50, 10_000):
        one, other = rng.integers(0, levels, 300) + levels // 8, rng.integers(0, levels, 1000)
        for asked in (0.01, 0.05, 0.5):
            found = at_rate(roc(one, other), asked, 1000)
            assert found is not None
            rules = [
                (np.mean(other >= cut), np.mean(one >= cut))
                for cut in np.unique([*one, *other, 2 * levels])
            ]
            assert (found.fpr, found.tpr) == max(rule for rule in rules if rule[0] <= asked)
            assert found.fpr == np.mean(other >= found.threshold)
            assert found.tpr == np.mean(one >= found.threshold)


def test_rate_needs_ten_false_positives_to_be_told() -> None:
    curve = roc(np.arange(10.0), np.arange(999.0))
    assert at_rate(curve, 0.01, 999) is None
    assert at_rate(roc(np.arange(10.0), np.arange(1000.0)), 0.01, 1000) is not None
    assert at_rate(roc(np.arange(10.0), np.arange(10_000.0)), 0.001, 10_000) is not None


def test_rate_counts_exactly_one_percent_as_allowed() -> None:
    """10 of 1000 above: 0.01 as a float is not below 10 / 1000."""
    for n in (1000, 2900, 5700, 11_300):
        found = at_rate(roc(np.array([0.5]), np.arange(n)), 0.01, n)
        assert found is not None
        assert round(found.fpr * n) == n // 100


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.0), (1.0, 0.05), (3.0, 0.3), (0.5, 0.9)]
)
def test_allowed_region(epsilon: float, delta: float) -> None:
    """Largest TPR under both inequalities, in both directions: a linear program for each FPR."""
    grow = math.exp(epsilon)
    for fpr in (0.0, 0.001, 0.1, 0.3, 0.7, 1.0):
        # tpr <= e fpr + d; 1 - fpr <= e (1 - tpr) + d; fpr <= e tpr + d; 1 - tpr <= e (1 - fpr) + d
        A = [[1.0], [grow], [-grow], [-1.0]]
        b = [grow * fpr, grow - 1 + fpr, -fpr, grow * (1 - fpr) - 1]
        best = linprog([-1], A_ub=np.array(A), b_ub=np.array(b) + delta, bounds=[(0, 1)])
        assert best.success
        found = float(allowed_tpr(fpr, epsilon, delta))
        assert found == pytest.approx(-float(best.fun or 0.0), abs=1e-9)


def test_allowed_region_at_its_ends() -> None:
    # TPR 1 at FPR 0: two disjoint answers
    assert allowed_tpr([0.0, 0.5], math.inf).tolist() == [1.0, 1.0]
    assert allowed_tpr([0.0, 0.3, 1.0], 0.0).tolist() == pytest.approx([0.0, 0.3, 1.0])
    assert allowed_tpr([0.0, 0.3], 1.0, 1.0).tolist() == [1.0, 1.0]
    # 8 answers at the largest claim there is
    assert allowed_tpr([0.0, 0.001, 1.0], 5600.0).tolist() == [0.0, 1.0, 1.0]


def test_thinned_curve_is_part_of_the_curve() -> None:
    rng = np.random.default_rng(2)
    curve = roc(rng.normal(1, 1, 3000), rng.normal(0, 1, 3000))
    thinned = thin(curve, 50)
    assert len(thinned.fpr) <= 51
    whole = set(zip(curve.fpr.tolist(), curve.tpr.tolist(), strict=True))
    assert set(zip(thinned.fpr.tolist(), thinned.tpr.tolist(), strict=True)) <= whole
    assert (thinned.fpr[0], thinned.fpr[-1], thinned.tpr[-1]) == (0, 1, 1)
    for most in (2, 3, 10):  # the point at FPR 0 has the largest TPR there
        assert thin(curve, most).tpr[0] == curve.tpr[curve.fpr == 0].max()


@pytest.mark.parametrize("wrong", [[], [math.nan]])
def test_refused(wrong: list[float]) -> None:
    for both in ((wrong, [0.0]), ([0.0], wrong)):
        with pytest.raises(InvalidInput):
            auc(*both)
        with pytest.raises(InvalidInput):
            roc(*both)


@pytest.mark.parametrize("asked", [0.01, 0.25, 0.9])
def test_a_coin_gives_exactly_the_rate(asked: float) -> None:
    """The rate of non-members is what was asked; members lie on the line between two points."""
    rng = np.random.default_rng(5)
    one, other = rng.integers(6, size=40) + 1, rng.integers(6, size=70)
    curve = roc(one, other)
    assert with_a_coin(other, curve, asked) == pytest.approx(asked)
    assert with_a_coin(one, curve, asked) == pytest.approx(
        float(np.interp(asked, curve.fpr, curve.tpr))
    )
    halves = [with_a_coin(half, curve, asked) for half in (one[:20], one[20:])]
    assert np.mean(halves) == pytest.approx(with_a_coin(one, curve, asked))
