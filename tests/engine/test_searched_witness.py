"""What a search ends with: the pair that leaks most, as small as it can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpassay
from dpassay import DP, Labelled, Scalars

pytestmark = pytest.mark.usefixtures("few_pairs")


def least(data: Any, size: int, rng: np.random.Generator) -> Any:
    """The least number with the noise of a mean: it loses as many times more as there are."""
    return data.min() + rng.laplace(0, 10 / len(data), size)


def memory(data: Any, queries: Any, size: int, rng: np.random.Generator) -> Any:
    """Nearest neighbour; at a point of its own it gives its label, elsewhere a random one."""
    away = ((data.X[None] - queries[:, None]) ** 2).sum(axis=2)
    label = data.y[away.argmin(axis=1)]
    return np.where(away.min(axis=1) == 0, label, rng.integers(0, 2, (size, len(queries))))


def found(mechanism: Any, data: Any, budget: int) -> Any:
    """Audit with a search, and return the result and its pair."""
    told: dict[str, Any] = {"claim": DP(epsilon=1.0), "data": data, "budget": budget}
    result = dpassay.audit(mechanism, stop_early=False, **told)
    assert result.verdict == "refuted"
    assert result.evidence is not None
    return result, result.evidence.groups[0].pairs


@pytest.mark.slow
def test_the_pair_that_leaks_most_is_taken() -> None:
    result, _ = found(least, Scalars(0, 10, size=8), 20_000)
    assert result.lower > 5


@pytest.mark.slow
def test_a_pair_that_cannot_leak_more_is_made_small() -> None:
    rng = np.random.default_rng(3)
    X = rng.random((20, 2)).round(2)
    _, pairs = found(memory, Labelled(X, (X.sum(axis=1) > 1).astype(int)), 20_000)
    assert len(pairs.base) == 1
