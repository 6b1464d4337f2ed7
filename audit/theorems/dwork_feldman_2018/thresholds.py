"""Theorem 5.3, which restates Theorem 2.4: the expected error of the projected walk."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import scipy
from scipy.special import expit

from dpassay.mechanisms.dwork_feldman_2018.projected_walk import Ties, Traversed
from dpassay.mechanisms.dwork_feldman_2018.projected_walk_risk import ProjectedWalkRisk
from dpassay.mechanisms.dwork_feldman_2018.unions import least_error
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.seeds import stream
from dpassay.theorems.dwork_feldman_2018._distinct import best_error, expected_error
from dpassay.theorems.effort import SHARE, Effort
from dpassay.theorems.row import Case, Measured, Row, computed
from dpassay.theorems.sampled import frequency

ERROR = 1e-9
"""Of an expected error: the draws of probability below 1e-13 that are counted as errors, a few
thousand of them, and rounding."""


def size(alpha: float, epsilon: float, k: int = 1) -> int:
    """Least whole n that Theorem 5.3 allows."""
    return math.ceil(4 * (k + 2) * math.log(2 / alpha) / (alpha * epsilon))


def end(alpha: float, epsilon: float) -> int:
    """T of Theorem 5.3."""
    return math.ceil(2 * math.log(2 / alpha) / epsilon)


def tied(
    ones: list[int],
    zeros: list[int],
    alpha: float,
    epsilon: float,
    k: int,
    ties: Ties,
    traversed: Traversed,
) -> Measured:
    """E[Err_P(M(S))] where P has so many records labelled 1, and 0, at each point."""
    risk = ProjectedWalkRisk(epsilon=epsilon, alpha=alpha, k=k, ties=ties, traversed=traversed)
    one, zero = np.array(ones), np.array(zeros)
    best = least_error(one, zero, k) / (sum(ones) + sum(zeros))
    steps = (32 + 8 * risk.T) * (risk.n + len(ones))
    rounding = UNIT_ROUNDOFF * (steps + 64 * (1 + epsilon * risk.T))
    return computed(math.exp(epsilon) * (best + alpha), risk.expected_error(one, zero), rounding)


def case(
    ones: list[int], zeros: list[int], alpha: float, epsilon: float, ties: Ties, k: int = 1
) -> Case:
    """One of them, the query's own point traversed."""
    return {"ones": ones, "zeros": zeros, "alpha": alpha, "epsilon": epsilon, "k": k} | {
        "ties": ties,
        "traversed": "up-to",
    }


def by_label_cases(_: Effort) -> Iterator[Case]:
    """One label in five is 1."""
    for alpha, epsilon in ((0.1, 0.5), (0.2, 0.5)):
        yield case([1], [4], alpha, epsilon, "label")


def below_cases(_: Effort) -> Iterator[Case]:
    """One point, always labelled 1."""
    for alpha, epsilon in ((0.25, 0.5), (0.1, 1.0), (0.1, 0.5)):
        yield {**case([1], [0], alpha, epsilon, "sum"), "traversed": "below"}


def tied_cases(ties: Ties, effort: Effort) -> Iterator[Case]:
    """P on one point, two, and five."""
    for alpha, epsilon in itertools.product(
        effort.of((0.5, 0.2), (0.9, 0.5, 0.2, 0.1)), (1.0, 0.5)
    ):
        for ones, zeros in (
            ([0], [1]),
            ([1], [4]),
            ([1], [1]),
            ([0, 1], [1, 0]),
            ([1, 4], [4, 1]),
            ([4, 1], [1, 4]),
            ([2, 3, 1, 4, 2], [3, 2, 4, 1, 3]),
        ):
            yield case(ones, zeros, alpha, epsilon, ties)


def union_cases(effort: Effort) -> Iterator[Case]:
    """One interval, k = 2."""
    for alpha, epsilon in itertools.product((0.5, 0.2), effort.of((1.0,), (1.0, 0.5))):
        for ones, zeros in (([1, 4, 1], [4, 1, 4]), ([0, 1, 0], [1, 0, 1])):
            yield case(ones, zeros, alpha, epsilon, "sum", k=2)


def distinct_cases(effort: Effort) -> Iterator[Case]:
    """Two pieces of the line: thresholds, one label, noise, and the wrong way round."""
    for alpha, epsilon in itertools.product(
        effort.of((0.5, 0.2, 0.1), (0.9, 0.5, 0.2, 0.1, 0.05)), (1.0, 0.5)
    ):
        for mass, low, high in itertools.product((0.0, 0.1, 0.5), (0.0, 0.2, 0.5), (0.8, 1.0)):
            yield {"alpha": alpha, "epsilon": epsilon, "mass": mass, "low": low, "high": high}


