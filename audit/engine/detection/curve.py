"""The curve: what an audit would have seen, by how frequent the event is through which it leaks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

from dpassay.numerics import upper_number

FREQUENCIES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001)
"""Where the curve of a result is written down."""
LEAST = 1e-6
"""No frequency is nearer to 0 or 1."""


class Plan(Protocol):
    """What an audit would see, as a function of how frequent the leaking event is."""

    def smallest(self, frequency: float) -> float:
        """Return the smallest leak that is refuted with probability 0.9; inf where none is."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionCurve:
    """What an audit would have seen.

    `detectable` is the smallest true leak, in the units of the claim, that would have been refuted
    with probability 0.9, screening included, were it one pair's and through an event of the stated
    `frequency`; inf if none would. `frequency` is the least probability of that event on the
    likelier side, None where the number holds for every event; it is `assumed` where the screening
    saw nothing move. `design` is what the curve is computed from, once somebody asks for it.
    """

    detectable: float
    frequency: float | None = None
    assumed: bool = False
    design: Plan | None = None

    @property
    def curve(self) -> tuple[tuple[float, float], ...]:
        """Frequencies, falling, with the smallest leak seen at each."""
        if self.design is None or self.frequency is None:
            return ()
        found, worst = [], 0.0
        for point in (self.frequency, *(point for point in FREQUENCIES if point < self.frequency)):
            # rarer is harder
            worst = max(worst, self.design.smallest(point) if math.isfinite(worst) else worst)
            found.append((point, worst))
        return tuple(found)

    def as_json(self) -> dict[str, Any]:
        """Return what a record says besides `detectable`."""
        curve = [[point, upper_number(leak)] for point, leak in self.curve]
        return {"frequency": self.frequency, "assumed": self.assumed, "curve": curve}


def two_digits(share: float) -> float:
    """Round down to two digits, beyond a half of what is left to 1, so that few differ."""
    part = max(1 - share if share > 0.5 else share, LEAST)
    unit = 10.0 ** (math.floor(math.log10(part)) - 1)
    if share > 0.5:
        return float(f"{1 - math.ceil(part / unit - 1e-9) * unit:.9g}")
    return float(f"{math.floor(part / unit + 1e-9) * unit:.2g}")
