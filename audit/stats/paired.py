"""Pairs of runs that start from the same generator state: a leak certified at any time.

Let h map answers to [0, 1], an event to 1 inside and 0 outside. If a claim allows no more than
E h(a) <= s E h(b) + c for the answers a on S and b on S', the payoff h(a) - s h(b) - c has a mean
of at most 0 however a and b depend on one another: it is linear in each. It is at least -(s + c),
so with a stake in (0, 1) the product over independent pairs of 1 + stake payoff / (s + c) is a
non-negative supermartingale that begins at 1, and so is the average of such products over events,
both directions, lines (s, c) and stakes. It ever reaches 1 / alpha with a probability of at most
alpha (Ville 1939): it may be looked at after every pair, and nothing is chosen beforehand.

The same coins on both sides make most pairs of answers agree, which is why few pairs refute.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.stats.regions import LineRegion, Region

Array = NDArray[np.float64]
Line = tuple[float, float]
"""Slope s >= 1 and slack c of a line that a claim allows no event to be above."""

STAKES = np.array([0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 0.95])
FIRST, STEP, STEPS = 1.001, 1.02, 1000
"""The claim times FIRST is tested first; every next leak is STEP times the last, STEPS at most."""
ROUNDING = 1e-9
"""More than the numerical error of the evidence, as a logarithm."""
NEXT_TO_NOTHING = 1e-3
"""Where the claim allows nothing, this leak is tested first; where it allows less, second."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Joint:
    """How often which two values were seen of every event, on S and on S'.

    `seen` (E, V, V) counts pairs of runs by event and by the two places of what h is in `values`
    (V,), in units of 1 / `unit`: 0 and 1, or the points of a grid.
    """

    values: NDArray[np.int64]
    unit: int
    seen: Array

    @staticmethod
    def of(payoffs: NDArray[np.int64], unit: int, table: Array) -> Joint:
        """Count the values of payoffs (E, K) among pairs of symbols, counted in `table` (K, K)."""
        values = np.unique(payoffs)
        inside = (payoffs[:, None] == values[:, None]).astype(float)  # (E, V, K)
        return Joint(values=values, unit=unit, seen=inside @ table @ inside.swapaxes(1, 2))

    @property
    def pairs(self) -> int:
        """How many pairs of runs there were."""
        return round(float(self.seen[0].sum()))

    def as_json(self) -> dict[str, Any]:
        """Return what was seen, event by event, as [value on S, value on S', pairs]."""
        found = []
        for event in self.seen:
            places = np.argwhere(event > 0)
            found.append(
                [[*self.values[[a, b]].tolist(), round(float(event[a, b]))] for a, b in places]
            )
        return {"unit": self.unit, "events": found}

    @staticmethod
    def from_json(raw: Any) -> Joint:
        """Read what `as_json` has written."""
        values = np.unique([each[k] for event in raw["events"] for each in event for k in (0, 1)])
        seen = np.zeros((len(raw["events"]), len(values), len(values)))
        for place, event in enumerate(raw["events"]):
            for one, other, pairs in event:
                a, b = np.searchsorted(values, (one, other))
                seen[place, a, b] = pairs
        return Joint(values=values, unit=int(raw["unit"]), seen=seen)

    def log_wealth(self, lines: Iterable[Line]) -> Array:
        """Return the logarithm of every product, shape (E, 2, lines, stakes); axis 1: S first."""
        h, both = self.values / self.unit, np.stack([self.seen, self.seen.swapaxes(1, 2)], axis=1)
        payoffs = np.stack([(h[:, None] - s * h - c) / (s + c) for s, c in lines])
        factors = np.log1p(STAKES * payoffs[..., None])
        wealth: Array = np.einsum("edab,labj->edlj", both, factors)
        return wealth

    def covariance(self, event: int) -> float:
        """Return the covariance of an event's values on the two sides."""
        h, seen = self.values / self.unit, self.seen[event] / self.pairs
        return float(h @ seen @ h - (h @ seen).sum() * (seen @ h).sum())

    def log_evidence(self, lines: Iterable[Line]) -> float:
        """Return the logarithm of the average of all products."""
        wealth = self.log_wealth(lines)
        return float(np.logaddexp.reduce(wealth, axis=None)) - math.log(wealth.size)

    def lower(
        self, lines: Callable[[float], Iterable[Line]], promised: float, alpha: float
    ) -> float:
        """Return a lower confidence bound on the leak, above `promised`, or 0.

        `lines` are those of a leak. Larger and larger leaks are tested, up to the first that is not
        refuted; as their order is fixed, each is tested at alpha.
        """
        leak, found = just_above(promised), 0.0
        for _ in range(STEPS):
            if self.log_evidence(lines(leak)) < needed(alpha):
                break
            found, leak = leak, max(STEP * leak, NEXT_TO_NOTHING)
        return found


def needed(alpha: float) -> float:
    """Return the logarithm of the evidence that refutes."""
    return ROUNDING - math.log(alpha)


def just_above(promised: float) -> float:
    """Return the leak that is tested first, a little above the claim."""
    return FIRST * promised or NEXT_TO_NOTHING


def lines_of(allowed: Region) -> list[Line]:
    """Return the lines that a region lies below: one of slope 1, and its steepest.

    The first touches the region where p1 + p0 = 1; of a curve it is the only one.
    """
    found = [(1.0, 2 * allowed.accuracy - 1)]
    if isinstance(allowed, LineRegion) and allowed.epsilon > 0:
        found.append((math.exp(allowed.epsilon), allowed.delta))
    return found
