"""Twins of attacks/optimal.py: every strategy and every event, one after the other, with fractions."""

from fractions import Fraction
from itertools import product


def histories(m, labels):
    return [past for t in range(m) for past in product(range(labels), repeat=t)]


def strategies(m, queries, labels):
    pasts = histories(m, labels)
    for choice in product(range(queries), repeat=len(pasts)):
        yield dict(zip(pasts, choice, strict=True))


def leaves(P, Q, m, strategy):
    for path in product(range(len(P[0])), repeat=m):
        p = q = Fraction(1)
        for t in range(m):
            j = strategy[path[:t]]
            p, q = p * P[j][path[t]], q * Q[j][path[t]]
        yield p, q


def delta_of(P, Q, m, growth):
    """The largest P[E] - growth Q[E] over all strategies and events."""
    best = Fraction(0)
    for strategy in strategies(m, len(P), len(P[0])):
        best = max(best, sum((max(Fraction(0), p - growth * q) for p, q in leaves(P, Q, m, strategy)), Fraction(0)))
    return best


def growth_of(P, Q, m, delta):
    """The least growth >= 1 at which no strategy and no event exceeds delta: over all nested events of all strategies."""
    best = Fraction(1)
    for strategy in strategies(m, len(P), len(P[0])):
        pairs = sorted(leaves(P, Q, m, strategy), key=lambda pair: -(pair[0] / pair[1]))
        p = q = Fraction(0)
        for one, other in pairs:
            p, q = p + one, q + other
            best = max(best, (p - delta) / q)
    return best


def roc(P, Q, m):
    """AUC (ties half) and total variation of sequences of m answers, from their likelihood ratios."""
    found = list(leaves([P], [Q], m, dict.fromkeys(histories(m, len(P)), 0)))
    area = Fraction(0)
    for p, q in found:
        for p2, q2 in found:
            mine, theirs = p * q2, p2 * q
            area += p * q2 * (Fraction(1) if mine > theirs else Fraction(1, 2) if mine == theirs else 0)
    return area, sum((max(Fraction(0), p - q) for p, q in found), Fraction(0))
