"""Section 6.1: two private algorithms, of which one is said to be unstable."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from scipy.special import expit

from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.example61 import (
    difference_outside,
    logistic_between,
)
from dpassay.theorems.chaudhuri_vinterbo_2013._audited import loss_of
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

PAPER = "chaudhuri-vinterbo-2013"
TITLE = "Section 6.1"
CELL = 2.0**-10


def privacy_cases(effort: Effort) -> Iterator[Case]:
    """Small n first."""
    for n, l, alpha in itertools.product(  # noqa: E741
        (1, 2, 3, 20, effort.of(100, 1000)), (2, 3), (0.3, 1.0, 5.0)
    ):
        yield {"n": n, "l": l, "alpha": alpha}


def noise_cases(effort: Effort) -> Iterator[Case]:
    """The same, the case of the findings first."""
    yield {"n": 1, "l": 3, "alpha": 1.0}
    yield from privacy_cases(effort)


def of_A(n: int, l: int, alpha: float) -> Measured:  # noqa: E741
    """Loss of index and values of A, its noise having the scale 2 l/(alpha n)."""
    return loss_of(alpha, "example61-exponential", {"n": n, "m": 0, "l": l, "alpha": alpha})


def of_A_prime(n: int, l: int, alpha: float) -> Measured:  # noqa: E741
    """Loss of index and values of A'."""
    return loss_of(alpha, "example61-noisy-max", {"n": n, "m": 0, "l": l, "alpha": alpha})


def as_printed(n: int, l: int, alpha: float) -> Measured:  # noqa: E741
    """The same of A where 2 l/(alpha n) is the standard deviation of its noise."""
    given = {"n": n, "m": 0, "l": l, "alpha": alpha, "scale": "printed"}
    return loss_of(alpha, "example61-exponential", given)


def formula(n: int, alpha: float) -> float:
    """e^(n alpha/8)(e^(alpha/2) - 1)/((e^(n alpha/8) + 1)(e^(n alpha/8) + e^(alpha/2)))."""
    x = n * alpha / 8
    return float(expit(x) * np.exp(-x) * math.expm1(alpha / 2) / (1 + math.exp(alpha / 2 - x)))


def formula_cases(_: Effort) -> Iterator[Case]:
    """From small to large n."""
    for n, alpha in itertools.product((2, 4, 20, 100, 390), (0.1, 1.0, 5.0)):
        yield {"n": n, "alpha": alpha}


def index_differs(n: int, alpha: float) -> Measured:
    """Chance that R_0 gives 1 on D and 2 on D', f = (1, 1/2) becoming (1 - 1/n, 1/2 + 1/n)."""
    before, after = alpha * n / 4 * 0.5, alpha / 4 * (n / 2 - 2)
    value = logistic_between(-before, -after)
    return computed(formula(n, alpha), value, 1e-12 * value)


def bad_share(lead: int, alpha: float, beta1: float) -> float:
    """Share of strings for which n times the score of A moves by more than beta1.

    l = 2, n f(D, 1) - n f(D, 2) = lead, and one record lowers the first and raises the second by 1.
    Where the index differs n times the score moves by lead - 1 + (4/alpha) X, X = R_1 - R_2; else
    by 1.
    """
    differs = logistic_between(alpha * (lead - 2) / 4, alpha * lead / 4)
    low, high = (alpha / 4 * (edge - lead + 1) for edge in (-beta1, beta1))
    outside = difference_outside(low, high)
    return differs * outside + (1 - differs) * (beta1 < 1)


def large_cases(effort: Effort) -> Iterator[Case]:
    """'When n is large enough': alpha n from 100 on."""
    ns = effort.of((100, 200, 400, 1000), (100, 150, 200, 400, 600, 1000, 2000))
    for n, alpha in itertools.product(ns, (1.0, 2.0)):
        yield {"n": n, "alpha": alpha}


