"""Control (Chaudhuri and Vinterbo 2013, section 5): the parameter that is best on V, chosen without noise.

"The method Control is not private, and serves to provide an approximate upper bound on the performance": it claims nothing. Here it
is held against the alpha that every single training has, and declared to break it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.mechanisms.choices import Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Control(Choice):
    """alpha_i = alpha, T_i = T, i* the first with the fewest errors on V. Parameters as for `Choice`."""

    def choose(self, errors: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:  # noqa: ARG002
        """Take the best."""
        chosen: NDArray[np.int64] = errors.argmin(axis=1)
        return chosen

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Nobody's: what the others promise."""
        source = "nobody: Chaudhuri and Vinterbo 2013, section 5, says that it is not private"
        return (DP(epsilon=self.alpha, source=source, status="own", expected="refuted"),)
