"""Paths of neighbours: what begins at a size or a level is found, and what is outside is told."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpassay import Scalars, Tables
from dpassay.search.proposals.paths import Path, paths_of
from dpassay.search.proposals.proposal import Space
from dpassay.search.spaces import space_of
from tests.engine.recorded import hunted

pytestmark = pytest.mark.usefixtures("few_pairs")
FRAME = pd.DataFrame({"x": np.linspace(0.0, 1.0, 60), "c": ["a", "b"] * 30})


@pytest.mark.parametrize(
    ("space", "least"),
    [
        (Scalars(0, 1, size=40), 39),
        (Scalars(0, 1, size=40, fixed=True), 39),
        (space_of((np.eye(9), [0, 1, 1] * 3)), 8),
        (Tables(FRAME, relation="add-remove"), 119),
        (Tables(FRAME, relation="zero-out"), 60),
        (Tables(FRAME, relation="replace-3"), 19),
    ],
)
def test_every_edge_joins_neighbours_and_the_next_one(space: Space, least: int) -> None:
    def content(side: Any) -> bytes:
        return b"".join(array.tobytes() for array in side.arrays)

    paths = list(paths_of(space))
    assert paths
    for path in paths:
        assert isinstance(path, Path)
        assert path.length >= least
        edges = [path.edge(k) for k in range(path.length)]
        assert None not in edges
        for edge, following in pairwise(edges):
            assert edge is not None
            assert following is not None
            if space.relation != "replace-3":  # rows that are equal already are passed over
                assert content(edge.neighbour) == content(following.base)
            assert edge.pairs.relation == space.relation
            assert np.array_equal(edge.queries, following.queries)


def many_equal(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Fails from 283 equal numbers on: no list at either end of the range shows it."""
    if np.unique(data, return_counts=True)[1].max() >= 283:
        raise FloatingPointError
    return rng.laplace(size=size)


def crowded(data: Any, size: int, rng: np.random.Generator) -> Any:
    """Answers otherwise from 83 records on, which are more than the user has."""
    return rng.laplace(size=size) + (100.0 if len(data) >= 83 else 0.0)


@pytest.mark.parametrize(
    ("function", "data", "relation", "sizes"),
    [
        (many_equal, Scalars(0, 1, size=400), None, range(283, 401)),
        (crowded, FRAME, "add-remove", [83]),
    ],
)
def test_a_leak_at_one_size_or_level_is_found(
    function: Callable[..., Any], data: Any, relation: str | None, sizes: Sequence[int]
) -> None:
    result = hunted(function, data, relation=relation)
    assert result.verdict == "refuted"
    found = re.search(r"S: (\d+) (numbers|records)", str(result))
    assert found is not None, str(result)
    assert int(found[1]) in sizes


def clipped(data: Any, size: int, rng: np.random.Generator) -> Any:
    """A clamp that NaN passes."""
    return np.clip(data, 0, 1).sum() + rng.laplace(size=size)


def strict(data: Any, size: int, rng: np.random.Generator) -> Any:
    """One that refuses it."""
    if not np.isfinite(data).all():
        raise ValueError("not finite")
    return clipped(data, size, rng)


def mended(data: Any, size: int, rng: np.random.Generator) -> Any:
    return clipped(np.nan_to_num(data, nan=0.0), size, rng)


OURS = [0.2, 0.9, 0.4]


@pytest.mark.parametrize("data", [OURS, Scalars(0, 1)])
def test_what_is_outside_of_the_described_domain_is_told_and_decides_nothing(data: Any) -> None:
    result = hunted(clipped, data)
    assert result.verdict != "refuted"
    assert "Outside the described domain, nan in 'value'" in " ".join(str(result).split())


@pytest.mark.parametrize(
    ("function", "data"), [(strict, OURS), (mended, OURS), (mended, [0.2, 0.9, math.nan])]
)
def test_nothing_is_told_where_nothing_leaves_the_described_domain(
    function: Any, data: Any
) -> None:
    result = hunted(function, data)
    assert result.verdict != "refuted"
    assert "Outside" not in str(result)


@pytest.mark.parametrize(
    "data",
    [np.array([0.2, 0.9, math.nan]), Tables([0.2, 0.9], values={"value": [math.nan]})],
    ids=["own", "described"],
)
def test_a_described_cell_that_is_no_number_refutes(data: Any) -> None:
    assert hunted(clipped, data).verdict == "refuted"
