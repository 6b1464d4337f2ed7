"""Laplace noise on regularised empirical risk minimisation.

Source: Dwork and Feldman (2018), Corollaries 4.10 and 4.11.

Output f(w_S, x) + zeta, w_S the minimiser of `dpassay.mechanisms.dwork_feldman_2018.erm`, zeta
Laplace noise of scale gamma / epsilon for the rate gamma = 4 L_f^2 L_l / (lambda n) that Theorem
4.9 prints (Lemma 4.5).

A solver returns a w within `tolerance` R of w_S, so that its predictions may differ by gamma + 2
L_f tolerance R: the noise is made for that, and the claim holds for what is computed, not only for
the minimiser.

Claims as printed: epsilon-differentially private prediction, and prediction stability at gamma (of
the mean: the noise has mean 0). The sharp rate is gamma / 4 (docs/findings.md, 'Theorem 4.9'), so a
quarter of epsilon is true.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.laws import NoiseLaw
from dpassay.mechanism import Reachable
from dpassay.mechanisms.dwork_feldman_2018.erm import ERM, Fit
from dpassay.mechanisms.shared.linear import OF_THE_MEAN
from dpassay.noise import Noise

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErmLaplace(ERM):
    """Empirical risk minimisation, then noise.

    Parameters as for `ERM`, with epsilon the claimed privacy loss in nats.
    """

    @property
    def numbers(self) -> tuple[float, float]:
        """Least and greatest answer: the noise has no limits."""
        return (-np.inf, np.inf)

    @property
    def noise(self) -> Noise:
        """Laplace noise, for the printed rate and the solver's tolerance."""
        return Noise(
            kind="laplace",
            scale=(super(ErmLaplace, self).claims[0].promised + self._inexact) / self.epsilon,
        )

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Privacy as printed, and what the sharp rate gives; then both rates."""
        printed, sharp = super(ErmLaplace, self).claims
        coins = "noise fresh; no other coins"
        source = "Dwork and Feldman 2018, Corollaries 4.10 and 4.11"
        true = (sharp.promised + self._inexact) / self.noise.scale
        return (
            DP(epsilon=self.epsilon, coins=coins, source=source, status="printed"),
            DP(epsilon=true, coins=coins, source=self.derived, status="corrected"),
            replace(printed, coins=OF_THE_MEAN),
            replace(sharp, coins=OF_THE_MEAN),
        )

    @property
    def _inexact(self) -> float:
        """By how much two computed predictions may be further apart than the minimisers'."""
        return 2 * self.L_f * self.tolerance * self.R

    def sample(self, state: Fit, queries: Array, size: int, rng: np.random.Generator) -> Array:
        """Answers of `size` independent trials at q queries, shape (size, q)."""
        return self.predictions(state.w, queries) + self.noise.draw((size, len(queries)), rng)

    def distribution(self, state: Fit, queries: Array) -> NoiseLaw:  # type: ignore[override]
        """Exact law: the prediction plus noise."""
        law = self.law(state.w, state.distance, queries)
        return NoiseLaw(values=law.values, noise=self.noise, error=law.error)

    def reachable(self) -> Reachable | None:
        """The predictor's two states, where they are known, with noise."""
        known = super(ErmLaplace, self).reachable()
        if known is None:
            return None
        law = NoiseLaw(values=known.law.table[:, 0], noise=self.noise, error=known.law.error)
        return replace(known, law=law)
