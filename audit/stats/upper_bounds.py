"""The upper bound on the leak of a pair and query.

The largest over its events and directions, each bounded at full alpha.

'Some event leaks at least t' is a union over events, so that the test which rejects it where every
event's test does needs no correction (intersection-union; Berger 1982).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpassay.stats.binomial import leak_upper
from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.stats.inversion import Search, solved, upper_search
from dpassay.stats.lower_bounds import FREQUENT
from dpassay.stats.scales import Scale
from dpassay.stats.stouffer import STOUFFER

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
    faces = stouffer[None]
    return largest_uppers(x[None], n1, y[None], n0, faces, scale=scale, alpha=alpha, floor=floor)[0]


def largest_uppers(
    x: Array,
    n1: int,
    y: Array,
    n0: int,
    stouffer: NDArray[np.bool_],
    *,
    scale: Scale,
    alpha: float,
    floor: float = 0.0,
) -> list[float]:
    """Return `largest_upper` of many cells, (cells, E) and (cells, 2, E), found in step."""
    sides = ((x, n1, y, n0), (y, n0, x, n1))
    limits = np.stack([leak_upper(*side, scale=scale, alpha=alpha) for side in sides], axis=1)
    searches = [
        _over_faces((one, n1, other, n0), *faces, scale=scale, alpha=alpha, floor=floor)
        for one, other, *faces in zip(x, y, limits, stouffer, strict=True)
    ]
    return solved(STOUFFER, searches, alpha)


def _over_faces(
    counts: tuple[Array, int, Array, int],
    limits: NDArray[np.float64],
    stouffer: NDArray[np.bool_],
    *,
    scale: Scale,
    alpha: float,
    floor: float,
) -> Search:
    """Go from face to face, the one with the largest limit first; the others need less."""
    x, n1, y, n0 = counts
    sides = ((x, n1, y, n0), (y, n0, x, n1))
    found = float(np.max(limits, initial=floor, where=~stouffer))
    for direction, event in np.argwhere(stouffer)[
        np.argsort(-limits[stouffer], kind="stable")
    ].tolist():
        one, many, other, few = sides[direction]
        face = int(one[event]), many, int(other[event]), few
        found = yield from upper_search(STOUFFER, *face, scale=scale, alpha=alpha, floor=found)
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
