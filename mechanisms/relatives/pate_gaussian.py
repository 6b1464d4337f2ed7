"""PATE with Gaussian noise, GNMax (Papernot et al. 2018, arXiv 1802.08908).

Train r teachers on disjoint blocks, count their votes n_j(x), answer argmax_j {n_j(x) + N(0,
sigma^2)}.

Claims:
* As printed: (lambda, lambda / sigma^2)-Renyi differential privacy for every lambda > 1
  (Proposition 8), hence (lambda / sigma^2 + ln(1/delta) / (lambda - 1), delta)-differential privacy
  (Mironov 2017). That the best lambda is taken, 1 + sigma sqrt(ln(1/delta)), is ours:
  epsilon = 1 / sigma^2 + 2 sqrt(ln(1/delta)) / sigma.
* Corrected: a replaced record moves one vote, so the count vector moves by sqrt(2); the noisy
  vector is N(n, sigma^2 I), whose exact profile is that of one Gaussian shifted by
  s = sqrt(2) / sigma standard deviations (Balle and Wang 2018, Theorem 8), and the winner is made
  from the vector. Same delta, smaller epsilon.

The paper's text is not among our sources. Proposition 8 and the conversion are those of the
authors' analysis (tensorflow/privacy, research/pate_2018/core.py, `rdp_data_independent_gaussian`
and `compute_eps_from_delta`), which minimises over a list of orders. Both claims were derived anew
(docs/findings.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpassay.claims import DP, Claim
from dpassay.mechanisms.relatives.votes import COINS, TeacherVotes
from dpassay.mechanisms.shared.learners import BlockLearner
from dpassay.mechanisms.shared.noisy_max import NoisyMax
from dpassay.mechanisms.shared.ranges import check_positive, check_proportion
from dpassay.noise import Noise


@dataclass(frozen=True, slots=True, kw_only=True)
class PateGaussian(TeacherVotes):
    """Noisy plurality of r teachers, Gaussian noise.

    Parameters
    ----------
    sigma : float
        Standard deviation of the noise, in votes; finite and > 0.
    delta : float
        Additive slack of both claims; in (0, 1).
    r, K, learner
        See `Teachers`.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    sigma: float = 4.0
    delta: float = 1e-5
    r: int = 25
    K: int = 2
    learner: Any = "logistic"
    block_learner: BlockLearner = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_positive(sigma=self.sigma)
        check_proportion(delta=self.delta)
        super(PateGaussian, self).__post_init__()

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The printed claim at its best lambda, and the exact profile of the noisy counts."""
        printed = 1 / self.sigma**2 + 2 * math.sqrt(-math.log(self.delta)) / self.sigma
        source = (
            "Papernot et al. 2018, Proposition 8, (lambda, lambda / sigma^2)-Renyi privacy; the "
            "conversion to (epsilon, delta) is ours, after Mironov 2017 at the best order"
        )
        exact, error = Noise(kind="gaussian", scale=self.sigma).loss(
            np.asarray(math.sqrt(2) / self.sigma), self.delta, 1e-15
        )
        return (
            DP(epsilon=printed, delta=self.delta, coins=COINS, source=source, status="printed"),
            DP(
                epsilon=max(float(exact + error), 1e-12),  # a delta that needs no epsilon
                delta=self.delta,
                coins=COINS,
                source="docs/findings.md, 'PATE with Gaussian noise'",
                status="corrected",
            ),
        )

    @property
    def noisy_max(self) -> NoisyMax:
        """The plurality with Gaussian noise of standard deviation sigma.

        For three labels and more it has no law if r / sigma is above 100.
        """
        return NoisyMax(kind="gaussian", scale=self.sigma)
