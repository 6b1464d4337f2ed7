"""Changes and pairs: neighbours differ in one record, which keeps its place."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.data import Labelled
from dpassay.errors import InvalidInput
from dpassay.pairs import NEIGHBOURS, FlipLabel, Neighbours, Pairs, Replace, change_from_json, replace_one

BASE = Labelled(np.arange(12, dtype=float).reshape(6, 2), np.array([0, 1, 0, 1, 1, 0]))
POOL = Labelled(np.arange(100, 108, dtype=float).reshape(4, 2), np.array([0, 1, 1, 0]))


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_every_neighbour_differs_in_its_record_only(neighbours: Neighbours) -> None:
    pairs = replace_one(BASE.X, BASE.y, pool=POOL, neighbours=neighbours, seed=1)
    for change in pairs.changes:
        other = change.apply(pairs.base)
        differ = np.flatnonzero((other.X != BASE.X).any(axis=1) | (other.y != BASE.y))
        assert differ.tolist() == [change.index]
    assert pairs.base.digest == BASE.digest


@pytest.mark.parametrize(("neighbours", "count"), [("one", 6), ("flip", 6), ("one+flip", 12), ("all", 30)])
def test_number_of_pairs(neighbours: Neighbours, count: int) -> None:
    assert len(replace_one(BASE.X, BASE.y, pool=POOL, neighbours=neighbours)) == count


def test_all_means_every_record_by_every_record_of_the_pool() -> None:
    changes = replace_one(BASE.X, BASE.y, pool=POOL, neighbours="all").changes
    places = {(change.index, change.pool) for change in changes if isinstance(change, Replace)}
    assert places == {(i, j) for i in range(6) for j in range(4)}


def test_without_a_pool_labels_are_flipped() -> None:
    pairs = replace_one(BASE.X, BASE.y)
    assert [change.as_json() for change in pairs.changes] == [{"kind": "flip-label", "index": i} for i in range(6)]
    for neighbours in ("one", "all"):
        with pytest.raises(InvalidInput, match=f"neighbours = '{neighbours}': must be 'flip' where there is no pool"):
            replace_one(BASE.X, BASE.y, neighbours=neighbours)


def test_replacements_are_drawn_by_the_seed() -> None:
    def drawn(seed: int) -> list[Any]:
        return [change.as_json() for change in replace_one(BASE.X, BASE.y, pool=POOL, neighbours="one", seed=seed).changes]

    assert drawn(0) == drawn(0)
    assert any(drawn(0) != drawn(seed) for seed in (1, 2, 3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pool": ([[1.0]], [0])}, "pool = 1 columns: must be 2, as X has"),
        ({"neighbours": "two"}, "neighbours = 'two': must be one of one, flip, one.flip, all"),
        ({"y": [0, 1, 2, 0, 0, 0]}, r"y = \[0, 1, 2\]: must be labels 0 and 1, for a label to be flipped"),
        ({"y": [0, 1]}, "y = .*: must be of shape"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        replace_one(**({"X": BASE.X, "y": BASE.y} | arguments))


def test_no_change_is_no_pair() -> None:
    with pytest.raises(InvalidInput, match="at least one change"):
        Pairs(base=BASE, changes=(), how="none")


@given(st.integers(0, 5), st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2), st.integers(0, 3))
def test_a_replacement_by_value_survives_json(index: int, x: list[float], y: int) -> None:
    change = Replace(index, np.array(x), y)
    back = change_from_json(json.loads(json.dumps(change.as_json())), None)
    assert back.apply(BASE).digest == change.apply(BASE).digest


def test_a_replacement_from_the_pool_is_named_not_copied() -> None:
    change = Replace(2, POOL.X[3], int(POOL.y[3]), 3)
    assert change.as_json() == {"kind": "replace", "index": 2, "pool": 3}
    assert change_from_json(change.as_json(), POOL).apply(BASE).digest == change.apply(BASE).digest
    assert change_from_json(change.as_json(by_value=True), None).apply(BASE).digest == change.apply(BASE).digest


@given(st.integers(0, 5))
def test_a_flip_survives_json_and_undoes_itself(index: int) -> None:
    change = change_from_json(json.loads(json.dumps(FlipLabel(index).as_json())), None)
    assert change.apply(change.apply(BASE)).digest == BASE.digest
    assert change.apply(BASE).y[index] == 1 - BASE.y[index]


def test_a_change_at_another_place() -> None:
    assert FlipLabel(4).at(1).apply(BASE).digest == FlipLabel(1).apply(BASE).digest
    moved = Replace(4, POOL.X[0], 1, 0).at(1)
    assert (moved.index, moved.pool) == (1, 0)
    assert moved.apply(BASE).X[1].tolist() == POOL.X[0].tolist()


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"kind": "flip-label"},
        {"kind": "add", "index": 0},
        {"kind": "replace", "index": 0},
        {"kind": "replace", "index": 0, "pool": 4},
        {"kind": "replace", "index": 0, "x": "a", "y": 0},
    ],
)
def test_a_change_that_cannot_be_read(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="change"):
        change_from_json(change, POOL)
