"""Twins of attacks/repeated/optimal.py: every strategy and event in turn, with fractions."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

Rows = list[list[Fraction]]
Strategy = dict[tuple[int, ...], int]


def histories(m: int, labels: int) -> list[tuple[int, ...]]:
    return [past for t in range(m) for past in product(range(labels), repeat=t)]


def strategies(m: int, queries: int, labels: int) -> Iterator[Strategy]:
    pasts = histories(m, labels)
    for choice in product(range(queries), repeat=len(pasts)):
        yield dict(zip(pasts, choice, strict=True))


def leaves(P: Rows, Q: Rows, m: int, strategy: Strategy) -> Iterator[tuple[Fraction, Fraction]]:
    for path in product(range(len(P[0])), repeat=m):
        p = q = Fraction(1)
        for t in range(m):
            j = strategy[path[:t]]
            p, q = p * P[j][path[t]], q * Q[j][path[t]]
        yield p, q


def delta_of(P: Rows, Q: Rows, m: int, growth: Fraction) -> Fraction:
    """The largest P[E] - growth Q[E] over all strategies and events."""
    best = Fraction(0)
    for strategy in strategies(m, len(P), len(P[0])):
        best = max(
            best,
            sum(
                (max(Fraction(0), p - growth * q) for p, q in leaves(P, Q, m, strategy)),
                Fraction(0),
            ),
        )
    return best


def growth_of(P: Rows, Q: Rows, m: int, delta: Fraction) -> Fraction:
    """The least growth >= 1 at which no nested event of any strategy exceeds delta."""
    best = Fraction(1)
    for strategy in strategies(m, len(P), len(P[0])):
        pairs = sorted(leaves(P, Q, m, strategy), key=lambda pair: -(pair[0] / pair[1]))
        p = q = Fraction(0)
        for one, other in pairs:
            p, q = p + one, q + other
            best = max(best, (p - delta) / q)
    return best


def roc(P: list[Fraction], Q: list[Fraction], m: int) -> tuple[Fraction, Fraction]:
    """AUC (ties half) and total variation of sequences of m answers, by likelihood ratios."""
    found = list(leaves([P], [Q], m, dict.fromkeys(histories(m, len(P)), 0)))
    area = Fraction(0)
    for p, q in found:
        for p2, q2 in found:
            mine, theirs = p * q2, p2 * q
            area += (
                p * q2 * (Fraction(1) if mine > theirs else Fraction(1, 2) if mine == theirs else 0)
            )
    return area, sum((max(Fraction(0), p - q) for p, q in found), Fraction(0))
