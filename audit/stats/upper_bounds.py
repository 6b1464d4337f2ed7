"""The upper bound on the leak of a pair and query.

The largest over its events and directions, each bounded at full alpha.

'Some event leaks at least t' is a union over events, so that the test which rejects it where every
event's test does needs no correction (intersection-union; Berger 1982).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.errors import require
from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.stats.combined import BETA_SHARE, STOUFFER, Combination, Null, margin, rejects
from dpassay.stats.event_leak import leak_upper
from dpassay.stats.lower_bounds import FREQUENT, LARGEST_LOSS, spread_about
from dpassay.stats.scales import Scale

MOST_FACES = 16
"""With more events times directions than this, all are bounded by Clopper-Pearson limits, which are
quick."""
CLEAR = 1e-4
"""Stouffer is chosen where p1 exceeds delta at this level of the pilot; just above delta it shows
nothing."""

Array = NDArray[np.int64]


def choose_faces(x: Array, y: Array, pilot: int, n: int, *, scale: Scale) -> NDArray[np.bool_]:
    """Choose, from a pilot, the events that Stouffer's test bounds: those frequent on both sides.

    `x` and `y` (E,) count the events in `pilot` trials a side; `n` is the trials a side of the
    certification. The result (2, E) is for the direction from x to y, and back. For
    differences, which the accuracy test bounds, no event is chosen.
    """
    if 2 * len(x) > MOST_FACES or scale.by_accuracy:
        return np.zeros((2, len(x)), dtype=bool)
    least = FREQUENT / n
    frequent = [(least < count / pilot) & (count / pilot < 1 - least) for count in (x, y)]
    clear = [
        clopper_pearson_lower(count, pilot, CLEAR) > scale.allowed(0.0).slack for count in (x, y)
    ]
    return np.stack([frequent[0] & frequent[1] & each for each in clear])


def combined_upper(
    test: Combination,
    x: int,
    n1: int,
    y: int,
    n0: int,
    *,
    scale: Scale,
    alpha: float,
    floor: float = 0.0,
) -> float:
    """Return an upper confidence bound on the leak of one event; see `combined_lower`.

    It is above the smallest leak that is rejected by about 1 % of its distance to the plug-in leak;
    where nothing is rejected it is the largest leak there is on the scale. The bound need not go
    below `floor`: another event's, say.
    """
    require(0 < alpha < 0.5, "alpha", alpha, "in (0, 0.5)")
    critical = test.critical(alpha * (1 - BETA_SHARE))

    def null(t: float) -> Null:
        return Null(x=y, n1=n0, y=x, n0=n1, allowed=scale.allowed(t).reverse)

    @cache
    def beyond(t: float) -> float:
        return margin(test, null(t), alpha, critical)

    if rejects(test, null(floor), alpha):
        return floor
    if y == 0 or (plain := float(scale.between(x / n1, y / n0))) == math.inf:
        return scale.most
    observed = max(floor, plain)
    low, width = observed, -float(ndtri(alpha)) * spread_about(scale, x, n1, y, n0)
    high = min(observed + 1.2 * width, scale.most)
    most = min(scale.most, LARGEST_LOSS)
    while beyond(high) <= 0:
        if high >= most:
            return scale.most
        low, high = high, min(observed + 2 * (high - observed), most)
    if beyond(low) >= 0:
        low = floor
    root = low
    if beyond(low) < 0:
        root = scipy.optimize.brentq(beyond, low, high, xtol=1e-7 + 1e-5 * (high - low))
    # a coarser envelope confirms it, for a digit that nobody reads
    step = 0.02 * (root - min(observed, low)) / critical + 1e-9
    while root + step < most and not rejects(test, null(root + step), alpha):
        step *= 2
    return root + step if root + step < most else scale.most


def largest_upper(
    x: Array,
    n1: int,
    y: Array,
    n0: int,
    stouffer: NDArray[np.bool_],
    *,
    scale: Scale,
    alpha: float,
    floor: float = 0.0,
) -> float:
    """Return an upper confidence bound on the largest leak over events and both directions.

    `x` and `y` (E,) count the events in n1 and n0 trials. `stouffer` (2, E) is from `choose_faces`;
    the other events are bounded by Clopper-Pearson limits. The bound need not go below `floor`:
    another cell's, say.
    """
    sides = ((x, n1, y, n0), (y, n0, x, n1))
    limits = np.stack([leak_upper(*side, scale=scale, alpha=alpha) for side in sides])
    found = float(np.max(limits, initial=floor, where=~stouffer))
    # the face with the largest limit first: the others then need less
    faces = np.argwhere(stouffer)[np.argsort(-limits[stouffer], kind="stable")]
    for direction, event in faces.tolist():
        one, many, other, few = sides[direction]
        face = int(one[event]), many, int(other[event]), few
        found = combined_upper(STOUFFER, *face, scale=scale, alpha=alpha, floor=found)
    return found


def accuracy_upper(x: int, y: int, n: int, *, alpha: float) -> float:
    """Return an upper confidence bound on |p1 - p0|, the change of either label of two.

    x + n - y has the mean n (1 + p1 - p0); a whole count below that mean the binomial tail
    dominates its own (Hoeffding 1956). 2n - 1 is never that far below a mean. The probability of no
    more than that, 1 - (p1 (1 - p0))^n, is the largest where p1 = 1, or p0 = 0, and one side varies
    alone. So the bound is 2q - 1 with q the Clopper-Pearson upper limit of x + n - y in 2n, or of y
    + n - x if that is more; the limit of n - 1 in n where that is 2n - 1.

    `x` and `y` count one of the two labels in n trials a side. `alpha`, at most `MOST_ALPHA`, is
    not divided by the directions, which are an intersection-union.
    """
    if abs(x - y) == n - 1:
        return float(clopper_pearson_upper(n - 1, n, alpha))
    return 2 * float(clopper_pearson_upper(n + abs(x - y), 2 * n, alpha)) - 1
