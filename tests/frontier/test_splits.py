"""Splits: public records are neither trained on nor asked for, and nothing else standardises."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.frontier.accuracy import PUBLIC, TEST, TRAIN, split_of


def made(n: int) -> Labelled:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 4))
    X[:, 2] += 5 * y
    return Labelled(X, y)


@pytest.mark.parametrize("n", [300, 1000, 8000])
def test_three_disjoint_parts(n: int) -> None:
    X = np.arange(n, dtype=float)[:, None]
    split = split_of("numbers", Labelled(X, np.arange(n) % 2), 0)
    seen = np.concatenate([split.train.X[:, 0], split.test.X[:, 0]])
    assert len(np.unique(seen.round(9))) == len(seen) <= n - PUBLIC
    assert len(split.test) == min(TEST, 3 * n // 10)
    assert len(split.train) == min(TRAIN, n - PUBLIC - len(split.test))


def test_the_cut_depends_on_name_number_and_seed() -> None:
    data = made(400)
    one = split_of("a", data, 0).train.digest
    assert split_of("a", data, 0).train.digest == one
    others = [split_of("b", data, 0), split_of("a", data, 1), split_of("a", data, 0, seed=1)]
    assert all(each.train.digest != one for each in others)


def test_the_feature_goes_best_with_the_label() -> None:
    assert split_of("a", made(400), 0).feature == 2


def test_numbers_too_large_to_be_standardised() -> None:
    data = made(400)
    X = data.X.copy()
    X[7, 1] = -1e200
    with pytest.raises(InvalidInput, match=r"--data = 1e\+200: must be numbers of at most 1e\+30"):
        split_of("a", Labelled(X, data.y), 0)


def test_too_few_records() -> None:
    with pytest.raises(InvalidInput, match="--data: has 299 records; must have at least 300"):
        split_of("a", made(299), 0)
