"""Exact output laws: what a mechanism answers at each query, as a table of log-probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit

from dpassay.errors import require
from dpassay.noise import Noise
from dpassay.numerics import UNIT_ROUNDOFF


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiniteLaw:
    """The law of a label at each of q queries.

    Parameters
    ----------
    log_p : array (q, K)
        Natural logarithms of the probabilities of the K labels; -inf where a label is impossible.
        Rows sum to 1.
    error : float
        Bound on the absolute numerical error of every finite entry of `log_p`; >= 0. It is carried
        into every exact number made from the law.

    Raises
    ------
    InvalidInput
        If the shape is wrong, an entry is NaN or above 0, or a row does not sum to 1 within 1e-9.
    """

    log_p: NDArray[np.float64]
    error: float

    def __post_init__(self) -> None:
        log_p = np.array(self.log_p, dtype=float)
        right = log_p.ndim == 2 and log_p.shape[1] >= 2
        require(right, "log_p", log_p.shape, "of shape (queries, labels >= 2)")
        right = not np.isnan(log_p).any() and bool((log_p <= 1e-12).all())
        require(right, "log_p", "NaN or > 0", "log-probabilities")
        sums = np.exp(log_p).sum(axis=1)
        whole = bool((np.abs(sums - 1) <= 1e-9).all())
        shown = "" if whole else f"row sums {sums}"
        require(whole, "log_p", shown, "rows of probabilities that sum to 1")
        require(0 <= self.error < np.inf, "error", self.error, "a finite number >= 0")
        log_p.flags.writeable = False
        object.__setattr__(self, "log_p", log_p)

    @property
    def p(self) -> NDArray[np.float64]:
        """Probabilities, shape (q, K)."""
        return np.minimum(np.exp(self.log_p), 1.0)

    @property
    def table(self) -> NDArray[np.float64]:
        """Return what leaks are computed from: `log_p`, shape (q, K)."""
        return self.log_p


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PointLaw:
    """The law of an algorithm without coins.

    The one real number that it answers at each of q queries.

    Parameters
    ----------
    values : array (q,)
        Finite.
    error : float
        Bound on the absolute numerical error of every value; >= 0.

    Raises
    ------
    InvalidInput
        If the shape is wrong or a value is not finite.
    """

    values: NDArray[np.float64]
    error: float

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=float)
        require(values.ndim == 1 and values.size > 0, "values", values.shape, "of shape (queries,)")
        require(bool(np.isfinite(values).all()), "values", "NaN or infinite", "finite numbers")
        require(0 <= self.error < np.inf, "error", self.error, "a finite number >= 0")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @property
    def table(self) -> NDArray[np.float64]:
        """Return what leaks are computed from, shape (q, 1)."""
        return self.values[:, None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoiseLaw:
    """The law of a real number at each of q queries: a value plus noise, projected to [low, high].

    Parameters
    ----------
    values : array (q,)
        What the noise is added to; finite.
    noise : Noise
        The same on all datasets that are compared; a noise that depends on the data has no exact
        form here.
    error : float
        Bound on the absolute numerical error of every value; >= 0.
    low, high : float
        Limits of the answer; infinite where there are none. Limits need Laplace noise and values
        between them: then all events beyond a limit have one likelihood ratio, and projecting loses
        nothing of the leak.

    Raises
    ------
    InvalidInput
        If the shape is wrong, a value is not finite, or lies outside the limits.
    """

    values: NDArray[np.float64]
    noise: Noise
    error: float
    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        values = PointLaw(values=self.values, error=self.error).values
        require(isinstance(self.noise, Noise), "noise", self.noise, "a Noise(...)")
        if self.limited:
            kind, low, high = self.noise.kind, self.low, self.high
            require(kind == "laplace", "noise", kind, "'laplace' where the answer is projected")
            inside = low < high and bool(((values >= low) & (values <= high)).all())
            require(inside, "values", values, f"in [low, high] = [{low:g}, {high:g}]")
        object.__setattr__(self, "values", values)

    @property
    def limited(self) -> bool:
        """Return whether the answer is projected."""
        return self.low > -np.inf or self.high < np.inf

    @property
    def table(self) -> NDArray[np.float64]:
        """Return what leaks are computed from, shape (q, 1)."""
        return self.values[:, None]

    def binned(self, edges: NDArray[np.float64]) -> FiniteLaw:
        """Return the law of the bin that the answer lies in, for edges (q, m) ascending in rows."""
        z = (edges - self.values[:, None]) / self.noise.scale
        below, above = self.noise.log_below(z), self.noise.log_below(-z)
        for log_p, sure, never in (
            (below, edges > self.high, edges <= self.low),
            (above, edges <= self.low, edges > self.high),
        ):
            log_p[sure], log_p[never] = 0.0, -np.inf
        zero = np.full((len(edges), 1), -np.inf)
        ends = np.concatenate([below[:, :1], zero, above[:, -1:]], axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            left = below[:, 1:] + np.log1p(-np.exp(np.minimum(below[:, :-1] - below[:, 1:], 0.0)))
            right = above[:, :-1] + np.log1p(-np.exp(np.minimum(above[:, 1:] - above[:, :-1], 0.0)))
        inner = np.nan_to_num(
            np.where(below[:, 1:] < above[:, :-1], left, right), nan=-np.inf, neginf=-np.inf
        )
        log_p = np.concatenate([ends[:, :1], inner, ends[:, -1:]], axis=1)
        mass = np.exp(log_p)[np.isfinite(log_p)].min(initial=1.0)
        rounding = 8 * UNIT_ROUNDOFF * (1 + float(np.abs(z).max()))
        slope = 2 * (self.error / self.noise.scale + rounding)
        return FiniteLaw(log_p=np.minimum(log_p, 0.0), error=float(slope / mass))


Law = FiniteLaw | PointLaw | NoiseLaw
"""Every kind of law there is."""


def bernoulli_law(logit: ArrayLike) -> FiniteLaw:
    """Law of a label in {0, 1} with P[1] = sigma(logit) = 1 / (1 + e^-logit).

    Parameters
    ----------
    logit : array (q,)
        Log-odds of label 1, finite; assumed correct to 4 units of rounding, as a short product is.

    Returns
    -------
    FiniteLaw
        Columns are the labels 0 and 1. The derivative of log sigma(t) is at most 1, so an error of
        `logit` passes at most once.
    """
    logit = np.asarray(logit, dtype=float)
    log_p = np.stack([log_expit(-logit), log_expit(logit)], axis=-1)
    scale = max(1.0, float(np.max(np.abs(logit), initial=0.0)))
    return FiniteLaw(log_p=log_p, error=8 * UNIT_ROUNDOFF * scale)


def mixture_law(laws: list[FiniteLaw]) -> FiniteLaw:
    """Return the law when a fair coin picks one of m laws, at m units of rounding."""
    stacked = np.stack([law.log_p for law in laws])
    log_p = np.logaddexp.reduce(stacked, axis=0) - np.log(len(laws))
    error = max(law.error for law in laws) + 4 * (len(laws) + 2) * UNIT_ROUNDOFF * max(
        1.0, -float(log_p.min())
    )
    return FiniteLaw(log_p=np.minimum(log_p, 0.0), error=error)
