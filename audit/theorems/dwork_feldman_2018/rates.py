"""The rates of the statements with O(.), as slopes over a decade or more.

Not here: Theorem 4.12, whose exact laws end at n = 7 (stability) and n = 20 (loss), too early for a
slope of n^(-1/2) to be seen, and the excess loss of Theorem 4.9 without noise: where its slope is
-1, as claimed, it is -1 but for errors of the quadrature.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpassay.theorems.dwork_feldman_2018 import (
    descent,
    private_learning,
    sizes,
    strong_convexity,
    thresholds,
)
from dpassay.theorems.row import Case, Measured
from dpassay.theorems.slopes import Measure, slope_row

PAPER = "dwork-feldman-2018"
LIKE: Case = {"d": 1, "beta": 0.05}


def hardest(measure: Measure, shares: Sequence[float]) -> Measure:
    """Return what measures the share of the label 1 that is worst at each place."""

    def worst(**case: Any) -> Measured:
        found = (measure(share=share, **case) for share in shares)
        return max(found, key=lambda each: each.lower)

    return worst


def needed(d: int, epsilon: float, alpha: float) -> Measured:
    """Examples that group privacy proves to be needed; between two whole numbers there is one."""
    found = private_learning.functions(d, epsilon, alpha)
    return Measured(claimed=found.claimed, lower=found.lower - 1, upper=found.lower)


def in_both(first: float = 0.1) -> tuple[Case, ...]:
    """Two decades of alpha and of epsilon."""
    return (
        {"along": "alpha", "first": first, "last": first / 100, "epsilon": 1.0},
        {"along": "epsilon", "first": 1.0, "last": 0.01, "alpha": first},
    )


def of_sizes() -> tuple[Case, ...]:
    """The same for classes of dimension d, and three decades of d."""
    of_d: Case = {"along": "d", "first": 1, "last": 1000, "alpha": 0.1, "beta": 0.05}
    return (*(case | dict(LIKE) for case in map(dict, in_both())), {**of_d, "epsilon": 1.0})


EXAMPLES = "the number of examples that the proof needs"
ROWS = (
    *(
        slope_row(f"{PAPER}/{name}/slope", measure, of_sizes(), number=EXAMPLES)
        for name, measure in (
            ("corollary-2.1", sizes.tilde),
            ("corollary-2.3", sizes.agnostic_tilde),
            ("corollary-4.2", sizes.realizable),
            ("corollary-4.8", sizes.agnostic),
        )
    ),
    slope_row(
        f"{PAPER}/section-2.2-rates/slope-realizable",
        thresholds.realizable_rate,
        in_both(),
        number="the number of examples that Theorem 2.4 takes for an error of alpha",
    ),
    slope_row(
        f"{PAPER}/section-2.2-rates/slope-agnostic",
        thresholds.agnostic_rate,
        in_both(),
        number="the number of examples that Theorem 5.3 takes for an excess error of alpha",
    ),
    slope_row(
        f"{PAPER}/theorem-4.3/slope",
        needed,
        (
            {"along": "alpha", "first": 0.25, "last": 0.01, "d": 10, "epsilon": 0.01},
            {"along": "epsilon", "first": 0.1, "last": 0.001, "d": 10, "alpha": 0.1},
            {"along": "d", "first": 10, "last": 1000, "alpha": 0.1, "epsilon": 0.1},
        ),
        number="the number of examples that group privacy proves to be needed",
        relation="at least",
    ),
    slope_row(
        f"{PAPER}/theorem-4.9/slope",
        strong_convexity.mean_rate,
        ({"along": "n", "first": 10, "last": 1000, "loss": "hinge", "epsilon": 0.5},),
        number="the change of a prediction, lambda of the order n^(-1/2) as in Corollary 4.11,",
    ),
    slope_row(
        f"{PAPER}/corollary-4.10/slope",
        hardest(strong_convexity.with_noise, strong_convexity.SHARES),
        ({"along": "n", "first": 10, "last": 1000, "curvature": 0.3, "epsilon": 0.5},),
        number="the largest expected excess loss over label shares, with noise,",
    ),
    slope_row(
        f"{PAPER}/corollary-4.11/slope",
        hardest(strong_convexity.with_regulariser, strong_convexity.SHARES),
        ({"along": "n", "first": 10, "last": 1000, "epsilon": 0.5},),
        number="the largest expected excess loss over label shares, with noise,",
    ),
    slope_row(
        f"{PAPER}/corollary-4.13/slope",
        hardest(descent.noisy_excess, descent.SHARES),
        ({"along": "n", "first": 1, "last": 16, "epsilon": 0.5},),
        number="the largest expected excess loss over label shares, with noise,",
    ),
)
