"""LiRA, the likelihood-ratio attack, online and offline.

Source: Carlini, Chien, Nasr, Song, Terzis and Tramer (2022).

The log-odds phi of a record's own label are taken as Gaussian over models that were trained with
the record, and over models that were not. Online: ln N(phi; mu_in, sigma_in) - ln N(phi; mu_out,
sigma_out). Offline, from models without the record alone: ln Phi((phi - mu_out) / sigma_out), the
chance that such a model shows less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from dpassay.attacks.observed import Array, Flags, Observed
from dpassay.errors import require

PER_RECORD = 32
"""From so many models of a kind on, the standard deviation is estimated for each record; below, one
for all."""
GRID = 2.0**-38
"""Log-odds are multiples of this: sums over 1,000 models are exact then, and do not depend on the
order of the models."""
BITS = 38
"""Scores have so many binary digits, eleven decimal ones; what lies behind them is rounding, and
would part records that tie."""
LEAST_SPREAD = 1e-3
"""Standard deviations are taken no smaller: equal log-odds in all models would have none."""


@dataclass(frozen=True, slots=True)
class Lira:
    """The attack."""

    online: bool = True  # whether models trained with the record are used

    def fit(self, reference: Observed, membership: Flags) -> FittedLira:
        """Fit the Gaussians.

        Each record needs models that are trained without it, and if online some trained
        with it.
        """
        phi = reference.phi
        outside = _gaussians(phi, ~membership)
        return FittedLira(
            outside=outside, inside=_gaussians(phi, membership) if self.online else None
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedLira:
    """Mean and standard deviation of the log-odds with and without the record, shape (e,) each."""

    outside: tuple[Array, Array]
    inside: tuple[Array, Array] | None

    def score(self, target: Observed) -> Array:
        """Log-likelihood ratio, or log-probability, shape (models, e)."""
        phi, (mean, spread) = _on_grid(target.phi), self.outside
        if self.inside is None:
            found: Array = log_ndtr((phi - mean) / spread)
            return _tied(found, np.abs(found))
        one, other = _log_density(phi, *self.inside), _log_density(phi, mean, spread)
        return _tied(one - other, np.abs(one) + np.abs(other))


def _gaussians(phi: Array, chosen: Flags) -> tuple[Array, Array]:
    """Mean and standard deviation over the chosen models of each record."""
    counts = chosen.sum(axis=0)
    fewest = int(counts.min())
    require(
        fewest >= 1,
        "reference",
        f"{fewest} models of a kind for some record",
        "one at least with each record, and one without",
    )
    phi = _on_grid(phi)
    means = np.where(chosen, phi, 0.0).sum(axis=0) / counts
    # in one order, whichever models they come from
    squares = np.sort(np.where(chosen, (phi - means) ** 2, 0.0), axis=0)
    spread = (
        squares.sum(axis=0) / counts
        if fewest >= PER_RECORD
        else np.full(phi.shape[1], squares.sum() / counts.sum())
    )
    return means, np.maximum(np.sqrt(spread), LEAST_SPREAD)


def _on_grid(phi: Array) -> Array:
    """Put log-odds on a grid on which sums are exact, in any order."""
    found: Array = np.round(phi / GRID) * GRID
    return found


def _tied(scores: Array, size: Array) -> Array:
    """Cut off what rounding may have done to differences, so that equal scores are equal."""
    quantum = 2.0 ** (np.ceil(np.log2(np.maximum(size, 1.0))) - BITS)
    found: Array = np.round(scores / quantum) * quantum
    return found


def _log_density(phi: Array, mean: Array, spread: Array) -> Array:
    density: Array = (
        -((phi - mean) ** 2) / (2 * spread**2) - np.log(spread) - math.log(2 * math.pi) / 2
    )
    return density
