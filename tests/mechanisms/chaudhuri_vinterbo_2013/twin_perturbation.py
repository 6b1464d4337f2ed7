"""Twin of Algorithms 3 and 4 of Chaudhuri and Vinterbo (2013). Plain loops, straight from the
paper. A record is v = y x, a tuple of floats of norm at most 1; a dataset is a list of (v, how
often it occurs)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

Vector = tuple[float, ...]
Dataset = Sequence[tuple[Vector, int]]
Loss = tuple[Callable[[float], float], Callable[[float], float], Callable[[float], float]]


def sigma(t: float) -> float:
    """1 / (1 + e^-t)."""
    return 1 / (1 + math.exp(-t)) if t > -700 else 0.0


def logistic() -> Loss:
    """ln(1 + e^-z), its slope, and its second derivative."""
    return (
        lambda z: math.log1p(math.exp(-z)) if z > -700 else -z,
        lambda z: -sigma(-z),
        lambda z: sigma(z) * sigma(-z),
    )


def huber(h: float) -> Loss:
    """Corollary 13 of Chaudhuri, Monteleoni and Sarwate (2011)."""

    def value(z: float) -> float:
        return 0.0 if z > 1 + h else 1 - z if z < 1 - h else (1 + h - z) ** 2 / (4 * h)

    def slope(z: float) -> float:
        return 0.0 if z > 1 + h else -1.0 if z < 1 - h else -(1 + h - z) / (2 * h)

    return value, slope, lambda z: 1 / (2 * h) if abs(1 - z) <= h else 0.0


def dot(a: Vector, b: Vector) -> float:
    """Inner product."""
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def size(data: Dataset) -> int:
    """Number of records."""
    return sum(count for _, count in data)


def gradient(w: Vector, data: Dataset, loss: Loss, lam: float, b: Vector) -> Vector:
    """Of lambda ||w||^2 / 2 + mean loss + <b, w>."""
    n = size(data)
    slopes = [count * loss[1](dot(w, v)) / n for v, count in data]
    return tuple(
        math.fsum(s * v[i] for s, (v, _) in zip(slopes, data, strict=True)) + lam * w[i] + b[i]
        for i in range(len(w))
    )


def minimiser_on_the_line(data: Dataset, loss: Loss, lam: float, b: float) -> float:
    """Where the gradient, which rises, changes its sign."""
    low, high = -(1 + abs(b)) / lam - 1, (1 + abs(b)) / lam + 1
    for _ in range(300):
        middle = (low + high) / 2
        if gradient((middle,), data, loss, lam, (b,))[0] > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def laplace_above(r: float) -> float:
    """P[Z >= r] for density e^-|z| / 2."""
    return math.exp(-r) / 2 if r >= 0 else 1 - math.exp(r) / 2


def objective_above(t: float, data: Dataset, loss: Loss, lam: float, alpha: float) -> float:
    """P[w* >= t] on the line: the derivative at t is negative."""
    return laplace_above(alpha * size(data) / 2 * gradient((t,), data, loss, lam, (0.0,))[0])


def output_above(t: float, data: Dataset, loss: Loss, lam: float, alpha: float) -> float:
    """P[w* + 2 R / (lambda alpha n) >= t] on the line."""
    return laplace_above(
        (t - minimiser_on_the_line(data, loss, lam, 0.0)) * lam * alpha * size(data) / 2
    )


def log_density(w: Vector, data: Dataset, loss: Loss, lam: float, alpha: float) -> float:
    """Log-density of Algorithm 3 at w up to a constant: -||R(w)|| + ln det dR/dw, for d <= 2."""
    n, d = size(data), len(w)
    R = [alpha * n / 2 * g for g in gradient(w, data, loss, lam, (0.0,) * d)]
    bends = [(count * loss[2](dot(w, v)), v) for v, count in data]
    A = [
        [
            math.fsum(k * v[i] * v[j] for k, v in bends) + (lam * n if i == j else 0.0)
            for j in range(d)
        ]
        for i in range(d)
    ]
    determinant = A[0][0] if d == 1 else A[0][0] * A[1][1] - A[0][1] * A[1][0]
    return -math.hypot(*R) + math.log(determinant)


def loss_at(
    w: Vector, data: Dataset, neighbour: Dataset, loss: Loss, lam: float, alpha: float
) -> float:
    """Log of the ratio of the densities at w."""
    return log_density(w, data, loss, lam, alpha) - log_density(w, neighbour, loss, lam, alpha)


SCORES: dict[str, Callable[[float], float]] = {
    "logistic": logistic()[0],
    "hinge": lambda z: max(0.0, 1 - z),
    "ramp": lambda z: min(1.0, max(0.0, 1 - z)),
}


def score(w: Vector, validation: Sequence[Vector], g: str) -> float:
    """q(w, V)."""
    return -math.fsum(SCORES[g](dot(w, v)) for v in validation) / len(validation)


def two_dimensions(lam: float, angle: float, W: float, n: int) -> tuple[Vector, Dataset, Dataset]:
    """Weights far along the first axis; one record almost across, on either side of it. The others
    hold the weights there. `angle` is that between the record and the negative first axis."""
    a = 1.2784645427610738 / W
    others = (a, -math.sqrt(1 - a * a))
    c, s = math.cos(angle), math.sin(angle)
    return (W, 0.0), [((-c, s), 1), (others, n - 1)], [((-c, -s), 1), (others, n - 1)]
