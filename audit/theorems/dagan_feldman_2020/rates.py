"""The rates of the statements with O(.) and Omega(.), as slopes over a decade or more."""

from __future__ import annotations

from dpassay.theorems.dagan_feldman_2020 import (
    conversion,
    lower_bounds,
    relabelled_sizes,
    stable_learner,
)
from dpassay.theorems.row import Case
from dpassay.theorems.slopes import Measure, slope_row

PAPER = "dagan-feldman-2020"
EXAMPLES = "the number of examples that the proof needs"
UPPER: tuple[tuple[str, Measure, tuple[Case, ...]], ...] = (
    (
        "theorem-1",
        stable_learner.growth,
        (
            {"along": "alpha", "first": 0.1, "last": 0.001, "gamma": 0.05},
            {"along": "gamma", "first": 0.5, "last": 0.005, "alpha": 0.05},
        ),
    ),
    (
        "corollary-1",
        conversion.size,
        (
            {"along": "alpha", "first": 0.1, "last": 0.001, "epsilon": 0.5},
            {"along": "epsilon", "first": 0.5, "last": 0.005, "alpha": 0.1},
        ),
    ),
    *(
        (
            name,
            relabelled_sizes.size,
            (
                {"along": "alpha", "first": 0.1, "last": 0.01, "d": 1, "epsilon": 0.5},
                {"along": "epsilon", "first": 0.5, "last": 0.01, "d": 1, "alpha": 0.1},
            ),
        )
        for name in ("theorem-2", "theorem-5")
    ),
    (
        "theorem-3",
        stable_learner.restated,
        (
            {"along": "alpha", "first": 0.1, "last": 0.001, "gamma": 0.05, "d": 2},
            {"along": "gamma", "first": 0.5, "last": 0.005, "alpha": 0.05, "d": 2},
            {"along": "d", "first": 1, "last": 100, "alpha": 0.05, "gamma": 0.1},
        ),
    ),
)
ROWS = (
    *(
        slope_row(f"{PAPER}/{name}/slope", measure, cases, number=EXAMPLES)
        for name, measure, cases in UPPER
    ),
    slope_row(
        f"{PAPER}/theorem-4/slope",
        lower_bounds.theorem,
        (
            {"along": "gamma", "first": 0.1, "last": 0.001, "d": 5, "alpha": 0.1},
            {"along": "alpha", "first": 0.25, "last": 0.0025, "d": 5, "gamma": 0.1},
            {"along": "d", "first": 10, "last": 200, "alpha": 0.1, "gamma": 0.1},
        ),
        number="the number of examples that the best learner needs on the proof's distributions",
        relation="at least",
    ),
)
