"""Runs in all until a claim is refuted, at a pair that is given: median and 95 % quantile.

    python benchmarks/first_proof.py [SEEDS] [NAME ...]

The pilot, the screening, the guards and the certification in new processes are all counted. Every
function loses twice what is claimed, or more; the first has no noise at all.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay import DP, GDP, audit, replace_one
from dpassay.claims import Claim
from dpassay.data import Labelled

Rng = np.random.Generator
ANY = (-np.inf, np.inf)


def without_noise(data: Labelled, queries: Any, size: int, _: Rng) -> NDArray[Any]:
    """The mean itself."""
    return np.full((size, len(queries)), float(np.mean(data.y)))


def private_count(data: Labelled, queries: Any, size: int, rng: Rng) -> NDArray[Any]:
    """A mean of one number or two, whose noise is scaled by their number, which is private."""
    n = 1 + int(data.y[0])
    mean, scale = data.y[0] / n, 2 / (0.1 * n)
    return np.asarray(mean + rng.laplace(0, scale, (size, len(queries))))


def response(data: Labelled, queries: Any, size: int, rng: Rng) -> NDArray[Any]:
    """Randomised response: loss 2."""
    kept = rng.random((size, len(queries))) < 1 / (1 + np.exp(-2))
    return np.asarray(np.where(kept, data.y[0], 1 - data.y[0]))


def laplace(data: Labelled, queries: Any, size: int, rng: Rng) -> NDArray[Any]:
    """Laplace noise of half the scale: loss 2."""
    return np.asarray(data.y[0] + rng.laplace(0, 0.5, (size, len(queries))))


def gaussian(data: Labelled, queries: Any, size: int, rng: Rng) -> NDArray[Any]:
    """Gaussian noise of half the scale: .536-GDP."""
    return np.asarray(data.y[0] + rng.normal(0, 1 / 0.536, (size, len(queries))))


CASES: dict[str, tuple[Any, Claim, dict[str, Any]]] = {
    "without_noise": (without_noise, DP(epsilon=0.1), {"numbers": ANY}),
    "private_count": (private_count, DP(epsilon=0.1), {"numbers": ANY}),
    "response": (response, DP(epsilon=1.0), {"labels": (0, 1)}),
    "laplace": (laplace, DP(epsilon=1.0), {"numbers": ANY}),
    "gaussian": (gaussian, GDP(mu=0.268), {"numbers": ANY}),
}


def runs(name: str, seed: int, confidence: float) -> tuple[str, int]:
    """Return the verdict and how often the function ran."""
    function, claim, answers = CASES[name]
    ran = [0]

    def counted(data: Labelled, queries: Any, size: int, rng: Rng) -> NDArray[Any]:
        ran[0] += size
        return np.asarray(function(data, queries, size, rng))

    result = audit(
        counted,
        claim=claim,
        pairs=replace_one([[0.0]], [0]),
        queries=[[0.0]],
        seed=seed,
        confidence=confidence,
        executor="inline",
        **answers,
    )
    return result.verdict, ran[0]


def main(seeds: str = "200", *names: str) -> None:
    """Print a row for each function and confidence."""
    for name in names or CASES:
        for confidence in (0.95, 0.999):
            start = time.process_time()
            found = [runs(name, seed, confidence) for seed in range(int(seeds))]
            verdicts = Counter(verdict for verdict, _ in found)
            median, most = np.quantile([ran for _, ran in found], (0.5, 0.95))
            seconds = (time.process_time() - start) / len(found)
            print(
                f"{name:13}  {confidence:5}  {verdicts['refuted']} of {seeds} refuted  "
                f"median {median:,.0f}  95 % {most:,.0f}  {seconds:.2f} s each",
                flush=True,
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
