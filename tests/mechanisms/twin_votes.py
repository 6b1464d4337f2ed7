"""Twin of the noisy pluralities: exact for noise of base 2, integrals elsewhere."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from decimal import Decimal, getcontext
from fractions import Fraction

from scipy.integrate import quad

getcontext().prec = 60
Counts = tuple[int, ...]
Laurent = dict[int, Fraction]
"""Coefficients of powers of u = 2^z."""


def times(one: Laurent, other: Laurent) -> Laurent:
    """Product of two Laurent polynomials."""
    product: Laurent = {}
    for (p, a), (q, b) in itertools.product(one.items(), other.items()):
        product[p + q] = product.get(p + q, Fraction(0)) + a * b
    return product


def wins_base_2(counts: Counts, i: int) -> Decimal:
    """P[i wins] with Laplace noise of density (ln 2 / 2) 2^-|z|: e^-gamma = 1/2. Between two counts
    the integrand is a Laurent polynomial in u = 2^z times dz = du / (u ln 2), so that the integral
    is a + b ln 2 with fractions a, b."""
    ends = sorted(set(counts))
    pieces: list[tuple[int | None, int | None]] = [
        (None, ends[0]),
        *itertools.pairwise(ends),
        (ends[-1], None),
    ]
    plain, logarithm = Fraction(0), Fraction(0)
    for low, high in pieces:
        product: Laurent = {0: Fraction(1)}
        for j, n in enumerate(counts):
            left = low is None or low < n  # this piece is below n, so z < n
            if j == i:
                factor = {1: Fraction(1, 2) / 2**n} if left else {-1: Fraction(2**n, 2)}
            else:
                factor = (
                    {1: Fraction(1, 2) / 2**n} if left else {0: Fraction(1), -1: -Fraction(2**n, 2)}
                )
            product = times(product, factor)
        for p, coefficient in product.items():
            if p == 0:
                assert low is not None
                assert high is not None
                logarithm += coefficient * (high - low)
                continue
            for end, sign in ((high, 1), (low, -1)):
                if end is not None:
                    plain += sign * coefficient * Fraction(2) ** (p * end) / p
                else:
                    assert p * sign < 0 or coefficient == 0
    exact = [Decimal(each.numerator) / Decimal(each.denominator) for each in (plain, logarithm)]
    return exact[0] + exact[1] * Decimal(2).ln()


def wins(counts: Counts, i: int, scale: float, kind: str) -> float:
    """P[i wins] by integration of the density of i's noise times P[all others are below]."""

    def below(z: float) -> float:
        if kind == "gaussian":
            return math.erfc(-z / math.sqrt(2)) / 2
        return math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2

    def density(z: float) -> float:
        return (
            math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
            if kind == "gaussian"
            else math.exp(-abs(z)) / 2
        )

    def integrand(z: float) -> float:
        others = math.prod(below(z - n / scale) for j, n in enumerate(counts) if j != i)
        return density(z - counts[i] / scale) * others

    ends = sorted({n / scale for n in counts})
    ends = [ends[0] - 40, ends[0] - 8, *ends, ends[-1] + 8, ends[-1] + 40]
    return float(
        sum(
            quad(integrand, *piece, epsabs=0, epsrel=1e-12, limit=200)[0]
            for piece in itertools.pairwise(ends)
        )
    )


def winner(votes: tuple[int, ...], K: int) -> int:
    """Label with most votes, the least of several."""
    return max(range(K), key=lambda label: (votes.count(label), -label))


def distance_to_instability(votes: tuple[int, ...], K: int) -> int:
    """Largest k such that no k votes can be changed to another winner, by trying all votes."""
    f = winner(votes, K)
    changed = [
        sum(a != b for a, b in zip(votes, other, strict=True))
        for other in itertools.product(range(K), repeat=len(votes))
        if winner(other, K) != f
    ]
    return min(changed) - 1


def stable_release(votes: tuple[int, ...], K: int, epsilon: float, delta: float) -> list[float]:
    """Probabilities of the K labels and of bottom."""
    above = math.log(1 / delta) / epsilon - distance_to_instability(votes, K)
    released = math.exp(-above * epsilon) / 2 if above > 0 else 1 - math.exp(above * epsilon) / 2
    law = [0.0] * K + [1 - released]
    law[winner(votes, K)] = released
    return law


def neighbours_votes(dataset: tuple[tuple[int, int], ...], query: int, k: int) -> tuple[int, ...]:
    """Labels of the k records nearest to the query, the first of several that are as near."""
    order = sorted(range(len(dataset)), key=lambda i: (abs(dataset[i][0] - query), i))
    return tuple(dataset[i][1] for i in order[:k])


def least_epsilon(p: list[float], q: list[float], delta: float) -> float:
    """Smallest epsilon with P[E] <= e^epsilon Q[E] + delta for every event E, trying all."""
    worst = 0.0
    for size in range(1, len(p) + 1):
        for event in itertools.combinations(range(len(p)), size):
            one, other = sum(p[y] for y in event), sum(q[y] for y in event)
            if one > delta * (1 + 1e-12):
                worst = max(worst, math.log((one - delta) / other) if other > 0 else math.inf)
    return worst


def worst_pair(
    law: Callable[[tuple[int, ...]], list[float]],
    vectors: list[tuple[int, ...]],
    K: int,
    delta: float,
) -> float:
    """Largest `least_epsilon` over all vectors of votes and all changes of one vote."""
    laws = {votes: law(votes) for votes in vectors}
    return max(
        least_epsilon(p, laws[(*votes[:i], y, *votes[i + 1 :])], delta)
        for votes, p in laws.items()
        for i in range(len(votes))
        for y in range(K)
        if y != votes[i]
    )
