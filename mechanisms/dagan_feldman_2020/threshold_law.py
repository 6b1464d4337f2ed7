"""Exact law of the stable learner for thresholds, by counting.

n = 1,000 records take a second where C(n, n') is astronomical.

Let v_1 < ... < v_k be the different points, m_i records at v_i, and A the points that T hits. By
the rules `least` and `greatest` H_T has one hypothesis for each point of A, which does not depend
on the others, and one for no point (t = inf or -inf). With w_i = exp(-epsilon e_i / 2), e_i the
errors of the hypothesis of v_i, and w_0 the weight of the one for no point,

    P[h(x) = b] = E_A[sum of w_i over those i in A or i = 0 with h_i(x) = b, divided by Z],
    Z = w_0 + sum of w_i over A.

1/Z is the integral of exp(u - Z e^u) over u. For a fixed s = e^u the expectation of a product over
A is a coefficient of a polynomial: with P_i(z) = 1 + a_i ((1 + rho z)^(m_i) - 1), a_i = e^(-s w_i),

    E_A[1{i in A} e^(-s Z)]
      = e^(-s w_0) [z^n'] a_i ((1 + rho z)^(m_i) - 1) prod_{v != i} P_v(z) / (C(n, n') rho^n'),

for any rho > 0; n'/(n - n'), but at most 1, keeps all numbers in range. Prefix and suffix products
give it for all i at once.

Errors. All terms are positive, so errors stay relative.

* The trapezoidal rule of step h at u_j = j h: by Poisson summation its error relative to 1/Z is at
  most 2 sum_{k >= 1} |Gamma(1 + 2 pi i k / h)|, |Gamma(1 + iy)|^2 = pi y / sinh(pi y): 1.2e-13 for
  h = 0.3.
* Nodes below s_J are replaced by one at s = 0 with their total weight h s_J / (e^h - 1): e^(-Z s)
  becomes 1, which costs at most Z s of each, so (Z s_J)^2 h / (e^(2h) - 1) in all.
* Nodes beyond s_K are left out: with x = Z s_K e^h at least 35 they have at most 1.001 h x e^(-x).
* Rounding: `operations` below, each a unit or two.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpassay.laws import FiniteLaw
from dpassay.mechanisms.dagan_feldman_2020.subsets import Gathered
from dpassay.numerics import UNIT_ROUNDOFF

STEP = 0.3
LEFT, RIGHT = 2.0**-22, 35.0
"""Z s at the first node and beyond the last one, for the largest and the smallest Z there can
be."""
LARGEST_EXPONENT = 500.0
"""Weights are e to minus this or more, and products, scaled to the middle of their range, within e
to plus or minus this."""
CHUNK = 2**22
"""Numbers that are kept at a time."""


def threshold_law(
    data: Gathered,
    column: int,
    queries: NDArray[np.float64],
    *,
    epsilon: float,
    m: int,
    greatest: bool,
) -> FiniteLaw | None:
    """Law of h(x), h drawn from H_T by the exponential mechanism, for thresholds.

    T is a uniformly random subset of m records.

    Parameters
    ----------
    data : Gathered
        Points in ascending order.
    column : int
        Where the line is.
    queries : array (q, columns)
    epsilon : float
        Of the exponential mechanism.
    m : int
        |T| = n', 1 <= m <= n.
    greatest : bool
        The rule: t is just above each point, or -inf; else at each point, or inf.

    Returns
    -------
    FiniteLaw or None
        None where numbers could leave the range of floats: epsilon n / 2 is above 500, or n
        ln(1 + rho) - n' ln(rho) above 1,000. What underflows below that has Z s > 200, and so a
        part of less than e^-190 of its 1/Z.
    """
    n = len(data.place)
    rho = m / (n - m) if 2 * m < n else 1.0
    # logarithms of all products together, and of a single one
    highest, lowest = n * math.log1p(rho), m * math.log(rho)
    if epsilon * n / 2 > LARGEST_EXPONENT or highest - lowest > 2 * LARGEST_EXPONENT:
        return None
    shift = (highest + lowest) / 2
    # errors of a threshold behind so many points
    at_cut = int(data.zeros.sum()) + np.cumsum([0, *(data.ones - data.zeros)])
    errors = at_cut[1:] if greatest else at_cut[:-1]
    alone = int(at_cut[0] if greatest else at_cut[-1])
    least = min(int(errors.min()), alone)
    w, w_0 = np.exp(-epsilon / 2 * (errors - least)), math.exp(-epsilon / 2 * (alone - least))
    s, weights = nodes(w_0 + float(w.min()), w_0 + min(m, len(w)) * float(w.max()))
    inside, outside = moments(data.sizes, w, w_0, s, weights, m, rho, math.exp(-shift / 2))
    below = np.searchsorted(
        data.X[:, column], queries[:, column], side="left" if greatest else "right"
    )
    total = np.concatenate([[0.0], np.cumsum(inside)])
    rest = np.concatenate([np.cumsum(inside[::-1])[::-1], [0.0]])
    one, zero = total[below], rest[below]
    one, zero = (one + outside, zero) if greatest else (one, zero + outside)
    with np.errstate(divide="ignore"):
        log_p = np.log(np.stack([zero, one], axis=1)) - (math.log(math.comb(n, m)) + lowest - shift)
    operations = 2 * n + 8 * m + 3 * len(w) + 2 * len(s) + 64 + 8 * (epsilon * n + highest - lowest)
    return FiniteLaw(
        log_p=np.minimum(log_p, 0.0), error=quadrature_error() + 2 * UNIT_ROUNDOFF * operations
    )


def nodes(smallest: float, largest: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return s and weights with 1/Z = sum of weights e^(-Z s), for all Z between two numbers."""
    first, last = (
        math.floor(math.log(LEFT / largest) / STEP),
        math.ceil(math.log(RIGHT / smallest) / STEP),
    )
    s = np.exp(STEP * np.arange(first, last))
    return np.concatenate([[0.0], s]), STEP * np.concatenate([[s[0] / math.expm1(STEP)], s])


