"""An AUC lies in its own interval, that in [0, 1], and rounding parts no scores that tie."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.attacks.experiment.coins import toss
from dpassay.attacks.experiment.cross_fitting import CrossFitted
from dpassay.attacks.experiment.metrics import auc, auc_interval, interval
from dpassay.attacks.experiment.slices import sliced
from dpassay.attacks.observed import Observed
from dpassay.attacks.scores.lira import Lira


def drifting(models: int, seed: int, shift: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    """Scores that tell members apart within a model, and lie elsewhere in every model.

    Pooled they tell less.
    """
    rng = np.random.default_rng(seed)
    membership = toss(models, 40, seed=seed, who="target").membership
    return membership + 0.3 * rng.normal(size=membership.shape) + shift * rng.normal(
        size=(models, 1)
    ), membership


@pytest.mark.parametrize("seed", range(5))
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
    """Independent models of one law, AUC = Phi(1 / sqrt 2).

    At least 930 of 1,000 intervals hold it.
    """
    rng, hits = np.random.default_rng(3), 0
    for k in range(1000):
        membership = toss(20, 10, seed=k, who="target").membership
        found = auc_interval(membership + rng.normal(size=membership.shape), membership)
        assert found is not None
        hits += found[0] <= 0.7602499389065233 <= found[1]
    assert hits >= 933  # the lower 1 % point of Bin(1000, 0.95)


@pytest.mark.parametrize("online", [True, False])
@pytest.mark.parametrize("models", [20, 80])
def test_records_that_look_alike_tie(online: bool, models: int) -> None:
    """Every record gets the same answers with it and without it, from other models.

    Only rounding can tell them apart.
    """
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
    fitted = Lira(online=online).fit(
        Observed(seen=np.stack([shares, 1 - shares], axis=2), y=y, m=None), membership
    )
    asked = np.repeat(np.linspace(0.05, 0.95, 7)[:, None], 60, axis=1)
    scores = fitted.score(Observed(seen=np.stack([asked, 1 - asked], axis=2), y=y, m=None))
    assert (scores == scores[:, :1]).all()


def test_labels_that_never_move_score_zero() -> None:
    membership = toss(80, 10, seed=1, who="reference", mirrored=True).membership
    seen = np.zeros((80, 10, 2))
    seen[..., 0] = 1.0
    observed = Observed(seen=seen, y=np.arange(10) % 2, m=1)
    assert (Lira().fit(observed, membership).score(observed) == 0).all()
