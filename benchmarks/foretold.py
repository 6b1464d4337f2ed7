"""What is told before an audit about its duration, and what it takes: the factor between them.

    python benchmarks/foretold.py [NAME ...]

The functions take 1 µs, 2 ms and 200 ms a run and keep their claim, so that all that is foreseen
comes to pass; one call per run, or one for all runs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from dpassay import DP, audit, replace_one
from dpassay.targets.groups import Progress

Rng = np.random.Generator


def fast(data: Any, queries: Any, size: int, rng: Rng) -> Any:
    """Randomised response of the first label, of many runs at a time."""
    return np.where(rng.random((size, len(queries))) < 0.7, data.y[0], 1 - data.y[0])


def dear(data: Any, queries: Any, size: int, rng: Rng) -> Any:
    """The same; a run takes 200 ms."""
    time.sleep(0.2 * size)
    return fast(data, queries, size, rng)


def slow(seconds: float) -> Callable[[Any, Rng], float]:
    """A noisy sum of clipped numbers, of one run at a time."""

    def function(data: Any, rng: Rng) -> float:
        time.sleep(seconds)
        return float(np.sum(np.clip(data, 0, 1))) + float(rng.laplace())

    return function


PAIR = {"pairs": replace_one([[0.0]], [0]), "queries": [[0.0]], "labels": (0, 1)}
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "given, 1 µs": (fast, PAIR | {"budget": 20_000_000}),
    "searched, 2 ms": (slow(0.002), {"data": [0.2, 0.5, 0.9], "budget": 2000}),
    "given, 200 ms": (dear, PAIR | {"budget": 200}),
}


def compared(name: str) -> tuple[list[str], float]:
    """Return what was told, with the seconds until then, and how long the audit took."""
    function, words = CASES[name]
    told, began = [], time.perf_counter()

    @contextmanager
    def bars(**_: Any) -> Iterator[Progress]:
        def note(what: str, done: int, total: int) -> None:
            if not total:
                told.append(f"{time.perf_counter() - began:.1f} s: {what}, {done:,} s")

        yield note

    with patch("dpassay.api.bars", bars):
        audit(function, claim=DP(epsilon=1.0), **words)
    return told, time.perf_counter() - began


if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        told, took = compared(name)
        print(name, *told, f"took {took:,.1f} s", sep="; ", flush=True)
