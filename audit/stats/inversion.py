"""Bounds on a leak that invert the tests of `dpassay.stats.combined`.

A bound is looked for by a search that asks for the tests it needs, so that many searches go in
step and their tests are computed together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

from scipy.special import ndtri

from dpassay.errors import require
from dpassay.stats.brent import root_between
from dpassay.stats.combined import (
    BETA_SHARE,
    SILENT,
    Combination,
    Null,
    margins,
    nuisance_interval,
    rejections,
)
from dpassay.stats.scales import Scale

LARGEST_LOSS = 50.0
"""Upper bounds above this are not looked for."""


def lower(
    test: Combination, x: int, n1: int, y: int, n0: int, *, scale: Scale, alpha: float
) -> float:
    """Return a lower confidence bound on the leak, on the scale and >= 0.

    It is below the smallest leak that is not rejected by less than 1e-3 of its distance to the
    plug-in leak, which costs nothing in validity: the root of the minimum over a plain grid is
    found first; from there it steps down until the envelope confirms it.

    `x` of `n1` and `y` of `n0` count one event, fixed beforehand, on the two sides; x ~ Bin(n1,
    p1), y ~ Bin(n0, p0) independent. Raise InvalidInput unless alpha is in (0, 0.5).
    """
    return solved(test, [lower_search(test, x, n1, y, n0, scale=scale, alpha=alpha)], alpha)[0]


def lower_search(
    test: Combination, x: int, n1: int, y: int, n0: int, *, scale: Scale, alpha: float
) -> Search:
    """Look for `lower`."""
    critical = test.critical(alpha * (1 - BETA_SHARE))
    margin = Margins(lambda t: Null(x=x, n1=n1, y=y, n0=n0, allowed=scale.allowed(t)))
    if not (yield margin.ask(0.0, confirm=True)) or (yield from margin.at(0.0)) < 0:
        return 0.0
    least = nuisance_interval(y, n0, alpha * BETA_SHARE)[0] or SILENT / n0
    observed = float(scale.between(scale.share(x, n1), max(least, y / n0)))
    width = -float(ndtri(alpha)) * _spread(scale, x, n1, y, n0)
    low, high = max(0.0, observed - 1.2 * width), observed - 0.8 * width
    if not (0 <= low < high and (yield from margin.at(low)) > 0 > (yield from margin.at(high))):
        low, high = 0.0, float(scale.between(scale.share(x, n1), least))
        if (yield from margin.at(high)) >= 0:
            # of losses: there p1 = 1 at every null point
            high = float(scale.between(scale.share(n1, n1), least))
        while (yield from margin.at(high)) >= 0:
            high += 1.0
    root = yield from margin.root(low, high)
    step = 0.004 * (max(high, observed) - root) / critical
    while not (yield margin.ask(max(0.0, root - step), confirm=True)):
        step *= 2
    return max(0.0, root - step)


def upper(
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
    """Return an upper confidence bound on the leak of one event, at least `floor`; see `lower`.

    It is above the smallest leak that is rejected by about 1 % of its distance to the plug-in leak;
    where nothing is rejected it is the largest leak there is on the scale. `floor` is what the
    bound need not go below: another event's, say.
    """
    search = upper_search(test, x, n1, y, n0, scale=scale, alpha=alpha, floor=floor)
    return solved(test, [search], alpha)[0]


def upper_search(
    test: Combination,
    x: int,
    n1: int,
    y: int,
    n0: int,
    *,
    scale: Scale,
    alpha: float,
    floor: float = 0.0,
) -> Search:
    """Look for `upper`."""
    critical = test.critical(alpha * (1 - BETA_SHARE))
    margin = Margins(lambda t: Null(x=y, n1=n0, y=x, n0=n1, allowed=scale.allowed(t).reverse))
    if (yield margin.ask(floor, confirm=True)):
        return floor
    if y == 0 or (plain := float(scale.between(x / n1, y / n0))) == math.inf:
        return scale.most
    observed = max(floor, plain)
    low, width = observed, -float(ndtri(alpha)) * _spread(scale, x, n1, y, n0)
    high = min(observed + 1.2 * width, scale.most)
    most = min(scale.most, LARGEST_LOSS)
    while (yield from margin.at(high)) <= 0:
        if high >= most:
            return scale.most
        low, high = high, min(observed + 2 * (high - observed), most)
    if (yield from margin.at(low)) >= 0:
        low = floor
    root = (yield from margin.root(low, high)) if (yield from margin.at(low)) < 0 else low
    # a coarser envelope confirms it, for a digit that nobody reads
    step = 0.02 * (root - min(observed, low)) / critical + 1e-9
    while root + step < most and not (yield margin.ask(root + step, confirm=True)):
        step *= 2
    return root + step if root + step < most else scale.most


@dataclass(frozen=True, slots=True)
class Ask:
    """What a search wants to know of a null: its margin, or `confirm`ed that it is rejected."""

    null: Null
    confirm: bool


Search = Generator[Ask, float, float]
"""Looks for a bound; is sent the margin of a null that it has asked for, or whether it is
rejected."""


@dataclass(frozen=True, slots=True)
class Margins:
    """The margin as a function of the leak, computed once for each leak from its `null`."""

    null: Callable[[float], Null]
    _known: dict[float, float] = field(default_factory=dict)

    def ask(self, t: float, *, confirm: bool) -> Ask:
        """Return what is to be asked about a leak."""
        return Ask(self.null(t), confirm)

    def at(self, t: float) -> Search:
        """Return the margin of a leak."""
        if t not in self._known:
            self._known[t] = yield self.ask(t, confirm=False)
        return self._known[t]

    def root(self, low: float, high: float) -> Search:
        """Return about where the margin is 0."""
        ends = (yield from self.at(low)), (yield from self.at(high))
        path = root_between(low, high, *ends, within=1e-7 + 1e-5 * (high - low))
        try:
            t = next(path)
            while True:
                t = path.send((yield from self.at(t)))
        except StopIteration as end:
            return float(end.value)


def solved(test: Combination, searches: Sequence[Search], alpha: float) -> list[float]:
    """Run searches to their ends, in step: what they ask is computed for all of them at once.

    Raise InvalidInput unless alpha is in (0, 0.5).
    """
    require(0 < alpha < 0.5, "alpha", alpha, "in (0, 0.5)")
    critical = test.critical(alpha * (1 - BETA_SHARE))
    found: list[float] = [math.nan] * len(searches)
    asked: dict[int, Ask] = {}

    def answer(place: int, told: float | None) -> None:
        try:
            asked[place] = searches[place].send(told)  # type: ignore[arg-type]
        except StopIteration as end:
            found[place] = end.value

    for place in range(len(searches)):
        answer(place, None)
    while asked:
        now = dict(asked)
        asked.clear()
        for confirm in (False, True):
            places = [place for place, ask in now.items() if ask.confirm is confirm]
            nulls = [now[place].null for place in places]
            answers: Sequence[float] = (
                rejections(test, nulls, alpha) if confirm else margins(test, nulls, alpha, critical)
            )
            for place, told in zip(places, answers, strict=True):
                answer(place, told)
    return found


def _spread(scale: Scale, x: int, n1: int, y: int, n0: int) -> float:
    """About the standard error of the plug-in leak, for a first guess."""
    spread = scale.spread(min(max(x, 1) / n1, 1 - 0.5 / n1), max(y, 1) / n0) / math.sqrt(
        min(n1, n0)
    )
    return spread if 0 < spread < LARGEST_LOSS else 1.0
