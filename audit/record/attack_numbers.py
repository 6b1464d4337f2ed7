"""A number of an attack that two records have, and its limits in both."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpassay.numerics import DOWN, UP, written
from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One number that both records have."""

    name: str  # what it is of, in words
    before: tuple[float, float]  # limits on the loss, in nats
    after: tuple[float, float]  # limits on the loss, in nats
    slack: float  # how far it may rise before that is said
    least: float  # smallest loss now that would be called a rise with probability 0.9, or inf
    counts: str = ""  # of both records, in words; empty of an exact number
    exact: bool = False  # both were computed from exact laws

    @property
    def rose(self) -> bool:
        """Return whether it rose by more than the slack, beyond chance."""
        return self.after[0] > self.before[1] + self.slack

    @property
    def fell(self) -> bool:
        """Return whether it fell by more than the slack, beyond chance."""
        return self.before[0] > self.after[1] + self.slack

    @property
    def apart(self) -> float:
        """Return how far the limits are apart, in nats."""
        return max(self.after[0] - self.before[1], self.before[0] - self.after[1])

    @property
    def words(self) -> str:
        """Return what is compared, and how it stands."""
        loss = f"the loss is {_two(self.after)}, and was {_two(self.before)}"
        return f"{self.name}: {self.counts}{'' if self.exact else '; '}{loss}"


def chance_limits(right: int, trials: int, alpha: float) -> tuple[float, float]:
    """Both limits on a chance, each with the error probability."""
    return (
        float(clopper_pearson_lower(right, trials, alpha)),
        float(clopper_pearson_upper(right, trials, alpha)),
    )


def _two(limits: tuple[float, float]) -> str:
    if limits[0] == limits[1]:
        return f"{limits[0]:.4g}"
    high = "∞" if limits[1] == math.inf else written(limits[1], 4, UP)
    return f"from {written(limits[0], 4, DOWN)} to {high}"
