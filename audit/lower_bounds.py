"""The three certified tests behind a lower bound, and the choice between them before the certification trials."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from dpassay.bounds import Bound, Counts, clopper_pearson_lower, loss_lower
from dpassay.stouffer import stouffer_lower, stouffer_rejects

Method = Literal["stouffer", "clopper-pearson", "accuracy"]

NAMES: dict[Method, str] = {
    "stouffer": "weighted Stouffer of exact binomial tails",
    "clopper-pearson": "Clopper-Pearson, Bonferroni over the two sides",
    "accuracy": "accuracy (total-variation) test of both labels",
}
"""What each is called in a record. The accuracy test bounds the larger loss of the two labels, not that of a given one."""


KNOTS = 17
"""The Stouffer test's largest y is found at so many counts x; between them it is nearly straight, and interpolated."""


def accuracy_lower(x: int, y: int, n: int, *, delta: float, alpha: float) -> float:
    """Lower confidence bound on the loss of a binary pair: the larger of ln((p1 - d)/p0) and ln((1 - p0 - d)/(1 - p1)).

    x + n - y correct guesses in 2n: under (epsilon, delta) their mean is at most 2n (e^epsilon + delta)/(1 + e^epsilon), and
    Hoeffding (1956) lets the binomial tail with that mean dominate.

    Parameters
    ----------
    x, y : int
        Counts of one of the two labels on the two sides, n trials each.
    n : int
        Trials per side.
    delta, alpha : float
        As for `loss_lower`.

    Returns
    -------
    float
        ln((q - delta)/(1 - q)) with q the Clopper-Pearson lower limit of x + n - y in 2n; at least 0.
    """
    q = float(clopper_pearson_lower(x + n - y, 2 * n, alpha))
    return max(0.0, math.log((q - delta) / (1 - q))) if q > delta else 0.0


def lower_bound(method: Method, counts: Counts, *, delta: float, alpha: float) -> Bound:
    """Bound the loss from below by the test that was chosen for the cell.

    Parameters
    ----------
    method : {"stouffer", "clopper-pearson", "accuracy"}
        Fixed before these counts were drawn; `accuracy` needs two labels and equal n.
    counts : Counts
        Of the event, on fresh trials.
    delta, alpha : float
        The claim's delta, and the error probability of the bound.

    Returns
    -------
    Bound
    """
    x, n1, y, n0 = counts.x, counts.n1, counts.y, counts.n0
    if method == "accuracy":
        value = accuracy_lower(x, y, n1, delta=delta, alpha=alpha)
    elif method == "stouffer":
        value = stouffer_lower(x, n1, y, n0, delta=delta, alpha=alpha)
    else:
        value = float(loss_lower(x, n1, y, n0, delta=delta, alpha=alpha))
    return Bound(value=value, alpha=alpha, method=NAMES[method], counts=counts)


def choose(x: int, y: int, pilot: int, n: int, *, labels: int, delta: float, alpha: float) -> Method:
    """Choose the test that is to be expected to give the highest bound, from a pilot's counts.

    Parameters
    ----------
    x, y : int
        Counts of the event in `pilot` trials on each side; they are not used again.
    pilot, n : int
        Trials per side of the pilot and of the certification.
    labels : int
        Number of labels; the accuracy test is open to two only.
    delta, alpha : float
        Those of the bound to come.

    Returns
    -------
    {"stouffer", "clopper-pearson", "accuracy"}
        The first of them where they tie.
    """
    expected = Counts(x=round(n * (x + 0.5) / (pilot + 1)), n1=n, y=round(n * (y + 0.5) / (pilot + 1)), n0=n)
    methods: tuple[Method, ...] = ("stouffer", "clopper-pearson", "accuracy") if labels == 2 else ("stouffer", "clopper-pearson")
    return max(methods, key=lambda method: lower_bound(method, expected, delta=delta, alpha=alpha).value)


def largest_rejecting(
    method: Method, x: NDArray[np.int64], n: int, *, epsilon: float, delta: float, alpha: float
) -> NDArray[np.int64]:
    """For each count x, the largest y that still refutes epsilon; -1 where none does.

    Parameters
    ----------
    method
        One of `NAMES`.
    x : int array
        Counts of the event out of n, ascending.
    n : int
        Trials per side.
    epsilon, delta, alpha : float
        The claim and the error probability.

    Returns
    -------
    int array
        Rising with x.
    """
    if method == "accuracy":
        accuracy = (math.exp(epsilon) + delta) / (1 + math.exp(epsilon))
        needed = int(binom.isf(alpha, 2 * n, accuracy)) + 1  # the smallest K with P[Bin(2n, accuracy) >= K] <= alpha
        return np.maximum(x + n - needed, -1)
    if method == "clopper-pearson":
        limit = (clopper_pearson_lower(x, n, alpha / 2) - delta) * math.exp(-epsilon)
        with_limit = binom.ppf(alpha / 2, n, np.clip(limit, 0.0, 1.0)) - 1  # p0's limit is below iff P[Bin(n, limit) <= y] < a/2
        return np.where(limit > 0, with_limit, -1).astype(np.int64)

    def rejects(count: int, y: int) -> bool:
        return stouffer_rejects(int(count), n, y, n, epsilon=epsilon, delta=delta, alpha=alpha)

    knots = np.unique(np.linspace(0, len(x) - 1, min(len(x), KNOTS)).round().astype(int))
    found, last = [], -1
    for knot in knots:
        last = _largest(lambda y, count=int(x[knot]): rejects(count, y), last, n)  # type: ignore[misc]
        found.append(last)
    return np.floor(np.interp(np.arange(len(x)), knots, found)).astype(np.int64)


def _largest(test: Callable[[int], bool], known: int, n: int) -> int:
    """Largest y in (known, n] that passes a test which holds up to some y and not beyond; `known` if none does."""
    low, step = known, 1
    while low + step <= n and test(low + step):
        low, step = low + step, 2 * step
    high = min(low + step, n + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if test(middle) else (low, middle)
    return low
