"""Twin of one-pass projected gradient descent (Theorem 4.12): pure Python, record by record."""

from __future__ import annotations

import itertools
import math

Point = tuple[float, ...]
Record = tuple[Point, int]


def slope(name: str, a: float, label: int, h: float) -> float:
    """Derivative of the loss in a, with y = -1 for label 0 and +1 for label 1."""
    y = 1 if label == 1 else -1
    if name == "logistic":
        return -y / (1 + math.exp(y * a))
    if name == "squared":
        return a - y
    if name == "huber":
        return (a - y) / h if abs(a - y) < h else math.copysign(1.0, a - y)
    margin = y * a
    if margin >= 1:
        return 0.0
    return -y * (1 - margin) / h if margin > 1 - h else float(-y)


def average(
    dataset: list[Record], name: str, R: float, L_f: float, L_l: float, h: float, kept: str
) -> Point:
    """Average of the n iterates before the updates, or after them; the records hold features."""
    n = len(dataset)
    eta = R / (L_f * L_l * math.sqrt(n))
    w = [0.0] * len(dataset[0][0])
    before, after = [], []
    for phi, label in dataset:
        before.append(list(w))
        a = sum(u * v for u, v in zip(w, phi, strict=True))
        w = [u - eta * slope(name, a, label, h) * v for u, v in zip(w, phi, strict=True)]
        norm = math.sqrt(sum(u * u for u in w))
        if norm > R:
            w = [u * R / norm for u in w]
        after.append(list(w))
    iterates = before if kept == "before" else after
    return tuple(math.fsum(column) / n for column in zip(*iterates, strict=True))


def mean_over_orders(
    dataset: list[Record], name: str, R: float, L_f: float, L_l: float, h: float, kept: str
) -> Point:
    """Mean of that average over all n! orders."""
    every = [
        average(list(order), name, R, L_f, L_l, h, kept)
        for order in itertools.permutations(dataset)
    ]
    return tuple(math.fsum(column) / len(every) for column in zip(*every, strict=True))