def quadrature_error() -> float:
    """Bound on the relative error of `nodes`; see the module's docstring."""
    y = 2 * math.pi / STEP
    aliases = (
        sum(math.sqrt(2 * math.pi * k * y) * math.exp(-math.pi * k * y / 2) for k in range(1, 5))
        * 2
        * 1.001
    )
    return aliases + LEFT**2 * STEP / math.expm1(2 * STEP) + 1.001 * STEP * RIGHT * math.exp(-RIGHT)


def moments(
    sizes: NDArray[np.int64],
    w: NDArray[np.float64],
    w_0: float,
    s: NDArray[np.float64],
    weights: NDArray[np.float64],
    m: int,
    rho: float,
    start: float,
) -> tuple[NDArray[np.float64], float]:
    """Return E[1{i in A} w_i / Z] per point i, and E[w_0 / Z], times C(n, m) rho^m start^2."""
    inside, outside = np.zeros(len(w)), 0.0
    portion = max(1, CHUNK // (len(w) * (m + 1)))
    for at in range(0, len(s), portion):
        part = slice(at, at + portion)
        scale = weights[part] * np.exp(-s[part] * w_0)
        mine, whole = hit_coefficients(sizes, np.exp(-w[:, None] * s[part]), m, rho, start)
        inside += w * (mine @ scale)
        outside += w_0 * float(whole @ scale)
    return inside, outside


def hit_coefficients(
    sizes: NDArray[np.int64], a: NDArray[np.float64], m: int, rho: float, start: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return [z^m] a_i ((1 + rho z)^(m_i) - 1) prod_{v != i} P_v(z), and [z^m] of the product.

    The first has shape (k, nodes); the product is the whole one.

    Both times start^2.
    """
    k, size = a.shape
    powers = [
        [math.comb(each, i) * rho**i for i in range(min(each, m) + 1)] for each in sizes.tolist()
    ]
    # a_i ((1 + rho z)^(m_i) - 1) times the product of those before
    parts = np.empty((k, m + 1, size))
    parts[:, 0] = 0.0
    product = np.zeros((m + 1, size))
    product[0] = start
    for i in range(k):
        hit_times(product, a[i], powers[i], parts[i])
        product += parts[i]
    whole = product[m] * start
    found = np.empty((k, size))
    # coefficients in descending order
    behind, step = np.zeros((m + 1, size)), np.zeros((m + 1, size))
    behind[m] = start
    for i in range(k - 1, -1, -1):
        np.einsum("js,js->s", parts[i], behind, out=found[i])
        hit_times(behind[::-1], a[i], powers[i], step[::-1])
        behind += step
    return found, whole


def hit_times(
    product: NDArray[np.float64],
    a: NDArray[np.float64],
    powers: list[float],
    out: NDArray[np.float64],
) -> None:
    """Write a (sum_{i >= 1} powers_i z^i) times a polynomial into `out`; out[0] stays 0.

    Coefficients have shape (m + 1, nodes).
    """
    np.multiply(product[:-1], a * powers[1], out=out[1:])
    for i in range(2, len(powers)):
        out[i:] += product[:-i] * (a * powers[i])
