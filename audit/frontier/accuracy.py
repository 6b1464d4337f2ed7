"""Cuts of a data set, and the accuracy of a private classifier on one of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from dpassay.data import Labelled, points
from dpassay.errors import InvalidInput, require
from dpassay.laws import FiniteLaw, NoiseLaw
from dpassay.mechanisms.shared.learners import logistic
from dpassay.seeds import stream
from dpassay.targets.resolve import accepts

PUBLIC, TRAIN, TEST = 100, 4000, 2000
"""Records at most: to standardise with, to train on, to ask for."""
RELEASES = 50
"""Drawn on each split where there is no exact law."""
BASELINES = ("non-private", "majority")
LEAST = 3 * PUBLIC
LARGEST = 1e30
"""Numbers may be so large; those of a column that the public records hardly spread in are divided
by little, and squared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierSplit:
    """Records to train on and to ask for, standardised by others that count as public.

    Each standardised column is divided by the square root of the number of columns, so that a
    typical record has norm 1.
    """

    train: Labelled
    test: Labelled
    feature: int  # the column that goes best with the label among the public records


def split_of(name: str, data: Labelled, k: int, *, seed: int = 0) -> FrontierSplit:
    """Cut at least 300 records at random, for the k-th time, by name, k and seed alone."""
    if len(data) < LEAST:
        raise InvalidInput(f"--data: has {len(data)} records; must have at least {LEAST}")
    largest = float(np.abs(data.X).max(initial=0.0))
    require(largest <= LARGEST, "--data", largest, f"numbers of at most {LARGEST:g} in size")
    key = (k, "accuracy", name) if seed == 0 else (k, "accuracy", name, seed)
    order = stream(*key).permutation(len(data))
    test = min(TEST, 3 * len(data) // 10)
    public, rest = data.take(order[:PUBLIC]), order[PUBLIC:]
    scaler = StandardScaler().fit(public.X)

    def made(rows: NDArray[np.int64]) -> Labelled:
        chosen = data.take(rows)
        return Labelled(scaler.transform(chosen.X) / math.sqrt(data.X.shape[1]), chosen.y)

    covariance = scaler.transform(public.X).T @ (public.y - public.y.mean())
    return FrontierSplit(
        train=made(rest[test:][:TRAIN]),
        test=made(rest[:test]),
        feature=int(np.abs(covariance).argmax()),
    )


def baselines(split: FrontierSplit) -> dict[str, float]:
    """Accuracy of logistic regression without privacy, and of the majority label, on a split."""
    fitted = logistic(random_state=0).fit(split.train.X, split.train.y)
    return {
        "non-private": float(fitted.score(split.test.X, split.test.y)),
        "majority": float((split.test.y == round(split.train.y.mean())).mean()),
    }


def private_accuracy(
    name: str, mechanism: Any, split: FrontierSplit, rng: np.random.Generator
) -> float:
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
