"""Rates, area and region against plain loops, scikit-learn and linear programs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.metrics import roc_auc_score

from dpassay.attacks.experiment.metrics import (
    advantage,
    allowed_tpr,
    at_rate,
    auc,
    roc,
    thin,
    with_a_coin,
)
from dpassay.errors import InvalidInput


def cases() -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    drawn = [
        (rng.normal(0.5, 1, n1), rng.normal(0, 1, n0)) for n1, n0 in ((1, 1), (5, 3), (40, 60))
    ]
    tied = [
        (rng.integers(0, 4, 30).astype(float), rng.integers(0, 3, 50).astype(float)),
        (np.zeros(7), np.zeros(9)),
    ]
    infinite = [(np.array([np.inf, 1.0, -np.inf]), np.array([-np.inf, 1.0, 1.0, np.inf]))]
    return drawn + tied + infinite


@pytest.mark.parametrize("case", range(6))
def test_curve_and_area(case: int) -> None:
    one, other = cases()[case]
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
        labels = [1] * len(one) + [0] * len(other)
        assert auc(one, other) == pytest.approx(
            roc_auc_score(labels, np.concatenate([one, other])), abs=1e-12
        )
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
        A = np.array([[1.0], [grow], [-grow], [-1.0]])
        b = np.array(
            [grow * fpr + delta, grow + delta - 1 + fpr, delta - fpr, grow * (1 - fpr) + delta - 1]
        )
        best = linprog([-1], A_ub=A, b_ub=b, bounds=[(0, 1)])
        assert best.success
        assert float(allowed_tpr(fpr, epsilon, delta)) == pytest.approx(
            -float(best.fun or 0.0), abs=1e-9
        )


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
