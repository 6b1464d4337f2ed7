"""The loss threshold (Yeom, Giacomelli, Fredrikson and Jha 2018): a member is predicted better."""

from __future__ import annotations

from dataclasses import dataclass

from dpassay.attacks.observed import Array, Flags, Observed


@dataclass(frozen=True, slots=True)
class LossThreshold:
    """Score: the log-odds of the own label, which is minus the loss up to a monotone map.

    Of m answers: how many are it.
    """

    def fit(self, reference: Observed, membership: Flags) -> LossThreshold:  # noqa: ARG002
        """Return itself: it needs no reference models."""
        return self

    def score(self, target: Observed) -> Array:
        """Log-odds of the own label, shape (models, e)."""
        return target.phi
