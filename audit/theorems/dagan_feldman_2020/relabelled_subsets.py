"""Section 4.2: the subsets that are counted before Lemma 10 and in Equation 13."""

from __future__ import annotations

from collections.abc import Iterator

from dpassay.mechanisms.dagan_feldman_2020.relabelled_bounds import NET
from dpassay.theorems.dagan_feldman_2020.nets import RELATIVE, missing
from dpassay.theorems.effort import Effort
from dpassay.theorems.row import Case, Measured, Row, computed

SMALL = 1e-12
"""Relative error of a few products."""


def subsets_cases(effort: Effort) -> Iterator[Case]:
    """Nets of thresholds on a line, n - 1 other records, n' - 1 of them in T; n' <= epsilon n."""
    some = ((0.3, 0.3, 400), (0.2, 0.2, 1000), *effort.of((), ((0.1, 0.1, 3000),)))
    for eta, alpha, n in some:
        yield {"eta": eta, "alpha": alpha, "n": n}


def subsets(eta: float, alpha: float, n: int) -> Measured:
    """|I''| / |I| against alpha epsilon: n' - 1 the least size that is a net with chance 1 - alpha.

    epsilon = n' / n. I'' is (n' / n) times the share of n' - 1 of n - 1 points that are no net.
    """
    size = next(m for m in range(1, n) if missing(n - 1, m, eta, replaced=False) <= alpha)
    share = (size + 1) / n
    value = share * missing(n - 1, size, eta, replaced=False)
    return computed(alpha * share, value, RELATIVE * (1 + value))


def half_cases(_: Effort) -> Iterator[Case]:
    """Sizes n' = epsilon n above n / 2."""
    for n, n_prime in ((3, 2), (10, 9), (1000, 999)):
        yield {"n": n, "n_prime": n_prime}


def below_cases(_: Effort) -> Iterator[Case]:
    """Sizes n' = epsilon n up to n / 2."""
    for n, n_prime in ((2, 1), (4, 1), (4, 2), (10, 3), (1000, 1), (1000, 500)):
        yield {"n": n, "n_prime": n_prime}


def remaining(n: int, n_prime: int) -> Measured:
    """Records that are left, n - n', against n / 2."""
    return computed(n / 2, float(n - n_prime), 0.0)


def amplification(n: int, n_prime: int) -> Measured:
    """4 e^6 n' / (n - n') against 8 e^6 epsilon, epsilon = n' / n."""
    value = NET * n_prime / (n - n_prime)
    return computed(2 * NET * n_prime / n, value, SMALL * value)


ROWS = (
    Row(
        key="dagan-feldman-2020/section-4.2-subsets/share",
        checks="|I''| <= alpha eps |I|, by the exact chance of no net on a line",
        quantity="share of the subsets",
        method="exact",
        domain="(eta, alpha, n) = (.3, .3, 400), (.2, .2, 1000), n' - 1 the least net size",
        cases=subsets_cases,
        measure=subsets,
    ),
    Row(
        key="dagan-feldman-2020/equation-13/half",
        checks="n - n' >= n - eps n >= n/2, which is used for all eps in (0, 1)",
        quantity="n - n'",
        method="exact",
        domain="n' = eps n, (n, n') in {(3, 2), (10, 9), (1000, 999)}",
        cases=half_cases,
        measure=remaining,
        relation="at least",
        verdict="refuted",
        derivation="Equation 13 for epsilon above one half",
    ),
    Row(
        key="dagan-feldman-2020/equation-13/below",
        checks="eps <= 1/2: 4 e^6 n'/(n - n') is at most 8 e^6 eps, the O(eps)",
        quantity="factor of the mean over J",
        method="exact",
        domain="(n, n') in {(2, 1), (4, 1), (4, 2), (10, 3), (1000, 1), (1000, 500)}",
        cases=below_cases,
        measure=amplification,
    ),
)
