"""How stable A^sta is: Lemma 7 and the outline with both roundings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from dpassay.mechanisms.dagan_feldman_2020.stable_learner import StableLearner
from dpassay.mechanisms.dagan_feldman_2020.stable_worst import both_ways
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

SMALL = 16 * UNIT_ROUNDOFF
GAMMAS = (0.01, 0.1, 0.25, 0.5, 0.9, 0.99)


def change(eta: float, epsilon: float) -> float:
    """Largest change over all H, S and representatives: eta + (1 - eta) tanh(epsilon / 4).

    docs/findings.md, 'The stable learner'.
    """
    return eta + (1 - eta) * math.tanh(epsilon / 4)


def lemma_cases(effort: Effort) -> Iterator[Case]:
    """Gammas and n with gamma n >= 1."""
    for gamma, n in itertools.product(GAMMAS, effort.of((3, 11, 1001), (2, 3, 5, 11, 101, 1001))):
        if gamma * n >= 1:
            yield {"gamma": gamma, "n": n}


def lemma(gamma: float, n: int) -> Measured:
    """Lemma 7: n' = floor(gamma n), epsilon = gamma, against 3 gamma."""
    return computed(3 * gamma, change(math.floor(gamma * n) / n, gamma), SMALL)


def down_cases(effort: Effort) -> Iterator[Case]:
    """Gammas and n with gamma n / 2 >= 1."""
    for gamma, n in itertools.product(GAMMAS, effort.of((3, 11, 1001), (3, 5, 11, 31, 101, 1001))):
        if gamma * n >= 2:
            yield {"gamma": gamma, "n": n}


def down(gamma: float, n: int) -> Measured:
    """|T| = floor(gamma n / 2), epsilon = gamma / 4, against gamma."""
    return computed(gamma, change(math.floor(gamma * n / 2) / n, gamma / 4), SMALL)


def up_cases(effort: Effort) -> Iterator[Case]:
    """From one record on."""
    for n, rule in ((1, "least"), (3, "adverse"), (4, "middle"), *effort.of((), ((6, "middle"),))):
        yield {"gamma": 0.1, "n": n, "representative": rule}


def up(gamma: float, n: int, representative: str) -> Measured:
    """|T| = ceil(gamma n / 2), thresholds: the learner's own worst pairs by its exact law."""
    learner = StableLearner(
        gamma=gamma,
        n=n,
        rounding="up",
        representative=representative,  # type: ignore[arg-type]
    )
    largest, error = 0.0, 0.0
    for case in learner.pairs():
        laws = [
            learner.distribution(learner.prepare(each), case.queries)
            for each in (case.pairs.base, case.pairs.changes[0].apply(case.pairs.base))
        ]
        one, other = laws
        if one is None or other is None:
            raise ArithmeticError("the law of a worst pair is not known")
        largest = max(largest, float(both_ways(one, other)[0].max()))
        error = max(error, one.error + other.error)
    return Measured(claimed=gamma, lower=largest - error - SMALL, upper=1.0)


def half_cases(_: Effort) -> Iterator[Case]:
    """All of (0, 1), in hundredths."""
    for percent in range(1, 100):
        yield {"percent": percent}


def half(percent: int) -> Measured:
    """e^(gamma / 4) - 1 against gamma / 2."""
    gamma = percent / 100
    return computed(gamma / 2, math.expm1(gamma / 4), SMALL)


ROWS = (
    Row(
        key="dagan-feldman-2020/lemma-7/stability",
        checks="n' <= gamma n, parameter gamma: 3 gamma-stable, for every H, S and representatives",
        quantity="change of a label's probability, attained for odd n",
        method="exact",
        domain="six gamma from .01 to .99, n in {3, 11, 1001}",
        cases=lemma_cases,
        measure=lemma,
    ),
    Row(
        key="dagan-feldman-2020/section-3-outline/rounded-down",
        checks="|T| = gamma n/2 rounded down: gamma-stable, for every H, S and representatives",
        quantity="change of a label's probability, attained for odd n",
        method="exact",
        domain="six gamma from .01 to .99, n in {3, 11, 1001}",
        cases=down_cases,
        measure=down,
    ),
    Row(
        key="dagan-feldman-2020/section-3-outline/rounded-up",
        checks="|T| = gamma n/2 rounded up: gamma-stable",
        quantity="change of a label's probability",
        method="exact",
        domain="gamma = .1, n in {1, 3, 4}, thresholds, three choices of representatives",
        cases=up_cases,
        measure=up,
        verdict="refuted",
        derivation="The size of T rounded up",
    ),
    Row(
        key="dagan-feldman-2020/section-3-outline/exponential",
        checks="the step '(e^(gamma/4) - 1)-stable, hence gamma/2-stable'",
        quantity="e^(gamma/4) - 1",
        method="exact",
        domain="gamma = .01, ..., .99",
        cases=half_cases,
        measure=half,
    ),
)
