"""Twin of the projected walk (section 5), its empirical error and the best union of intervals. Pure
Python, step by step."""

from __future__ import annotations

import itertools
import math

Record = tuple[int, int]


def walk_end(dataset: tuple[Record, ...], query: int, T: int, ties: str) -> int:
    """Value of the walk after the last example at or before the query."""
    seen = [(x, y) for x, y in dataset if x <= query]
    v = 0
    for point in sorted({x for x, _ in seen}):
        steps = [1 if y == 1 else -1 for x, y in seen if x == point]
        for step in steps if ties == "index" else [sum(steps)]:
            v += step
            v = min(v, T)
            v = max(v, -T)
    return v


def probability_of_one(
    dataset: tuple[Record, ...], query: int, epsilon: float, T: int, ties: str
) -> float:
    """e^(epsilon V / 2) / (1 + e^(epsilon V / 2))."""
    odds = math.exp(epsilon * walk_end(dataset, query, T, ties) / 2)
    return odds / (1 + odds)


def empirical_error(dataset: tuple[Record, ...], epsilon: float, T: int, ties: str) -> float:
    """Err_S(M(S)) = 1/n sum over i of P[M(S, x_i) != y_i]."""
    wrong = []
    for x, y in dataset:
        one = probability_of_one(dataset, x, epsilon, T, ties)
        wrong.append(1 - one if y == 1 else one)
    return math.fsum(wrong) / len(dataset)


def best_union(dataset: tuple[Record, ...], points: int, k: int) -> float:
    """Opt_S(Thr_N,k): smallest error of a function with k ends. 1 <= a_1 < ... < a_k <= N + 1, N =
    points. The function is 1 at x iff the largest t with a_t <= x is odd; no such t counts as 0.
    Infinite if k > N + 1: no function."""
    best = math.inf
    for ends in itertools.combinations(range(1, points + 2), k):
        wrong = sum((sum(a <= x for a in ends) % 2) != y for x, y in dataset)
        best = min(best, wrong / len(dataset))
    return best


def lemma_5_2_bound(
    dataset: tuple[Record, ...], epsilon: float, T: int, points: int, k: int
) -> float:
    """Opt_S(Thr_N,k) + (k + 2) T / n + e^(-epsilon T / 2)."""
    return best_union(dataset, points, k) + (k + 2) * T / len(dataset) + math.exp(-epsilon * T / 2)
