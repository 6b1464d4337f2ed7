"""Trials: counts, blocks, and streams that depend on what they are for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.pairs import FlipLabel, Replace, replace_one
from dpassay.targets.groups import PairGroup
from dpassay.trials.blocks import BLOCK, draw
from dpassay.trials.encoders import Labels
from tests.core.toys import Sampled, flip_group, target_of

Array = NDArray[np.int64]
FAIR = target_of(Sampled(table=((0.2, 0.3, 0.5), (0.2, 0.3, 0.5))))
GROUP = flip_group(queries=3)


def counts(
    size: int = 500,
    *,
    phase: str = "screen",
    seed: int = 0,
    change: FlipLabel | Replace | None = None,
    group: PairGroup = GROUP,
) -> Array:
    state = FAIR.prepare(group.pairs.base)
    return draw(FAIR, state, group, change, size, Labels((0, 1, 2)), phase=phase, seed=seed)


@pytest.mark.parametrize("size", [1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_every_trial_is_counted_once(size: int) -> None:
    found = counts(size)
    assert found.shape == (3, 3)
    assert found.sum(axis=1).tolist() == [size] * 3


def test_more_trials_begin_with_the_same_blocks_and_each_has_coins_of_its_own() -> None:
    found = [counts(k * BLOCK) for k in (1, 2, 3)]
    blocks = [found[0], found[1] - found[0], found[2] - found[1]]
    assert all((block >= 0).all() for block in blocks)
    assert [block.sum(axis=1).tolist() for block in blocks] == [[BLOCK] * 3] * 3
    assert len({block.tobytes() for block in blocks}) == 3


def test_a_count_depends_on_its_key_alone() -> None:
    np.testing.assert_array_equal(counts(), counts())
    value, named = Replace(0, np.array([2.0]), 1), Replace(0, np.array([2.0]), 1, pool=7)
    np.testing.assert_array_equal(counts(change=value), counts(change=named))
    ones = Labelled(np.ones((2, 1)), np.zeros(2, dtype=int))
    other_base = replace(GROUP, pairs=replace(GROUP.pairs, base=ones))
    different = [
        counts(seed=1),
        counts(phase="certify"),
        counts(change=FlipLabel(0)),
        counts(change=FlipLabel(1)),
        counts(change=Replace(0, np.array([2.0]), 0)),
        counts(change=Replace(0, np.array([2.0]), 1)),
        counts(group=other_base),
    ]
    every = [counts(), *different]
    assert len({each.tobytes() for each in every}) == len(every)


def test_the_sides_of_a_pair_are_independent() -> None:
    """With one stream on both sides the counts of equal laws would always agree."""
    agree = sum(
        (counts(seed=seed) == counts(seed=seed, change=FlipLabel(0))).all() for seed in range(20)
    )
    assert agree == 0


def test_a_sampler_that_ignores_its_generator_is_called_sticky_and_a_constant_is_not() -> None:
    def sticky(data: object, queries: Array, size: int, rng: np.random.Generator) -> Array:
        return np.random.default_rng(5).integers(0, 2, (size, len(queries)))

    def constant(data: object, queries: Array, size: int, rng: np.random.Generator) -> Array:
        return np.zeros((size, len(queries)), dtype=int)

    pairs = replace_one([[0.0]] * 4, [0, 1, 0, 1])
    given: dict[str, Any] = {"claim": DP(epsilon=1.0), "pairs": pairs, "queries": [[0.0]]}
    results = [audit(each, **given, executor="inline", budget=500) for each in (sticky, constant)]
    assert [each.verdict for each in results] == ["error", "inconclusive"]
    assert "sticky" in results[0].outcome.reason
