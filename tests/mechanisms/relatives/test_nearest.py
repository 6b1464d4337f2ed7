"""The nearest records of a neighbour are those that one finds by sorting all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.mechanisms.relatives import nearest
from dpassay.mechanisms.relatives.nearest import NearestRecords
from dpassay.pairs import Change, FlipLabel, Replace

Queries = NDArray[np.float64]


def sorted_out(data: Labelled, queries: Queries, k: int) -> list[list[int]]:
    """The same by hand: all records by (distance, place)."""
    return [
        sorted(range(len(data)), key=lambda i: (float(((data.X[i] - query) ** 2).sum()), i))[:k]
        for query in queries
    ]


@st.composite
def cases(draw: Any) -> tuple[Labelled, Queries, int, list[Change]]:
    """Few places for many records, so that many are equally near; some infinitely far."""
    n = draw(st.integers(1, 9))
    place = st.sampled_from([-1.0, 0.0, 1.0, 2.0, 1e200])
    X = np.array(draw(st.lists(st.lists(place, min_size=2, max_size=2), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    queries = np.array(draw(st.lists(st.lists(place, min_size=2, max_size=2), min_size=1)))
    index = st.integers(0, n - 1)
    replaced = st.builds(
        lambda i, x, label: Replace(index=i, x=np.array(x), y=label),
        *(index, st.lists(place, min_size=2, max_size=2), st.integers(0, 1)),
    )
    change = st.one_of(replaced, index.map(FlipLabel))
    return (
        Labelled(X, y),
        queries,
        draw(st.integers(1, n)),
        draw(st.lists(change, min_size=1, max_size=3)),
    )


@given(cases())
def test_of_a_neighbour_as_of_its_records(
    case: tuple[Labelled, Queries, int, list[Change]],
) -> None:
    data, queries, k, changes = case
    with np.errstate(over="ignore"):
        state = NearestRecords(data)
        assert state.nearest(queries, k).tolist() == sorted_out(data, queries, k)
        for change in changes:  # the second is of a neighbour, and so on
            state, data = state.changed(change), change.apply(data)
            assert state.nearest(queries, k).tolist() == sorted_out(data, queries, k)


def test_lots_of_queries_and_other_ones(monkeypatch: Any) -> None:
    monkeypatch.setattr(nearest, "AT_ONCE", 3)
    rng = np.random.default_rng(0)
    data = Labelled(rng.random((20, 2)), rng.integers(0, 2, 20))
    state = NearestRecords(data)
    queries = rng.random((8, 2))
    for _ in range(2):
        assert state.nearest(queries, 4).tolist() == sorted_out(data, queries, 4)
        queries += 0.3  # in place: what is remembered is not of these
    neighbour = state.changed(FlipLabel(3))
    assert neighbour.nearest(queries, 5).tolist() == sorted_out(data, queries, 5)
