"""How sure a model is: confidence, entropy, modified entropy.

Confidence: Salem et al. (2019); entropy: Shokri et al. (2017); modified entropy: Song and Mittal
(2021).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.attacks.observed import Array, Flags, Observed


@dataclass(frozen=True, slots=True)
class Confidence:
    """Score: the largest share of any label."""

    def fit(self, reference: Observed, membership: Flags) -> Confidence:  # noqa: ARG002
        """Return itself: it needs no reference models."""
        return self

    def score(self, target: Observed) -> Array:
        """In [1 / K, 1], shape (models, e)."""
        largest: Array = target.seen.max(axis=2)
        return largest


@dataclass(frozen=True, slots=True)
class Entropy:
    """Score: minus the entropy of the shares, in nats: a member is predicted with less doubt."""

    def fit(self, reference: Observed, membership: Flags) -> Entropy:  # noqa: ARG002
        """Return itself: it needs no reference models."""
        return self

    def score(self, target: Observed) -> Array:
        """In [-ln K, 0], shape (models, e)."""
        found: Array = -_surprise(target.seen, target.seen).sum(axis=2)
        return found


@dataclass(frozen=True, slots=True)
class ModifiedEntropy:
    """Score: minus the modified entropy.

    That is -(1 - p_y) ln p_y - sum over other labels of p_i ln(1 - p_i).

    A confident wrong answer has a large one, where plain entropy is small.
    """

    def fit(self, reference: Observed, membership: Flags) -> ModifiedEntropy:  # noqa: ARG002
        """Return itself: it needs no reference models."""
        return self

    def score(self, target: Observed) -> Array:
        """In [-inf, 0], shape (models, e)."""
        shares = target.seen
        own = np.arange(shares.shape[2]) == target.y[:, None]
        weight, of = np.where(own, 1 - shares, shares), np.where(own, shares, 1 - shares)
        found: Array = -_surprise(weight, of).sum(axis=2)
        return found


def _surprise(weight: Array, of: Array) -> Array:
    """Return -weight ln(of), 0 where the weight is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(weight > 0, -weight * np.log(of), 0.0)
