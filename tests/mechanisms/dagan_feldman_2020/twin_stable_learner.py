"""Twin of the stable learner A^sta. Pure Python, every subset of the records, straight from section
3.1. Points are tuples of small integers. A class is a function from T, a tuple of different points
in ascending order, and a rule to H_T: predicates, one for each labelling of T, in the order that
the package's docstrings give."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache

Point = tuple[int, ...]
Record = tuple[Point, int]
Dataset = tuple[Record, ...]
Hypothesis = Callable[[Point], bool]
Class = Callable[[tuple[Point, ...], str], list[Hypothesis]]

INF = math.inf


def thresholds(T: tuple[Point, ...], rule: str) -> list[Hypothesis]:
    """One for each number of points of T that are labelled 0, the first ones."""
    xs = [x for (x,) in T]
    found = []
    for zeros in range(len(xs) + 1):
        low = xs[zeros - 1] if zeros > 0 else -INF
        high = xs[zeros] if zeros < len(xs) else INF
        found.append(_from(low, high, rule))
    return found


def _from(low: float, high: float, rule: str) -> Hypothesis:
    """A threshold above `low` and up to `high`."""
    if rule == "least" or (rule == "middle" and low == -INF):
        return lambda p: p[0] >= high
    if rule == "greatest" or high == INF:
        return lambda p: p[0] > low
    return lambda p: 2 * p[0] >= low + high


def intervals(T: tuple[Point, ...], rule: str) -> list[Hypothesis]:
    """No point, then by the first and the last point labelled 1."""
    xs = [x for (x,) in T]
    found: list[Hypothesis] = [lambda p: False]
    for i, j in itertools.combinations_with_replacement(range(len(xs)), 2):
        before = xs[i - 1] if i > 0 else -INF
        behind = xs[j + 1] if j + 1 < len(xs) else INF
        starts, ends = _from(before, xs[i], rule), _from(-behind, -xs[j], rule)
        found.append(
            lambda p, starts=starts, ends=ends: starts(p) and ends((-p[0],))  # type: ignore[misc]
        )
    return found


def corners(T: tuple[Point, ...], rule: str) -> list[Hypothesis]:
    """No point, then by the smallest corner that holds the points labelled 1. At coordinates of
    T."""
    found: list[Hypothesis] = [lambda p: False]
    seen = []
    for a, b in itertools.product(sorted({x for x, _ in T}), sorted({y for _, y in T})):
        inside = {p for p in T if p[0] >= a and p[1] >= b}
        if not inside or inside in seen:
            continue
        seen.append(inside)
    for inside in seen:
        a, b = min(x for x, _ in inside), min(y for _, y in inside)
        out_x = max((x for x, y in T if (x, y) not in inside and y >= b), default=-INF)
        out_y = max((y for x, y in T if (x, y) not in inside and x > out_x), default=-INF)
        in_x, in_y = _from(out_x, a, rule), _from(out_y, b, rule)
        found.append(
            lambda p, in_x=in_x, in_y=in_y: in_x((p[0],)) and in_y((p[1],))  # type: ignore[misc]
        )
    return found


def halfspaces(T: tuple[Point, ...], rule: str, side: int = 3) -> list[Hypothesis]:
    """For each labelling of T in ascending order, one of the functions that have it."""
    groups: dict[tuple[int, ...], list[frozenset[Point]]] = {}
    for ones in every_halfspace(side):
        groups.setdefault(tuple(int(p in ones) for p in T), []).append(ones)
    found: list[Hypothesis] = []
    for labels in sorted(groups):
        group = groups[labels]
        ones = {"least": group[0], "greatest": group[-1], "middle": group[len(group) // 2]}[rule]
        found.append(lambda p, ones=ones: p in ones)  # type: ignore[misc]
    return found


@cache
def every_halfspace(side: int) -> list[frozenset[Point]]:
    """All sets {x : w x >= b} in the grid, by number of points and then as rows of labels. Small
    integer w are enough."""
    grid = list(itertools.product(range(1, side + 1), repeat=2))
    reach = range(-2 * side, 2 * side + 1)
    found = set()
    for u, v in itertools.product(reach, repeat=2):
        heights = sorted({u * x + v * y for x, y in grid})
        for b in [*heights, heights[-1] + 1]:
            found.add(frozenset((x, y) for x, y in grid if u * x + v * y >= b))
    return sorted(found, key=lambda ones: (len(ones), [int(p in ones) for p in grid]))


def functions(T: tuple[Point, ...], rule: str) -> list[Hypothesis]:
    """Labellings as binary numbers; elsewhere 0, 1, or 1 at the odd points."""
    found: list[Hypothesis] = []
    for labels in itertools.product((0, 1), repeat=len(T)):
        ones = {p for p, label in zip(T, labels, strict=True) if label}

        def hypothesis(p: Point, ones: set[Point] = ones) -> bool:
            if p in T:
                return p in ones
            return {"least": False, "greatest": True, "middle": p[0] % 2 == 1}[rule]

        found.append(hypothesis)
    return found


CLASSES: dict[str, Class] = {
    "thresholds": thresholds,
    "intervals": intervals,
    "corners": corners,
    "halfspaces": halfspaces,
    "functions": functions,
}


def net(H_T: list[Hypothesis], T: list[Point], alpha: float) -> list[Hypothesis]:
    """Greedy cover: a hypothesis unless a taken one differs on few records of T. On at most alpha
    |T|."""
    taken: list[Hypothesis] = []
    for h in H_T:
        if all(sum(h(p) != g(p) for p in T) > alpha * len(T) for g in taken):
            taken.append(h)
    return taken


def law_given(
    S: Dataset,
    chosen: tuple[int, ...],
    queries: list[Point],
    H: Class,
    rule: str,
    epsilon: float,
    alpha: float | None,
) -> list[float]:
    """h_{S, S_I} at the queries: the exponential mechanism over H_{S_I}, evaluated on S."""
    T = [S[i][0] for i in chosen]
    candidates = H(tuple(sorted(set(T))), rule)
    if alpha is not None:
        candidates = net(candidates, T, alpha)
    weights = [math.exp(-epsilon / 2 * sum(h(x) != bool(y) for x, y in S)) for h in candidates]
    Z = math.fsum(weights)
    return [
        math.fsum(w for h, w in zip(candidates, weights, strict=True) if h(x)) / Z for x in queries
    ]


def probability_of_one(
    S: Dataset,
    queries: list[Point],
    *,
    H: Class,
    rule: str,
    epsilon: float,
    n_prime: int,
    alpha: float | None = None,
) -> list[float]:
    """A^sta(S) at the queries: the mean over all subsets I of n' indices."""
    every = [
        law_given(S, chosen, queries, H, rule, epsilon, alpha)
        for chosen in itertools.combinations(range(len(S)), n_prime)
    ]
    return [math.fsum(column) / len(every) for column in zip(*every, strict=True)]
