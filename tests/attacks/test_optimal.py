"""The optimal attacker and the best adaptive strategy, against brute force with fractions.

The twins, at the end, use nothing of dpassay: every strategy and event in turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.attacks.repeated.optimal import (
    best_strategy,
    ceiling,
    composition,
    compositions,
    optimal,
    privacy_spent,
)
from dpassay.errors import InvalidInput
from dpassay.laws import bernoulli_law
from dpassay.mechanisms.dwork_feldman_2018.composition import (
    advanced_composition,
    optimal_composition,
)

TWO = (
    [[Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 2), Fraction(1, 2)]],
    [[Fraction(1, 3), Fraction(2, 3)], [Fraction(1, 8), Fraction(7, 8)]],
)
ONE_SIDED = (
    [[Fraction(1, 20), Fraction(19, 20)], [Fraction(19, 20), Fraction(1, 20)]],
    [[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 2), Fraction(1, 2)]],
)
RARE = (
    [[Fraction(1, 10), Fraction(9, 10)], [Fraction(6, 10), Fraction(4, 10)]],
    [[Fraction(1, 100), Fraction(99, 100)], [Fraction(4, 10), Fraction(6, 10)]],
)
THREE = (
    [[Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]],
    [[Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]],
)


def logs(rows: Any) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.log(np.array(rows, dtype=float))
    return found


@pytest.mark.parametrize("laws", [TWO, ONE_SIDED, RARE, THREE])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_dynamic_programming_finds_what_all_strategies_do(laws: Any, m: int) -> None:
    P, Q = laws
    for growth in (Fraction(1), Fraction(3, 2), Fraction(4)):
        found = best_strategy(logs(P), logs(Q), m, math.log(growth))
        wanted = delta_of(P, Q, m, growth)
        assert found.delta == pytest.approx(float(wanted), abs=1e-12)
        assert found.hit - float(growth) * found.alarm == pytest.approx(float(wanted), abs=1e-12)
    for delta in (Fraction(1, 100), Fraction(1, 10)):
        limit = math.log(growth_of(P, Q, m, delta))
        assert privacy_spent(logs(P), logs(Q), m, float(delta)) == pytest.approx(limit, abs=1e-10)


def test_without_delta_the_worst_query_is_repeated() -> None:
    for P, Q in (TWO, RARE):
        assert privacy_spent(logs(P), logs(Q), 5) == pytest.approx(
            5 * float((logs(P) - logs(Q)).max())
        )


def test_adapting_beats_every_fixed_sequence() -> None:
    P, Q = np.log([[0.75, 0.25], [0.25, 0.75]]), np.log([[0.4, 0.6], [0.05, 0.95]])
    fixed = []
    for i, j in ((0, 0), (0, 1), (1, 1)):
        one, other = (np.exp(each[i])[:, None] * np.exp(each[j]) for each in (P, Q))
        fixed.append(float(np.maximum(0, one - other).sum()))
    assert max(fixed) == pytest.approx(0.4025)
    assert best_strategy(P, Q, 2, 0.0).delta == pytest.approx(0.435)


def test_the_choices_reach_what_is_promised() -> None:
    P, Q = logs(RARE[0]), logs(RARE[1])
    found = best_strategy(P, Q, 3, 0.3)

    def play(t: int, p: float, q: float, counts: list[int]) -> float:
        if t == 3:
            return max(0.0, p - math.exp(0.3) * q)
        place = found.states[t].tolist().index(list(counts))
        j = found.choices[t][place]
        total = 0.0
        for label in range(2):
            new = list(counts)
            new[found.kinds[j, label]] += 1
            total += play(t + 1, p * math.exp(P[j, label]), q * math.exp(Q[j, label]), new)
        return total

    assert play(0, 1.0, 1.0, [0] * found.states[0].shape[1]) == pytest.approx(
        found.delta, abs=1e-12
    )


@pytest.mark.parametrize("laws", [TWO, ONE_SIDED, RARE, THREE])
@pytest.mark.parametrize("m", [1, 2, 4])
def test_counts_lose_nothing_of_the_sequences(laws: Any, m: int) -> None:
    P, Q = laws[0][0], laws[1][0]
    best = ceiling(logs(P), logs(Q), m)
    area, variation = roc(P, Q, m)
    assert best.auc == pytest.approx(float(area), abs=1e-12)
    assert best.advantage == pytest.approx(float(variation), abs=1e-12)
    assert best.fpr[0] == best.tpr[0] == 0
    assert best.fpr[-1] == best.tpr[-1] == 1
    assert (np.diff(best.tpr) >= 0).all()


def test_randomised_response_by_hand() -> None:
    law, neighbour = bernoulli_law([1.0]), bernoulli_law([-1.0])
    best = optimal(law.log_p[0], neighbour.log_p[0])
    assert best.advantage == pytest.approx(math.tanh(0.5))
    assert best.auc == pytest.approx(1 / (1 + math.exp(-1)))
    assert best_strategy(law.log_p, neighbour.log_p, 4, 0.0).delta == pytest.approx(
        ceiling(law.log_p[0], neighbour.log_p[0], 4).advantage, abs=1e-12
    )


def test_what_one_side_never_answers() -> None:
    P, Q = np.log([[0.5, 0.25, 0.25]]), np.array([[math.log(0.5), -math.inf, math.log(0.5)]])
    assert privacy_spent(P, Q, 2) == math.inf
    # a 1 in either answer
    assert best_strategy(P, Q, 2, 2.0).delta == pytest.approx(1 - 0.75**2, abs=1e-12)
    assert privacy_spent(P, Q, 1, 0.25) == pytest.approx(0.0, abs=1e-12)
    assert privacy_spent(P, Q, 2, 0.3) == math.inf
    best = ceiling(Q[0], P[0], 2).advantage
    assert best_strategy(Q, P, 2, 0.0).delta == pytest.approx(best, abs=1e-12)
    assert optimal(np.log([1.0, 1e-300]), np.array([-math.inf, 0.0])).auc == pytest.approx(1.0)


def test_composition_agrees_with_the_interface() -> None:
    for epsilon, m in ((0.1, 30), (1.0, 4), (2.0, 3)):
        advanced, best = composition(epsilon, m, 1e-3)
        assert advanced == advanced_composition(epsilon, m, 1e-3)
        assert best == pytest.approx(optimal_composition(epsilon, m, 1e-3), rel=1e-9)
        P, Q = (bernoulli_law([each, each]).log_p for each in (epsilon, -epsilon))
        spent = privacy_spent(P, Q, m, 1e-3)
        # randomised response is the worst there is
        assert spent == pytest.approx(best, rel=1e-9)
        assert spent < m * epsilon


def test_too_many_strategies_are_refused() -> None:
    p = np.linspace(0.1, 0.4, 40)
    P, Q = np.log(np.stack([p, 1 - p], axis=1)), np.log(np.stack([1.5 * p, 1 - 1.5 * p], axis=1))
    assert best_strategy(P, Q, 2, 0.0).delta > 0
    with pytest.raises(InvalidInput, match="counts of"):
        best_strategy(P, Q, 4, 0.0)
    assert privacy_spent(P, Q, 4) > 0


def test_refused() -> None:
    P = np.log([[0.5, 0.5]])
    for wrong in (
        lambda: best_strategy(P, P, 0, 1.0),
        lambda: best_strategy(P, P, 1, -1.0),
        lambda: best_strategy(P[0], P[0], 1, 1.0),
        lambda: privacy_spent(P, P, 1, 1.0),
        lambda: optimal(P, P),
        lambda: optimal(P[0], P[0, :1]),
        lambda: compositions(10_000, 3),
        lambda: composition(0.0, 1, 0.1),
    ):
        with pytest.raises(InvalidInput):
            wrong()


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
