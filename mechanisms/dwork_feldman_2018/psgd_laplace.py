"""Laplace noise on projected stochastic gradient descent (Dwork and Feldman 2018, Corollary 4.13).

Output f(w_S, x) + zeta, w_S the average iterate of `dpassay.mechanisms.dwork_feldman_2018.psgd`,
zeta Laplace noise of scale gamma / epsilon for the rate gamma = R L_f / sqrt(n) that Theorem 4.12
prints (Lemma 4.5).

Claims as printed: epsilon-differentially private prediction, and prediction stability at gamma (of
the mean: the noise has mean 0). In a fixed order the prediction changes by up to 2 (n - 1) / n
gamma (docs/findings.md, 'Theorem 4.12'), and so does the loss in proportion. In a secret random
order the same holds for each order; the law of the answer is the mean of those under neighbouring
orders, and an average loses no more than the worst of what is averaged. The printed claim is false
for a random order too, for large epsilon (docs/findings.md, 'Corollary 4.13 in a random order').

`threshold` has it answer only whether the number is at least that: a label, which loses no more
than the number, and whose law is known in a random order as well where n is small enough for all
orders to be gone through.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpassay.claims import DP, Claim
from dpassay.data import Labelled
from dpassay.errors import is_real, require
from dpassay.laws import FiniteLaw, NoiseLaw
from dpassay.mechanism import Reachable, WorstCase
from dpassay.mechanisms.dwork_feldman_2018.psgd import MAX_ORDERED, PSGD, Descent
from dpassay.mechanisms.shared.linear import OF_THE_MEAN
from dpassay.mechanisms.shared.ranges import check_positive
from dpassay.noise import Noise
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import FlipLabel, Pairs

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
    threshold : float, optional
        Answer 1 if the number is at least this, else 0; finite. By default the number is answered.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, or the loss is not as smooth as the theorem asks.
    """

    epsilon: float = 1.0
    threshold: float | None = None

    def __post_init__(self) -> None:
        super(PsgdLaplace, self).__post_init__()
        known = self.threshold is None or (
            is_real(self.threshold) and math.isfinite(self.threshold)
        )
        require(known, "threshold", self.threshold, "a finite number, or None to answer the number")
        check_positive(epsilon=self.epsilon)

    @property
    def numbers(self) -> tuple[float, float] | None:  # type: ignore[override]
        """Least and greatest answer: the noise has no limits; none where a label is answered."""
        return (-np.inf, np.inf) if self.threshold is None else None

    @property
    def noise(self) -> Noise:
        """Laplace noise for the printed rate."""
        return Noise(kind="laplace", scale=self.R * self.L_f / math.sqrt(self.n) / self.epsilon)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Privacy as printed, and what the largest change gives.

        Then both rates, where there is a law to read them off.

        Trials cannot bound the mean of an answer without limits: for the rate in a random order
        audit `PSGD` itself.
        """
        steps = self.n - 1 if self.average == "before" else self.n
        coins = "noise fresh" if self.order == "fixed" else "noise and order fresh"
        source = "Dwork and Feldman 2018, Corollary 4.13"
        section = "Theorem 4.12" if self.order == "fixed" else "Corollary 4.13 in a random order"
        rates = [replace(rate, coins=OF_THE_MEAN) for rate in super(PsgdLaplace, self).claims]
        printed = DP(epsilon=self.epsilon, coins=coins, source=source, status="printed")
        largest = DP(
            epsilon=2 * steps / self.n * self.epsilon,
            coins=coins,
            source=f"docs/findings.md, '{section}'",
            status="corrected",
        )
        private = (printed,) if self.sign == "+" else (printed, largest)
        if self.threshold is not None:
            unit = f"whether a single prediction, a number, is at least {self.threshold:g}"
            return tuple(replace(claim, unit=unit) for claim in private)
        if self.order == "random":
            return private
        return (*private, *rates)

    def predictions(self, w: Array, queries: Array) -> Array:
        """<w, phi(x)> for weights (..., d) at q queries, shape (..., q)."""
        predictions: Array = w @ self.features(queries).T
        return predictions

    def sample(
        self, state: Descent, queries: Array, size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Answers of `size` independent trials at q queries, shape (size, q)."""
        predictions = super(PsgdLaplace, self).sample(state, queries, size, rng)
        answers = predictions + self.noise.draw((size, len(queries)), rng)
        return answers if self.threshold is None else (answers >= self.threshold).astype(np.int64)

    def distribution(  # type: ignore[override]
        self, state: Descent, queries: Array
    ) -> NoiseLaw | FiniteLaw | None:
        """Exact law: the prediction plus noise.

        None under a random order, unless a label is answered and n is at most 7.
        """
        law = super(PsgdLaplace, self).distribution(state, queries)
        if self.threshold is None:
            return (
                None
                if law is None
                else NoiseLaw(values=law.values, noise=self.noise, error=law.error)
            )
        if law is None and self.n > MAX_ORDERED:
            return None
        values = self.predictions_by_order(state, queries) if law is None else law.values[None]
        error = self.rounding(state) if law is None else law.error
        z = (values - self.threshold) / self.noise.scale
        sides = [
            logsumexp(self.noise.log_below(side * z), axis=0) - math.log(len(values))
            for side in (-1, 1)
        ]
        doubt = error / self.noise.scale + 4 * UNIT_ROUNDOFF * (
            len(values) + 8 * (1 + float(np.abs(z).max()))
        )
        return FiniteLaw(log_p=np.minimum(np.stack(sides, axis=1), 0.0), error=doubt)

    def pairs(self) -> tuple[WorstCase, ...]:
        """The predictor's; for labels in random order also records that are all alike."""
        own = super(PsgdLaplace, self).pairs()
        if self.threshold is None or self.order == "fixed":
            return own
        alike = own[0].pairs.base.X.copy()
        alike[:] = alike[0]
        how = (
            f"{self.n} records with the same features of norm {self.L_f:g}, all labelled 0, one "
            "label flipped"
        )
        pair = Pairs(base=Labelled(alike, own[0].pairs.base.y), changes=(FlipLabel(0),), how=how)
        reason = (
            "in one n-th of the orders the flipped record comes first, and its step goes the other "
            "way; no other order gets as far"
        )
        return (*own, replace(own[0], pairs=pair, reason=reason))

    def reachable(self) -> Reachable | None:
        """The predictor's two states, where they are known, with noise."""
        known = super(PsgdLaplace, self).reachable()
        if known is None or self.threshold is not None:
            return None
        law = NoiseLaw(values=known.law.table[:, 0], noise=self.noise, error=known.law.error)
        return replace(known, law=law)


def loss_between_mixtures(one: Array, other: Array, scale: float) -> float:
    """Return the largest loss of Laplace noise around uniformly drawn values.

    Over all events, in both directions.

    Between neighbouring values both densities are A e^(t / b) + B e^(-t / b), so their ratio is
    monotone there, and it is constant beyond the outermost: it is largest and least at a value.

    Parameters
    ----------
    one, other : array (m,), array (k,)
        The equally likely values on the two sides: of all orders, say.
    scale : float
        The noise's b.
    """
    at = np.unique(np.concatenate([one, other]))[:, None]
    log_p, log_q = (_log_density(at, values, scale) for values in (one, other))
    return float(np.abs(log_p - log_q).max())


def _log_density(at: Array, values: Array, scale: float) -> Array:
    """Logarithm of the density at the rows of `at`, but for what all densities share."""
    different, times = np.unique(values, return_counts=True)
    found: Array = logsumexp(-np.abs(at - different) / scale, b=times, axis=1) - math.log(
        len(values)
    )
    return found