def distinct(alpha: float, epsilon: float, mass: float, low: float, high: float) -> Measured:
    """E[Err_P(M(S))] where no two points are equal."""
    n = size(alpha, epsilon)
    value = expected_error(n, end(alpha, epsilon), epsilon, mass, low, high)
    return computed(math.exp(epsilon) * (best_error(mass, low, high) + alpha), value, ERROR)


def large_cases(effort: Effort) -> Iterator[Case]:
    """With epsilon above 1, where T is rounded up most, and alpha up to 1."""
    for alpha, epsilon in itertools.product(
        (1.0, 0.5, 0.1), effort.of((3.0, 10.0), (2.0, 3.0, 8.0))
    ):
        for mass, low, high in itertools.product((0.0, 0.5), (0.0, 0.3), (0.7, 1.0)):
            yield {"alpha": alpha, "epsilon": epsilon, "mass": mass, "low": low, "high": high}


def agnostic_cases(effort: Effort) -> Iterator[Case]:
    """With epsilon = alpha / 2."""
    for alpha in effort.of((0.5, 0.4, 0.3), (0.9, 0.5, 0.4, 0.3, 0.2)):
        for mass, low, high in ((0.0, 0.0, 1.0), (0.0, 0.0, 0.7), (0.5, 0.0, 1.0), (0.5, 0.3, 0.7)):
            yield {"alpha": alpha, "mass": mass, "low": low, "high": high}


def agnostic(alpha: float, mass: float, low: float, high: float) -> Measured:
    """E[Err_P(M(S))] for epsilon = alpha / 2, against Opt + alpha."""
    found = distinct(alpha, alpha / 2, mass, low, high)
    return Measured(
        claimed=best_error(mass, low, high) + alpha, lower=found.lower, upper=found.upper
    )


def step_cases(_: Effort) -> Iterator[Case]:
    """Opt = 0 is hand-sized."""
    for alpha, best in itertools.product((0.5, 0.1, 0.01), (0.0, 0.2)):
        yield {"alpha": alpha, "best": best}


def step(alpha: float, best: float) -> Measured:
    """e^epsilon (Opt + alpha) for epsilon = alpha / 2, against Opt + alpha."""
    value = math.exp(alpha / 2) * (best + alpha)
    return computed(best + alpha, value, 8 * UNIT_ROUNDOFF * value)


def realizable_cases(effort: Effort) -> Iterator[Case]:
    """With epsilon = 1 / (16 ln(1 / beta)), P uniform on the line, labels 1 beyond `cut`."""
    for beta, cut in itertools.product((0.3, effort.of(0.2, 0.1)), (0.0, 0.5)):
        yield {"alpha": 0.1, "beta": beta, "cut": cut, "seed": effort.seed} | {
            "trials": effort.of(300, 2000),
            "share": SHARE / 4,
        }


def realizable(
    alpha: float, beta: float, cut: float, seed: int, trials: int, share: float
) -> Measured:
    """How often Err_P(M(S)) >= 3 alpha, against 2 beta."""
    epsilon = 1 / (16 * math.log(1 / beta))
    n, T = size(alpha, epsilon), end(alpha, epsilon)
    rng = stream(seed, "dwork-feldman-2018/theorem-5.3-realizable", beta, cut)
    bad = 0
    for _ in range(trials):
        bad += line_error(np.sort(rng.random(n)), cut, T, epsilon) >= 3 * alpha
    return frequency(2 * beta, int(bad), trials, alpha=share)


def line_error(x: np.ndarray, cut: float, T: int, epsilon: float) -> float:
    """Err_P(M(S)) for ascending points x in [0, 1], labelled 1 from `cut` on, P uniform."""
    left = int(np.searchsorted(x, cut))
    down = np.maximum(-np.arange(left + 1), -T)
    up = np.minimum(down[-1] + np.arange(len(x) - left + 1), T)
    one = np.concatenate([expit(epsilon / 2 * down), expit(-epsilon / 2 * up)])  # of the wrong one
    ends = np.concatenate([[0.0], x[:left], [cut], x[left:], [1.0]])
    return float(np.diff(ends) @ one)


