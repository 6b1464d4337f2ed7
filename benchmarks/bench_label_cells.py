"""100,000 label cells (1,000 pairs, 100 queries, both directions), 1,000 screening trials a cell: seconds and memory."""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
from numpy.typing import NDArray

from dpassay import DP, audit, replace_one
from dpassay.data import Labelled

KIBIBYTES = 1024 if sys.platform == "linux" else 1024 * 1024


def predict(data: Labelled, queries: NDArray[np.float64], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Label 1 with a probability that depends on the share of ones and on the query."""
    p = 1 / (1 + np.exp((0.5 - data.y.mean()) * queries[:, 0]))
    answers: NDArray[np.int64] = (rng.random((size, len(queries))) < p).astype(np.int64)
    return answers


def main() -> None:
    """Print a line for one and for two jobs."""
    pairs = replace_one(np.arange(1000.0)[:, None], np.arange(1000) % 2)
    queries = np.linspace(-1, 1, 100)[:, None]
    for jobs in (1, 2):
        started = time.perf_counter()
        result = audit(predict, claim=DP(epsilon=1.0), pairs=pairs, queries=queries, mode="monte-carlo", budget=10_000, jobs=jobs)
        seconds = time.perf_counter() - started
        evidence = result.evidence
        assert evidence is not None
        peak = [resource.getrusage(who).ru_maxrss / KIBIBYTES for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        print(
            f"{jobs} jobs: {len(pairs) * len(queries):,} cells x {evidence.searched['screening_trials']:,} trials, "
            f"then {len(evidence.cells)} cells x 10,000: {seconds:.1f} s, peak {peak[0]:.0f} MiB, a worker {peak[1]:.0f} MiB"
        )


if __name__ == "__main__":
    main()
