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
from dpassay.pairs import (
    NEIGHBOURS,
    FlipLabel,
    Neighbours,
    Pairs,
    Replace,
    Several,
    change_from_json,
    one_by_one,
    replace_one,
    replace_several,
)

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


@pytest.mark.parametrize(
    ("neighbours", "count"), [("one", 6), ("flip", 6), ("one+flip", 12), ("all", 30)]
)
def test_number_of_pairs(neighbours: Neighbours, count: int) -> None:
    assert len(replace_one(BASE.X, BASE.y, pool=POOL, neighbours=neighbours)) == count


def test_all_means_every_record_by_every_record_of_the_pool() -> None:
    changes = replace_one(BASE.X, BASE.y, pool=POOL, neighbours="all").changes
    places = {(change.index, change.pool) for change in changes if isinstance(change, Replace)}
    assert places == {(i, j) for i in range(6) for j in range(4)}


def test_without_a_pool_labels_are_flipped() -> None:
    pairs = replace_one(BASE.X, BASE.y)
    assert [change.as_json() for change in pairs.changes] == [
        {"kind": "flip-label", "index": i} for i in range(6)
    ]
    for neighbours in ("one", "all"):
        with pytest.raises(
            InvalidInput,
            match=f"neighbours = '{neighbours}': must be 'flip' where there is no pool",
        ):
            replace_one(BASE.X, BASE.y, neighbours=neighbours)


def test_replacements_are_drawn_by_the_seed() -> None:
    def drawn(seed: int) -> list[Any]:
        return [
            change.as_json()
            for change in replace_one(
                BASE.X, BASE.y, pool=POOL, neighbours="one", seed=seed
            ).changes
        ]

    assert drawn(0) == drawn(0)
    assert any(drawn(0) != drawn(seed) for seed in (1, 2, 3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pool": ([[1.0]], [0])}, "pool = 1 columns: must be 2, as X has"),
        ({"neighbours": "two"}, "neighbours = 'two': must be one of one, flip, one.flip, all"),
        (
            {"y": [0, 1, 2, 0, 0, 0]},
            r"y = \[0, 1, 2\]: must be labels 0 and 1, for a label to be flipped",
        ),
        ({"y": [0, 1]}, "y = .*: must be of shape"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        replace_one(**({"X": BASE.X, "y": BASE.y} | arguments))


def test_no_change_is_no_pair() -> None:
    with pytest.raises(InvalidInput, match="at least one change"):
        Pairs(base=BASE, changes=(), how="none")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"base": [[1.0, 31415.0]]}, r"base = 'list of list': must be a dataset: Labelled\(X, y\)"),
        ({"base": list}, "base = 'type': must be a dataset"),
        ({"base": BASE.X}, "base = 'ndarray': must be a dataset"),
        ({"changes": FlipLabel(0)}, "changes = 'FlipLabel': must be a tuple of changes"),
        ({"changes": [1, 2]}, "changes = 'list of int': must be a tuple of changes"),
        (
            {"changes": (FlipLabel(6),)},
            "change = 'label of record 6 flipped': must be of one of the records 0 to 5 of base",
        ),
        ({"changes": (FlipLabel(-1),)}, "must be of one of the records 0 to 5"),
        (
            {"changes": (Several((FlipLabel(0), FlipLabel(9))),), "relation": "replace-2"},
            "'label of record 9 flipped'",
        ),
        ({"pool": (BASE.X, BASE.y)}, "pool = 'tuple of ndarray': must be a Labelled"),
    ],
)
def test_what_are_no_pairs_is_refused_in_one_line_without_the_records(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        Pairs(**(dict[str, Any](base=BASE, changes=(FlipLabel(0),), how="by hand") | arguments))
    assert "31415" not in str(caught.value)


@given(
    st.integers(0, 5),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2),
    st.integers(0, 3),
)
def test_a_replacement_by_value_survives_json(index: int, x: list[float], y: int) -> None:
    change = Replace(index, np.array(x), y)
    back = change_from_json(json.loads(json.dumps(change.as_json())), None)
    assert back.apply(BASE).digest == change.apply(BASE).digest


