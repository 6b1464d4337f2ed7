"""Accuracy of a private classifier on one split, and what it is held against."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.data import points
from dpassay.frontier.splits import Split
from dpassay.laws import FiniteLaw, NoiseLaw
from dpassay.mechanisms.shared.learners import logistic
from dpassay.targets.resolve import accepts

RELEASES = 50
"""Drawn on each split where there is no exact law."""
BASELINES = ("non-private", "majority")


def baselines(split: Split) -> dict[str, float]:
    """Accuracy of logistic regression without privacy, and of the majority label, on a split."""
    fitted = logistic(random_state=0).fit(split.train.X, split.train.y)
    return {
        "non-private": float(fitted.score(split.test.X, split.test.y)),
        "majority": float((split.test.y == round(split.train.y.mean())).mean()),
    }


def private_accuracy(name: str, mechanism: Any, split: Split, rng: np.random.Generator) -> float:
    """Mean probability of the right answer; without an exact law, of a few releases.

    A released number counts as the answer 1 if it is at least the middle of the range of
    predictions.
    """
    queries, state = points(split.test.X, "queries"), mechanism.prepare(split.train)
    law = mechanism.distribution(state, queries)
    if law is None:
        return float((mechanism.sample(state, queries, RELEASES, rng) == split.test.y).mean())
    if isinstance(law, NoiseLaw):
        middle = 0.0 if accepts(name, "R") else 0.5
        above = np.exp(law.noise.log_below((law.values - middle) / law.noise.scale))
        return float(np.where(split.test.y == 1, above, 1 - above).mean())
    assert isinstance(law, FiniteLaw)
    return float(law.p[np.arange(len(queries)), split.test.y].mean())


def interval(differences: NDArray[np.float64]) -> tuple[float, float]:
    """Student's 95 % interval for the mean over splits; an estimate, as splits overlap."""
    from statsmodels.stats.weightstats import DescrStatsW

    low, high = DescrStatsW(differences).tconfint_mean(0.05)
    return float(low), float(high)
