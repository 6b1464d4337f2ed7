"""VC theory in small.

Sauer-Shelah, sample sizes, nets and covers (Dagan and Feldman 2020, section 2.1).

Notation of the paper: tau_m(H) is the growth function, d the VC dimension, alpha and beta are
accuracy and confidence. Where the paper has O(.), the constants here are derived in the docstring.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import is_count, is_real, require
from dpassay.mechanisms.shared.hypothesis_class import HypothesisClass, Labels, Points
from dpassay.mechanisms.shared.ranges import check_positive

LARGEST_SAMPLE = 10**15
"""No larger sample is looked for."""


def sauer_shelah(d: int, m: int) -> int:
    """Most labellings that a class of VC dimension d gives to m points.

    Sum over i <= d of C(m, i) (Lemma 2).

    Parameters
    ----------
    d, m : int
        >= 0.
    """
    require(is_count(d, 0), "d", d, "an integer >= 0")
    require(is_count(m, 0), "m", m, "an integer >= 0")
    return sum(math.comb(m, i) for i in range(d + 1))


def sauer_shelah_bound(d: int, m: int) -> float:
    """(e m / d)^d, which is at least `sauer_shelah(d, m)` where m >= d >= 1 (Lemma 2).

    The paper writes tau_n(H) <= ... <= (em/d)^d: m and n are the same number there. It asks for
    n > d + 1; m >= d is enough: (d/m)^d sum_i C(m, i) <= sum_i C(m, i)
    (d/m)^i <= (1 + d/m)^m <= e^d.
    """
    require(is_count(d), "d", d, "an integer >= 1")
    require(is_count(m, int(d)), "m", m, f"an integer >= d = {d}")
    return (math.e * m / d) ** d


def net_failure(alpha: float, m: int, growth: Callable[[int], int]) -> float:
    """Bound on the probability that m random points are no alpha-net for H.

    tau (tau - 1) 2^(-alpha m / 2), tau = tau_2m(H).

    Lemma 1 with its constants, for m >= 8 / alpha. Double sampling: let R be the sets {h != h'}, U
    the sample, V another one. If some r in R with P(r) > alpha misses U, then V has alpha m / 2
    points of that r or more, with probability >= 1/2: the number of them is binomial with
    mean > alpha m, and by Chebyshev below half of its mean with probability <= 4 / (alpha m). Given
    the 2m points together, an r that has l >= alpha m / 2 of them has none in U with probability
    C(2m - l, m) / C(2m, m) <= 2^-l, and at most tau (tau - 1) / 2 sets r differ on the 2m points
    and are not empty there. It holds without replacement too: m draws with replacement are a random
    set of at most m records, and more are no worse.

    Parameters
    ----------
    alpha : float
        In (0, 1).
    m : int
        Points, >= 8 / alpha.
    growth : callable
        tau: m -> tau_m(H), or a bound on it.
    """
    require_share(alpha, "alpha")
    require(is_count(m) and m >= 8 / alpha, "m", m, f"an integer >= 8 / alpha = {8 / alpha:g}")
    tau = growth(2 * m)
    exponent = (
        math.log(tau) + math.log(tau - 1) - alpha * m / 2 * math.log(2) if tau > 1 else -math.inf
    )
    return math.exp(min(exponent, 0.0))


def net_size(alpha: float, beta: float, growth: Callable[[int], int]) -> int:
    """N^net_{alpha,beta,d} of Lemma 7.

    A size m >= 8 / alpha at which `net_failure` is at most beta, and at m - 1 is not.

    Parameters
    ----------
    alpha, beta : float
        In (0, 1).
    growth : callable
        As for `net_failure`.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, or no size up to 10^15 is enough.
    """
    require_share(beta, "beta")
    require_share(alpha, "alpha")
    low = math.ceil(8 / alpha)
    if net_failure(alpha, low, growth) <= beta:
        return low
    high = low
    while net_failure(alpha, high, growth) > beta:
        low, high = high, 2 * high
        allowed = f"so large that {LARGEST_SAMPLE:,} points are enough"
        require(high <= LARGEST_SAMPLE, "alpha", alpha, allowed)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if net_failure(alpha, middle, growth) <= beta else (middle, high)
    return high


def exponential_size(k: int, epsilon: float, alpha: float) -> int:
    """N^exp_{k,epsilon,alpha} of Lemma 7.

    The least n >= 2 ln(k) / (epsilon alpha) (Lemma 4), at least 1.

    Parameters
    ----------
    k : int
        Hypotheses, >= 1.
    epsilon, alpha : float
        > 0; alpha < 1.
    """
    require(is_count(k), "k", k, "an integer >= 1")
    check_positive(epsilon=epsilon)
    require_share(alpha, "alpha")
    return max(1, math.ceil(2 * math.log(k) / (epsilon * alpha)))


def labellings(H: HypothesisClass, X: Points) -> Labels:
    """H_X as labellings: all ways in which H labels the points X, shape (k, n).

    In lexicographic order, each once.
    """
    found: Labels = np.unique(H.predict(H.representatives(X, "least"), X), axis=0)
    return found


def vc_dimension_on(H: HypothesisClass, X: Points) -> int:
    """Size of the largest subset of the points X, shape (n, columns), that H labels in all ways.

    By trying every subset.
    """
    known = labellings(H, X)
    for size in range(min(len(X), len(known).bit_length() - 1), 0, -1):
        for subset in itertools.combinations(range(len(X)), size):
            if len(np.unique(known[:, subset], axis=0)) == 2**size:
                return size
    return 0


def is_net(H: HypothesisClass, T: Points, X: Points, alpha: float) -> bool:
    """Whether T is an alpha-net for H with respect to the n points X.

    Hypotheses that agree on T differ on at most alpha n.

    By grouping the labellings of T and X together by what they say on T (definition in section
    2.1).
    """
    known = labellings(H, np.concatenate([T, X]))
    _, group = np.unique(known[:, : len(T)], axis=0, return_inverse=True)
    on_X = known[:, len(T) :]
    return all(
        most_apart(on_X[group.ravel() == each]) <= alpha * len(X)
        for each in range(int(group.max()) + 1)
    )


def most_apart(table: Labels) -> int:
    """Largest number of places in which two rows of a table differ."""
    ones = table.astype(np.int64)
    return int((ones @ (1 - ones).T + (1 - ones) @ ones.T).max())


def net_probability(n: int, m: int, alpha: float) -> float:
    """Probability that m of n different points on a line are an alpha-net for thresholds.

    The m points are drawn without replacement; thresholds on the n.

    Two thresholds that agree on the chosen points lie in one gap between them, before the first or
    behind the last, so that they differ on at most as many points as the gap has; all m + 1 gaps
    must have at most g = floor(alpha n). Of the C(n, m) choices that leaves sum_j (-1)^j C(m + 1,
    j) C(n - j (g + 1), m), the j gaps with more than g counted in and out.

    Parameters
    ----------
    n, m : int
        0 <= m <= n, n >= 1.
    alpha : float
        In (0, 1).

    Returns
    -------
    float
        Exact but for one rounding.
    """
    return float(Fraction(net_choices(n, m, alpha), math.comb(n, m)))


def net_choices(n: int, m: int, alpha: float) -> int:
    """How many of the C(n, m) choices of `net_probability` are nets."""
    require(is_count(n), "n", n, "an integer >= 1")
    require(is_count(m, 0) and m <= n, "m", m, f"an integer from 0 to n = {n}")
    require_share(alpha, "alpha")
    step = math.floor(Fraction(str(alpha)) * n) + 1
    return sum(
        (-1) ** j * math.comb(m + 1, j) * math.comb(n - j * step, m)
        for j in range(m + 2)
        if n - j * step >= m
    )


def cover(table: Labels, alpha: float) -> NDArray[np.int64]:
    """Greedy alpha-cover of labellings of T, the set G_T of Remark 1.

    Rows such that every row differs from one on <= alpha |T|.

    A row is taken, in the order of the table, unless one that was taken before is that near. Any
    two of those taken differ on more than alpha |T| places, so there are (1/alpha)^O(d) of them
    (Haussler 1995).

    Parameters
    ----------
    table : bool array (k, |T|)
        Labellings of the records of T; a point that is in T twice has two columns.
    alpha : float
        In (0, 1).

    Returns
    -------
    int array
        The rows that were taken, ascending.
    """
    require_share(alpha, "alpha")
    taken: list[int] = []
    for row, labels in enumerate(table):
        if not taken or ((table[taken] != labels).sum(axis=1) > alpha * table.shape[1]).all():
            taken.append(row)
    return np.array(taken, dtype=np.int64)


def require_share(value: float, name: str) -> None:
    """Raise `InvalidInput` unless a number is in (0, 1)."""
    require(is_real(value) and 0 < value < 1, name, value, "a number in (0, 1)")
