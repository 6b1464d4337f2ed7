"""Lemmas 10 and 11 of Dagan and Feldman (2020) at their worst over a small domain, and the
inequalities of their proofs."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from tests.mechanisms.dagan_feldman_2020.twin_exponential import (
    Dataset,
    Function,
    errors,
    functions,
    given,
    labellings,
    realisable,
)
from tests.mechanisms.twin_worst_case import every_dataset

Answer = Callable[[Function, int], float]


@dataclass
class Worst:
    """Largest value found of each quantity. The proofs bound them by 2 eta, 2, 2 e^2, e^2, 4 e^6
    and e^(3 / (eta n))."""

    loss: float = 0.0
    matched: int = 0
    least_matched: int = 9
    Z: float = 0.0
    phi: float = 0.0
    lemma_10: float = 0.0
    lemma_11: float = 0.0


def is_net(H: list[Function], T: list[int], others: list[int], eta: float) -> bool:
    """Whether functions that agree on T differ on at most eta of the other points."""
    for h, g in itertools.combinations(H, 2):
        if all(h[x - 1] == g[x - 1] for x in T) and sum(
            h[x - 1] != g[x - 1] for x in others
        ) > eta * len(others):
            return False
    return True


def ratio(p: float, q: float) -> float:
    """Largest of p / q and (1 - p) / (1 - q)."""
    return max(p / q, (1 - p) / (1 - q))


def worst(
    name: str, N: int, n: int, n_prime: int, eta: float, r: int, rule: str = "least"
) -> Worst:
    """Enumerate: all S, all I with record 0 whose rest is a net, all i outside, and all T for Lemma
    11."""
    H, rate, found = functions(name, N), 1 / (eta * n), Worst()
    for S in every_dataset(n, N):
        points = [x for x, _ in S]
        answer = functools.cache(
            functools.partial(realisable, points, H=H, rule=rule, r=r, rate=rate)
        )
        for rest in itertools.combinations(range(1, n), n_prime - 1):
            shared = [points[j] for j in rest]
            if not is_net(H, shared, points[1:], eta):
                continue
            one = Matched(S, [points[0], *shared], H, rule, eta)
            for i in sorted(set(range(1, n)) - set(rest)):
                _compare(
                    found, one, Matched(S, [points[i], *shared], H, rule, eta), shared, N, answer
                )
    for S, x in itertools.product(every_dataset(n, N), range(1, N + 1)):
        for T in itertools.combinations_with_replacement(range(1, N + 1), n_prime):
            p = _given(S, T, x, eta, r, name, N, rule)
            for other in itertools.product(range(1, N + 1), (0, 1)):
                found.lemma_11 = max(
                    found.lemma_11, ratio(p, _given((other, *S[1:]), T, x, eta, r, name, N, rule))
                )
    return found


@functools.cache
def _given(
    S: Dataset, T: tuple[int, ...], x: int, eta: float, r: int, name: str, N: int, rule: str
) -> float:
    return given(S, list(T), x, eta=eta, r=r, H=functions(name, N), rule=rule)


class Matched:
    """H_{S_I}, with the weights lambda_h and their sum Z."""

    def __init__(self, S: Dataset, T: list[int], H: list[Function], rule: str, eta: float) -> None:
        self.H = labellings(H, T, rule)
        self.losses = [errors(h, S) / len(S) for h in self.H]
        self.weights = [math.exp(-loss / eta) for loss in self.losses]
        self.Z = math.fsum(self.weights)


def _compare(
    found: Worst, one: Matched, two: Matched, shared: list[int], N: int, answer: Answer
) -> None:
    """Take in one pair of subsets."""
    found.Z = max(found.Z, one.Z / two.Z, two.Z / one.Z)
    for h, loss in zip(one.H, one.losses, strict=True):
        partners = [
            (g, m)
            for g, m in zip(two.H, two.losses, strict=True)
            if all(g[x - 1] == h[x - 1] for x in shared)
        ]
        found.matched = max(found.matched, len(partners))
        found.least_matched = min(found.least_matched, len(partners))
        for g, other in partners:
            found.loss = max(found.loss, abs(loss - other))
            found.phi = max(
                found.phi, *(ratio(answer(h, x), answer(g, x)) for x in range(1, N + 1))
            )
    for x in range(1, N + 1):
        p, q = (
            math.fsum(w * answer(h, x) for h, w in zip(each.H, each.weights, strict=True)) / each.Z
            for each in (one, two)
        )
        found.lemma_10 = max(found.lemma_10, ratio(p, q), ratio(q, p))
