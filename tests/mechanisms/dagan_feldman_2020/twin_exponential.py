"""Twin of the exponential mechanism and of relabelling (Dagan and Feldman 2020), with functions on
1..N as tuples."""

from __future__ import annotations

import itertools
import math

Record = tuple[int, int]
Dataset = tuple[Record, ...]
Function = tuple[int, ...]
"""Values at 1, ..., N."""


def functions(name: str, N: int) -> list[Function]:
    """All members of a class on 1..N."""
    points = range(1, N + 1)
    if name == "thresholds":
        return [tuple(int(x >= t) for x in points) for t in range(1, N + 2)]
    if name == "intervals":
        ends = [(a, b) for a in points for b in points if a <= b]
        return [
            tuple(0 for _ in points),
            *(tuple(int(a <= x <= b) for x in points) for a, b in ends),
        ]
    return list(itertools.product((0, 1), repeat=N))


def errors(h: Function, dataset: Dataset) -> int:
    """Wrong answers on a dataset: n L_S(h)."""
    return sum(h[x - 1] != y for x, y in dataset)


def exponential(dataset: Dataset, query: int, epsilon: float, H: list[Function]) -> float:
    """P[1]: the share of exp(-n L_S(h) epsilon / 2) that is of h with h(x) = 1."""
    weights = [math.exp(-errors(h, dataset) * epsilon / 2) for h in H]
    return math.fsum(w for w, h in zip(weights, H, strict=True) if h[query - 1] == 1) / math.fsum(
        weights
    )


def labellings(H: list[Function], T: list[int], rule: str) -> list[Function]:
    """H_T: of each set of functions that agree on T, the one with the fewest or the most ones."""
    groups: dict[tuple[int, ...], list[Function]] = {}
    for h in H:
        groups.setdefault(tuple(h[x - 1] for x in T), []).append(h)
    pick = min if rule == "least" else max
    return [pick(group, key=sum) for group in groups.values()]


def realisable(
    points: list[int], h: Function, query: int, H: list[Function], rule: str, r: int, rate: float
) -> float:
    """P[phi_S(h)(x) = 1]: soft majority of hypotheses consistent with the r blocks of S_h."""
    v = 0
    for j in range(r):
        block = points[j::r]
        (model,) = [
            g for g in labellings(H, block, rule) if all(g[x - 1] == h[x - 1] for x in block)
        ]
        v += 2 * model[query - 1] - 1
    return 1 / (1 + math.exp(-rate * v / 2))


def given(
    dataset: Dataset, T: list[int], query: int, *, eta: float, r: int, H: list[Function], rule: str
) -> float:
    """h_{S,T}(x) of Eq. (8)."""
    n, points = len(dataset), [x for x, _ in dataset]
    total = mass = 0.0
    for h in labellings(H, T, rule):
        weight = math.exp(-errors(h, dataset) / n / eta)
        total += weight
        mass += weight * realisable(points, h, query, H, rule, r, 1 / (eta * n))
    return mass / total


def relabelled(
    dataset: Dataset,
    query: int,
    *,
    n_prime: int,
    eta: float,
    r: int,
    alpha: float,
    H: list[Function],
    rule: str,
) -> float:
    """h_S(x) of Eq. (9), flipped with probability alpha."""
    subsets = list(itertools.combinations([x for x, _ in dataset], n_prime))
    p = math.fsum(
        given(dataset, list(T), query, eta=eta, r=r, H=H, rule=rule) for T in subsets
    ) / len(subsets)
    return (1 - alpha) * p + alpha * (1 - p)
