"""What a claim reads off two exact laws.

The leak of every cell, and of a cell the event, its probabilities and the profile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.engine.evidence import Event, HalfLine, event_labels
from dpassay.noise import Noise
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.stats.divergence import CellLoss, prediction_difference
from dpassay.stats.profile import Profile, exact_profile, grid_for
from dpassay.stats.scales import scale_of

Array = NDArray[np.float64]


Seen = tuple[Event, float, float]
"""The worst event of a cell with its probability on the two sides, or their predictions."""


class Leaks(Protocol):
    """How a claim reads the tables of two laws; see `Law.table`.

    By default it is about no event: what is seen are both predictions, and there is no profile.
    """

    least: ClassVar[float] = 0.0
    """No leak is below this."""

    def loss(self, one: Array, other: Array, error: float) -> CellLoss:
        """Leak of every cell, from `one` to `other`; the last axis is that of the table."""
        ...

    def seen(self, one: Array, other: Array, loss: float) -> Seen:  # noqa: ARG002
        """Worst event of one cell whose leak is known."""
        return (), float(one[0]), float(other[0])

    def profile(self, one: Array, other: Array, error: float) -> Profile | None:  # noqa: ARG002
        """Privacy profile of one cell, for claims about the loss."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelLeaks(Leaks):
    """Labels, by the table of their log-probabilities."""

    claim: Claim
    labels: tuple[int, ...]

    def loss(self, one: Array, other: Array, error: float) -> CellLoss:
        """See `scales.exact`."""
        return scale_of(self.claim).exact(one, other, error)

    def seen(self, one: Array, other: Array, loss: float) -> Seen:  # noqa: ARG002
        """The labels of the worst event."""
        event = self.loss(one, other, 0.0).event
        p1, p0 = (float(np.exp(row)[event].sum()) for row in (one, other))
        return event_labels(event, self.labels), p1, p0

    def profile(self, one: Array, other: Array, error: float) -> Profile | None:
        """Exact, see `exact_profile`.

        None of what is only measured beside a claim, since its grid is sized by a claim.
        """
        if not self.claim.profiled or self.claim.status == "measured":
            return None
        return exact_profile(
            one, other, grid_for(scale_of(self.claim).epsilon(self.claim.promised)), error
        )


@dataclass(frozen=True, slots=True)
class ValueLeaks(Leaks):
    """Predictions, by their value or their mean."""

    def loss(self, one: Array, other: Array, error: float) -> CellLoss:
        """See `prediction_difference`."""
        return prediction_difference(one, other, error)


@dataclass(frozen=True, slots=True)
class ErrorLeaks(Leaks):
    """Errors of one dataset, the first of the two; the other's are in the other direction."""

    least: ClassVar[float] = -np.inf

    def loss(self, one: Array, other: Array, error: float) -> CellLoss:
        """The error itself, below 0 where an excess is."""
        found = np.broadcast_arrays(one, other)[0][..., 0]
        doubt = np.full(found.shape, error)
        return CellLoss(value=found, event=np.zeros((*found.shape, 0), dtype=bool), error=doubt)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseLeaks(Leaks):
    """Events of a value, from the table, plus noise; half-lines are the worst events."""

    claim: Claim
    noise: Noise

    def loss(self, one: Array, other: Array, error: float) -> CellLoss:
        """Return the leak of a shift on the claim's scale, the same in both directions."""
        shift = np.abs(one - other)[..., 0] / self.noise.scale
        wide = 2 * error / self.noise.scale + 2 * UNIT_ROUNDOFF * float(shift.max(initial=0.0))
        value, doubt = scale_of(self.claim).of_noise(self.noise, shift, wide)
        return CellLoss(value=value, event=np.zeros((*shift.shape, 0), dtype=bool), error=doubt)

    def seen(self, one: Array, other: Array, loss: float) -> Seen:
        """The half-line that leaks so much."""
        v1, v0 = float(one[0]), float(other[0])
        if v1 == v0:
            return HalfLine(threshold=v1, above=True), 0.5, 0.5
        ratio = scale_of(self.claim).ratio(loss, self.claim.promised)
        at, sign = self.noise.threshold(v0, v1, ratio), 1.0 if v1 > v0 else -1.0
        # so that 'below' has a lower limit of the answers in it
        at = at if v1 > v0 else float(np.nextafter(at, np.inf))
        p1, p0 = (
            float(np.exp(self.noise.log_below(np.asarray(sign * (v - at) / self.noise.scale))))
            for v in (v1, v0)
        )
        return HalfLine(threshold=at, above=v1 > v0), p1, p0

    def profile(self, one: Array, other: Array, error: float) -> Profile | None:
        """Return delta(epsilon) in closed form.

        The trade-off function lies between inscribed and circumscribed polygons.
        """
        epsilon = grid_for(scale_of(self.claim).epsilon(self.claim.promised))
        shift, wide = abs(float(one[0] - other[0])) / self.noise.scale, 2 * error / self.noise.scale
        least, most = (
            max(0.0, shift - wide) * (1 - 4 * UNIT_ROUNDOFF),
            (shift + wide) * (1 + 4 * UNIT_ROUNDOFF),
        )
        rounding = 64 * UNIT_ROUNDOFF * (1 + epsilon)
        return Profile(
            epsilon=epsilon,
            lower=np.clip(
                self.noise.hockey_stick(np.full_like(epsilon, least), epsilon) - rounding, 0.0, 1.0
            ),
            upper=np.clip(
                self.noise.hockey_stick(np.full_like(epsilon, most), epsilon) + rounding, 0.0, 1.0
            ),
            alpha=0.0,
            attained=self.noise.tests(least),
            allowed=(self.noise.limits(most),),
        )
