"""The gap attack (Yeom et al. 2018): who is predicted correctly is called a member.

Its advantage is the gap of accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpassay.attacks.observed import Array, Flags, Observed


@dataclass(frozen=True, slots=True)
class Gap:
    """Score: 1 if the first label with the largest share is the record's own, else 0."""

    def fit(self, reference: Observed, membership: Flags) -> Gap:  # noqa: ARG002
        """Return itself: it needs no reference models."""
        return self

    def score(self, target: Observed) -> Array:
        """0 or 1, shape (models, e)."""
        right: Array = (target.seen.argmax(axis=2) == target.y).astype(float)
        return right
