"""Sentences of section 5 of Chaudhuri and Vinterbo (2013) about its figures, and what comes out.

A comparison is decided at an alpha where Student's interval for the paired difference over the
repetitions does not hold 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.section5.settings import ALPHAS, TABLES, Run
from benchmarks.section5.summary import Found, difference, values

LOWER_IS_BETTER: Final = ("MSE", "error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What is looked at, and what of it comes out in a run."""

    looked_at: str
    told: Callable[[Found, Run], str]


def listed(alphas: list[float]) -> str:
    """Write alphas down."""
    if len(alphas) == len(ALPHAS):
        return "every α"
    return "α = " + ", ".join(f"{alpha:g}" for alpha in alphas)


def compared(table: str, measure: str, first: str, second: str) -> Check:
    """Say at which alphas the first method is better than the second, or worse."""

    def told(found: Found, run: Run) -> str:
        signs = [each.sign for each in difference(found, run, table, measure, (first, second))]
        turn = -1 if measure in LOWER_IS_BETTER else 1
        words = {turn: "better", -turn: "worse", 0: "undecided"}
        parts = [
            f"{word} at {listed([a for a, s in zip(ALPHAS, signs, strict=True) if s == sign])}"
            for sign, word in words.items()
            if sign in signs
        ]
        return "; ".join(parts)

    looked_at = f"{table}, {measure}: {first} against {second}"
    return Check(looked_at=looked_at, told=told)


def gap(table: str, measure: str, first: str, second: str) -> Check:
    """Least and largest mean difference over the alphas."""

    def told(found: Found, run: Run) -> str:
        means = [each.mean for each in difference(found, run, table, measure, (first, second))]
        return f"{min(means):+.3f} to {max(means):+.3f}"

    return Check(looked_at=f"{table}, {measure}: {first} minus {second}", told=told)


def change(table: str, measure: str, method: str, above: float) -> Check:
    """Largest less smallest mean of a method over the alphas above one."""

    def told(found: Found, run: Run) -> str:
        means = values(found, run, table, measure, method).mean(axis=(1, 2))
        return f"{np.ptp([m for a, m in zip(ALPHAS, means, strict=True) if a > above]):.3f}"

    looked_at = f"{table}, {measure}: range of {method} over α > {above:g}"
    return Check(looked_at=looked_at, told=told)


def from_the_best(table: str, measure: str, method: str) -> Check:
    """How far a method is from the lambda that is best on average for its alpha."""

    def told(found: Found, run: Run) -> str:
        means = values(found, run, table, measure, method).mean(axis=(1, 2))
        best = np.max(found["runs"][run.name][table]["fixed"][measure], axis=1)
        return f"{(means - best).min():+.3f} to {(means - best).max():+.3f}"

    return Check(looked_at=f"{table}, {measure}: {method} minus the best fixed λ", told=told)


OUTPERFORMED: Final = (
    "Looking at AUC in our experiments, Stability significantly outperformed alphaSplit and "
    "dataSplit."
)
NO_MATTER: Final = (
    "In the Adult data set, regularizer choice did not seem to matter as Random performed equally "
    "well to Control."
)
FOR_MSE: Final = (
    "For MSE on the other hand, Stability outperformed the differentially private alternatives in "
    "all experiments."
)
A_GAP: Final = (
    "Unlike in the Adult data set, there is a AUC performance gap between Control and Random in "
    "the Magic data set."
)
AHEAD: Final = (
    "our procedure ... achieved performance only slightly worse than knowing the best parameter "
    "to use ahead of time (section 1)"
)
QUOTED: Final[tuple[tuple[str, tuple[Check, ...]], ...]] = (
    (
        OUTPERFORMED,
        tuple(
            compared(table, "AUC", "Stability", other)
            for table in TABLES
            for other in ("alphaSplit", "dataSplit")
        ),
    ),
    (
        "However, Stability only outperformed Random for α > 1 in the Magic data set,",
        (compared("Magic", "AUC", "Stability", "Random"),),
    ),
    (
        "and was in fact outperformed by Random in the Adult data set.",
        (compared("Adult", "AUC", "Stability", "Random"),),
    ),
    (NO_MATTER, (gap("Adult", "AUC", "Control", "Random"),)),
    (
        FOR_MSE,
        tuple(
            compared(table, "MSE", "Stability", other)
            for table in TABLES
            for other in ("alphaSplit", "dataSplit", "Random")
        ),
    ),
    (
        "the minor change in AUC of Control and Random for α > 0.5",
        tuple(change("Adult", "AUC", method, 0.5) for method in ("Control", "Random")),
    ),
    (A_GAP, (gap("Magic", "AUC", "Control", "Random"),)),
    (AHEAD, tuple(from_the_best(table, "AUC", "Stability") for table in TABLES)),
)
