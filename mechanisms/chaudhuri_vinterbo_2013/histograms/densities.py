"""What the histogram of Algorithm 5 is made of.

Estimates, their score, the fuller of two bins, and how small n~ can be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import betainc, gammaln, xlogy

from dpassay.laws import FiniteLaw
from dpassay.numerics import UNIT_ROUNDOFF

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HistogramMasses:
    """Histogram estimates, one per random string.

    Parameters
    ----------
    p : array (size, K)
        p_i = n~_i / n~, the mass of bin i; 1 / K where n~ = 0. The density is p_i divided by the
        volume of a bin.
    error : float
        Bound on the numerical error of every p_i.
    """

    p: Array
    error: float

    @classmethod
    def of(cls, noisy: Array, made_from: Array | float = 0.0) -> HistogramMasses:
        """Divide n~_i >= 0, shape (size, K), by their sum.

        `made_from` is the sum of |n_i| and |2 R_i / alpha| in each row: n~_i is off by 3 roundings
        of its part of that.
        """
        total = noisy.sum(axis=1, keepdims=True)
        empty = total <= 0
        divisor = np.where(empty, 1.0, total)
        p = np.where(empty, 1 / noisy.shape[1], noisy / divisor)
        off = 8 * float((made_from / divisor[:, 0]).max(initial=0.0))
        return cls(p=p, error=UNIT_ROUNDOFF * (off + 2 * noisy.shape[1] + 4))


def integrated_score(masses: HistogramMasses, v: Array) -> tuple[Array, float]:
    """Score of Equation 6, - integral f^2 + (2 / m) sum f(z_j), and a bound on its error.

    Here it is (2 <p, v> - |p|^2) K; the error is numerical.

    Parameters
    ----------
    masses : Masses
        The estimates over K bins of [0, 1]^d.
    v : array (K,)
        Share of the validation records in each bin.
    """
    p, bins = masses.p, len(v)
    score = (2 * p @ v - np.einsum("ij,ij->i", p, p)) * bins
    return score, bins * (4 * bins * masses.error + 8 * (bins + 4) * UNIT_ROUNDOFF)


def fuller(here: Array, there: Array) -> FiniteLaw:
    """Law of 1[max(0, B) > max(0, A)] for A = a + R and B = b + R'.

    R and R' are independent standard Laplace; a, b >= 0.

    With w = |a - b| and s = a + b the smaller probability is e^-w (1/2 + w/4) - e^-s / 8, of answer
    1, where a >= b; else e^-w (1/2 + w/4) + e^-s / 8, of answer 0. Both being projected to 0 makes
    e^-s / 4 of it.

    Parameters
    ----------
    here, there : array (q,)
        a and b.
    """
    w, s = np.abs(here - there), here + there
    sign = np.where(here >= there, -1.0, 1.0)
    smaller = -w + np.log(0.5 + w / 4 + sign * np.exp(w - s) / 8)
    larger = np.log1p(-np.exp(smaller))
    log_p = np.where(
        (here >= there)[:, None],
        np.stack([larger, smaller], axis=1),
        np.stack([smaller, larger], axis=1),
    )
    return FiniteLaw(log_p=log_p, error=32 * UNIT_ROUNDOFF * (1 + float(s.max(initial=0.0))))


def most_moved(tau: float) -> float:
    """Return 4 tau - 2 tau^2 for tau = min(1, tau).

    How far |p - v|^2 moves where p moves by (1/2) sum |p_i - p'_i| <= tau.

    One record moves p by at most 1 / max(n~, n~').
    """
    tau = min(1.0, tau)
    return 4 * tau - 2 * tau**2


def sum_above(s: int, theta: float) -> float:
    """Return P[R_1 + ... + R_s > theta], theta >= 0, for standard Laplace R_i.

    What Lemma 3 bounds by 4 e^(-theta / sqrt(s)).

    The sum is the difference of the times of the s-th events of two Poisson processes: i events of
    the first happen in time theta, and at most s - 1 - i more of them before the s-th event of the
    second.
    """
    i = np.arange(s)
    first = np.exp(xlogy(i, theta) - gammaln(i + 1) - theta)
    return float(first @ betainc(s, s - i, 0.5))


def total_below(counts: NDArray[np.int64], scale: float, total: float) -> float:
    """Bound P[n~ < total] from above, n~ = sum of max(0, n_i + R_i / scale), by Chernoff.

    Min over t of e^(t total) E e^(-t n~).

    Parameters
    ----------
    counts : int array (K,)
        n_i.
    scale : float
        alpha / 2.
    total : float
        Where the sum shall be.

    Returns
    -------
    float
        1 where the bound says nothing.
    """
    if not np.isfinite(total):
        return 1.0
    a, times = np.unique(counts * scale, return_counts=True)

    def exponent(u: float) -> float:
        return float(u * scale * total + times @ log_laplace(a, u))

    found = scipy.optimize.minimize_scalar(
        lambda log_u: exponent(np.exp(log_u)), bounds=(-8.0, 8.0), method="bounded"
    )
    exact = 1 + 1e-9 * (1 + float(a.max()) + scale * total)
    return float(min(1.0, exact * np.exp(min(0.0, found.fun))))


def log_laplace(a: Array, u: float) -> Array:
    """Return ln E e^(-u X) for X = max(0, a + R), R standard Laplace, a >= 0 and u > 0.

    The parts X = 0, 0 < X < a and X > a: e^-a / 2 + (e^-a - e^(-u a)) / (2 (u - 1)) + e^(-u a) / (2
    (u + 1)).
    """
    apart = abs(u - 1) * a
    with np.errstate(divide="ignore"):
        stretch = np.log(np.where(apart < 1e-8, a, -np.expm1(-apart) / max(abs(u - 1), 1e-300)))
    parts = [-a, stretch - min(1.0, u) * a, -u * a - np.log1p(u)]
    return np.asarray(np.logaddexp.reduce(parts, axis=0) - np.log(2))
