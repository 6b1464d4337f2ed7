"""Functions that toss coins of their own: forked processes must not toss the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpassay import DP, Scalars, audit
from dpassay.trials.backends import in_order
from dpassay.trials.own_coins import seed_anew


class Keeper:
    """Keeps generators, as a user's object may."""

    def __init__(self) -> None:
        self.modern = np.random.default_rng(1)
        self.old = np.random.RandomState(1)
        self.philox = np.random.Generator(np.random.Philox(1))
        self.python = random.Random(1)  # noqa: S311


KEEPER = Keeper()
DRAWS: list[Callable[[], float]] = [
    np.random.normal,
    random.random,
    KEEPER.modern.random,
    KEEPER.philox.random,
    KEEPER.old.normal,
    KEEPER.python.random,
]


def test_forked_processes_toss_coins_of_their_own() -> None:
    KEEPER.old.normal()  # it has kept the second number of a pair

    def work(item: int) -> list[list[float]]:
        if item < 2:
            seed_anew()
        return [[float(draw()) for _ in range(3)] for draw in DRAWS]

    for one, two in zip(*in_order("draws", work, [0, 1], 2), strict=True):
        assert not set(one) & set(two)
    kept = [each[DRAWS.index(KEEPER.modern.random)] for each in in_order("draws", work, [2, 3], 2)]
    assert kept[0] == kept[1], "without it they toss the same"


@pytest.mark.slow
@pytest.mark.usefixtures("few_pairs")
@pytest.mark.parametrize(("scale", "refuted"), [(2.0, False), (0.5, True)])
def test_a_function_without_rng_is_audited(scale: float, refuted: bool) -> None:
    def release(data: Any) -> float:
        return float(sum(data) + KEEPER.modern.laplace(scale=scale))

    found = audit(release, claim=DP(epsilon=0.5), data=Scalars(0, 1, size=3), budget=1000, jobs=2)
    assert found.verdict != "error", found.outcome.reason
    assert (found.verdict == "refuted") == refuted
    assert not found.target.seeded
