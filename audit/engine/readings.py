"""What a claim reads off two exact laws.

The leak of every cell, and of a cell the event, its probabilities and the profile.
"""

# ruff: noqa: ARG002  (not every law needs all)

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.engine.evidence import Event, HalfLine
from dpassay.noise import Noise
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.stats.divergence import CellLoss, prediction_difference
from dpassay.stats.profile import Profile, exact_profile, grid_for
from dpassay.stats.scales import Scale, scale_of

Array = NDArray[np.float64]
Seen = tuple[Event, float, float]
"""The worst event of a cell with its probability on the two sides, or their predictions."""


class Leaks:
    """How a claim reads the tables of two laws; see `Law.table`.

    By default it is about predictions, by their value or their mean, and about no event: what is
    seen are both predictions, and there is no profile.
    """

    least: ClassVar[float] = 0.0
    """No leak is below this."""

    def loss(self, one: Array, other: Array, error: float) -> CellLoss:
        """Return the leak of every cell, from `one` to `other`; the last axis is the table's."""
        return prediction_difference(one, other, error)

    def seen(self, one: Array, other: Array, loss: float) -> Seen:
        """Return the worst event of one cell whose leak is known."""
        return (), float(one[0]), float(other[0])

    def profile(self, one: Array, other: Array, error: float) -> Profile | None:
        """Return the privacy profile of one cell, for claims about the loss."""
        return None


class ErrorLeaks(Leaks):
    """Errors of one dataset, the first of the two; the other's are in the other direction."""

    least: ClassVar[float] = -np.inf

    def loss(self, one: Array, other: Array, error: float) -> CellLoss:
        """Return the error itself, below 0 where an excess is."""
        found = np.broadcast_arrays(one, other)[0][..., 0]
        return _without_event(found, np.full(found.shape, error))


@dataclass(frozen=True, kw_only=True)
class LabelLeaks(Leaks):
    """Labels, by the table of their log-probabilities."""

    claim: Claim
    labels: tuple[int, ...]

    def loss(self, one: Array, other: Array, error: float) -> CellLoss:
        """Return the leak on the claim's scale."""
        return scale_of(self.claim).exact(one, other, error)

    def seen(self, one: Array, other: Array, loss: float) -> Seen:
        """Return the labels of the worst event."""
        event = self.loss(one, other, 0.0).event
        p1, p0 = (float(np.exp(row)[event].sum()) for row in (one, other))
        return (
            tuple(each for each, inside in zip(self.labels, event, strict=True) if inside),
            p1,
            p0,
        )

    def profile(self, one: Array, other: Array, error: float) -> Profile | None:
        """Return the exact profile.

        None of what is only measured beside a claim, since its grid is sized by a claim.
        """
        if not self.claim.profiled or self.claim.status == "measured":
            return None
        grid = grid_for(scale_of(self.claim).epsilon(self.claim.promised))
        return exact_profile(one, other, grid, error)


@dataclass(frozen=True, kw_only=True)
class NoiseLeaks(Leaks):
    """Events of a value, from the table, plus noise; half-lines are the worst events."""

    claim: Claim
    noise: Noise

    @property
    def scale(self) -> Scale:
        """How a leak is measured."""
        return scale_of(self.claim)

    def loss(self, one: Array, other: Array, error: float) -> CellLoss:
        """Return the leak of a shift on the claim's scale, the same in both directions."""
        shift = np.abs(one - other)[..., 0] / self.noise.scale
        wide = 2 * error / self.noise.scale + 2 * UNIT_ROUNDOFF * float(shift.max(initial=0.0))
        return _without_event(*self.scale.of_noise(self.noise, shift, wide))

    def seen(self, one: Array, other: Array, loss: float) -> Seen:
        """Return the half-line that leaks so much."""
        v1, v0 = float(one[0]), float(other[0])
        if v1 == v0:
            return HalfLine(threshold=v1, above=True), 0.5, 0.5
        at = self.noise.threshold(v0, v1, self.scale.ratio(loss, self.claim.promised))
        sign = 1.0 if v1 > v0 else -1.0
        # so that 'below' has a lower limit of the answers in it
        at = at if v1 > v0 else float(np.nextafter(at, np.inf))
        sides = (np.asarray(sign * (v - at) / self.noise.scale) for v in (v1, v0))
        p1, p0 = (float(np.exp(self.noise.log_below(side))) for side in sides)
        return HalfLine(threshold=at, above=v1 > v0), p1, p0

    def profile(self, one: Array, other: Array, error: float) -> Profile | None:
        """Return delta(epsilon) in closed form.

        The trade-off function lies between inscribed and circumscribed polygons.
        """
        epsilon = grid_for(self.scale.epsilon(self.claim.promised))
        shift, wide = abs(float(one[0] - other[0])) / self.noise.scale, 2 * error / self.noise.scale
        least = max(0.0, shift - wide) * (1 - 4 * UNIT_ROUNDOFF)
        most = (shift + wide) * (1 + 4 * UNIT_ROUNDOFF)
        rounding = 64 * UNIT_ROUNDOFF * (1 + epsilon)
        low, high = (
            self.noise.hockey_stick(np.full_like(epsilon, each), epsilon) for each in (least, most)
        )
        return Profile(
            epsilon=epsilon,
            lower=np.clip(low - rounding, 0.0, 1.0),
            upper=np.clip(high + rounding, 0.0, 1.0),
            alpha=0.0,
            attained=self.noise.tests(least),
            allowed=(self.noise.limits(most),),
        )


def _without_event(value: Array, error: Array) -> CellLoss:
    return CellLoss(value=value, event=np.zeros((*value.shape, 0), dtype=bool), error=error)
