"""How processor time and memory of a run grow with cells, trials, records and queries.

Each series changes one size over a decade or more and leaves the others as they are. The exponent
is the slope of the logarithm of the whole run's processor time, imports and pages included, against
the logarithm of the size, with a 95 % interval of the fit; so is that of the memory. Nothing is
taken off: the range is where the work outweighs what a run costs in any case.

    python -m benchmarks.bench_growth [SERIES ...]
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from benchmarks.bench_scale import measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Sizes of one kind, and what is run at each.

    Parameters
    ----------
    of : str
        What grows.
    sizes : tuple of int
    runs : tuple of dict
        Arguments of `measure`, one for each size.
    """

    of: str
    sizes: tuple[int, ...]
    runs: tuple[dict[str, Any], ...]


def grown(of: str, sizes: tuple[int, ...], **fixed: Any) -> Series:
    """Return a series in which one argument of `measure` is the size."""
    return Series(of=of, sizes=sizes, runs=tuple(fixed | {of: size} for size in sizes))


def more_pairs(sizes: tuple[int, ...], queries: int, trials: int) -> Series:
    """Return a series of ever more pairs, each of them screened by so many trials a side."""
    runs = tuple(
        {"pairs": pairs, "queries": queries, "trials": trials * pairs // queries} | VOTE
        for pairs in sizes
    )
    return Series(of="pairs", sizes=sizes, runs=runs)


VOTE: dict[str, Any] = {"auditee": "Vote"}
EXACT: dict[str, Any] = {"auditee": "KernelDraw", "mode": "exact", "trials": 0}
SERIES = {
    "cells and records": more_pairs((1000, 3000, 10_000), queries=100, trials=1000),
    "trials": grown("trials", (100_000, 300_000, 1_000_000), pairs=50, queries=50, **VOTE),
    "queries": grown("queries", (300, 1000, 3000), pairs=200, trials=3000, **VOTE),
    "exact cells": grown("queries", (200, 600, 2000), pairs=1000, **EXACT),
}


def slope(sizes: tuple[int, ...], found: list[float]) -> tuple[float, float]:
    """Return the slope of log against log, and half of its 95 % interval."""
    fit = scipy.stats.linregress(np.log(sizes), np.log(found))
    half = float(scipy.stats.t.ppf(0.975, len(sizes) - 2)) * float(fit.stderr)
    return float(fit.slope), half


def run(name: str, series: Series) -> None:
    """Run a series and print a table of it."""
    seconds, memory = [], []
    print(f"\n{name}\n{series.of:>10} {'seconds':>9} {'sampler':>8} {'MiB':>6} {'record MB':>9}")
    for size, arguments in zip(series.sizes, series.runs, strict=True):
        with tempfile.TemporaryDirectory() as folder:
            found = measure(Path(folder), **arguments)
        seconds.append(found["seconds"])
        memory.append(found["peak"])
        share = found["sampler"] / found["seconds"]
        record = found["files"]["record.json"]
        print(f"{size:>10,} {seconds[-1]:>9.1f} {share:>8.0%} {memory[-1]:>6.0f} {record:>9.2f}")
    for what, numbers in (("processor time", seconds), ("memory", memory)):
        exponent, half = slope(series.sizes, numbers)
        print(f"exponent of {what}: {exponent:.2f} ± {half:.2f}", flush=True)


if __name__ == "__main__":
    for name in sys.argv[1:] or SERIES:
        run(name, SERIES[name])