def test_a_replacement_from_the_pool_is_named_not_copied() -> None:
    change = Replace(2, POOL.X[3], int(POOL.y[3]), 3)
    assert change.as_json() == {"kind": "replace", "index": 2, "pool": 3}
    assert change_from_json(change.as_json(), POOL).apply(BASE).digest == change.apply(BASE).digest
    assert (
        change_from_json(change.as_json(by_value=True), None).apply(BASE).digest
        == change.apply(BASE).digest
    )


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


@given(st.lists(st.integers(0, 5), min_size=2, max_size=6, unique=True))
def test_several_changes_are_those_of_each_record(places: list[int]) -> None:
    parts = tuple(
        FlipLabel(i) if i % 2 else Replace(i, POOL.X[i % 4], int(POOL.y[i % 4]), i % 4)
        for i in places
    )
    change = Several(parts)
    assert change.index == min(places)
    assert one_by_one(change) == parts
    neighbour = change.apply(BASE)
    for i in range(len(BASE)):
        expected = next((part for part in parts if part.index == i), None)
        alone = BASE if expected is None else expected.apply(BASE)
        assert (neighbour.X[i].tolist(), neighbour.y[i]) == (alone.X[i].tolist(), alone.y[i])
    for by_value in (False, True):
        back = change_from_json(
            json.loads(json.dumps(change.as_json(by_value=by_value))), None if by_value else POOL
        )
        assert back.apply(BASE).digest == neighbour.digest


def test_several_changes_in_words_and_at_another_place() -> None:
    change = Several((FlipLabel(3), FlipLabel(1)))
    assert str(change) == "label of record 3 flipped, label of record 1 flipped"
    assert str(Several(tuple(map(FlipLabel, range(8))))).endswith(
        "label of record 4 flipped, and 3 more"
    )
    moved = change.at(2)
    assert [part.index for part in moved.changes] == [4, 2]
    assert moved.index == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ((), "at least two changes"),
        ((FlipLabel(0),), "at least two changes"),
        ((FlipLabel(0), FlipLabel(0)), r"changes = \[0, 0\]: must be changes of different records"),
        ((FlipLabel(0), Several((FlipLabel(1), FlipLabel(2)))), "changes of one record each"),
    ],
)
def test_what_several_changes_cannot_be(changes: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Several(changes)


def test_a_relation_allows_all_changes_or_the_pairs_are_refused() -> None:
    two = Several((FlipLabel(0), FlipLabel(1)))
    for relation in ("replace-2", "replace-7"):
        assert (
            Pairs(base=BASE, changes=(FlipLabel(0), two), how="", relation=relation).relation
            == relation
        )
    with pytest.raises(
        InvalidInput,
        match="'replace-one': must be 'replace-2' or wider, as a change replaces 2 records",
    ):
        Pairs(base=BASE, changes=(FlipLabel(0), two), how="")
    with pytest.raises(InvalidInput, match="relation = 'add'"):
        Pairs(base=BASE, changes=(FlipLabel(0),), how="", relation="add")


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("k", [1, 2, 3, 6, 9])
def test_pairs_of_several_records(neighbours: Neighbours, k: int) -> None:
    """Each change, and others of other records; as many as there are records."""
    single = replace_one(BASE.X, BASE.y, pool=POOL, neighbours=neighbours)
    pairs = replace_several(single, k)
    assert (len(pairs), pairs.pool, pairs.base.digest) == (len(single), single.pool, BASE.digest)
    assert pairs.relation == ("replace-one" if k == 1 else f"replace-{k}")
    for change, first in zip(pairs.changes, single.changes, strict=True):
        parts = one_by_one(change)
        assert parts[0] is first
        assert len({part.index for part in parts}) == len(parts) == min(k, len(BASE))
        assert all(part in single.changes for part in parts)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"kind": "several"},
        {"kind": "several", "changes": [{"kind": "flip-label", "index": 0}]},
        {"kind": "several", "changes": 7},
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
