"""Exact audit of 25 logistic-regression teachers on 1,000 real records.

Fits and seconds on one core.

Data: scikit-learn's digits (is the digit at least 5?), 1,000 training records, one replacement
each, 10 queries, claim 0.5. Run `python benchmarks/bench_exact_teachers.py`; imports are not timed.
"""

from __future__ import annotations

import statistics
import time

from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression  # noqa: F401  (so that its import is not timed)
from threadpoolctl import threadpool_limits

from dpassay.data import Labelled, points
from dpassay.engine.exact import exact_evidence, group_laws
from dpassay.pairs import replace_one
from dpassay.targets.groups import PairGroup, silent
from dpassay.targets.resolve import resolve

REPEATS = 5


def audit_once() -> tuple[float, int, float]:
    """Return seconds, fits and the worst loss of one audit from scratch."""
    X, digit = load_digits(return_X_y=True)
    y = (digit >= 5).astype(int)
    pairs = replace_one(X[:1000], y[:1000], pool=Labelled(X[1010:], y[1010:]), neighbours="one")
    group = PairGroup(
        pairs=pairs, queries=points(X[1000:1010], "queries"), kind="data", reason=pairs.how
    )
    target = resolve("soft-majority", {"epsilon": 0.5, "r": 25})
    start = time.perf_counter()
    with threadpool_limits(limits=1):
        laws = group_laws(target, group, silent)
    assert laws is not None
    evidence = exact_evidence(target, target.claims[0], (group,), (laws,), None)
    seconds = time.perf_counter() - start
    return seconds, target.mechanism.block_learner.fits, evidence.lower.value  # type: ignore[attr-defined]


if __name__ == "__main__":
    runs = [audit_once() for _ in range(REPEATS)]
    seconds, fits, loss = zip(*runs, strict=True)
    print(
        f"exact audit, 25 teachers, 1,000 records: median {statistics.median(seconds):.2f} s "
        f"(asked: 5), {fits[0]} fits"
    )
    print(f"worst loss {loss[0]:.6f}, claimed 0.5")
