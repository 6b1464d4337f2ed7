"""Chances of coincidences: exact by enumeration, and never below what is seen."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpassay.attacks.services.probing import pairing_probability, repeat_probability


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


def test_pairings_may_have_two_laws() -> None:
    """Both sides independent, of different laws: P[probability <= a] <= a, by enumeration."""
    p, q, size, told = 0.3, 0.8, 4, []
    for one in itertools.product((0, 1), repeat=size):
        for other in itertools.product((0, 1), repeat=size):
            weight = np.prod([p if a else 1 - p for a in one] + [q if b else 1 - q for b in other])
            told.append((pairing_probability(one, other), float(weight)))
    for level in {value for value, _ in told}:
        assert sum(weight for value, weight in told if value <= level) <= level * (1 + 1e-9)


def test_repeats_by_enumeration() -> None:
    """All sets of three transcripts of three coins of any lean: P[probability <= a] <= a."""
    for p in (0.5, 0.8):
        told = []
        transcripts = list(itertools.product((0, 1), repeat=3))
        for three in itertools.product(transcripts, repeat=3):
            ones = sum(map(sum, three))
            told.append((repeat_probability(three)[1], p**ones * (1 - p) ** (9 - ones)))
        for level in {value for value, _ in told}:
            assert sum(weight for value, weight in told if value <= level) <= level * (1 + 1e-9)


def test_repeats_that_are_no_chance() -> None:
    rng = np.random.default_rng(0)
    own = [tuple(rng.integers(0, 2, 40).tolist()) for _ in range(500)]
    assert repeat_probability(own) == (0, 1.0)
    repeats, chance = repeat_probability([*own, *own[:5]])
    assert repeats == 5
    assert 0 < chance < 1e-12
    constant = [(1,) * 40] * 100
    assert repeat_probability(constant) == (99, 1.0)
