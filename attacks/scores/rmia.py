"""RMIA, the robust membership-inference attack (Zarifzadeh, Liu and Shokri 2024).

The likelihood ratio of a record x against another record z is

    LR(x, z) = [Pr(x | model) / Pr(x)] / [Pr(z | model) / Pr(z)],

with Pr(x | model) the share of the record's own label and Pr(x) its mean over reference models,
half of them with x. The score of x is the share of the z with LR(x, z) >= gamma. Here the z are the
other records of the experiment; of each model half of them are members, which the attacker cannot
tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.errors import InvalidInput, is_real, require

TIE = 1e-9
"""Ratios of counts of answers are often equal; what differs by so small a part of them is rounding,
and counts as equal."""


@dataclass(frozen=True, slots=True)
class Rmia:
    """The attack.

    If not `online`, no models trained with the record are used, and Pr(x) is made of the
    others, as (1 + a) Pr_out / 2 + (1 - a) / 2.
    """

    gamma: float = 1.0  # by how much x must beat z, >= 1; theirs: 1 for many, 2 for few models
    online: bool = True
    a: float = 0.3

    def __post_init__(self) -> None:
        require(is_real(self.gamma) and self.gamma >= 1, "gamma", self.gamma, "a number >= 1")
        require(is_real(self.a) and 0 <= self.a <= 1, "a", self.a, "a number in [0, 1]")

    def fit(self, reference: Observed, membership: Flags) -> FittedRmia:
        """Average the reference models.

        Each record needs some that are trained without it, and if online some trained with
        it.
        """
        own = _own(reference)
        outside = _mean(own, ~membership)
        if not self.online:
            return FittedRmia(prior=((1 + self.a) * outside + 1 - self.a) / 2, gamma=self.gamma)
        return FittedRmia(prior=(outside + _mean(own, membership)) / 2, gamma=self.gamma)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedRmia:
    """Pr of every record, shape (e,)."""

    prior: Array
    gamma: float

    def score(self, target: Observed) -> Array:
        """Share of the other records that x beats, shape (models, e); in [0, 1]."""
        ratios = _own(target) / self.prior
        scores = np.empty_like(ratios)
        for row, into in zip(ratios, scores, strict=True):
            reach = (1 + TIE) / self.gamma
            beaten = np.searchsorted(np.sort(row), row * reach, side="right")
            # no record is compared with itself
            into[:] = (beaten - (reach >= 1)) / max(1, len(row) - 1)
        return scores


def _own(observed: Observed) -> Array:
    """Return the own label's share among m answers, half an answer added to avoid 0 / 0."""
    if observed.m is None:
        return np.maximum(observed.own, np.finfo(float).tiny)
    shares: Array = (observed.own * observed.m + 0.5) / (observed.m + 1)
    return shares


def _mean(own: Array, chosen: Flags) -> Array:
    counts = chosen.sum(axis=0)
    if not counts.all():
        raise InvalidInput(
            "reference = models: must be one at least with each record, and one without"
        )
    means: Array = np.where(chosen, own, 0.0).sum(axis=0) / counts
    return means
