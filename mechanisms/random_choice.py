"""Random (Chaudhuri and Vinterbo 2013, section 5): a parameter chosen blindly, trained on all of T with the whole budget.

Claim as printed (Theorem 5): alpha-differentially private, even if T and V are not disjoint.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.mechanisms.choices import Array, Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomChoice(Choice):
    """alpha_i = alpha, T_i = T, p_i = 1 / k. Parameters as for `Choice`."""

    def log_chances(self, losses: Array) -> Array:
        """Uniform."""
        return np.full(losses.shape, -np.log(losses.shape[-1]))

    def choose(self, losses: Array, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw uniformly."""
        return rng.integers(losses.shape[1], size=len(losses))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim."""
        return (DP(epsilon=self.alpha, source="Chaudhuri and Vinterbo 2013, Theorem 5 (Random)", status="printed"),)
