"""Monte Carlo on many label cells: seconds, memory, and how they grow with cells and with trials.

Every trial passes through `sample`. The fitted growth exponents are the slopes of log seconds
against log size. The figure in docs/figures/cells.svg is drawn by `python benchmarks/bench_cells.py
--figure`.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.data import Labelled, points
from dpassay.engine.settings import Settings
from dpassay.pairs import replace_one

FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "cells.svg"
QUERIES = 100
REPEATS = 1


def fair_coin(
    _: Labelled, queries: NDArray[np.float64], size: int, rng: np.random.Generator
) -> NDArray[np.int8]:
    """Answer a fair coin.

    As cheap a mechanism as there is, so that the harness is what is timed.
    """
    return (rng.random((size, len(queries))) < 0.5).astype(np.int8)


def seconds(pairs: int, trials: int) -> float:
    """Return the median time of an audit that screens `pairs` x 100 cells, `trials` each."""
    X, y = np.arange(pairs, dtype=float)[:, None], np.arange(pairs) % 2
    neighbours = replace_one(X, y, neighbours="flip")
    queries = points(np.arange(QUERIES, dtype=float)[:, None], "queries")
    budget = max(trials * pairs // QUERIES, 100)
    times = []
    for seed in range(REPEATS):
        start = time.perf_counter()
        result = audit(
            fair_coin,
            claim=DP(epsilon=1.0),
            pairs=neighbours,
            queries=queries,
            mode="monte-carlo",
            budget=budget,
            seed=seed,
        )
        times.append(time.perf_counter() - start)
        assert result.evidence is not None
        assert result.evidence.searched["screening_trials"] == trials
    return statistics.median(times)


def exponent(sizes: list[int], times: list[float]) -> float:
    """Return the slope of log time against log size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def draw(
    cells: list[int], by_cells: list[float], trials: list[int], by_trials: list[float]
) -> None:
    """Draw both series on log axes."""
    import seaborn as sns
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(
        {"svg.hashsalt": "cells", "svg.fonttype": "none", **sns.axes_style("whitegrid")}
    ):
        figure = Figure(figsize=(8, 3))
        series = [
            (cells, by_cells, "cells (1,000 trials)"),
            (trials, by_trials, "trials a cell (25,000 cells)"),
        ]
        for k, (sizes, times, name) in enumerate(series):
            axes = figure.add_subplot(1, 2, k + 1)
            axes.loglog(sizes, times, "o-")
            axes.set(
                xlabel=name,
                ylabel="seconds, one core",
                title=f"exponent {exponent(sizes, times):.2f}",
            )
        figure.tight_layout()
        FIGURE.parent.mkdir(exist_ok=True)
        figure.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    assert Settings().jobs == 1
    pairs = [2000, 4000, 8000, 16_000]
    by_pairs = [seconds(each, 1000) for each in pairs]
    trials = [16_000, 32_000, 64_000, 128_000]
    by_trials = [seconds(250, each) for each in trials]
    cells = [each * QUERIES for each in pairs]
    for size, taken in zip(cells, by_pairs, strict=True):
        print(f"{size:>9,} cells, 1,000 trials each: {taken:6.2f} s")
    for size, taken in zip(trials, by_trials, strict=True):
        print(f"   25,000 cells, {size:,} trials each: {taken:6.2f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"growth exponents: {exponent(cells, by_pairs):.2f} in cells, "
        f"{exponent(trials, by_trials):.2f} in trials"
    )
    print(f"peak memory: {peak:.0f} MiB")
    if "--figure" in sys.argv:
        draw(cells, by_pairs, trials, by_trials)
