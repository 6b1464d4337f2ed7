"""Splits: public records are neither trained on nor asked for, and nothing else standardises."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.frontier.accuracy import PUBLIC, TEST, TRAIN, split_of
from dpassay.frontier.entries import ENTRIES, parameters
from dpassay.targets.resolve import resolve


def made(n: int) -> Labelled:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 4))
    X[:, 2] += 5 * y
    return Labelled(X, y)


@pytest.mark.parametrize("n", [300, 8000])
def test_three_disjoint_parts(n: int) -> None:
    X = np.arange(n, dtype=float)[:, None]
    split = split_of("numbers", Labelled(X, np.arange(n) % 2), 0)
    seen = np.concatenate([split.train.X[:, 0], split.test.X[:, 0]])
    assert len(np.unique(seen.round(9))) == len(seen) <= n - PUBLIC
    assert len(split.test) == min(TEST, 3 * n // 10)
    assert len(split.train) == min(TRAIN, n - PUBLIC - len(split.test))


def test_the_cut_depends_on_name_number_and_seed_and_the_feature_on_the_label() -> None:
    data = made(400)
    assert split_of("a", data, 0).feature == 2
    one = split_of("a", data, 0).train.digest
    assert split_of("a", data, 0).train.digest == one
    others = [split_of("b", data, 0), split_of("a", data, 1), split_of("a", data, 0, seed=1)]
    assert all(each.train.digest != one for each in others)


def test_refused() -> None:
    """Too few records, and numbers too large to be standardised."""
    with pytest.raises(InvalidInput, match="--data: has 299 records; must have at least 300"):
        split_of("a", made(299), 0)
    data = made(400)
    X = data.X.copy()
    X[7, 1] = -1e200
    with pytest.raises(InvalidInput, match=r"--data = 1e\+200: must be numbers of at most 1e\+30"):
        split_of("a", Labelled(X, data.y), 0)


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_claims_the_loss_that_it_is_asked_for(name: str) -> None:
    given = parameters(name, 0.5, records=90, columns=3, feature=1)
    claims = [claim for claim in resolve(name, given).claims if isinstance(claim, DP)]
    # the first claim of the data-dependent one is about agreement alone
    asked = claims[1 if name == "pate-data-dependent" else 0]
    assert asked.epsilon == pytest.approx(0.5, rel=1e-9)
