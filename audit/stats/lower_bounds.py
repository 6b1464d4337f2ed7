"""The certified tests behind a lower bound, and the choice between them beforehand.

That is, before the certification trials.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Literal, get_args

import scipy
from scipy.special import ndtri

from dpassay.errors import require
from dpassay.stats.bounds import Bound, Counts, clopper_pearson_lower
from dpassay.stats.combined import (
    BETA_SHARE,
    FISHER,
    SILENT,
    STOUFFER,
    Combination,
    Null,
    margin,
    nuisance_interval,
    rejects,
)
from dpassay.stats.event_leak import leak_lower
from dpassay.stats.methods import METHODS
from dpassay.stats.scales import Scale

Method = Literal["stouffer", "fisher", "clopper-pearson", "accuracy"]

NAMES: dict[Method, str] = {method: METHODS[method] for method in get_args(Method)}
"""What people are shown of each test."""

COMBINED: dict[Method, Combination] = {"stouffer": STOUFFER, "fisher": FISHER}

LARGEST_LOSS = 50.0
"""Upper bounds above this are not looked for."""
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
    x, n1, y, n0 = counts.x, counts.n1, counts.y, counts.n0
    if method == "accuracy":
        value = accuracy_lower(x, y, n1, scale=scale, alpha=alpha)
    elif method == "clopper-pearson":
        value = float(leak_lower(x, n1, y, n0, scale=scale, alpha=alpha))
    else:
        value = combined_lower(COMBINED[method], x, n1, y, n0, scale=scale, alpha=alpha)
    return Bound(value=value, alpha=alpha, method=method, counts=counts)


def combined_lower(
    test: Combination, x: int, n1: int, y: int, n0: int, *, scale: Scale, alpha: float
) -> float:
    """Return a lower confidence bound on the leak, on the scale and >= 0, by inverting a test.

    It is below the smallest leak that is not rejected by less than 1e-3 of its distance to the
    plug-in leak, which costs nothing in validity: the root of the minimum over a plain grid is
    found first; from there it steps down until the envelope confirms it.

    `x` of `n1` and `y` of `n0` count one event, fixed beforehand, on the two sides; x ~ Bin(n1,
    p1), y ~ Bin(n0, p0) independent. Raise InvalidInput unless alpha is in (0, 0.5).
    """
    require(0 < alpha < 0.5, "alpha", alpha, "in (0, 0.5)")
    critical = test.critical(alpha * (1 - BETA_SHARE))

    def null(t: float) -> Null:
        return Null(x=x, n1=n1, y=y, n0=n0, allowed=scale.allowed(t))

    @cache
    def beyond(t: float) -> float:
        return margin(test, null(t), alpha, critical)

    if not rejects(test, null(0.0), alpha) or beyond(0.0) < 0:
        return 0.0
    least = nuisance_interval(y, n0, alpha * BETA_SHARE)[0] or SILENT / n0
    observed = float(scale.between(scale.share(x, n1), max(least, y / n0)))
    width = -float(ndtri(alpha)) * spread_about(scale, x, n1, y, n0)
    low, high = max(0.0, observed - 1.2 * width), observed - 0.8 * width
    if not (0 <= low < high and beyond(low) > 0 > beyond(high)):
        low, high = 0.0, float(scale.between(scale.share(x, n1), least))
        if beyond(high) >= 0:
            # of losses: there p1 = 1 at every null point
            high = float(scale.between(scale.share(n1, n1), least))
        while beyond(high) >= 0:
            high += 1.0
    root = scipy.optimize.brentq(beyond, low, high, xtol=1e-7 + 1e-5 * (high - low))
    step = 0.004 * (max(high, observed) - root) / critical
    while not rejects(test, null(max(0.0, root - step)), alpha):
        step *= 2
    return max(0.0, root - step)


def spread_about(scale: Scale, x: int, n1: int, y: int, n0: int) -> float:
    """Return about the standard error of the plug-in leak, for a first guess."""
    share = min(max(x, 1) / n1, 1 - 0.5 / n1)
    spread = scale.spread(share, max(y, 1) / n0) / math.sqrt(min(n1, n0))
    return spread if 0 < spread < LARGEST_LOSS else 1.0


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
