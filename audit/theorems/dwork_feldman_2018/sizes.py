"""How many examples are enough: Corollaries 2.1/4.2 and 2.3/4.8, and what section 2.1 says of them.

Growth is that of what the proofs need for all functions on d points, |C| = 2^d, with constants:
m(alpha, beta) = (d ln 2 + ln(1 / beta)) / alpha examples PAC learn C, as one that errs by more
than alpha survives m examples with probability e^(-alpha m); and 2 (d ln 2 + ln(2 / beta)) /
alpha^2 learn it agnostically (Hoeffding, alpha / 2 to either side).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import scipy

from dpassay.mechanisms.shared.vc import sauer_shelah
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

ERROR = 64 * UNIT_ROUNDOFF
LARGE = 10.0
D, ALPHA, BETA = 2, 1 / 8, 1 / 4


def corollary_2_1(d: int, alpha: float, beta: float, epsilon: float) -> float:
    """(d + ln(1 / beta)) / (epsilon alpha), with the logarithms that O~ hides."""
    hidden = (1 + math.log(d / (alpha * beta)) + abs(math.log(epsilon))) ** 2
    return hidden * (d + math.log(1 / beta)) / (epsilon * alpha)


def corollary_4_2(d: int, alpha: float, beta: float, epsilon: float) -> float:
    """The printed number."""
    log = math.log(1 / alpha)
    return (d * log**2 + log * math.log(log / (epsilon * beta))) / (epsilon * alpha)


def corollary_2_3(d: int, alpha: float, beta: float, epsilon: float) -> float:
    """(d + ln(1 / beta)) / (epsilon alpha^3), with the logarithms that O~ hides."""
    return corollary_2_1(d, alpha, beta, epsilon) / alpha**2


FORMULAS = {"2.1": corollary_2_1, "4.2": corollary_4_2, "2.3": corollary_2_3}


def large_cases(which: str, effort: Effort) -> Iterator[Case]:
    """Constants C, each with an epsilon that is large enough for one example."""
    for C in effort.of((1, 100, 10**6), (1, 100, 10**6, 10**9)):
        epsilon = LARGE
        while C * FORMULAS[which](D, ALPHA, BETA, epsilon) > 1:
            epsilon *= 10
        yield {"C": C, "d": D, "alpha": ALPHA, "beta": BETA, "epsilon": epsilon, "which": which}


def large(C: float, d: int, alpha: float, beta: float, epsilon: float, which: str) -> Measured:
    """Chance that any learner of both labels on two points, D uniform, errs by alpha < 1/4 at most.

    If all n examples are of one point, the errors at the other one sum to 1 over its two labels, so
    that for one of them it is 1/2 or more, and the error 1/4 or more: over a random label that
    happens with probability 2^(1 - n) / 2 at least.
    """
    if d != 2 or alpha >= 1 / 4:
        raise ArithmeticError("the argument is for two points and alpha < 1/4")
    n = max(1, math.ceil(C * FORMULAS[which](d, alpha, beta, epsilon)))
    return Measured(claimed=1 - beta, lower=0.0, upper=1 - 0.5**n)


def realizable_cases(_: Effort) -> Iterator[Case]:
    """From alpha = 1/2, beta = 1/16, epsilon = 1 on."""
    for d, alpha, beta, epsilon in itertools.product(
        (1, 10, 1000), (0.5, 0.1, 1e-4), (1 / 16, 1e-9), (1.0, 0.1, 1e-4)
    ):
        yield {"d": d, "alpha": alpha, "beta": beta, "epsilon": epsilon}


def needed(d: int, alpha: float, beta: float, epsilon: float) -> float:
    """Return r m(alpha / 4, beta / r), r = 6 ln(4 / alpha) / epsilon, nothing rounded."""
    r = 6 * math.log(4 / alpha) / epsilon
    return r * (d * math.log(2) + math.log(r / beta)) / (alpha / 4)


def realizable(d: int, alpha: float, beta: float, epsilon: float) -> Measured:
    """What the proof needs, against the growth of the printed number from the corner on."""
    corner = 1, 0.5, 1 / 16, 1.0
    constant = needed(*corner) / corollary_4_2(*corner)
    value = needed(d, alpha, beta, epsilon)
    return computed(constant * corollary_4_2(d, alpha, beta, epsilon), value, ERROR * value)


def tilde(d: int, alpha: float, beta: float, epsilon: float) -> Measured:
    """The same against O~ with squared logarithms, and the constant 72."""
    hidden = (2 + math.log(d / (alpha * beta * epsilon))) ** 2
    claimed = 72 * hidden * (d + math.log(1 / beta)) / (epsilon * alpha)
    value = needed(d, alpha, beta, epsilon)
    return computed(claimed, value, ERROR * value)


def agnostic_cases(_: Effort) -> Iterator[Case]:
    """From alpha = beta = epsilon = 1 on."""
    for d, alpha, beta, epsilon in itertools.product(
        (1, 10, 1000), (1.0, 0.1, 1e-4), (1.0, 0.1, 1e-9), (1.0, 0.1, 1e-4)
    ):
        yield {"d": d, "alpha": alpha, "beta": beta, "epsilon": epsilon}


def needed_agnostic(d: int, alpha: float, beta: float, epsilon: float) -> float:
    """Return r m(alpha / 2, beta / r), r = 2 / (alpha epsilon), nothing rounded."""
    r = 2 / (alpha * epsilon)
    return r * 2 * (d * math.log(2) + math.log(2 * r / beta)) / (alpha / 2) ** 2


def agnostic(d: int, alpha: float, beta: float, epsilon: float) -> Measured:
    """What the proof needs, against the growth of the printed number from the corner on."""
    constant = needed_agnostic(1, 1.0, 1.0, 1.0)
    grown = (d + math.log(1 / (alpha * beta * epsilon))) / (epsilon * alpha**3)
    value = needed_agnostic(d, alpha, beta, epsilon)
    return computed(constant * grown, value, ERROR * value)


def agnostic_tilde(d: int, alpha: float, beta: float, epsilon: float) -> Measured:
    """The same against d + ln(1 / beta), with a logarithm of 1 / (alpha epsilon) hidden in O~."""
    constant = needed_agnostic(1, 1.0, 1.0, 1.0)
    hidden = 1 + math.log(1 / (alpha * epsilon))
    grown = hidden * (d + math.log(1 / beta)) / (epsilon * alpha**3)
    value = needed_agnostic(d, alpha, beta, epsilon)
    return computed(constant * grown, value, ERROR * value)


def sauer_cases(effort: Effort) -> Iterator[Case]:
    """|X| from 2 on."""
    for N in range(2, effort.of(60, 300)):
        for d in range(1, N + 1):
            yield {"N": N, "d": d}


def sauer(N: int, d: int) -> Measured:
    """Logarithm of the largest class, against (ln 3 / ln 2) d ln |X|; equal for |X| = 2, d = 1."""
    value = math.log(sauer_shelah(d, N))
    return computed(math.log(3) / math.log(2) * d * math.log(N), value, ERROR * value)


def one_point_cases(_: Effort) -> Iterator[Case]:
    """Constants."""
    for C in (1, 10**6):
        yield {"C": C}


def one_point(C: float) -> Measured:
    """Logarithm of |C| for both labels on one point, d = 1, against C d ln |X|."""
    return computed(C * math.log(1), math.log(2), ERROR)


def coin_cases(_: Effort) -> Iterator[Case]:
    """Constants c in c (d / alpha^2 + d / (epsilon alpha)), alpha from 1/2 on."""
    for c, d, alpha in itertools.product((1.0, 1e-6), (1, 1000), (0.5, 1.0)):
        yield {"c": c, "d": d, "alpha": alpha, "epsilon": 1.0}


def coin(c: float, d: int, alpha: float, epsilon: float) -> Measured:
    """A fair coin errs by 1/2 on every P, at most 1/2 beyond the best; it sees no example."""
    if alpha < 0.5:
        raise ArithmeticError("a coin does not learn")
    return computed(c * (d / alpha**2 + d / (epsilon * alpha)), 0, 0)


def regression_cases(_: Effort) -> Iterator[Case]:
    """Losses up to 1."""
    for alpha, epsilon in itertools.product((1.0, 0.1, 1e-3), (1.0, 0.1, 1e-3)):
        yield {"alpha": alpha, "epsilon": epsilon}


def regression(alpha: float, epsilon: float) -> Measured:
    """The n of Corollary 4.11 for an excess of alpha, against 32 / (epsilon alpha^2)."""
    value = 16 * (1 + epsilon) / (epsilon * alpha**2)
    return computed(32 / (epsilon * alpha**2), value, ERROR * value)


def regression_large_cases(_: Effort) -> Iterator[Case]:
    """Constants, each with an epsilon that is large enough for one example."""
    for C in (1, 100, 10**6):
        yield {"C": C, "alpha": 1 / 8, "epsilon": 64.0 * C}


def regression_large(C: float, alpha: float, epsilon: float) -> Measured:
    """Expected excess loss of any learner, from below: |w - y| on [-1, 1], P[y = 1] = 1/4 or 3/4.

    The excess is 1/2 - c w, c = -1/2 or 1/2. Averaged over both, c E[w] is largest if w is the sign
    of the posterior, so it is 1/2 (1 - 2 P[it is wrong]), and that is the majority of n labels.
    """
    n = max(1, math.ceil(C / (epsilon * alpha**2)))
    wrong = float(scipy.stats.binom.cdf((n - 1) // 2, n, 0.75))
    if n % 2 == 0:
        wrong += float(scipy.stats.binom.pmf(n // 2, n, 0.75)) / 2
    return Measured(claimed=alpha, lower=wrong * (1 - 1e-10), upper=math.inf)


PAPER = "dwork-feldman-2018"
GROWN = "d in {1, 10, 1000}, alpha in {.5, .1, 1e-4}, beta in {1/16, 1e-9}, eps in {1, .1, 1e-4}"
GROWN_AGNOSTIC = "d in {1, 10, 1000}, alpha, eps in {1, .1, 1e-4}, beta in {1, .1, 1e-9}"


def large_row(statement: str, which: str) -> Row:
    """All epsilon > 0."""
    return Row(
        key=f"{PAPER}/{statement}/large-epsilon",
        checks="some constant C in O(.) holds for all eps > 0: two points, alpha = 1/8, beta = 1/4",
        quantity="probability that an error is at most alpha, for any learner",
        method="exact",
        domain="C in {1, 100, 1e6}, eps so large that one example is allowed",
        cases=lambda effort: large_cases(which, effort),
        measure=large,
        relation="at least",
        verdict="refuted",
        derivation="Sizes for large epsilon",
    )


ROWS = (
    large_row("corollary-2.1", "2.1"),
    Row(
        key=f"{PAPER}/corollary-2.1/growth",
        checks="what the proof needs for all functions on d points, with squared logarithms in O~",
        quantity="number of examples, before rounding",
        method="exact",
        domain=GROWN,
        cases=realizable_cases,
        measure=tilde,
    ),
    large_row("corollary-4.2", "4.2"),
    Row(
        key=f"{PAPER}/corollary-4.2/growth",
        checks="what the proof needs for all functions on d points grows no faster from alpha = "
        "1/2, beta = 1/16, eps = 1 on",
        quantity="number of examples, before rounding",
        method="exact",
        domain=GROWN,
        cases=realizable_cases,
        measure=realizable,
    ),
    large_row("corollary-2.3", "2.3"),
    Row(
        key=f"{PAPER}/corollary-2.3/growth",
        checks="what the proof needs for all functions on d points, eps <= 1, a logarithm in O~",
        quantity="number of examples, before rounding",
        method="exact",
        domain=GROWN_AGNOSTIC,
        cases=agnostic_cases,
        measure=agnostic_tilde,
    ),
    Row(
        key=f"{PAPER}/corollary-4.8/growth",
        checks="what the proof needs for all functions on d >= 1 points grows no faster from alpha "
        "= beta = eps = 1 on",
        quantity="number of examples, before rounding",
        method="exact",
        domain=GROWN_AGNOSTIC,
        cases=agnostic_cases,
        measure=agnostic,
    ),
    Row(
        key=f"{PAPER}/section-2.1-sauer/two-points-on",
        checks="|X| >= 2: ln |C| <= (ln 3/ln 2) d ln |X|",
        quantity="ln |C| of the largest class",
        method="exact",
        domain="|X| = 2, ..., 59, d = 1, ..., |X|",
        cases=sauer_cases,
        measure=sauer,
    ),
    Row(
        key=f"{PAPER}/section-2.1-sauer/one-point",
        checks="|X| = 1: some constant in O(.) holds for both labels on one point",
        quantity="ln |C|",
        method="exact",
        domain="C in {1, 1e6}",
        cases=one_point_cases,
        measure=one_point,
        verdict="refuted",
        derivation="Remarks of section 2.1 at their ends",
    ),
    Row(
        key=f"{PAPER}/section-2.1-agnostic-lower/coin",
        checks="alpha >= 1/2: agnostic learning needs c (d/alpha^2 + d/(eps alpha)) for some c > 0",
        quantity="number of examples with which a coin learns",
        method="exact",
        domain="c in {1, 1e-6}, d in {1, 1000}, alpha in {.5, 1}, eps = 1",
        cases=coin_cases,
        measure=coin,
        relation="at least",
        verdict="refuted",
        derivation="Remarks of section 2.1 at their ends",
    ),
    Row(
        key=f"{PAPER}/section-2.1-regression/size",
        checks="eps <= 1: Corollary 4.11 gives n = 32/(eps alpha^2), R = L_f = L_l = 1",
        quantity="number of examples, before rounding",
        method="exact",
        domain="alpha, eps in {1, .1, 1e-3}",
        cases=regression_cases,
        measure=regression,
    ),
    Row(
        key=f"{PAPER}/section-2.1-regression/large-epsilon",
        checks="some constant C in O(1/(eps alpha^2)) holds for all eps > 0: alpha = 1/8",
        quantity="expected excess loss of any learner, from below",
        method="exact",
        domain="C in {1, 100, 1e6}, eps = 64 C: one example",
        cases=regression_large_cases,
        measure=regression_large,
        verdict="refuted",
        derivation="Sizes for large epsilon",
    ),
)
