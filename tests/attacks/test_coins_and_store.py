"""Coins are fair and fixed; the store keeps arrays whole or not at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.attacks.experiment.models import Coins, toss
from dpassay.data import Labelled
from dpassay.errors import InvalidInput


def test_coins_are_fair_pairs_of_a_fixed_size() -> None:
    coins = toss(200, 100, seed=3, who="target")
    assert coins.membership.shape == (200, 100)
    assert (coins.membership[:, 0::2] ^ coins.membership[:, 1::2]).all()
    assert np.array_equal(coins.membership[:, 0::2], coins.heads)
    assert {len(coins.rows(i)) for i in range(200)} == {50}
    n, heads = coins.heads.size, int(coins.heads.sum())
    assert binom.ppf(5e-4, n, 0.5) <= heads <= binom.isf(5e-4, n, 0.5)
    # neighbours agree half the time, in both directions: independence that a bound would miss
    for lag in (1, 2):
        for same in (
            coins.heads[lag:] == coins.heads[:-lag],
            coins.heads[:, lag:] == coins.heads[:, :-lag],
        ):
            assert binom.ppf(5e-4, same.size, 0.5) <= same.sum() <= binom.isf(5e-4, same.size, 0.5)


def test_one_coin_replaces_one_record_that_keeps_its_place() -> None:
    records = Labelled(np.arange(40.0)[:, None], np.zeros(40, dtype=np.int64))
    coins = toss(1, 40, seed=3, who="target")
    for pair in range(20):
        turned = coins.heads.copy()
        turned[0, pair] = ~turned[0, pair]
        rows = (each.rows(0) for each in (coins, Coins(heads=turned)))
        one, other = map(records.take, rows)
        differs = (one.X != other.X).any(axis=1)
        assert np.flatnonzero(differs).tolist() == [pair]


def test_coins_of_references_and_targets_are_not_the_same_and_more_models_keep_the_first_ones() -> (
    None
):
    one, other = toss(50, 40, seed=3, who="target"), toss(50, 40, seed=3, who="reference")
    same = one.heads == other.heads
    assert binom.ppf(5e-4, same.size, 0.5) <= same.sum() <= binom.isf(5e-4, same.size, 0.5)
    for mirrored in (False, True):
        few, many = (toss(n, 40, seed=3, who="reference", mirrored=mirrored).heads for n in (7, 12))
        assert np.array_equal(few, many[:7])


def test_mirrored_coins_put_every_record_into_half_of_the_models() -> None:
    coins = toss(8, 40, seed=3, who="reference", mirrored=True)
    assert (coins.membership.sum(axis=0) == 4).all()
    assert np.array_equal(coins.heads[0::2], toss(8, 40, seed=3, who="reference").heads[0::2])


@pytest.mark.parametrize(("models", "e"), [(0, 4), (1, 3), (1, 0), (1.0, 4), (True, 4)])
def test_refused_coins(models: Any, e: Any) -> None:
    with pytest.raises(InvalidInput):
        toss(models, e, seed=0, who="target")
