"""Constants of Theorem 5 of Dagan and Feldman (2020), as its proof gives them and as they can be.

Notation: a label is answered with probability p and p' on two neighbours before it is flipped with
probability alpha, and with alpha + (1 - 2 alpha) p after. docs/findings.md, 'Theorem 5:
relabelling', has the derivations.
"""

from __future__ import annotations

import math

from scipy.special import expit

from dpassay.mechanisms.shared.hypothesis_class import HypothesisClass
from dpassay.mechanisms.shared.line_classes import Thresholds

NET = 4 * math.exp(6)
"""Lemma 10's factor."""


def net_failure(H: HypothesisClass, n: int, n_prime: int, eta: float) -> float:
    """Bound on P[I minus {1} is no eta-net for H on the other n - 1 records | 1 in I].

    Whatever the records are.

    It is none if it misses all points where some two labellings differ, and these are more than eta
    (n - 1): at least k. Labellings by thresholds differ in an interval, and each with k records or
    more contains one of n - k runs of k of them.
    """
    k = math.floor(eta * (n - 1)) + 1
    if n_prime - 1 > n - 1 - k:
        return 0.0
    many = n - k if isinstance(H, Thresholds) else math.comb(H.growth(n - 1), 2)
    missed = math.comb(n - 1 - k, n_prime - 1) / math.comb(n - 1, n_prime - 1)
    return min(1.0, float(many) * missed)


def flipping_alone(alpha: float) -> float:
    """ln((1 - alpha) / alpha): what no algorithm exceeds after flipping."""
    return math.log((1 - alpha) / alpha)


def flipped_printed(factor: float, delta: float, alpha: float) -> float:
    """Largest loss after flipping if p <= factor p' + delta, for this label.

    (alpha + (1 - 2 alpha) min(1, factor p' + delta)) / (alpha + (1 - 2 alpha) p') is monotone in p'
    until the bound reaches 1, and falls from there: it is largest at p' = 0 or where that happens.
    """
    at_zero = (alpha + (1 - 2 * alpha) * delta) / alpha
    at_one = (1 - alpha) / (alpha + (1 - 2 * alpha) * (1 - delta) / factor)
    return min(math.log(max(at_zero, at_one)), flipping_alone(alpha))


def flipped_both(factor: float, delta: float, alpha: float) -> float:
    """Largest loss after flipping if the same holds for both labels and in both directions.

    Then 1 - p' <= factor (1 - p) + delta too. The two bounds on p meet at
    p' = (1 - delta) / (factor + 1); from there the ratio falls.
    """
    at_zero = (alpha + (1 - 2 * alpha) * delta) / alpha
    p, q = (factor + delta) / (factor + 1), (1 - delta) / (factor + 1)
    return math.log(max(at_zero, (alpha + (1 - 2 * alpha) * p) / (alpha + (1 - 2 * alpha) * q)))


def stability(share: float, shift: float, reach: float) -> float:
    """Change of a probability before flipping.

    Parameters
    ----------
    share : float
        P[1 in I] = n' / n.
    shift : float
        Log-odds move by at most this where 1 is not in I: 3 / (eta n).
    reach : float
        Log-odds are at most this in absolute value: r / (2 eta n).
    """
    return share * math.tanh(reach / 2) + (1 - share) * math.tanh(min(shift / 4, reach / 2))


def flipped_stable(share: float, shift: float, reach: float, alpha: float) -> float:
    """Largest loss after flipping, p = (1 - share) g(a) + share b, p' = (1 - share) a + share b'.

    g moves log-odds by `shift`; a, g(a), b and b' lie between e = sigma(-reach) and 1 - e. With
    u = 1 + (e^shift - 1) a the ratio is (A - B / u) / (C + D u), largest at
    u = B / A + sqrt((B / A)^2 + B C / (A D)), or at an end of its range.
    """
    kept, low, high = 1 - 2 * alpha, float(expit(-reach)), float(expit(reach))
    if share == 1 or shift >= min(2 * reach, 500.0):
        return math.log((alpha + kept * high) / (alpha + kept * low))
    more = math.expm1(shift)
    B = kept * (1 - share) * (1 + 1 / more)
    A = alpha + kept * share * high + B
    D = kept * (1 - share) / more
    C = alpha + kept * share * low - D
    u = B / A + math.sqrt(max(0.0, (B / A) ** 2 + B * C / (A * D)))
    # g takes sigma(reach - shift) to 1 - e
    u = min(max(u, 1 + more * low), 1 + more * float(expit(reach - shift)))
    return math.log((A - B / u) / (C + D * u))
