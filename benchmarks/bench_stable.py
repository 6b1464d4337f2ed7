"""The exact law of the stable learner for thresholds.

Seconds per dataset, and the worst gamma over all label flips.

`python benchmarks/bench_stable.py` prints one law at n = 400 and n = 1,000 for several sizes of T;
`--neighbours` adds the worst change of a probability over the n flips of a label, all by the exact
law. Points are normal, labels noisy thresholds of them.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from dpassay.data import Labelled, points
from dpassay.laws import FiniteLaw
from dpassay.mechanisms.dagan_feldman_2020.stable_learner import StableLearner
from dpassay.pairs import FlipLabel
from dpassay.stats.divergence import label_difference

SHAPES = (
    (400, 0.1, "outline"),
    (400, 0.1, "lemma7"),
    (400, 0.5, "lemma7"),
    (1000, 0.1, "outline"),
    (1000, 0.1, "lemma7"),
    (1000, 0.5, "outline"),
    (1000, 0.5, "lemma7"),
)
QUERIES = points(np.linspace(-2, 2, 20)[:, None], "queries")


def noisy_threshold(n: int) -> Labelled:
    """Normal points, labels of a threshold at 0 with as much noise."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 1))
    return Labelled(X, (X[:, 0] + rng.normal(size=n) > 0).astype(np.int64))


def law_of(learner: StableLearner, data: Labelled) -> FiniteLaw:
    """Return the exact law at the queries."""
    law = learner.distribution(learner.prepare(data), QUERIES)
    assert law is not None
    return law


def main() -> None:
    """Print a line for each shape."""
    for n, gamma, calibration in SHAPES:
        learner = StableLearner(n=n, gamma=gamma, calibration=calibration)  # type: ignore[arg-type]
        data = noisy_threshold(n)
        start = time.perf_counter()
        law = law_of(learner, data)
        seconds = time.perf_counter() - start
        words = (
            f"n = {n}, n' = {learner.n_prime}, epsilon = {learner.epsilon:g}: {seconds:.3f} s, "
            f"error of ln p {law.error:.1e}"
        )
        if "--neighbours" in sys.argv and gamma == 0.1:
            start = time.perf_counter()
            flips = [law_of(learner, FlipLabel(i).apply(data)).log_p for i in range(n)]
            worst = float(label_difference(np.stack(flips), law.log_p).value.max())
            words += (
                f"; {n} flips {time.perf_counter() - start:.0f} s, gamma {worst:.6f} of "
                f"{learner.claims[0].promised:g} claimed"
            )
        print(words, flush=True)


if __name__ == "__main__":
    main()
