"""Plurality released if it is stable.

Source: Bassily, Thakkar and Thakurta (2018, arXiv 1803.05101), after Smith and Thakurta (2013).

Train r teachers on disjoint blocks; f is the label with most votes, the least of them where several
have as many. Let dist be the distance to instability, dist' = dist + Lap(1/epsilon), and

    answer f if dist' > ln(1/delta) / epsilon, else bottom (the label K).

Claim: (epsilon, delta)-differential privacy.

The distance to instability of f is the largest k such that f is the same on every dataset that
differs in k records or fewer; it moves by 1 at most when one record is replaced. Over votes it is

    min over labels j != f of t_j - 1,
    t_j = floor(g / 2) + 1 if j > f, ceil(g / 2) if j < f,  g = n_f - n_j,

t_j being how many votes must go from f to j for j to win. Corrected: the bottom of the noise's tail
counts half, and delta / 2 holds where delta is claimed.

For votes the distance may also be read as the margin, max(0, n_f - max over j of n_j - 1): how many
votes for f may be taken away (`distance="margin"`). A replaced record takes a vote from one label
and gives it to another, which moves the margin by 2, so that with the noise as it is the claim
fails.

Of the paper only the abstract could be read: it names the framework, and no constant. The threshold
and (epsilon, delta) are ours, as the framework is commonly told, and the claim says so; both claims
are derived in docs/findings.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.laws import FiniteLaw
from dpassay.mechanisms.relatives.votes import COINS, TeacherVotes
from dpassay.mechanisms.shared.learners import BlockLearner
from dpassay.mechanisms.shared.ranges import check_positive, check_proportion, check_word
from dpassay.mechanisms.shared.teachers import Counts
from dpassay.noise import Noise
from dpassay.numerics import UNIT_ROUNDOFF

SAFE = 1 + 1e-12
"""Corrected deltas are larger by this, more than rounding makes them too small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceToInstability(TeacherVotes):
    """The plurality of r teachers if its noisy distance to instability is large, else bottom.

    Large means above a threshold.

    Parameters
    ----------
    epsilon, delta : float
        Of the claim: epsilon finite and > 0, in nats; delta in (0, 1).
    r, K, learner
        See `Teachers`. Answers are 0, ..., K - 1, and K for bottom.
    distance : {"replacements", "margin"}
        What is taken for the distance to instability.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    epsilon: float = 1.0
    delta: float = 1e-3
    r: int = 25
    K: int = 2
    learner: Any = "logistic"
    distance: Literal["replacements", "margin"] = "replacements"
    block_learner: BlockLearner = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_positive(epsilon=self.epsilon)
        check_proportion(delta=self.delta)
        check_word("replacements", "margin", distance=self.distance)
        super(DistanceToInstability, self).__post_init__()

    @property
    def labels(self) -> tuple[int, ...]:
        """0, ..., K - 1, and K for bottom."""
        return tuple(range(self.K + 1))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the framework is commonly said to give, and what holds."""
        source = "ours: the constants; Bassily, Thakkar and Thakurta 2018 name the framework"
        usual = DP(epsilon=self.epsilon, delta=self.delta, coins=COINS, source=source, status="own")
        factor, farthest = (1, 0) if self.distance == "replacements" else (2, 1)
        released = float(np.exp(self._log_released(np.asarray(farthest)))) * SAFE
        if released >= 1:  # nothing is left to be claimed of the margin
            return (usual,)
        corrected = DP(
            epsilon=factor * self.epsilon,
            delta=released,
            coins=COINS,
            source="docs/findings.md, 'Distance to instability'",
            status="corrected",
        )
        return usual, corrected

    @property
    def threshold(self) -> float:
        """ln(1/delta) / epsilon."""
        return -math.log(self.delta) / self.epsilon

    def draw(self, counts: Counts, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Answers of `size` independent trials for counts (q, K), shape (size, q)."""
        noisy = self.dist(counts) + Noise(kind="laplace", scale=1 / self.epsilon).draw(
            (size, len(counts)), rng
        )
        return np.where(noisy > self.threshold, counts.argmax(axis=1), self.K)

    def dist(self, counts: Counts) -> NDArray[np.int64]:
        """Return the distance for counts (q, K), shape (q,)."""
        winner, rows = counts.argmax(axis=1), np.arange(len(counts))
        gap = counts[rows, winner][:, None] - counts
        needed = np.where(np.arange(self.K) > winner[:, None], gap // 2 + 1, -(-gap // 2))
        if self.distance == "margin":
            needed = np.maximum(gap, 1)
        needed[rows, winner] = np.iinfo(np.int64).max
        least: NDArray[np.int64] = needed.min(axis=1) - 1
        return least

    def answer_words(self, answer: int, query: NDArray[np.float64]) -> str:  # noqa: ARG002
        """Say which answer is none."""
        return f"{answer} is bottom, no label" if answer == self.K else ""

    def _log_released(self, dist: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return ln P[dist + Lap(1/epsilon) > threshold]."""
        z = np.asarray(math.log(self.delta) + self.epsilon * dist, dtype=float)
        return Noise(kind="laplace", scale=1.0).log_below(z)

    def law(self, counts: Counts) -> FiniteLaw:
        """Exact law: one label, or bottom."""
        dist = self.dist(counts)
        z = np.asarray(math.log(self.delta) + self.epsilon * dist, dtype=float)
        log_p = np.full((len(counts), self.K + 1), -np.inf)
        log_p[np.arange(len(counts)), counts.argmax(axis=1)] = self._log_released(dist)
        log_p[:, self.K] = Noise(kind="laplace", scale=1.0).log_below(-z)
        size = 1 - math.log(self.delta) + self.epsilon * float(dist.max())
        return FiniteLaw(log_p=log_p, error=16 * UNIT_ROUNDOFF * size)
