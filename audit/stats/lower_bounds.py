"""The certified tests behind a lower bound, and the choice between them beforehand.

That is, before the certification trials.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.stats.binomial import leak_lower
from dpassay.stats.binomial_law import quantile, upper_quantile
from dpassay.stats.bounds import Bound, Counts, clopper_pearson_lower
from dpassay.stats.combined import BETA_SHARE, Combination, Null, rejects
from dpassay.stats.fisher import FISHER
from dpassay.stats.inversion import Search, lower_search, solved
from dpassay.stats.methods import METHODS
from dpassay.stats.regions import Curve, Region
from dpassay.stats.scales import Scale
from dpassay.stats.stouffer import STOUFFER

Method = Literal["stouffer", "fisher", "clopper-pearson", "accuracy"]

NAMES: dict[Method, str] = {method: METHODS[method] for method in get_args(Method)}
"""What people are shown of each test."""

COMBINED: dict[Method, Combination] = {"stouffer": STOUFFER, "fisher": FISHER}

KNOTS = 17
"""A combined test's largest y is found at so many counts x; between them it is nearly straight, and
interpolated."""
FREQUENT = 50
"""Where both sides expect so many counts, Stouffer's bound is close to its asymptotic form, and
better than Fisher's."""


MOST_ALPHA = 0.25
"""The accuracy tests take no larger alpha: up to it their limits lie a whole count beyond the mean,
which Hoeffding's theorem asks for, since a binomial variable reaches its mean with a probability
above 1/4 (Greenberg and Mohri 2014)."""


def accuracy_lower(x: int, y: int, n: int, *, scale: Scale, alpha: float) -> float:
    """Return a lower confidence bound on the leak of a binary pair: the larger of its two labels'.

    x + n - y correct guesses in 2n: under a claim their mean is at most 2n times the `accuracy` of
    its region, under (epsilon, delta) 2n (e^epsilon + delta)/(1 + e^epsilon), and Hoeffding (1956)
    lets the binomial tail with that mean dominate. The bound is the leak of the symmetric pair p1 =
    q, p0 = 1 - q with q the Clopper-Pearson lower limit of x + n - y in 2n, which is ln((q -
    delta)/(1 - q)), 2q - 1 or 2 Phi^-1(q); at least 0.

    `x` and `y` count one of the two labels in n trials of each side.
    """
    q = float(clopper_pearson_lower(x + n - y, 2 * n, alpha))
    return max(0.0, float(scale.between(q, 1 - q)))


def lower_bound(method: Method, counts: Counts, *, scale: Scale, alpha: float) -> Bound:
    """Bound the leak from below by the test that was chosen for the cell.

    `method`: fixed before these counts were drawn; `accuracy` needs two labels and equal n.
    `counts`: of the event, on fresh trials. `scale`: how the leak is measured. `alpha`: the error
    probability of the bound.
    """
    return lower_bounds([method], [counts], scale=scale, alpha=alpha)[0]


def lower_bounds(
    methods: Sequence[Method], counts: Sequence[Counts], *, scale: Scale, alpha: float
) -> list[Bound]:
    """Return `lower_bound` of many cells, found in step."""
    values: dict[int, float] = {}
    searches: dict[Method, dict[int, Search]] = {}
    for place, (method, each) in enumerate(zip(methods, counts, strict=True)):
        x, n1, y, n0 = each.x, each.n1, each.y, each.n0
        if method == "accuracy":
            values[place] = accuracy_lower(x, y, n1, scale=scale, alpha=alpha)
        elif method == "clopper-pearson":
            values[place] = float(leak_lower(x, n1, y, n0, scale=scale, alpha=alpha))
        else:
            search = lower_search(COMBINED[method], x, n1, y, n0, scale=scale, alpha=alpha)
            searches.setdefault(method, {})[place] = search
    for method, found in searches.items():
        bounds = solved(COMBINED[method], list(found.values()), alpha)
        values |= dict(zip(found, bounds, strict=True))
    return [
        Bound(value=values[place], alpha=alpha, method=method, counts=each)
        for place, (method, each) in enumerate(zip(methods, counts, strict=True))
    ]


def choose(
    x: int, y: int, pilot: int, n: int, *, labels: int, scale: Scale, alpha: float
) -> Method:
    """Choose the test with the highest expected bound, from the counts of a pilot.

    `x` and `y` count the event in `pilot` trials of each side, which are not used again; `n` is the
    trials per side of the certification. The accuracy test is open to two labels only. The first in
    the order of preference is chosen where several tie.
    """
    p1, p0 = (x + 0.5) / (pilot + 1), (y + 0.5) / (pilot + 1)
    values = expected_bounds(p1, p0, n, labels=labels, scale=scale, alpha=alpha)
    return max(values, key=lambda method: values[method])


