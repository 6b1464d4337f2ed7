"""Scores of linear classifiers on held-out data, and how stable they are.

Source: Chaudhuri and Vinterbo (2013), section 4.1 and Theorem 4.

The score of weights w is q(w, V) = -(1/m) sum of g(y <w, x>) over V, with g 1-Lipschitz and g >= 0.

Claims for a list Lambda of k parameters, as printed: beta_1 = 2 / lambda_min and beta_2 = min(g*,
(1 / lambda_min)(1 + d ln(d k / delta) / (alpha n))), for all but delta / k of the random strings;
and as corrected in docs/findings.md, 'Theorem 4'.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, ScoreStability
from dpassay.data import Labelled
from dpassay.errors import require
from dpassay.mechanisms.chaudhuri_vinterbo_2013.crossings import LAPLACE, beyond
from dpassay.mechanisms.chaudhuri_vinterbo_2013.margin_losses import UP, Score
from dpassay.mechanisms.chaudhuri_vinterbo_2013.perturbation import Perturbation
from dpassay.mechanisms.chaudhuri_vinterbo_2013.trainers import LinearTrainer
from dpassay.mechanisms.shared.linear import gamma
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import Change, Compared

Array = NDArray[np.float64]
THEOREM: Final = "Chaudhuri and Vinterbo 2013, Theorem 4"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored(Perturbation, LinearTrainer):
    """A trainer T = (G, F) with its score; parameters as for `LinearTraining`."""

    @property
    def score_claims(self) -> tuple[Claim, ...]:
        """Theorem 4 as printed and as corrected."""
        if self.m == 0:
            return ()
        k, g = len(self.thetas), self.scored
        printed, corrected = [], []
        cases = [(theta, n) for theta in self.thetas for n in self.numbers_to_cover(theta)]
        for theta, n in cases:
            alpha, lambda_ = self.in_force(theta, n)
            noise = self.d * math.log(self.d * k / self.delta) / (alpha * n)
            printed.append((2 / theta, min(g.most, (1 + noise) / lambda_)))
            spread = g.spread(self.reach(theta, n, self.length)) * UP
            corrected.append((self.range_of_pulls(lambda_) / lambda_, min(g.most, spread)))
        facts: dict[str, Any] = {
            "delta": self.delta / k,
            "unit": "validation score",
            "coins": "R fresh, the same on both sides",
        }
        least, true = np.max(printed, axis=0), np.max(corrected, axis=0)
        return (
            ScoreStability(
                beta1=least[0], beta2=least[1], source=THEOREM, status="printed", **facts
            ),
            ScoreStability(
                beta1=true[0],
                beta2=true[1],
                source="docs/findings.md, 'Theorem 4'",
                status="corrected",
                **facts,
            ),
        )

    def moved_by_validation(self, theta: float, length: float) -> float:
        """beta_2 for one lambda and one R of this length.

        How far a changed record of V moves m times the score; rounded up.
        """
        g = self.scored
        spreads = [g.spread(self.reach(theta, n, length)) for n in self.numbers_to_cover(theta)]
        return min(g.most, max(spreads) * UP)

    def sizes(self, data: Labelled) -> tuple[int, int]:
        """Return n and m, the numbers of training and of validation records."""
        return len(data) - self.m, self.m

    def apply(self, data: Labelled, theta: float, R: Array) -> Array:
        """Return the weights that are released for each R, shape (size, d), for lambda = theta."""
        return self.weights(self.signed(data, slice(0, len(data) - self.m)), theta, R)

    def score(self, trained: Array, data: Labelled) -> tuple[Array, float]:
        """Return q(w, V) of the trained weights, shape (size,), and a bound on each error.

        The errors are numerical.
        """
        require(self.m >= 1, "m", self.m, "an integer >= 1, for there to be a score")
        z = trained @ self.signed(data, slice(len(data) - self.m, None)).T
        largest = float(np.linalg.norm(trained, axis=1).max(initial=0.0))
        rounding = gamma(self.m + self.d + 16) * (self.scored.middle + largest)
        return -self.scored.g(z).mean(axis=1), self.tolerance * (1 + largest) + rounding

    def bad_share(self, state: Compared, claim: ScoreStability) -> tuple[float, float] | None:
        """Exact proportion of bad R, with the error of its logarithms; None where it is not known.

        No R is bad by a changed training record if beta_1 is at least the corrected one
        (docs/findings.md, 'Theorem 4'). In one dimension a changed validation record is bad beyond
        a weight on either side, and so beyond an R.
        """
        data, n = state.base, len(state.base) - self.m
        forced = [self.in_force(theta, n)[1] for theta in self.thetas]
        steady = claim.beta1 >= max(self.range_of_pulls(lambda_) / lambda_ for lambda_ in forced)
        if self.d > 1 or not (steady or all(change.index >= n for change in state.changes)):
            return None
        here = self.signed(data, slice(n, None))[:, 0]
        moves = [
            (float(here[c.index - n]), self._record(c, data)) for c in state.changes if c.index >= n
        ]
        return bad_strings(self, data, moves, self.scored, claim.beta2)

    def _record(self, change: Change, data: Labelled) -> float:
        """Label times feature of the record that a change puts in, in one dimension."""
        return float(self.signed(change.apply(data), slice(change.index, change.index + 1))[0, 0])


def bad_strings(
    trainer: Perturbation,
    data: Labelled,
    moves: Sequence[tuple[float, float]],
    score: Score,
    beta2: float,
) -> tuple[float, float] | None:
    """Return the proportion of bad random strings R, and a bound on the error of its logarithm.

    A string is bad if some move of a validation record changes g(v w) by more than `beta2` at some
    theta of the trainer; `moves` are label times feature before and after. The bound holds for the
    logarithm of the complement too. None where the proportion is not known.
    """
    high, low, error = math.inf, -math.inf, 0.0
    for old, new in moves:
        for side in (1.0, -1.0):
            found = beyond(score, side * old, side * new, beta2)
            if found is None:
                return None
            if math.isinf(found[0]):
                continue
            for theta in trainer.thetas:
                state = trainer.locate(data, theta)
                at = trainer.crossing(state, theta, side * np.array(found))
                error = max(error, at.error + at.shift + float(abs(at.r[1] - at.r[0])))
                if side > 0:
                    high = min(high, float(at.r.mean()))
                else:
                    low = max(low, float(at.r.mean()))
    p = float(np.exp(LAPLACE.log_below(np.array(-high))) + np.exp(LAPLACE.log_below(np.array(low))))
    if p == 0:
        return 0.0, 0.0
    left = 1 - p
    return (
        (p, error * (1 + p / left) + 8 * UNIT_ROUNDOFF * (1 + 1 / left)) if left > 1e-12 else None
    )
