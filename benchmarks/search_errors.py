"""How often searched audits refute what they must not: three tables.

    python benchmarks/search_errors.py [--runs 1000] [--seeds 200] [--correct 50] [--seconds S]
                                       [--budget 400] [--only boundary|twins|correct]

*boundary*: mechanisms that lose exactly what is claimed, at every pair, at 95 %. *twins*: the
correct twin of every member of the zoo, at 95 %. *correct*: random mechanisms whose loss is at most
the claim, at 99.9 %. Each row says how many audits refuted and the largest number that the error
probability alone exceeds in at most one case of a hundred (exact binomial). A run that stops early
(`--seconds`) says how many audits it has seen, and is judged by those. Guards and `detectable` are
left out, since they refute nothing: that takes half of the time away.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay import DP, Answers, audit
from dpassay.engine.detection.searches import SearchDesign
from dpassay.engine.evidence import DetectionCurve
from dpassay.engine.guards import Guards
from dpassay.mechanisms.broken.zoo import specimens

Function = Callable[..., Any]
CLAIM = DP(epsilon=1.0)


def most(runs: int, alpha: float) -> int:
    """Return the largest number of refutations in the exact region: more has 1 % at most."""
    return int(binom.isf(0.01, runs, alpha))


def two_labels(data: NDArray[np.float64], size: int, rng: np.random.Generator) -> Any:
    """Randomised response about the sign of the first answer: it loses exactly 1."""
    p = 1 / (1 + np.exp(-1.0 if data[0] > 0 else 1.0))
    return (rng.random(size) < p).astype(int)


def laplace(data: NDArray[np.float64], size: int, rng: np.random.Generator) -> Any:
    """The first answer with noise: it loses exactly 1."""
    return data[0] + rng.laplace(size=size)


def vector(data: NDArray[np.float64], size: int, rng: np.random.Generator) -> Any:
    """Two answers with half of the budget each: they lose exactly 1 together."""
    return data + rng.laplace(scale=len(data), size=(size, len(data)))


BOUNDARY: dict[str, tuple[Function, Answers, float]] = {
    "two labels": (two_labels, Answers(1), 0.7),
    "Laplace noise": (laplace, Answers(1), 0.25),
    "a vector": (vector, Answers(2), 0.05),
}
"""Each with its data and its part of the runs: the dear ones have fewer."""


def finite(rng: np.random.Generator) -> Function:
    """Return a random finite law for each of four datasets, with a loss of at most 1 for any two.

    Each is q exp(s - ln sum q exp s) with scores s in [0, 1/2].
    """
    labels = int(rng.integers(2, 13))
    base, scores = rng.dirichlet(np.full(labels, 0.5)), rng.random((4, labels)) / 2

    def function(data: NDArray[np.float64], size: int, rng: np.random.Generator) -> Any:
        law = base * np.exp(scores[int(abs(np.floor(data * 2)).sum()) % 4])
        return rng.choice(labels, p=law / law.sum(), size=size)

    return function


def noisy(rng: np.random.Generator) -> Function:
    """Return Laplace noise on random combinations of the answers, scaled to lose at most 1."""
    weights = rng.normal(size=(int(rng.integers(1, 6)), 2))
    scale = np.abs(weights).sum()  # every answer moves by at most 1

    def function(data: NDArray[np.float64], size: int, rng: np.random.Generator) -> Any:
        return weights @ data + rng.laplace(scale=scale, size=(size, len(weights)))

    return function


def normal(rng: np.random.Generator) -> Function:
    """Return normal noise with (1, 0.01)-differential privacy.

    Its scale is the L2 sensitivity times sqrt(2 ln(1.25 / delta)).
    """
    weights = rng.normal(size=(int(rng.integers(1, 6)), 2))
    far = np.linalg.norm(np.abs(weights).sum(axis=1))
    scale = far * np.sqrt(2 * np.log(1.25 / 0.01))

    def function(data: NDArray[np.float64], size: int, rng: np.random.Generator) -> Any:
        return weights @ data + rng.normal(scale=scale, size=(size, len(weights)))

    return function


def boundary(budget: int, runs: int) -> Iterator[tuple[str, int, Callable[[int], bool]]]:
    """Yield each mechanism with its part of the runs."""
    for name, (function, data, part) in BOUNDARY.items():
        yield name, round(part * runs), _refuted(function, CLAIM, data, budget, 0.95)


def twins(budget: int, runs: int) -> Iterator[tuple[str, int, Callable[[int], bool]]]:
    """Yield every twin of the zoo."""
    for each in specimens():
        yield (
            each.name,
            runs,
            _refuted(each.twin, each.claim, each.data, budget, 0.95, bits=each.bits),
        )


def correct(budget: int, runs: int) -> Iterator[tuple[str, int, Callable[[int], bool]]]:
    """Yield random correct mechanisms, one audit of each."""
    kinds: tuple[tuple[Callable[[np.random.Generator], Function], float], ...] = (
        (finite, 0.0),
        (noisy, 0.0),
        (normal, 0.01),
    )
    for number in range(runs):
        make, delta = kinds[number % len(kinds)]
        function = make(np.random.default_rng(number))
        claim = DP(epsilon=1.0, delta=delta)
        name = f"{make.__name__} {number}"
        yield name, 1, _refuted(function, claim, Answers(2), budget, 0.999)


def _refuted(
    function: Function, claim: DP, data: Any, budget: int, confidence: float, **more: Any
) -> Callable[[int], bool]:
    def run(seed: int) -> bool:
        result = audit(
            function,
            claim=claim,
            data=data,
            budget=budget,
            confidence=confidence,
            executor="inline",
            seed=seed,
            **more,
        )
        if result.verdict == "error":
            raise RuntimeError(str(result))
        return result.verdict == "refuted"

    return run


def table(
    title: str,
    rows: list[tuple[str, int, Callable[[int], bool]]],
    alpha: float,
    seconds: float,
    first: int = 0,
) -> None:
    """Run all rows at a time, each in proportion, and print what was seen in the time there is."""
    began, seen, found = time.monotonic(), [0] * len(rows), [0] * len(rows)
    longest = max((runs for _, runs, _ in rows), default=0)
    for step in range(1, longest + 1):
        for k, (_, runs, refuted) in enumerate(rows):
            while seen[k] < step * runs // longest and time.monotonic() - began < seconds:
                found[k] += refuted(first + seen[k])
                seen[k] += 1
    print(
        f"\n{title} ({time.monotonic() - began:.0f} s)\n\n| mechanism | refuted | audits | most |"
    )
    print("|---|---:|---:|---:|")
    if len(rows) <= 40:
        for (name, _, _), n, k in zip(rows, seen, found, strict=True):
            print(f"| {name} | {k} | {n} | {most(n, alpha) if n else '-'} |")
    print(f"| all | {sum(found)} | {sum(seen)} | {most(sum(seen), alpha)} |", flush=True)


def unguarded() -> None:
    """Leave out what refutes nothing."""
    for guard in ("varied", "asked_again", "confirmed"):
        setattr(Guards, guard, lambda *_: None)
    setattr(SearchDesign, "sight", lambda *_: DetectionCurve(detectable=0.0))  # noqa: B010


def main() -> None:
    """Print the tables."""
    unguarded()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--correct", type=int, default=50)
    parser.add_argument("--budget", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each table")
    parser.add_argument("--only", choices=("boundary", "twins", "correct"))
    given = parser.parse_args()
    tables = {
        "boundary": (boundary, given.runs, 0.05),
        "twins": (twins, given.seeds, 0.05),
        "correct": (correct, given.correct, 0.001),
    }
    for name, (rows, runs, alpha) in tables.items():
        if given.only in (None, name):
            table(name, list(rows(given.budget, runs)), alpha, given.seconds)


if __name__ == "__main__":
    main()
