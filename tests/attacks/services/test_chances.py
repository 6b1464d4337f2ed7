"""Chances of coincidences: exact by enumeration, and never below what is seen."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpassay.attacks.services.probing import (
    apart_probability,
    block_probability,
    pairing_probability,
    repeat_probability,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [("aabb", "abab"), ("abcd", "abdc"), ("abcde", "abcde"), ("aaab", "baaa"), ("aabc", "ddda")],
)
def test_pairings_by_enumeration(one: str, other: str) -> None:
    def agreed(order: tuple[str, ...]) -> int:
        return sum(a == b for a, b in zip(one, order, strict=True))

    orders = [agreed(order) for order in itertools.permutations(other)]
    wanted = sum(each >= agreed(tuple(other)) for each in orders) / len(orders)
    assert pairing_probability(one, other) == pytest.approx(wanted, rel=1e-12)


def valid(told: list[tuple[float, float]]) -> bool:
    """Tell of chances and their weights whether P[chance <= a] <= a for every a."""
    return all(
        sum(weight for value, weight in told if value <= level) <= level * (1 + 1e-9)
        for level in {value for value, _ in told}
    )


def test_pairings_may_have_two_laws() -> None:
    """Both sides independent, of different laws, by enumeration."""
    p, q, size, told = 0.3, 0.8, 4, []
    for one in itertools.product((0, 1), repeat=size):
        for other in itertools.product((0, 1), repeat=size):
            weight = np.prod([p if a else 1 - p for a in one] + [q if b else 1 - q for b in other])
            told.append((pairing_probability(one, other), float(weight)))
    assert valid(told)


@pytest.mark.parametrize("p", [0.5, 0.8])
def test_repeats_by_enumeration(p: float) -> None:
    """All sets of three transcripts of three coins of any lean."""
    told = []
    for three in itertools.product(list(itertools.product((0, 1), repeat=3)), repeat=3):
        ones = sum(map(sum, three))
        told.append((repeat_probability(three)[1], p**ones * (1 - p) ** (9 - ones)))
    assert valid(told)


@pytest.mark.parametrize(("blocks", "size", "p"), [(3, 2, 1 / 2), (4, 2, 1 / 3), (2, 4, 3 / 4)])
def test_constant_blocks_by_enumeration(blocks: int, size: int, p: float) -> None:
    """All sequences of coins that are constant in blocks by chance."""
    told = []
    for coins in itertools.product((0, 1), repeat=blocks * size):
        rows = [coins[i * size : (i + 1) * size] for i in range(blocks)]
        constant = all(len(set(row)) == 1 for row in rows)
        chance = block_probability([row[0] for row in rows], size) if constant else 1.0
        told.append((chance, p ** sum(coins) * (1 - p) ** (len(coins) - sum(coins))))
    assert valid(told)


def test_block_probability_is_the_share_of_orders() -> None:
    values = (0, 0, 0, 0, 1, 1)
    orders = set(itertools.permutations(values))
    constant = sum(all(order[i] == order[i + 1] for i in (0, 2, 4)) for order in orders)
    assert block_probability([0, 0, 1], 2) == pytest.approx(constant / len(orders))
    assert block_probability([0, 0, 0], 2) == 1
    assert apart_probability(4, 2, 2) == pytest.approx(1 / math.comb(6, 2))
    assert apart_probability(4, 2, 0) == 1
    assert apart_probability(4, 3, 2) == pytest.approx(3 / 21)


def test_repeats_that_are_no_chance() -> None:
    rng = np.random.default_rng(0)
    own = [tuple(rng.integers(0, 2, 40).tolist()) for _ in range(500)]
    assert repeat_probability(own) == (0, 1.0)
    repeats, chance = repeat_probability([*own, *own[:5]])
    assert repeats == 5
    assert 0 < chance < 1e-12
    # two events of 1/2 each, by hand: one of them at least
    assert repeat_probability([(0, 1), (0, 1), (0, 2), (2, 0)]) == (1, 0.75)
    constant = [(1,) * 40] * 100
    assert repeat_probability(constant) == (99, 1.0)
