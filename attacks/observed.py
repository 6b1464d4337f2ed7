"""What an attacker has seen of models at records: the one array that every attack reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import is_count, require

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

LEAST = 1e-12
"""Probabilities that models give are kept this far from 0 and 1 before logarithms are taken."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observed:
    """Answers of several models at the same records.

    `seen` (models, e, K) is the probability that a model gives to each label at each record,
    or, of an interface that shows labels only, the share of each label among its `m` answers.
    The last axis sums to 1.
    """

    seen: Array
    y: NDArray[np.int64]  # (e,): own labels, 0..K-1; the attacker knows the records
    m: int | None = None  # answers that each share is made of; None for scores
    # (models, e), of the own label, where more is known than the shares say
    log_odds: Array | None = None

    def __post_init__(self) -> None:
        seen, y = np.asarray(self.seen, dtype=float), np.asarray(self.y)
        shaped = seen.ndim == 3 and seen.shape[2] >= 2
        require(shaped, "seen", f"shape {seen.shape}", "of shape (models, e, K) with K >= 2")
        own = f"of shape ({seen.shape[1]},), one label a record"
        require(y.shape == (seen.shape[1],), "y", f"shape {y.shape}", own)
        inside = bool(((seen >= 0) & (seen <= 1)).all())  # also false for NaN
        require(inside, "seen", "an array", "made of shares in [0, 1]")
        known = y.dtype.kind in "iu" and bool(((y >= 0) & (y < seen.shape[2])).all())
        require(known, "y", y, f"labels in 0..{seen.shape[2] - 1}")
        require(self.m is None or is_count(self.m), "m", self.m, "an integer >= 1, or None")
        object.__setattr__(self, "seen", seen)
        object.__setattr__(self, "y", y.astype(np.int64))

    @property
    def own(self) -> Array:
        """Share of each record's own label, shape (models, e)."""
        shares: Array = np.take_along_axis(self.seen, self.y[None, :, None], axis=2)[:, :, 0]
        return shares

    @property
    def phi(self) -> Array:
        """Log-odds of the own label, ln(p / (1 - p)), shape (models, e).

        Carlini et al. (2022) model them as Gaussian.

        Of labels, half an answer is added to both sides, so that it stays finite.
        """
        if self.m is not None:
            counts = self.own * self.m
            return np.log(counts + 0.5) - np.log(self.m - counts + 0.5)
        if self.log_odds is not None:
            return self.log_odds
        own = np.clip(self.own, LEAST, 1 - LEAST)
        return np.log(own) - np.log1p(-own)

    def of(self, models: slice | NDArray[np.int64] | Flags) -> Observed:
        """Return what was seen of some of the models."""
        odds = None if self.log_odds is None else self.log_odds[models]
        return Observed(seen=self.seen[models], y=self.y, m=self.m, log_odds=odds)