def large(n: int, alpha: float) -> Measured:
    """Share of bad strings for beta1 = n/3, at the pair of the text or near a tie."""
    found = max(bad_share(lead, alpha, n / 3) for lead in (n // 2, 2))
    return computed(formula(n, alpha), found, 1e-10 * found)


def small_delta_cases(_: Effort) -> Iterator[Case]:
    """beta1 = sqrt(n), which is o(n)."""
    for n, delta, alpha in itertools.product((1000, 10_000, 10**6), (0.01, 0.001), (1.0, 2.0)):
        yield {"n": n, "delta": delta, "alpha": alpha}


def small_delta(n: int, delta: float, alpha: float) -> Measured:
    """Share of bad strings of A for beta1 = sqrt(n), over all pairs; instability needs delta.

    n times the score moves by (4/alpha)|L + X| + 1 at most, L logistic, X = R_1 - R_2.
    """
    q = (math.sqrt(n) - 1) * alpha / 4
    return Measured(claimed=delta, lower=0.0, upper=most_outside(q))


def most_outside(q: float) -> float:
    """P[|L + X| > q] from above, by cells of X: P[L > q - x] grows with x."""
    x = np.arange(-80.0, 80.0 + CELL, CELL)
    above = np.where(x >= 0, 1.0, 0.0) - np.sign(x + (x == 0)) * (
        (2 + np.abs(x)) * np.exp(-np.abs(x)) / 4
    )  # P[X <= x]
    cells = np.diff(above, prepend=0.0)
    return float(2 * (cells @ expit(x - q) + 1 - above[-1])) * (1 + 1e-9)


def string_cases(effort: Effort) -> Iterator[Case]:
    """All datasets of n records and 2 candidates, moves and strings without ties; smallest first.

    Only R_1 - R_2 decides, so R_2 = 0.
    """
    for n in effort.of((1, 2, 3), (1, 2, 3, 5)):
        strings = sorted(range(-30, 31), key=abs)
        counts = list(itertools.product(range(n + 1), repeat=2))
        for tenths, before, after in itertools.product(strings, counts, counts):
            ties = any(5 * (each[1] - each[0]) == tenths for each in (before, after))
            if not ties and max(abs(before[i] - after[i]) for i in range(2)) <= 1:
                yield {"before": list(before), "after": list(after), "tenths_of_R1": tenths}


def stable_end(before: list[int], after: list[int], tenths_of_R1: int) -> Measured:
    """How far n times the score of A' moves, alpha = 1, before and after being n f."""
    (_, one), (_, other) = (_winner(each, tenths_of_R1) for each in (before, after))
    return computed(1.0, float(abs(one - other)), 0.0)


def stable_step(before: list[int], after: list[int], tenths_of_R1: int) -> Measured:
    """How far n f(D, i) and n f(D, i') are apart, i* = i on D and i' on D'."""
    (one, _), (other, _) = (_winner(each, tenths_of_R1) for each in (before, after))
    return computed(1.0, abs(before[one] - before[other]), 0.0)


def _winner(counts: list[int], tenths: int) -> tuple[int, Fraction]:
    """Return the index of A' and n times its t_i, in fractions; the scale of the noise is 2."""
    t = (counts[0] + Fraction(2 * tenths, 10), Fraction(counts[1]))
    index = int(t[1] > t[0])
    return index, t[index]


ROWS = (
    Row(
        key=f"{PAPER}/section-3-example/constant-delta",
        checks="reading: A is not stable for beta1 = o(n) at a delta that n does not enter",
        quantity="share of bad strings for beta1 = sqrt(n)",
        method="exact",
        domain="n in {1000, 1e4, 1e6}, delta in {.01, .001}, alpha in {1, 2}; all pairs, l = 2",
        cases=small_delta_cases,
        measure=small_delta,
        relation="at least",
        verdict="refuted",
        derivation="Training stability at a constant delta",
    ),
    Row(
        key=f"{PAPER}/section-6.1-privacy/A",
        checks="A is alpha-DP, 2 l/(alpha n) being the scale of its noise, as F_A has it",
        quantity="loss in nats",
        method="exact",
        domain="own worst pairs; n in {1, 2, 3, 20, 100}, l in {2, 3}, alpha in {.3, 1, 5}",
        cases=privacy_cases,
        measure=of_A,
    ),
    Row(
        key=f"{PAPER}/section-6.1-privacy/A-prime",
        checks="A' is alpha-DP",
        quantity="loss in nats",
        method="exact",
        domain="own worst pairs; n in {1, 2, 3, 20, 100}, l in {2, 3}, alpha in {.3, 1, 5}",
        cases=privacy_cases,
        measure=of_A_prime,
    ),
    Row(
        key=f"{PAPER}/section-6.1-privacy/standard-deviation",
        checks="A is alpha-DP, 2 l/(alpha n) being the standard deviation of its noise, as printed",
        quantity="loss in nats",
        method="exact",
        domain="own worst pairs; n in {1, 2, 3, 20, 100}, l in {2, 3}, alpha in {.3, 1, 5}",
        cases=noise_cases,
        measure=as_printed,
        verdict="refuted",
        derivation="The noise in section 6.1",
    ),
    Row(
        key=f"{PAPER}/section-6.1-unstable/formula",
        checks="the index of A differs with the probability that bounds delta; no more",
        quantity="probability that the index differs",
        method="exact",
        domain="n from 2 to 390, alpha in {.1, 1, 5}",
        cases=formula_cases,
        measure=index_differs,
    ),
    Row(
        key=f"{PAPER}/section-6.1-unstable/formula-no-less",
        checks="the same; no less",
        quantity="probability that the index differs",
        method="exact",
        domain="n from 2 to 390, alpha in {.1, 1, 5}",
        cases=formula_cases,
        measure=index_differs,
        relation="at least",
    ),
    Row(
        key=f"{PAPER}/section-6.1-unstable/large-n",
        checks="beta1 = n/3 fails for delta below the formula, n being large",
        quantity="share of bad strings",
        method="exact",
        domain="n in {100, 200, 400, 1000}, alpha in {1, 2}; pair of the text, and one near a tie",
        cases=large_cases,
        measure=large,
        relation="at least",
    ),
    Row(
        key=f"{PAPER}/section-6.1-stable/score",
        checks="n times the score of A' moves by at most 1, for every string",
        quantity="n times the change of the score",
        method="exact",
        domain="l = 2, alpha = 1, all counts for n in {1, 2, 3}, R_1 - R_2 from -3 to 3 by tenths",
        cases=string_cases,
        measure=stable_end,
    ),
    Row(
        key=f"{PAPER}/section-6.1-stable/step",
        checks="the step |f(D, i) - f(D, i')| <= 1/n of its proof",
        quantity="n times the difference",
        method="exact",
        domain="l = 2, alpha = 1, all counts for n in {1, 2, 3}, R_1 - R_2 from -3 to 3 by tenths",
        cases=string_cases,
        measure=stable_step,
        verdict="refuted",
        derivation=TITLE,
    ),
)
