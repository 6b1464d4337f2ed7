"""Sections 2.1 and 4.1: the soft majority of the overview, its r, and the wrong quarter."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from dpassay.mechanisms.dwork_feldman_2018.soft_majority_overview import SoftMajorityOverview
from dpassay.theorems.dwork_feldman_2018.soft_majority import blocks
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed


def overview_cases(effort: Effort) -> Iterator[Case]:
    """From r = 1 on, which holds; r = 2 is hand-sized."""
    for epsilon, r in itertools.product((1.0, 0.1, 3.0), effort.of((1, 2, 3, 25), (1, 2, 3, 1000))):
        yield {"r": r, "epsilon": epsilon}


def overview(r: int, epsilon: float) -> Measured:
    """Largest loss of a label where one vote moves, b with probability as e^(epsilon votes)."""
    known = SoftMajorityOverview(epsilon=epsilon, r=r).reachable()
    if known is None:
        raise ArithmeticError("the votes are not all states")
    log_p = known.law.log_p  # type: ignore[union-attr]
    losses = np.abs(log_p[known.moves[:, 0]] - log_p[known.moves[:, 1]])
    return computed(epsilon, float(losses.max()), 2 * known.law.error)


def quarter_cases(effort: Effort) -> Iterator[Case]:
    """Every r up to a size, and errors."""
    for r in range(1, effort.of(60, 400)):
        for alpha in ([1, 4], [1, 10], [1, 100]):
            yield {"r": r, "alpha": alpha}


def quarter(r: int, alpha: list[int]) -> Measured:
    """Largest chance of more than r / 4 wrong votes of r, each predictor wrong with mass alpha.

    By Markov's inequality for whole numbers, attained: either none is wrong or floor(r / 4) + 1.
    """
    share = Fraction(*alpha)
    value = min(Fraction(1), share * r / (r // 4 + 1))
    return Measured(claimed=float(4 * share), lower=float(value), upper=float(value))


def size_cases(_: Effort) -> Iterator[Case]:
    """From alpha = 1/2 on; above it a coin will do."""
    for alpha, epsilon in itertools.product((0.5, 0.3, 0.1, 0.01, 1e-6), (3.0, 1.0, 0.1, 0.001)):
        yield {"alpha": alpha, "epsilon": epsilon}


def size(alpha: float, epsilon: float) -> Measured:
    """The r of Theorem 4.1, against 18 ln(1 / alpha) / epsilon + 1: ln 8 = 3 ln 2."""
    claimed = 18 * math.log(1 / alpha) / epsilon + 1
    return computed(claimed, blocks(alpha, epsilon), 0.0)


PAPER = "dwork-feldman-2018"
ROWS = (
    Row(
        key=f"{PAPER}/section-4.1-soft-majority/privacy",
        checks="b with probability proportional to e^(eps votes for b): eps-DP for every r",
        quantity="loss in nats",
        method="exact",
        domain="r in {1, 2, 3, 25}, eps in {1, .1, 3}, every number of votes",
        cases=overview_cases,
        measure=overview,
        verdict="refuted",
        derivation="The soft majority of the overview",
    ),
    Row(
        key=f"{PAPER}/section-2.1-quarter/markov",
        checks="more than r/4 of r predictors are wrong on a mass of 4 alpha at most",
        quantity="largest mass, over all ways in which the predictors can err together",
        method="exact",
        domain="r = 1, ..., 59, alpha in {1/4, .1, .01}",
        cases=quarter_cases,
        measure=quarter,
    ),
    Row(
        key=f"{PAPER}/section-2.1-soft-majority/size",
        checks="the r of Theorem 4.1 is at most 18 ln(1/alpha)/eps + 1 for alpha <= 1/2 (its ln 4 "
        "keeps it from being O(ln(1/alpha)/eps) as alpha goes to 1, where a coin will do)",
        quantity="number of predictors",
        method="exact",
        domain="alpha in {.5, .3, .1, .01, 1e-6}, eps in {3, 1, .1, .001}",
        cases=size_cases,
        measure=size,
    ),
)
