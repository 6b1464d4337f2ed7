"""Slow twin of Algorithm 5 and Equation 6 (Chaudhuri and Vinterbo 2013), largely in fractions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from scipy.integrate import quad

Density = Callable[[Fraction], Fraction]


def bin_of(x: Fraction, bins: int) -> int:
    """I_i = [(i - 1) h, i h), the last one closed; counted from 0."""
    for i in range(bins):
        if Fraction(i, bins) <= x < Fraction(i + 1, bins):
            return i
    return bins - 1


def estimate(
    T: Sequence[Fraction], bins: int, alpha: Fraction, R: Sequence[Fraction]
) -> tuple[list[Fraction], Density]:
    """The n~_i, and the density that Algorithm 5 returns; uniform where n~ = 0."""
    noisy = []
    for i in range(bins):
        n_i = sum(1 for x in T if bin_of(x, bins) == i)
        noisy.append(max(Fraction(0), n_i + 2 * R[i] / alpha))
    total = sum(noisy, Fraction(0))

    def density(x: Fraction) -> Fraction:
        return noisy[bin_of(x, bins)] * bins / total if total else Fraction(1)

    return noisy, density


def score(density: Density, bins: int, V: Sequence[Fraction]) -> Fraction:
    """Equation 6; the density is constant on each bin."""
    square = sum(
        (density(Fraction(2 * i + 1, 2 * bins)) ** 2 / bins for i in range(bins)), Fraction(0)
    )
    return -square + Fraction(2, len(V)) * sum((density(z) for z in V), Fraction(0))


def laplace_above(t: float, center: float, scale: float) -> float:
    """P[center + noise > t]."""
    z = (t - center) / scale
    return math.exp(-z) / 2 if z > 0 else 1 - math.exp(z) / 2


def second_is_fuller(first: int, second: int, alpha: float) -> float:
    """P[max(0, second + noise) > max(0, first + noise)], by quadrature over the first noise."""
    scale = 2 / alpha

    def integrand(t: float) -> float:
        return math.exp(-abs(t - first) / scale) / (2 * scale) * laplace_above(t, second, scale)

    edges = sorted({0.0, float(first), float(second), max(first, second) + 60 * scale})
    inside = sum(
        quad(integrand, *ends, epsabs=0, epsrel=1e-12)[0] for ends in itertools.pairwise(edges)
    )
    return float(
        inside + (1 - laplace_above(0.0, first, scale)) * laplace_above(0.0, second, scale)
    )


def two_bin_log_density(ratio: float, a: int, b: int, alpha: float) -> float:
    """Log-density of n~_1 / n~_2 at a ratio, for counts a < ratio b: an integral over y = n~_2."""
    scale = 2 / alpha
    low, high = sorted((a / ratio, float(b)))

    def integrand(y: float) -> float:
        return y * math.exp((high - low - abs(ratio * y - a) - abs(y - b)) / scale)

    edges = [
        max(0.0, low - 40 * scale),
        low,
        min(high, low + 1000 * scale),
        high,
        high + 40 * scale,
    ]
    parts = (
        quad(integrand, *ends, epsrel=1e-10, limit=500)[0] for ends in itertools.pairwise(edges)
    )
    return math.log(sum(parts)) - (high - low) / scale
