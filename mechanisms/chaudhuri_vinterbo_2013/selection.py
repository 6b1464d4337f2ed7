"""The largest of scores with exponential noise.

Step 7 of Algorithm 1 of Chaudhuri and Vinterbo (2013), and its exact law.

t_i = q_i + s Z_i, Z_i standard exponential. Index i wins with t_i = t only for t >= max q, since no
t_j is below q_j. With b_j = e^((q_j - max q) / s) and u = e^(-(t - max q) / s),

    P[i wins] = b_i * integral over u in [0, 1] of prod over j != i of (1 - b_j u),

a polynomial of degree k - 1 in u, which Gauss-Legendre quadrature with k / 2 nodes integrates
exactly. All terms are positive, so each probability keeps its relative accuracy.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from dpassay.numerics import UNIT_ROUNDOFF

Array = NDArray[np.float64]


def selection_log_p(q: Array, scale: float) -> tuple[Array, float]:
    """Law of the index whose score with noise is largest.

    Parameters
    ----------
    q : array (..., k)
        Scores; finite.
    scale : float
        s, the mean of the noise, in units of the scores; > 0. Algorithm 1 has 2 beta / alpha_2.

    Returns
    -------
    log_p : array (..., k)
        Natural logarithms of the probabilities.
    error : float
        Bound on the numerical error of each, q and s being exact.
    """
    k, a = q.shape[-1], (q - q.max(axis=-1, keepdims=True)) / scale
    u, weights = nodes(k)
    factors = -np.expm1(a[..., None] + np.log(u))  # 1 - b_j u, shape (..., k, nodes)
    log_factors = np.log(np.where(factors > 0, factors, 1.0))
    total = log_factors.sum(axis=-2, keepdims=True) - log_factors
    shift = total.max(axis=-1, keepdims=True)
    log_p = (
        a + (np.log((np.exp(total - shift) * weights).sum(axis=-1, keepdims=True)) + shift)[..., 0]
    )
    largest = float(np.abs(log_p).max(initial=1.0))
    return np.minimum(log_p, 0.0), 16 * (k + 8) * UNIT_ROUNDOFF * (1 + largest) + NODE_ERROR


NODE_ERROR = 1e-13
"""What the rounding of nodes and weights adds: numpy states that they are tested up to degree 100,
and to about 1e-14."""


@cache
def nodes(k: int) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on [0, 1], exact for polynomials of degree k - 1."""
    u, weights = np.polynomial.legendre.leggauss(max(1, -(-k // 2)))
    return (u + 1) / 2, weights / 2


def select(q: Array, scale: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw the index of the largest score with noise, for scores (..., k)."""
    drawn: NDArray[np.int64] = (q + rng.exponential(scale, size=q.shape)).argmax(axis=-1)
    return drawn
