"""Exact laws of the broken mechanisms and their twins, by closed form and quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logsumexp

from dpassay.mechanisms.broken.floating_point import grid_weights

Array = np.ndarray[Any, np.dtype[np.float64]]
Loss = Callable[[Any, Any, float, Any], float]
"""Exact loss between a dataset and a neighbour, for an epsilon, at a query if there are queries."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
FAR = 45.0
"""Scales of noise beyond which it is left out: e^-45 is below the rounding of what remains."""


def below(z: Any, scale: float) -> Array:
    """P[Laplace noise < z]."""
    tail = np.exp(-np.abs(z) / scale) / 2
    p: Array = np.where(z < 0, tail, 1 - tail)
    return p


def above(z: Any, scale: float) -> Array:
    """P[Laplace noise >= z]."""
    return below(-np.asarray(z), scale)


def density(z: Any, scale: float) -> Array:
    p: Array = np.exp(-np.abs(z) / scale) / (2 * scale)
    return p


def grid(
    kinks: ArrayLike, scale: float, *, widest: float | None = None, high: float = np.inf
) -> tuple[Array, Array]:
    """Nodes and weights of a Gauss rule: pieces end at kinks and have at most 2 scales."""
    kinks = np.unique(np.append(np.asarray(kinks, dtype=float), 0.0))
    far = FAR * (scale if widest is None else widest)
    low, high = kinks[0] - far, min(high, kinks[-1] + far)
    cuts = np.unique(np.concatenate([[low], kinks[(kinks > low) & (kinks < high)], [high]]))
    z: list[Array] = []
    w: list[Array] = []
    for a, b in pairwise(cuts):
        ends = np.linspace(a, b, int(np.ceil((b - a) / (2 * scale))) + 1)
        half = np.diff(ends)[:, None] / 2
        z.append((ends[:-1, None] + half * (1 + NODES)).ravel())
        w.append((half * WEIGHTS).ravel())
    return np.concatenate(z), np.concatenate(w)


def transcripts(
    answers: ArrayLike, rho: float, nu: float, cut_off: int | None, threshold: float = 1.0
) -> dict[tuple[int, ...], float]:
    """P[transcript] of a sparse vector with Laplace noise; without a `cut_off` it never stops."""
    q = np.asarray(answers, dtype=float)
    z, w = grid(q - threshold, min(rho, nu), widest=max(rho, nu))
    w = w * density(z, rho)
    lower = below(threshold + z - q[:, None], nu)
    upper = above(threshold + z - q[:, None], nu)
    found = {}
    for signs in product((0, 1), repeat=len(q)):
        if cut_off is not None:
            end = next((i + 1 for i in range(len(q)) if sum(signs[: i + 1]) == cut_off), len(q))
            if any(signs[end:]):
                continue
        else:
            end = len(q)
        each = np.where(np.array(signs)[:end, None] == 1, upper[:end], lower[:end])
        name = (*signs[:end], *(-1 for _ in q[end:]))
        found[name] = float((w * each.prod(axis=0)).sum())
    assert abs(sum(found.values()) - 1) < 1e-12
    return found


def valued(
    answers: ArrayLike, rho: float, nu: float, stop: int, value: float, threshold: float = 1.0
) -> float:
    """P[query `stop` (from 0) is the first above, and its value is at most `value`], variant 3."""
    q = np.asarray(answers, dtype=float)
    kinks = np.append(q - threshold, value - threshold)
    z, w = grid(kinks, min(rho, nu), high=value - threshold)
    others = below(threshold + z - q[:stop, None], nu).prod(axis=0)
    last = below(value - q[stop], nu) - below(threshold + z - q[stop], nu)
    return float((w * density(z, rho) * others * last).sum())


