"""Bands around ROC curves: they hold the true curve as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from dpassay.attacks.experiment.band import band
from dpassay.attacks.experiment.coins import Coins
from dpassay.attacks.experiment.metrics import Roc, roc, thin
from dpassay.attacks.observed import Array, Flags


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