def chernoff_cases(_: Effort) -> Iterator[Case]:
    """From alpha = 1/3 on: larger errors do not exist."""
    for alpha in (1 / 3, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-5):
        yield {"alpha": alpha}


def chernoff(alpha: float) -> Measured:
    """Chance that n = ceil(6 ln 2 / alpha) variables of mean 3 alpha have a mean of 2 alpha."""
    n = math.ceil(6 * math.log(2) / alpha)
    value = float(scipy.stats.binom.sf(math.ceil(2 * alpha * n) - 1, n, min(1.0, 3 * alpha)))
    return computed(0.5, value, ERROR)


def needed(alpha: float, epsilon: float) -> float:
    """Examples for an error of alpha where Opt = 0: Theorem 2.4 with alpha / e^epsilon."""
    fine = alpha * math.exp(-epsilon)
    return 12 * math.log(2 / fine) / (fine * epsilon)


def needed_agnostic(alpha: float, epsilon: float) -> float:
    """The same beyond Opt, epsilon' = min(epsilon, alpha / 4) and alpha / 2.

    e^epsilon' (Opt + alpha / 2) <= Opt + (e^(alpha / 4) - 1) + e^(1 / 4) alpha / 2 <= Opt + alpha.
    """
    return 24 * math.log(4 / alpha) / (alpha * min(epsilon, alpha / 4))


def rates_cases(_: Effort) -> Iterator[Case]:
    """From alpha = 1/2 on; above it a coin needs no example where Opt = 0."""
    for alpha, epsilon in itertools.product((0.5, 0.2, 0.05, 0.01, 1e-4), (1.0, 0.5, 0.1, 0.01)):
        yield {"alpha": alpha, "epsilon": epsilon}


def realizable_rate(alpha: float, epsilon: float) -> Measured:
    """Growth of ln(1 / alpha) / (alpha epsilon) from alpha = 1/2, epsilon = 1 on."""
    growth = math.log(1 / alpha) / (alpha * epsilon) / (math.log(2) / 0.5)
    value = needed(alpha, epsilon)
    return computed(needed(0.5, 1.0) * growth, value, 32 * UNIT_ROUNDOFF * value)


def agnostic_rate(alpha: float, epsilon: float) -> Measured:
    """Growth of ln(1/alpha)/(alpha epsilon) + ln(1/alpha)/alpha^2 with the constants 72, 288.

    24 ln(4 / alpha) <= 72 ln(1 / alpha) for alpha <= 1/2.
    """
    claimed = math.log(1 / alpha) * (72 / (alpha * epsilon) + 288 / alpha**2)
    value = needed_agnostic(alpha, epsilon)
    return computed(claimed, value, 32 * UNIT_ROUNDOFF * value)


def intervals_cases(_: Effort) -> Iterator[Case]:
    """Numbers of intervals."""
    for intervals in (1, 2, 10, 1000):
        yield {"intervals": intervals}


def intervals_size(intervals: int) -> Measured:
    """Return k + 2 of Theorem 5.3, two ends an interval, against as many times that of one."""
    return computed(intervals * (2 + 2), 2 * intervals + 2, 0)


PAPER = "dwork-feldman-2018"
TIED = "P on one, two and five points, alpha in {.5, .2}, eps in {1, .5}, the least n"
LINE = "k = 1, two pieces of the line, 18 laws, alpha in {.5, .2, .1}, eps in {1, .5}, the least n"


def error_rows(statement: str) -> tuple[Row, ...]:
    """The readings of the bound on the expected error, k = 1 as in Theorem 2.4."""
    return (
        Row(
            key=f"{PAPER}/{statement}/no-ties",
            checks="no two points are equal ('<' and '<=' are the same)",
            quantity="expected error",
            method="exact",
            domain=LINE,
            cases=distinct_cases,
            measure=distinct,
        ),
        Row(
            key=f"{PAPER}/{statement}/ties-together",
            checks="equal points make one step together",
            quantity="expected error",
            method="exact",
            domain=TIED,
            cases=lambda effort: tied_cases("sum", effort),
            measure=tied,
        ),
        Row(
            key=f"{PAPER}/{statement}/ties-in-order",
            checks="equal points make a step each, in the order drawn",
            quantity="expected error",
            method="exact",
            domain=TIED,
            cases=lambda effort: tied_cases("index", effort),
            measure=tied,
        ),
        Row(
            key=f"{PAPER}/{statement}/ties-by-label",
            checks="equal points make a step each, those labelled 1 last",
            quantity="expected error",
            method="exact",
            domain="one point, one label in five is 1; alpha in {.1, .2}, eps = .5, the least n",
            cases=by_label_cases,
            measure=tied,
            verdict="refuted",
            derivation="Theorem 5.3 with ties",
        ),
        Row(
            key=f"{PAPER}/{statement}/smaller-points",
            checks="the walk goes through x_i < x, as the overview says, where points are equal",
            quantity="expected error",
            method="exact",
            domain="one point labelled 1; (alpha, eps) in {(.25, .5), (.1, 1), (.1, .5)}",
            cases=below_cases,
            measure=tied,
            verdict="refuted",
            derivation="Theorem 5.3 for smaller points",
        ),
    )


