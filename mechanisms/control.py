"""Control (Chaudhuri and Vinterbo 2013, section 5): the parameter that is best on V, chosen without noise.

The paper says that it is not private and serves as an approximate upper bound on what the others can reach: it claims nothing.
Here it is held against the alpha that every single training has, and declared to break it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.mechanisms.choices import Array, Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Control(Choice):
    """alpha_i = alpha, T_i = T, i* the first with the largest score on V. Parameters as for `Choice`."""

    def losses(self, trained: Any, data: Labelled) -> Array:
        """-q(f_i, V)."""
        return -self.trainer.score(trained, data)[0]

    def choose(self, losses: Array, rng: np.random.Generator) -> NDArray[np.int64]:  # noqa: ARG002
        """Take the best."""
        chosen: NDArray[np.int64] = losses.argmin(axis=1)
        return chosen

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Nobody's: what the others promise."""
        source = "nobody: Chaudhuri and Vinterbo 2013, section 5, says that it is not private"
        return (DP(epsilon=self.alpha, source=source, status="own", expected="refuted"),)