def loss(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> float:
    """Largest |ln ratio| of two finite laws, over their single outcomes."""
    worst = 0.0
    for name in one.keys() | other.keys():
        p, q = one.get(name, 0.0), other.get(name, 0.0)
        if p != q:
            worst = math.inf if min(p, q) == 0 else max(worst, abs(math.log(p / q)))
    return worst


def laplace_winner(answers: ArrayLike, scale: float) -> list[float]:
    """P[each index is the largest] of answers with Laplace noise."""
    q = np.asarray(answers, dtype=float)
    z, w = grid(q, scale)
    F = below(z - q[:, None], scale)
    return [
        float((w * density(z - q[i], scale) * np.delete(F, i, axis=0).prod(axis=0)).sum())
        for i in range(len(q))
    ]


def exponential_winner(answers: ArrayLike, scale: float) -> list[float]:
    """P[each index is the largest] of answers with exponential noise."""
    q = np.asarray(answers, dtype=float) / scale
    found = []
    for i in range(len(q)):
        start = q.max()  # below it some noise would be negative
        others = np.delete(q, i)
        kinks, total = np.arange(start, start + 60, 0.5), 0.0
        for a, b in pairwise(kinks):
            y = a + (b - a) / 2 * (1 + NODES)
            F = -np.expm1(-(y - others[:, None]))
            total += float(((b - a) / 2 * WEIGHTS * np.exp(-(y - q[i])) * F.prod(axis=0)).sum())
        found.append(total)
    return found


def amplified(epsilon: float) -> float:
    """e0 with ln(1 + (e^e0 - 1) / 2) = epsilon."""
    return math.log(2 * math.exp(epsilon) - 1)


def apart(p: ArrayLike, q: ArrayLike) -> float:
    """|ln(p / q)| of two probabilities or densities, the largest over arrays."""
    return float(np.max(np.abs(np.log(p) - np.log(q))))


def moved_numbers(
    numbers: Callable[[Any], Any], scale: Callable[[float], float], copies: int = 1
) -> Loss:
    """Loss of numbers with independent Laplace noise: each adds what it is moved by."""

    def loss_(base: Any, neighbour: Any, e: float, _: Any) -> float:
        moved = np.abs(np.asarray(numbers(neighbour)) - numbers(base)).sum()
        return float(copies * moved / scale(e))

    return loss_


def index_of_largest(winner: Callable[[ArrayLike, float], list[float]]) -> Loss:
    def loss_(base: Any, neighbour: Any, e: float, _: Any) -> float:
        return apart(winner(base, 2 / e), winner(neighbour, 2 / e))

    return loss_


def value_of_largest(base: Any, neighbour: Any, e: float, _: Any) -> float:
    """Report noisy max 3: the density of the largest, at and between the kinks."""
    scale, ends = 2 / e, np.concatenate([base, neighbour])
    y = np.unique(
        np.concatenate([ends, np.linspace(ends.min() - scale, ends.max() + 9 * scale, 400)])
    )

    def log_density(q: Array) -> Array:
        log_F = np.log(below(y - q[:, None], scale))
        log_f = -np.abs(y - q[:, None]) / scale
        return logsumexp(log_f + log_F.sum(axis=0) - log_F, axis=0)

    return float(np.abs(log_density(base) - log_density(neighbour)).max())


def sparse(rho: float, nu: float, cut_off: int | None) -> Loss:
    def loss_(base: Any, neighbour: Any, e: float, _: Any) -> float:
        return loss(*(transcripts(q, rho / e, nu / e, cut_off) for q in (base, neighbour)))

    return loss_


def sparse_with_fresh_value(base: Any, neighbour: Any, e: float, _: Any) -> float:
    """Numerical sparse vector: the value comes from noise of its own."""
    one, other = (transcripts(q, 3 / e, 6 / e, 1) for q in (base, neighbour))
    moved = np.abs(neighbour - base) * e / 3
    return max(
        abs(math.log(one[name] / other[name])) + (moved[name.index(1)] if 1 in name else 0.0)
        for name in one
    )


def sparse_with_compared_value(base: Any, neighbour: Any, e: float, _: Any) -> float:
    """Variant 3: for each first query above, the density of its value at and between the kinks."""
    scale, threshold = 2 / e, 1.0
    ends = np.concatenate([base, neighbour])
    v = np.unique(
        np.concatenate([ends, np.linspace(ends.min() - 3 * scale, ends.max() + 9 * scale, 99)])
    )

    def log_densities(q: Array) -> Array:
        z, w = grid(np.append(ends, v) - threshold, scale)
        F = np.vstack([np.ones_like(z), np.cumprod(below(threshold + z - q[:, None], scale), 0)])
        until = np.searchsorted(z, v - threshold)
        sums = np.cumsum(w * density(z, rho_scale) * F, axis=1)
        nothing = sums[-1, -1:]  # never above
        at = np.log(sums[:-1, until - 1]) - np.abs(v - q[:, None]) / scale
        return np.append(at.ravel(), np.log(nothing))

    rho_scale = scale
    return float(np.abs(log_densities(base) - log_densities(neighbour)).max())


def count_of_five(answer: float) -> int:
    return min(max(math.floor(answer), 0), 5)


def redrawn(answer: float, e: float) -> dict[int, float]:
    """Two-sided geometric noise on a count of five, given that the answer is in range."""
    weights = {z: math.exp(-e * abs(z - count_of_five(answer))) for z in range(6)}
    return {z: weight / sum(weights.values()) for z, weight in weights.items()}


def clamped(answer: float, e: float) -> dict[int, float]:
    """The same where an answer out of range becomes the nearest number in it."""
    r, count = math.exp(-e), count_of_five(answer)
    inner = {z: (1 - r) / (1 + r) * r ** abs(z - count) for z in range(6)}
    return inner | {z: r ** abs(z - count) / (1 + r) for z in (0, 5)}


def finite(law: Callable[[Any, float], Mapping[Any, float]]) -> Loss:
    def loss_(base: Any, neighbour: Any, e: float, _: Any) -> float:
        return loss(law(base, e), law(neighbour, e))

    return loss_


def geometric_law(answer: float, k: int) -> dict[int, Fraction]:
    """Truncated geometric noise on a count of five, exactly."""
    count, r = count_of_five(answer), Fraction(2**k, 2**k + 1)
    inner = {z: (1 - r) / (1 + r) * r ** abs(z - count) for z in range(6)}
    return inner | {z: r ** abs(z - count) / (1 + r) for z in (0, 5)}


def geometric(k: Callable[[float], int]) -> Loss:
    def loss_(base: Any, neighbour: Any, e: float, _: Any) -> float:
        one, other = (geometric_law(data[0], k(e)) for data in (base, neighbour))
        assert sum(one.values()) == 1
        return loss(one, other)

    return loss_


def grid_law(answer: float, e: float) -> list[Fraction]:
    """Law of the discrete Laplace mechanism, from its whole weights, without rounding."""
    weights = [int(weight) for weight in grid_weights(answer, e)]
    return [Fraction(weight, sum(weights)) for weight in weights]


def grid_loss(base: Any, neighbour: Any, e: float, _: Any) -> float:
    one, other = (grid_law(q[0], e) for q in (base, neighbour))
    return max(abs(math.log(p / q)) for p, q in zip(one, other, strict=True))


def rounded(base: Any, neighbour: Any, e: float, _: Any) -> float:
    """Whole numbers near x + noise."""
    k = np.arange(-30 / e, 30 / e).round()

    def law(x: float) -> Array:
        left, right = k - 0.5 - x, k + 0.5 - x
        return np.where(
            left > 0,
            above(left, 1 / e) - above(right, 1 / e),
            below(right, 1 / e) - below(left, 1 / e),
        )

    return apart(law(base[0]), law(neighbour[0]))


def clipped_sum(numbers: Callable[[Any], Any]) -> Loss:
    """A sum with noise of scale 1 / e, clipped to [0, n]: two atoms and a density."""

    def loss_(base: Any, neighbour: Any, e: float, _: Any) -> float:
        n, scale = len(base), 1 / e
        sums = [float(numbers(each).sum()) for each in (base, neighbour)]
        y = np.array([0.0, n, *np.clip(sums, 0, n)])
        one, other = (
            np.concatenate([[below(-s, scale), above(n - s, scale)], density(y - s, scale)])
            for s in sums
        )
        return apart(one, other)

    return loss_


def sampled_sum(base: Any, neighbour: Any, e: float, _: Any) -> float:
    """Sum over a fresh half: a mixture; between the kinks its ratio is monotone."""
    scale = 1 / amplified(e)
    sums = [
        np.array([sum(each) for each in combinations(data, len(data) // 2)])
        for data in (base, neighbour)
    ]
    ends = np.unique(np.concatenate(sums))
    y = np.concatenate([[ends[0] - 1], ends, [ends[-1] + 1]])
    return apart(*(density(y - each[:, None], scale).mean(axis=0) for each in sums))


def fixed_sum(data: Array) -> float:
    return float(data[: len(data) // 2].sum())


def known_mean(data: Array) -> float:
    known = [value for value in data if value > 0]
    return sum(known) / len(known) if known else 0.0


def voted(blocks: Callable[[Any, int], list[list[int]]], r: int, weight: float = 0.5) -> Loss:
    """Soft majority of nearest records, one query, by plain loops."""

    def chance(data: Any, query: Any, e: float) -> float:
        k = 0
        for block in blocks(data, r):
            nearest = min(block, key=lambda i: abs(data.X[i, 0] - query[0, 0]), default=None)
            k += nearest is not None and data.y[nearest] == 1
        return float(expit(weight * e * (2 * k - r)))

    def loss_(base: Any, neighbour: Any, e: float, query: Any) -> float:
        p, q = (chance(data, query, e) for data in (base, neighbour))
        return max(apart(p, q), apart(1 - p, 1 - q))

    return loss_


def by_place(data: Any, r: int) -> list[list[int]]:
    return [[i for i in range(len(data)) if i % r == j] for j in range(r)]


def by_content(data: Any, r: int) -> list[list[int]]:
    return [[i for i in range(len(data)) if int(10 * data.X[i, 0]) % r == j] for j in range(r)]


def by_order(data: Any, r: int) -> list[list[int]]:
    order, blocks, start = sorted(range(len(data)), key=lambda i: data.X[i, 0]), [], 0
    for j in range(r):
        size = len(data) // r + (j < len(data) % r)
        blocks.append(order[start : start + size])
        start += size
    return blocks
