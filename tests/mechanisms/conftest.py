"""Data that every mechanism can be shown, so noisy that no prediction is certain."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.data import Labelled, points
from dpassay.pairs import replace_one
from dpassay.targets.groups import PairGroup

RECORDS, FEATURES = 30, 2


def noisy(records: int, seed: int) -> Labelled:
    """Labels that owe nothing to the features."""
    rng = np.random.default_rng(seed)
    return Labelled(rng.normal(size=(records, FEATURES)), rng.integers(2, size=records))


@pytest.fixture(scope="session")
def group() -> PairGroup:
    """A dataset with every kind of change to it, a pool, and 8 queries."""
    base, pool = noisy(RECORDS, seed=11), noisy(10, seed=12)
    queries = points(np.random.default_rng(13).normal(size=(8, FEATURES)), "queries")
    return PairGroup(
        pairs=replace_one(base.X, base.y, pool=pool),
        queries=queries,
        kind="data",
        reason="conformance",
    )
