"""Random (Chaudhuri and Vinterbo 2013, section 5).

A parameter chosen blindly, trained on all of T with the whole budget.

Claim as printed (Theorem 5): alpha-differentially private, even if T and V are not disjoint, each
training being private with what it is run with. Over a base that claims more the claim is computed
from that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim
from dpassay.mechanisms.chaudhuri_vinterbo_2013.choices import Array, Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomChoice(Choice):
    """alpha_i = alpha, T_i = T, p_i = 1 / k. Parameters as for `Choice`."""

    by_errors: ClassVar[bool] = False

    def log_chances(self, losses: Array) -> Array:
        """Uniform."""
        return np.full(losses.shape, -np.log(losses.shape[-1]))

    def choose(self, losses: Array, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw uniformly."""
        return rng.integers(losses.shape[1], size=len(losses))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """One training is released, and V is not looked at."""
        return self.composed(printed="Chaudhuri and Vinterbo 2013, Theorem 5 (Random)", chosen=0.0)