ROWS = (
    *error_rows("theorem-5.3"),
    Row(
        key=f"{PAPER}/theorem-5.3/interval",
        checks="one interval, k = 2; equal points make one step together",
        quantity="expected error",
        method="exact",
        domain="two laws on three points, alpha in {.5, .2}, eps = 1, the least n",
        cases=union_cases,
        measure=tied,
    ),
    Row(
        key=f"{PAPER}/theorem-5.3/large-epsilon",
        checks="no two points are equal; eps > 1, where the rounding of T is felt most",
        quantity="expected error",
        method="search",
        domain="two pieces of the line, 8 laws, alpha in {1, .5, .1}, eps in {3, 10}, the least n",
        cases=large_cases,
        measure=distinct,
        verdict="not refuted",
    ),
    *error_rows("theorem-2.4"),
    Row(
        key=f"{PAPER}/theorem-5.3-agnostic/no-ties",
        checks="eps = alpha/2, taken at its word: the error is at most Opt + alpha",
        quantity="expected error",
        method="search",
        domain="four laws on two pieces of the line, alpha in {.5, .4, .3}, the least n",
        cases=agnostic_cases,
        measure=agnostic,
        verdict="not refuted",
    ),
    Row(
        key=f"{PAPER}/theorem-5.3-agnostic-step/bound",
        checks="the bound of the theorem at eps = alpha/2 is at most Opt + alpha (only the proof "
        "errs)",
        quantity="bound of the theorem",
        method="exact",
        domain="alpha in {.5, .1, .01}, Opt in {0, .2}",
        cases=step_cases,
        measure=step,
        verdict="refuted",
        derivation="Theorem 5.3: epsilon = alpha/2",
    ),
    Row(
        key=f"{PAPER}/theorem-5.3-realizable/line",
        checks="thresholds on the line, P uniform, eps = 1/(16 ln(1/beta))",
        quantity="probability of an error of 3 alpha",
        method="certified",
        domain="alpha = .1, beta in {.3, .2}, threshold at 0 and at 1/2, the least n",
        cases=realizable_cases,
        measure=realizable,
        verdict="not refuted",
    ),
    Row(
        key=f"{PAPER}/theorem-5.3-chernoff/binomial",
        checks="n = ceil(6 ln(2)/alpha), mean 3 alpha, the least that there is",
        quantity="probability",
        method="exact",
        domain="seven alpha from 1/3 to 1e-5",
        cases=chernoff_cases,
        measure=chernoff,
        relation="at least",
    ),
    Row(
        key=f"{PAPER}/section-2.2-rates/realizable",
        checks="Opt = 0: Theorem 2.4 gives n = O(ln(1/alpha)/(alpha eps)), from alpha = 1/2 on",
        quantity="number of examples, before rounding",
        method="exact",
        domain="alpha in {.5, .2, .05, .01, 1e-4}, eps in {1, .5, .1, .01}",
        cases=rates_cases,
        measure=realizable_rate,
    ),
    Row(
        key=f"{PAPER}/section-2.2-rates/agnostic",
        checks="Theorem 2.4 with eps' = min(eps, alpha/4): 72 ln(1/alpha)/(alpha eps) + "
        "288 ln(1/alpha)/alpha^2 are enough, for alpha <= 1/2",
        quantity="number of examples, before rounding",
        method="exact",
        domain="alpha in {.5, .2, .05, .01, 1e-4}, eps in {1, .5, .1, .01}",
        cases=rates_cases,
        measure=agnostic_rate,
    ),
    Row(
        key=f"{PAPER}/section-2.2-rates/intervals",
        checks="m intervals, 2 m ends, need at most m times as many examples as one",
        quantity="k + 2, to which n is proportional",
        method="exact",
        domain="1, 2, 10, 1000 intervals",
        cases=intervals_cases,
        measure=intervals_size,
    ),
)
