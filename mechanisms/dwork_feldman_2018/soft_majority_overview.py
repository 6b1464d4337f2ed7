"""Soft majority as the first paragraph of section 4.1 of Dwork and Feldman (2018) words it.

There a label b is answered with probability proportional to e^(epsilon |{i : f_i(x) = b}|). With k
votes for 1 that makes the log-odds epsilon k - epsilon (r - k) = epsilon v, twice those of Theorem
4.1.

Claim as printed: epsilon. One vote moves both counts, so the log-odds move by 2 epsilon; the worst
case is ln(sigma(epsilon (2 - r)) / sigma(-epsilon r)), above epsilon for every r >= 2 and close to
2 epsilon for large r.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.mechanisms.dwork_feldman_2018.soft_majority import SoftMajority


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftMajorityOverview(SoftMajority):
    """Soft majority with log-odds epsilon v; parameters as for `SoftMajority`."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim, refuted for r >= 2, and the one that holds: 2 epsilon."""
        source = "Dwork and Feldman 2018, section 4.1, first paragraph"
        printed = DP(epsilon=self.epsilon, coins=self._coins, source=source, status="printed")
        corrected = DP(
            epsilon=2 * self.epsilon,
            coins=self._coins,
            source="docs/findings.md, 'The soft majority of the overview'",
            status="corrected",
        )
        return (printed, corrected)

    def logit(self, votes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log-odds of label 1 given the number of teachers that vote 1.

        epsilon v with v = 2 votes - r.
        """
        return np.asarray(self.epsilon * (2 * votes - self.r), dtype=float)