def expected_bounds(
    p1: float, p0: float, n: int, *, labels: int, scale: Scale, alpha: float
) -> dict[Method, float]:
    """Return the bound of each test at the expected counts, in the order of preference.

    `p1` and `p0` are the event's probabilities on the two sides. Where both counts are frequent it
    has Stouffer's test alone (and the accuracy test), by its asymptotic form.
    """
    expected = Counts(x=round(n * p1), n1=n, y=round(n * p0), n0=n)
    frequent = all(FREQUENT <= count <= n - FREQUENT for count in (expected.x, expected.y))
    values: dict[Method, float] = {}
    if frequent:
        # half a count is lost on either side
        p1, p0 = (expected.x - 0.5) / n, (expected.y + 0.5) / n
        lost = float(ndtri(alpha * (1 - BETA_SHARE))) * scale.spread(p1, p0) / math.sqrt(n)
        values["stouffer"] = max(0.0, float(scale.between(p1, p0)) + lost)
    else:
        for method in ("stouffer", "fisher", "clopper-pearson"):
            values[method] = lower_bound(method, expected, scale=scale, alpha=alpha).value
    if labels == 2:
        values["accuracy"] = accuracy_lower(expected.x, expected.y, n, scale=scale, alpha=alpha)
    return values


def largest_rejecting(
    method: Method, x: NDArray[np.int64], n: int, *, allowed: Region, alpha: float
) -> NDArray[np.int64]:
    """Return for each count x the largest y that still refutes what is allowed, -1 where none does.

    `x` are counts of the event in n trials, ascending; the result rises with x.
    """
    if method == "accuracy":
        # the smallest K with P[Bin(2n, accuracy) >= K] <= alpha
        needed = int(upper_quantile(alpha, 2 * n, allowed.accuracy)) + 1
        return np.maximum(x + n - needed, -1)
    if method == "clopper-pearson":
        limit = allowed.inverse(clopper_pearson_lower(x, n, alpha / 2))
        # p0's limit is below iff P[Bin(n, limit) <= y] < alpha/2
        with_limit = quantile(alpha / 2, n, np.clip(limit, 0.0, 1.0)) - 1
        return np.where(limit > 0, with_limit, -1).astype(np.int64)

    test = COMBINED[method]

    def refuted(count: int, y: int) -> bool:
        return rejects(test, Null(x=count, n1=n, y=y, n0=n, allowed=allowed), alpha)

    knots = np.unique(np.linspace(0, len(x) - 1, min(len(x), KNOTS)).round().astype(int))
    found, last = [], -1
    for knot in knots:
        count = int(x[knot])
        last = _largest(partial(refuted, count), last, n, _about(count, n, allowed, alpha))
        found.append(last)
    return np.floor(np.interp(np.arange(len(x)), knots, found)).astype(np.int64)


def _about(x: int, n: int, allowed: Region, alpha: float) -> int:
    """About the largest y that refutes beside x, from -1 to n: where two normal laws would.

    Beside a curve the envelope has gaps at a few counts; there the search begins at the bottom.
    """
    if isinstance(allowed, Curve):
        return -1
    share, spread = x / n, math.sqrt(x * (n - x) / n) / n
    most, high, low = allowed.inverse(np.clip([share, share + spread, share - spread], 0, 1))
    found = most
    for _ in range(2):
        rest = max(found, 0.5 / n)
        found = most + float(ndtri(alpha)) * math.hypot((high - low) / 2, math.sqrt(rest / n))
    return max(-1, min(n, round(float(n * found))))


def _largest(test: Callable[[int], bool], known: int, n: int, guess: int) -> int:
    """Largest y in (known, n] that passes a test; `known` if none does.

    The test holds up to some y and not beyond. It is looked for from a guess on.
    """
    if known >= n:
        return known
    start, step = max(min(guess, n), known + 1), 1
    if test(start):
        low = start
        while low + step <= n and test(low + step):
            low, step = low + step, 2 * step
        high = min(low + step, n + 1)
    else:
        high = start
        while high - step > known and not test(high - step):
            high, step = high - step, 2 * step
        low = max(high - step, known)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if test(middle) else (low, middle)
    return low
