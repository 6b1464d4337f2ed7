"""Control (Chaudhuri and Vinterbo 2013, section 5).

The parameter that is best on V, chosen without noise.

The paper says that it is not private and serves as an approximate upper bound on what the others
can reach: it claims nothing. Here it is held against the alpha that every single training has; its
catalogue entry declares that it breaks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.mechanism import WorstCase
from dpassay.mechanisms.chaudhuri_vinterbo_2013.choices import Array, Choice
from dpassay.mechanisms.chaudhuri_vinterbo_2013.released import RELEASED, Release
from dpassay.mechanisms.chaudhuri_vinterbo_2013.trainers import training_loss
from dpassay.pairs import FlipLabel


@dataclass(frozen=True, slots=True, kw_only=True)
class Control(Choice):
    """alpha_i = alpha, T_i = T, i* the first with the largest score on V.

    Parameters as for `Choice`; `release` is `index`.
    """

    release: Release = "index"
    base: Any = "objective-perturbation,oplr=true,lambdas=1;0.01"

    def losses(self, trained: Any, data: Labelled) -> Array:
        """-q(f_i, V)."""
        return -self.trainer.score(trained, data)[0]

    def log_chances(self, losses: Array) -> None:
        """Scores depend on more than signs."""

    def choose(self, losses: Array, rng: np.random.Generator) -> NDArray[np.int64]:  # noqa: ARG002
        """Take the best."""
        chosen: NDArray[np.int64] = losses.argmin(axis=1)
        return chosen

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Nobody's: what one training promises, and with it `RandomChoice`. It is false."""
        source = "not printed: Chaudhuri and Vinterbo 2013, section 5, says that it is not private"
        epsilon = max(claim.epsilon for claim in training_loss(self.trainer, "printed"))
        return (DP(epsilon=epsilon, source=source, status="own", unit=RELEASED),)

    def pairs(self) -> tuple[WorstCase, ...]:
        """All training records pull one way.

        The one validation record that is not at the origin is turned round.
        """
        X = np.zeros((20 + self.m, getattr(self.trainer, "d", 1)))
        X[:21, 0] = 1.0
        data = Labelled(X, np.ones(20 + self.m, dtype=np.int64))
        how = (
            f"{20 + self.m} records: 20 of T and one of V at one point, the others at the origin; "
            "that record of V is flipped"
        )
        reason = (
            "on one side no weight scores better than a larger one; on the other all positive "
            "weights tie, and the first is chosen"
        )
        return (WorstCase.of(data, FlipLabel(20), how=how, reason=reason, query=X[:1]),)
