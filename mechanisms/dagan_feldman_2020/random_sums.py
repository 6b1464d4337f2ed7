"""Choice by weight among a random subset.

E[weight_v 1{v in I} / Z_I] where Z_I is a sum of weights over I.

1 / Z is the integral of e^(-s Z) over s > 0, and E[1{v in I} e^(-s Z_I)] is a coefficient of a
product over the values. The integral over u = ln s is done by the trapezoidal rule with steps h:
for each I it integrates Z e^u exp(-Z e^u), whose integral is 1, with an error of at most 2 sum over
j >= 1 of |Gamma(1 + 2 pi i j / h)|, whatever Z is (Poisson's summation formula). Every term is
positive, so no digits are lost. `relabelled` needs it for thresholds (Dagan and Feldman 2020,
section 4.2).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpassay.numerics import UNIT_ROUNDOFF

Array = NDArray[np.float64]

STEP = 0.4
"""The step h."""
TAIL = 1e-10
"""What is cut off at either end of the integral, at most."""
MOST_NUMBERS = 4_000_000
"""Numbers held at a time."""
MOST_SUBSETS = 1e300
"""More subsets than this have no number."""


def chances_by_value(
    own: Array, always: float, counts: NDArray[np.int64], n_prime: int
) -> tuple[Array, float] | None:
    """Probability that each value is chosen by weight among a random subset and one more.

    The subset I of n' records is uniform.

    Parameters
    ----------
    own : array (m,)
        Weight of each value, > 0; a value counts once however many records of I have it.
    always : float
        Weight of what can always be chosen, > 0.
    counts : int array (m,)
        Records with each value; >= 1.
    n_prime : int
        1 to the number of records.

    Returns
    -------
    probabilities : array (m + 1,)
        The last is that of the one more.
    error : float
        Bound on the relative error of each; None for both where there are too many subsets.
    """
    m, n = len(own), int(counts.sum())
    total = math.comb(n, n_prime)
    if total > MOST_SUBSETS:
        return None
    ascending = np.sort(own)
    fewest = -(-n_prime // int(counts.max()))
    smallest, largest = always + ascending[:fewest].sum(), always + ascending[-n_prime:].sum()
    cut = -math.log(TAIL)
    u = np.arange(-cut - math.log(largest), math.log(cut / smallest) + STEP, STEP)
    chances = np.zeros(m + 1)
    width = max(1, MOST_NUMBERS // ((m + 1) * (n_prime + 1)))
    for start in range(0, len(u), width):
        s = np.exp(u[start : start + width])
        inside, outside = _coefficients(np.exp(-own[:, None] * s), counts, n_prime)
        common = STEP * s * np.exp(-always * s) / float(total)
        chances[:-1] += own * (inside @ common)
        chances[-1] += always * float(outside @ common)
    return chances, quadrature_error() + 16 * UNIT_ROUNDOFF * (n + n_prime + len(u) + 16)


def _coefficients(factors: Array, counts: NDArray[np.int64], n_prime: int) -> tuple[Array, Array]:
    """Sums over all subsets of n' records of the product of the factors of the values that occur.

    Parameters
    ----------
    factors : array (m, K)
        Of each value, at K nodes.
    counts : int array (m,)
        Records with each value.
    n_prime : int

    Returns
    -------
    inside : array (m, K)
        Over the subsets in which the value occurs.
    outside : array (K,)
        Over all subsets.
    """
    m, nodes = factors.shape
    # products over the first v values, and over the last v
    both = np.zeros((m + 1, 2, n_prime + 1, nodes))
    both[0, :, 0] = 1.0
    for v in range(m):
        _multiply(both[v, 0], both[v + 1, 0], factors[v], int(counts[v]))
        _multiply(both[v, 1], both[v + 1, 1], factors[m - 1 - v], int(counts[m - 1 - v]))
    before, behind = both[:m, 0], both[m - 1 :: -1, 1]
    inside = np.zeros_like(factors)
    for a in range(1, min(int(counts.max()), n_prime) + 1):
        some = slice(None) if a == 1 else counts >= a
        ways = np.array([math.comb(int(c), a) for c in counts[some]], dtype=float)
        left = n_prime - a + 1
        others = np.einsum("vik,vik->vk", before[some, :left], behind[some, left - 1 :: -1])
        inside[some] += ways[:, None] * others
    return inside * factors, both[m, 0, n_prime]


def _multiply(old: Array, new: Array, factor: Array, count: int) -> None:
    """Multiply a polynomial by 1 + ((1 + z)^count - 1) factor."""
    np.multiply(old[:-1], count * factor, out=new[1:])
    new += old
    for a in range(2, min(count, len(old) - 1) + 1):
        new[a:] += math.comb(count, a) * factor * old[:-a]


def quadrature_error() -> float:
    """Relative error of `chances_by_value` but for rounding.

    |Gamma(1 + i y)|^2 = pi y / sinh(pi y); and both tails.
    """
    y = 2 * math.pi / STEP
    alias = 2 * math.sqrt(2 * math.pi * y) * math.exp(-math.pi * y / 2)
    return 2 * alias + 2 * TAIL  # the next alias is below 1e-10 of the first
