"""Twin of regularised empirical risk minimisation (Theorem 4.9, Corollary 4.11). Pure Python, from
the definition."""

from __future__ import annotations

import math

Point = tuple[float, ...]
Record = tuple[Point, int]


def features(x: Point, scale: float, L_f: float) -> Point:
    """x divided by the scale, cut back to norm L_f."""
    z = [value / scale for value in x]
    norm = math.hypot(*z)
    return tuple(value * L_f / norm for value in z) if norm > L_f else tuple(z)


def loss(name: str, a: float, label: int) -> float:
    """l(a, y) with y = -1 for label 0 and +1 for label 1."""
    y = 1 if label == 1 else -1
    if name == "logistic":
        return math.log1p(math.exp(-y * a)) if y * a > -30 else -y * a
    if name == "squared":
        return (a - y) ** 2 / 2
    return abs(a - y) if name == "absolute" else max(0.0, 1 - y * a)


def slope(name: str, a: float, label: int) -> float:
    """One subgradient of l in a."""
    y = 1 if label == 1 else -1
    if name == "logistic":
        return -y / (1 + math.exp(y * a))
    if name == "squared":
        return a - y
    if name == "absolute":
        return 1.0 if a > y else -1.0
    return float(-y) if y * a < 1 else 0.0


def objective(w: Point, dataset: list[tuple[Point, int]], name: str, lam: float) -> float:
    """(1/n) sum l(<w, phi>, y) + lambda ||w||^2; the dataset holds features."""
    losses = [
        loss(name, math.fsum(a * b for a, b in zip(w, phi, strict=True)), label)
        for phi, label in dataset
    ]
    return math.fsum(losses) / len(losses) + lam * math.fsum(value**2 for value in w)


def line_minimiser(dataset: list[tuple[float, int]], name: str, lam: float, R: float) -> float:
    """The minimiser in [-R, R] for one feature. Where the derivative, which rises, changes its
    sign."""

    def derivative(w: float) -> float:
        return (
            math.fsum(slope(name, w * phi, label) * phi for phi, label in dataset) / len(dataset)
            + 2 * lam * w
        )

    low, high = -R, R
    for _ in range(200):
        middle = (low + high) / 2
        if derivative(middle) > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def subgradient_descent(
    dataset: list[tuple[Point, int]], name: str, lam: float, R: float, steps: int
) -> Point:
    """Projected subgradient method, step 1 / (2 lambda t), iterates averaged with weights t. Within
    O(1 / (lambda^2 steps))."""
    w = [0.0] * len(dataset[0][0])
    mean = list(w)
    for t in range(1, steps + 1):
        pull = [2 * lam * value for value in w]
        for phi, label in dataset:
            s = slope(name, sum(a * b for a, b in zip(w, phi, strict=True)), label)
            pull = [p + s * f / len(dataset) for p, f in zip(pull, phi, strict=True)]
        w = [value - p / (2 * lam * t) for value, p in zip(w, pull, strict=True)]
        norm = math.hypot(*w)
        w = [value * min(1.0, R / norm) if norm else 0.0 for value in w]
        mean = [m + (value - m) * 2 / (t + 1) for m, value in zip(mean, w, strict=True)]
    return tuple(mean)
