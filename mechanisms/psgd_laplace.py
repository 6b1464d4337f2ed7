"""Laplace noise on projected stochastic gradient descent (Dwork and Feldman 2018, Corollary 4.13).

Output f(w_S, x) + zeta, w_S the average iterate of `dpassay.mechanisms.psgd`, zeta Laplace noise of scale gamma / epsilon for the
rate gamma = R L_f / sqrt(n) that Theorem 4.12 prints (Lemma 4.5).

Claims as printed: epsilon-differentially private prediction, and prediction stability at gamma (of the mean: the noise has mean
0). In a fixed order the prediction changes by up to 2 (n - 1) / n gamma (docs/findings.md, 'Theorem 4.12'), and so does the
loss in proportion. In a secret random order the same holds for each order; the law of the answer is the mean of those under
neighbouring orders, and an average loses no more than the worst of what is averaged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.errors import is_real, require
from dpassay.laws import NoiseLaw
from dpassay.mechanism import Reachable
from dpassay.mechanisms.psgd import PSGD, Descent
from dpassay.noise import Noise

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PsgdLaplace(PSGD):
    """Projected stochastic gradient descent, then noise.

    Parameters
    ----------
    n, R, L_f, feature_scale, loss, L_l, h, order, average, sign
        See `PSGD`.
    epsilon : float
        Claimed privacy loss of one prediction, in nats; finite and > 0.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, or the loss is not as smooth as the theorem asks.
    """

    epsilon: float = 1.0

    def __post_init__(self) -> None:
        super(PsgdLaplace, self).__post_init__()
        require(is_real(self.epsilon) and 0 < self.epsilon < math.inf, "epsilon", self.epsilon, "a finite number > 0")

    @property
    def numbers(self) -> tuple[float, float]:
        """Least and greatest answer: the noise has no limits."""
        return (-np.inf, np.inf)

    @property
    def noise(self) -> Noise:
        """Laplace noise for the printed rate."""
        return Noise(kind="laplace", scale=self.R * self.L_f / math.sqrt(self.n) / self.epsilon)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Privacy as printed, and what the largest change gives; then both rates, where there is a law to read them off.

        Trials cannot bound the mean of an answer without limits: for the rate in a random order audit `PSGD` itself.
        """
        steps = self.n - 1 if self.average == "before" else self.n
        coins = "noise fresh" if self.order == "fixed" else "noise and order fresh"
        source = "Dwork and Feldman 2018, Corollary 4.13"
        wrong = self._is_catalogue
        rates = super(PsgdLaplace, self).claims
        printed = DP(epsilon=self.epsilon, coins=coins, source=source, status="printed", expected="refuted" if wrong else None)
        largest = DP(
            epsilon=2 * steps / self.n * self.epsilon,
            coins=coins,
            source="docs/findings.md, 'Theorem 4.12'",
            status="corrected",
        )
        private = (printed,) if self.sign == "+" else (printed, largest)
        if self.order == "random":
            return private
        return (*private, replace(rates[0], expected=printed.expected), *rates[1:])

    @property
    def _is_catalogue(self) -> bool:
        """Whether nothing but n and epsilon differ from the catalogue's: the printed claims are known to be wrong then."""
        return self.n > 2 and replace(self, n=PsgdLaplace().n, epsilon=1.0) == PsgdLaplace()

    def sample(self, state: Descent, queries: Array, size: int, rng: np.random.Generator) -> Array:
        """Answers of `size` independent trials at q queries, shape (size, q)."""
        predictions = super(PsgdLaplace, self).sample(state, queries, size, rng)
        return predictions + self.noise.draw((size, len(queries)), rng)

    def distribution(self, state: Descent, queries: Array) -> NoiseLaw | None:  # type: ignore[override]
        """Exact law: the prediction plus noise; None under a random order."""
        law = super(PsgdLaplace, self).distribution(state, queries)
        return None if law is None else NoiseLaw(values=law.values, noise=self.noise, error=law.error)

    def reachable(self) -> Reachable | None:
        """The predictor's two states, where they are known, with noise."""
        known = super(PsgdLaplace, self).reachable()
        if known is None:
            return None
        law = NoiseLaw(values=known.law.table[:, 0], noise=self.noise, error=known.law.error)
        return replace(known, law=law)
