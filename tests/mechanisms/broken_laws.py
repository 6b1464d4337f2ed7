"""Exact laws of the broken mechanisms and their twins, by closed form and quadrature.

An independent way to every number of the zoo: nothing here is taken from the functions themselves.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from scipy.special import expit, logsumexp

from dpassay.mechanisms.broken.floating_point import grid_weights

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)
FAR = 45.0
"""Scales of noise beyond which it is left out: e^-45 is below the rounding of what remains."""


def below(z, scale):
    """P[Laplace noise < z]."""
    tail = np.exp(-np.abs(z) / scale) / 2
    return np.where(z < 0, tail, 1 - tail)


def above(z, scale):
    """P[Laplace noise >= z]."""
    return below(-np.asarray(z), scale)


def density(z, scale):
    return np.exp(-np.abs(z) / scale) / (2 * scale)


def grid(kinks, scale, low=-np.inf, high=np.inf):
    """Nodes and weights of a piecewise Gauss rule: pieces end at the kinks, none wider than 2."""
    kinks = np.unique(np.append(np.asarray(kinks, dtype=float), 0.0))
    low, high = max(low, kinks[0] - FAR * scale), min(high, kinks[-1] + FAR * scale)
    cuts = np.unique(np.concatenate([[low], kinks[(kinks > low) & (kinks < high)], [high]]))
    z, w = [], []
    for a, b in zip(cuts[:-1], cuts[1:], strict=True):
        ends = np.linspace(a, b, int(np.ceil((b - a) / (2 * min(scale, 2.0)))) + 1)
        half = np.diff(ends)[:, None] / 2
        z.append((ends[:-1, None] + half * (1 + NODES)).ravel())
        w.append((half * WEIGHTS).ravel())
    return np.concatenate(z), np.concatenate(w)


def transcripts(q, rho, nu, cut_off, threshold=1.0):
    """P[transcript] of a sparse vector with Laplace noise, by transcript.

    `cut_off` None: it never stops.
    """
    q = np.asarray(q, dtype=float)
    z, w = grid(q - threshold, min(rho, nu))
    far_z, far_w = z, w * density(z, rho)
    lower = below(threshold + far_z - q[:, None], nu)
    upper = above(threshold + far_z - q[:, None], nu)
    found = {}
    for signs in product((0, 1), repeat=len(q)):
        if cut_off is not None:
            end = next((i + 1 for i in range(len(q)) if sum(signs[: i + 1]) == cut_off), len(q))
            if any(signs[end:]):
                continue
        else:
            end = len(q)
        each = np.where(np.array(signs)[:end, None] == 1, upper[:end], lower[:end])
        name = signs[:end] + (-1,) * (len(q) - end)
        found[name] = float((far_w * each.prod(axis=0)).sum())
    return found


def valued(q, rho, nu, stop, value, threshold=1.0):
    """P[query `stop` (from 0) is the first above, and its noisy value is at most `value`] (SVT 3)."""
    q = np.asarray(q, dtype=float)
    kinks = np.append(q - threshold, value - threshold)
    z, w = grid(kinks, min(rho, nu), high=value - threshold)
    others = below(threshold + z - q[:stop, None], nu).prod(axis=0)
    last = below(value - q[stop], nu) - below(threshold + z - q[stop], nu)
    return float((w * density(z, rho) * others * last).sum())


def loss(one, other):
    """Largest |ln ratio| of two finite laws, over their single outcomes."""
    worst = 0.0
    for name in one.keys() | other.keys():
        p, q = one.get(name, 0.0), other.get(name, 0.0)
        if p != q:
            worst = math.inf if min(p, q) == 0 else max(worst, abs(math.log(p / q)))
    return worst


def laplace_winner(q, scale):
    """P[each index is the largest] of answers with Laplace noise."""
    q = np.asarray(q, dtype=float)
    z, w = grid(q, scale)
    F = below(z - q[:, None], scale)
    return [
        float((w * density(z - q[i], scale) * np.delete(F, i, axis=0).prod(axis=0)).sum())
        for i in range(len(q))
    ]


def exponential_winner(q, scale):
    """P[each index is the largest] of answers with exponential noise."""
    q = np.asarray(q, dtype=float) / scale
    found = []
    for i in range(len(q)):
        start = q.max()  # below it some noise would be negative
        others = np.delete(q, i)
        kinks, total = np.arange(start, start + 60, 0.5), 0.0
        for a, b in zip(kinks[:-1], kinks[1:], strict=True):
            y = a + (b - a) / 2 * (1 + NODES)
            F = -np.expm1(-(y - others[:, None]))
            total += float(((b - a) / 2 * WEIGHTS * np.exp(-(y - q[i])) * F.prod(axis=0)).sum())
        found.append(total)
    return found


def amplified(epsilon):
    """e0 with ln(1 + (e^e0 - 1) / 2) = epsilon."""
    return math.log(2 * math.exp(epsilon) - 1)


def apart(p, q):
    """|ln(p / q)| of two probabilities or densities, the largest over arrays."""
    return float(np.max(np.abs(np.log(p) - np.log(q))))


def moved_numbers(numbers, scale, copies=1):
    """Loss of numbers with independent Laplace noise: each adds what it is moved by."""

    def loss(base, neighbour, e, _):
        moved = np.abs(np.asarray(numbers(neighbour)) - numbers(base)).sum()
        return float(copies * moved / scale(e))

    return loss


def index_of_largest(winner):
    def loss(base, neighbour, e, _):
        return apart(winner(base, 2 / e), winner(neighbour, 2 / e))

    return loss


def value_of_largest(base, neighbour, e, _):
    """Report noisy max 3: the density of the largest, at and between the kinks."""
    scale, ends = 2 / e, np.concatenate([base, neighbour])
    y = np.unique(
        np.concatenate([ends, np.linspace(ends.min() - scale, ends.max() + 9 * scale, 400)])
    )

    def log_density(q):
        log_F = np.log(below(y - q[:, None], scale))
        log_f = -np.abs(y - q[:, None]) / scale
        return logsumexp(log_f + log_F.sum(axis=0) - log_F, axis=0)

    return float(np.abs(log_density(base) - log_density(neighbour)).max())


def sparse(rho, nu, cut_off):
    def loss_(base, neighbour, e, _):
        return loss(*(transcripts(q, rho / e, nu / e, cut_off) for q in (base, neighbour)))

    return loss_


def sparse_with_fresh_value(base, neighbour, e, _):
    """Numerical sparse vector: the value comes from noise of its own."""
    one, other = (transcripts(q, 3 / e, 6 / e, 1) for q in (base, neighbour))
    moved = np.abs(neighbour - base) * e / 3
    return max(
        abs(math.log(one[name] / other[name])) + (moved[name.index(1)] if 1 in name else 0.0)
        for name in one
    )


def sparse_with_compared_value(base, neighbour, e, _):
    """Variant 3: for each first query above, the density of its value at and between the kinks."""
    scale, threshold = 2 / e, 1.0
    ends = np.concatenate([base, neighbour])
    v = np.unique(
        np.concatenate([ends, np.linspace(ends.min() - 3 * scale, ends.max() + 9 * scale, 99)])
    )

    def log_densities(q):
        z, w = grid(np.append(ends, v) - threshold, scale)
        F = np.vstack([np.ones_like(z), np.cumprod(below(threshold + z - q[:, None], scale), 0)])
        until = np.searchsorted(z, v - threshold)
        sums = np.cumsum(w * density(z, rho_scale) * F, axis=1)
        nothing = sums[-1, -1:]  # never above
        at = np.log(sums[:-1, until - 1]) - np.abs(v - q[:, None]) / scale
        return np.append(at.ravel(), np.log(nothing))

    rho_scale = scale
    return float(np.abs(log_densities(base) - log_densities(neighbour)).max())


def geometric(k):
    """Truncated geometric noise on a count of five, exactly."""

    def law(answer, e):
        c, r = min(max(math.floor(answer), 0), 5), Fraction(2 ** k(e), 2 ** k(e) + 1)
        inner = {z: (1 - r) / (1 + r) * r ** abs(z - c) for z in range(6)}
        return inner | {z: r ** abs(z - c) / (1 + r) for z in (0, 5)}

    def loss_(base, neighbour, e, _):
        one, other = law(base[0], e), law(neighbour[0], e)
        assert sum(one.values()) == 1
        return loss(one, other)

    return loss_


def grid_law(answer, e):
    """Law of the discrete Laplace mechanism, from its whole weights, without rounding."""
    weights = [int(weight) for weight in grid_weights(answer, e)]
    return [Fraction(weight, sum(weights)) for weight in weights]


def grid_loss(base, neighbour, e, _):
    one, other = (grid_law(q[0], e) for q in (base, neighbour))
    return max(abs(math.log(p / q)) for p, q in zip(one, other, strict=True))


def rounded(base, neighbour, e, _):
    """Whole numbers near x + noise."""
    k = np.arange(-30 / e, 30 / e).round()

    def law(x):
        left, right = k - 0.5 - x, k + 0.5 - x
        return np.where(
            left > 0,
            above(left, 1 / e) - above(right, 1 / e),
            below(right, 1 / e) - below(left, 1 / e),
        )

    return apart(law(base[0]), law(neighbour[0]))


def clipped_sum(numbers):
    """A sum with noise of scale 1 / e, clipped to [0, n]: two atoms and a density."""

    def loss_(base, neighbour, e, _):
        n, scale = len(base), 1 / e
        sums = [float(numbers(each).sum()) for each in (base, neighbour)]
        y = np.array([0.0, n, *np.clip(sums, 0, n)])
        one, other = (
            np.concatenate([[below(-s, scale), above(n - s, scale)], density(y - s, scale)])
            for s in sums
        )
        return apart(one, other)

    return loss_


def sampled_sum(base, neighbour, e, _):
    """Sum over a fresh half: a mixture; between the kinks its ratio is monotone."""
    scale = 1 / amplified(e)
    sums = [
        np.array([sum(each) for each in combinations(data, len(data) // 2)])
        for data in (base, neighbour)
    ]
    ends = np.unique(np.concatenate(sums))
    y = np.concatenate([[ends[0] - 1], ends, [ends[-1] + 1]])
    return apart(*(density(y - each[:, None], scale).mean(axis=0) for each in sums))


def fixed_sum(data):
    return data[: len(data) // 2].sum()


def known_mean(data):
    known = [value for value in data if value > 0]
    return sum(known) / len(known) if known else 0.0


def voted(blocks, r, weight=0.5):
    """Soft majority of nearest records, one query, by plain loops."""

    def chance(data, query, e):
        k = 0
        for block in blocks(data, r):
            nearest = min(block, key=lambda i: abs(data.X[i, 0] - query[0, 0]), default=None)
            k += nearest is not None and data.y[nearest] == 1
        return expit(weight * e * (2 * k - r))

    def loss_(base, neighbour, e, query):
        p, q = (chance(data, query, e) for data in (base, neighbour))
        return max(apart(p, q), apart(1 - p, 1 - q))

    return loss_


def by_place(data, r):
    return [[i for i in range(len(data)) if i % r == j] for j in range(r)]


def by_content(data, r):
    return [[i for i in range(len(data)) if int(10 * data.X[i, 0]) % r == j] for j in range(r)]


def by_order(data, r):
    order, blocks, start = sorted(range(len(data)), key=lambda i: data.X[i, 0]), [], 0
    for j in range(r):
        size = len(data) // r + (j < len(data) % r)
        blocks.append(order[start : start + size])
        start += size
    return blocks
