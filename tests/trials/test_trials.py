"""Trials: counts, blocks, and streams that depend on what they are for."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from dpassay.api import audit
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.pairs import FlipLabel, Pairs, Replace, replace_one
from dpassay.targets.groups import PairGroup
from dpassay.trials.blocks import BLOCK, draw
from dpassay.trials.encoders import Labels
from tests.core.toys import Sampled, flip_group, target_of

FAIR = target_of(Sampled(table=((0.2, 0.3, 0.5), (0.2, 0.3, 0.5))))
GROUP = flip_group(queries=3)


def counts(
    size: int = 500,
    *,
    phase: str = "screen",
    seed: int = 0,
    change: FlipLabel | Replace | None = None,
    group: PairGroup = GROUP,
) -> NDArray[np.int64]:
    state = FAIR.prepare(group.pairs.base)
    return draw(FAIR, state, group, change, size, Labels((0, 1, 2)), phase=phase, seed=seed)


@pytest.mark.parametrize("size", [1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_every_trial_is_counted_once(size: int) -> None:
    found = counts(size)
    assert found.shape == (3, 3)
    assert found.sum(axis=1).tolist() == [size] * 3


def test_more_trials_begin_with_the_same_blocks() -> None:
    two, three = counts(2 * BLOCK), counts(3 * BLOCK)
    last = three - two
    assert (last >= 0).all()
    assert last.sum(axis=1).tolist() == [BLOCK] * 3


def test_a_count_depends_on_its_key_alone() -> None:
    np.testing.assert_array_equal(counts(), counts())
    other_base = PairGroup(
        pairs=Pairs(
            base=Labelled(np.ones((2, 1)), np.zeros(2, dtype=int)),
            changes=(FlipLabel(0),),
            how="other",
        ),
        queries=GROUP.queries,
        kind="data",
        reason="",
    )
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


def test_a_replacement_from_the_pool_has_the_stream_of_its_value() -> None:
    value, named = Replace(0, np.array([2.0]), 1), Replace(0, np.array([2.0]), 1, pool=7)
    np.testing.assert_array_equal(counts(change=value), counts(change=named))


def test_the_sides_of_a_pair_are_independent() -> None:
    """With one stream on both sides the counts of equal laws would always agree."""
    agree = sum(
        (counts(seed=seed) == counts(seed=seed, change=FlipLabel(0))).all() for seed in range(20)
    )
    assert agree == 0


def test_each_block_has_coins_of_its_own() -> None:
    blocks = [counts(BLOCK)]
    for more in (2, 3):
        blocks.append(counts(more * BLOCK) - sum(blocks))
    assert len({block.tobytes() for block in blocks}) == 3


def test_a_sampler_that_ignores_its_generator_is_called_sticky() -> None:
    def sticky(
        data: object, queries: np.ndarray, size: int, rng: np.random.Generator
    ) -> np.ndarray:
        return np.random.default_rng(5).integers(0, 2, (size, len(queries)))

    result = audit(
        sticky, claim=DP(epsilon=1.0), pairs=replace_one([[0.0]] * 4, [0, 1, 0, 1]), queries=[[0.0]]
    )
    assert result.verdict == "error"
    assert "sticky" in result.outcome.reason


def test_constant_answers_are_not_called_sticky() -> None:
    def constant(
        data: object, queries: np.ndarray, size: int, rng: np.random.Generator
    ) -> np.ndarray:
        return np.zeros((size, len(queries)), dtype=int)

    result = audit(
        constant,
        claim=DP(epsilon=1.0),
        pairs=replace_one([[0.0]] * 4, [0, 1, 0, 1]),
        queries=[[0.0]],
    )
    assert result.verdict == "inconclusive", "nothing was seen to move; but it is no error"
