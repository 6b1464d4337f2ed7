"""Gaussian means: models are means of n Gaussian records.

What is seen of a record is the mean itself as its log-odds.

A record of value z is in, or a record of value 0 is in its place; the other n - 1 are N(0, 1) and
drawn anew for every model and record. So the mean is N(z / n, v) with the record and N(0, v)
without, v = (n - 1) / n^2, and with d = z / sqrt(n - 1) the best test calls a member from ln LR = t
on with TPR Phi((d^2 / 2 - t) / d) and FPR Phi((-d^2 / 2 - t) / d); AUC = Phi(d / sqrt 2).

Acceptance regions: of counts the exact binomial one at 0.1 % (Hoeffding 1956 where chances differ
by record), of an AUC that of Hoeffding (1963) for a two-sample statistic. LiRA does not know d:
from R reference models of each kind its means are off by sqrt(v / R).
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom, norm

from dpassay.attacks.experiment.metrics import advantage, auc, roc
from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.attacks.scores import ATTACKS, lira

N, REFERENCES, TARGETS, E = 5, 4000, 800, 24
SCALE = 4.0
"""Of the log-odds that are shown: the mean times this."""
ALPHA = 1e-3


def world(z: Array, models: int, seed: int) -> tuple[Observed, Flags]:
    rng = np.random.default_rng(seed)
    inside = np.stack([rng.permuted(np.arange(models) % 2 == 0) for _ in z], axis=1)
    others = rng.normal(size=(models, len(z), N - 1)).sum(axis=2)
    own = expit(SCALE * (others + np.where(inside, z, 0.0)) / N)
    return Observed(
        seen=np.stack([own, 1 - own], axis=2), y=np.zeros(len(z), dtype=np.int64)
    ), inside


def in_region(count: int, n: int, p: float) -> bool:
    """Whether a count lies between the outermost 0.1 % of Bin(n, p)."""
    return bool(binom.ppf(ALPHA / 2, n, p) <= count <= binom.isf(ALPHA / 2, n, p))


def near(members: Array, others: Array) -> float:
    """By how much an AUC of independent scores may be off: 2 exp(-2 min(n1, n0) t^2) = 0.1 %."""
    return math.sqrt(math.log(2 / ALPHA) / (2 * min(members.size, others.size)))


@pytest.mark.parametrize("d", [0.5, 1.0, 2.0])
def test_equal_records(d: float) -> None:
    """Every attack that rises with the mean is the optimal test: its area is Phi(d / sqrt 2)."""
    z = np.full(E, d * math.sqrt(N - 1))
    reference, membership = world(z, REFERENCES, 1)
    target, truth = world(z, TARGETS, 2)
    optimal = float(norm.cdf(d / math.sqrt(2)))
    for attack in (ATTACKS["loss-threshold"], lira, partial(lira, online=False)):
        scores = attack(reference, membership)(target)
        members, others = scores[truth], scores[~truth]
        assert abs(auc(members, others) - optimal) <= near(members, others)
        assert abs(advantage(roc(members, others)) - (2 * norm.cdf(d / 2) - 1)) <= 2 * near(
            members, others
        )


@pytest.mark.parametrize("strongest", [1.0, 3.0])
def test_unequal_records(strongest: float) -> None:
    """LiRA at ln LR = t has the TPR and FPR of the optimal test over records of unequal weight."""
    d = np.linspace(0.2, strongest, E)
    z = d * math.sqrt(N - 1)
    reference, membership = world(z, REFERENCES, 3)
    target, truth = world(z, TARGETS, 4)
    scores = lira(reference, membership)(target)
    members, others = scores[truth], scores[~truth]
    for t in (-1.0, 0.0, 0.5, 1.0, 2.0):
        assert in_region(
            int((members >= t).sum()), members.size, float(norm.cdf((d**2 / 2 - t) / d).mean())
        )
        assert in_region(
            int((others >= t).sum()), others.size, float(norm.cdf((-(d**2) / 2 - t) / d).mean())
        )
    grid = np.linspace(-40, 40, 160_001)  # area under the optimal curve, over records
    tpr, fpr = (
        np.mean([norm.cdf((sign * s**2 / 2 - grid) / s) for s in d], axis=0) for sign in (1, -1)
    )
    optimal = float(-np.trapezoid(tpr, fpr))
    assert abs(auc(members, others) - optimal) <= near(members, others)
    plain = ATTACKS["loss-threshold"](reference, membership)(target)
    assert auc(members, others) > auc(plain[truth], plain[~truth])  # Neyman and Pearson


def test_few_references_lose_power_and_gain_none() -> None:
    """With 4 models of a kind the area is below the optimal one: what is not known costs."""
    d = np.linspace(0.2, 2.0, E)
    z = d * math.sqrt(N - 1)
    reference, membership = world(z, 8, 5)
    target, truth = world(z, TARGETS, 6)
    scores = lira(reference, membership)(target)
    grid = np.linspace(-40, 40, 160_001)
    tpr, fpr = (
        np.mean([norm.cdf((sign * s**2 / 2 - grid) / s) for s in d], axis=0) for sign in (1, -1)
    )
    members, others = scores[truth], scores[~truth]
    assert auc(members, others) < float(-np.trapezoid(tpr, fpr)) + near(members, others)
    assert auc(members, others) > 0.5
