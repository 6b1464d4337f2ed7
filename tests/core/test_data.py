"""Labelled data, tables from files, and how they are split."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.data import Labelled, Table, load, points, split
from dpassay.errors import InvalidInput


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_row_and_column_of_a_bad_feature(bad: float) -> None:
    X = np.zeros((4, 3))
    X[2, 1] = bad
    with pytest.raises(InvalidInput) as refusal:
        Labelled(X, np.zeros(4, dtype=int))
    assert str(refusal.value) == f"X[2, 1] = {bad}: must be a finite number"


@pytest.mark.parametrize(
    "X",
    [
        np.zeros(3),
        np.zeros((0, 2)),
        np.zeros((3, 0)),
        np.zeros((2, 2, 2)),
        [[1.0], [1.0, 2.0]],
        [["a"]],
    ],
)
def test_what_is_no_table_of_points(X: Any) -> None:
    with pytest.raises(InvalidInput, match=r"queries = .*: must be .*of shape \(n, d\)"):
        points(X, "queries")


@pytest.mark.parametrize("y", [[0], [0, 1, 1], [[0, 1]], 1])
def test_number_of_labels(y: Any) -> None:
    with pytest.raises(
        InvalidInput, match=r"y = .*: must be of shape \(2,\), one label a row of X"
    ):
        Labelled([[0.0], [1.0]], y)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "y", [[0, -1], [0.5, 1], [np.nan, 1], [np.inf, 1], ["a", "b"], [None, 1], [1e30, 0], [1j, 0]]
)
def test_labels_that_are_no_integers(y: Any) -> None:
    with pytest.raises(InvalidInput, match=r"y = .*: must be integers >= 0"):
        Labelled([[0.0], [1.0]], y)  # type: ignore[arg-type]


@pytest.mark.parametrize("y", [[0, 1], [0.0, 1.0], [False, True], np.array([0, 1], dtype=np.uint8)])
def test_labels_that_are(y: Any) -> None:
    data = Labelled([[0], [1]], y)  # type: ignore[arg-type]
    assert data.y.dtype == np.int64
    assert data.X.dtype == np.float64
    assert data.y.tolist() == [0, 1]


def test_data_are_frozen_and_their_own() -> None:
    X, y = np.zeros((2, 1)), np.array([0, 1])
    data = Labelled(X, y)
    X[0], y[0] = 9, 9
    assert data.X[0, 0] == 0
    assert data.y[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        data.y[0] = 1


def test_digest_tells_contents_shape_and_order() -> None:
    base = Labelled([[0.0], [1.0]], [0, 1])  # type: ignore[arg-type]
    same = Labelled(np.array([[0.0], [1.0]], order="F"), np.array([0, 1], dtype=np.int8))
    others = [
        base.take([1, 0]),
        Labelled([[0.0], [1.0]], [1, 0]),  # type: ignore[arg-type]
        Labelled([[0.0, 1.0]], [0]),  # type: ignore[arg-type]
        Labelled([[0.0], [1.5]], [0, 1]),  # type: ignore[arg-type]
    ]
    assert same.digest == base.digest
    assert len({base.digest, *(other.digest for other in others)}) == 5


def write(folder: Path, text: str) -> str:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_file_with_text_and_numbers(tmp_path: Path) -> None:
    table = load(write(tmp_path, "age,colour,ill\n30,red,yes\n40.5,blue,no\n50,red,no\n"), "ill")
    assert table.data.X.tolist() == [[30, 0, 1], [40.5, 1, 0], [50, 0, 1]]
    assert table.data.y.tolist() == [1, 0, 0]
    facts = {
        "kind": "file",
        "target": "ill",
        "labels": ["no", "yes"],
        "records": 3,
        "columns": 3,
        "sha256": table.data.digest,
    }
    assert {key: table.source[key] for key in facts} == facts


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        ("a,y\n1,0\n,1\n", "y", r"column 'a' in 1 of 2 records \(first in line 3\)"),
        ("a,y\n1,0\ninf,1\n", "y", "column 'a' is inf in line 3"),
        ("a,y\n1,0\n2,\n", "y", r"column 'y' in 1 of 2 records \(first in line 3\)"),
        ("a,b,y\nx,1,0\n,2,1\n", "y", r"column 'a' in 1 of 2 records \(first in line 3\)"),
        ("a,y\n1,0\n", "z", "--label = 'z': no such column in .*; it has a, y"),
        ("y\n1\n", "y", "no column but 'y'; must have at least one feature"),
        ("a,y\n", "y", "must have at least one"),
        ("", "y", "is empty"),
        ("a,y\n1,0\n2,1,3,4\n", "y", "line 3 has 4 values; must have 2"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, target: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load(write(tmp_path, text), target)


def test_no_file_and_no_target(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"--data = .*: must be an existing CSV or Parquet file"):
        load(str(tmp_path / "nothing.csv"), "y")
    with pytest.raises(InvalidInput, match="--label is missing"):
        load(write(tmp_path, "a,y\n1,0\n"))


def test_breast_cancer_is_that_of_scikit_learn() -> None:
    from sklearn.datasets import load_breast_cancer

    table, theirs = load("breast-cancer"), load_breast_cancer()
    assert table.data.X.tobytes() == theirs.data.tobytes()
    np.testing.assert_array_equal(table.data.y, theirs.target)
    assert table.columns == {str(name): (i,) for i, name in enumerate(theirs.feature_names)}
    assert table.source["labels"] == theirs.target_names.tolist()
    assert np.bincount(table.data.y).tolist() == [212, 357]


def numbered(n: int) -> Table:
    """Record i is (i, i mod 2)."""
    data = Labelled(np.arange(n, dtype=float)[:, None], np.arange(n) % 2)
    return Table(
        data=data, source={"kind": "file", "name": "numbers", "target": "y", "sha256": data.digest}
    )


@pytest.mark.parametrize(
    ("n", "train", "queries"), [(3, 1, 1), (100, 20, 5), (100, 1000, 1000), (569, 200, 20)]
)
def test_the_parts_of_a_split_are_disjoint(n: int, train: int, queries: int) -> None:
    parts = split(numbered(n), train=train, queries=queries, seed=3)
    ids = [set(each[:, 0].tolist()) for each in (parts.train.X, parts.pool.X, parts.queries)]
    assert sum(map(len, ids)) == len(set.union(*ids)) <= n
    assert all(ids)
    assert len(parts.train) == min(train, max(1, 7 * n // 10))
    assert len(parts.queries) == min(queries, max(1, n // 10))
    assert (parts.train.y == parts.train.X[:, 0] % 2).all()
    assert not parts.queries.flags.writeable
    assert parts.source["split"] == {
        "seed": 3,
        "train": len(parts.train),
        "pool": len(parts.pool),
        "queries": len(parts.queries),
    }


def test_a_split_depends_on_the_seed_alone() -> None:
    one, same, other = (split(numbered(60), train=20, queries=4, seed=seed) for seed in (1, 1, 2))
    assert one.train.digest == same.train.digest
    assert one.pool.digest == same.pool.digest
    np.testing.assert_array_equal(one.queries, same.queries)
    assert one.train.digest != other.train.digest


def test_a_recorded_split_is_made_again_from_its_own_facts() -> None:
    """A small table gives less than was asked; the recorded sizes must lead to the same parts."""
    first = split(numbered(23), train=1000, queries=1000, seed=5)
    facts = first.source["split"]
    again = split(numbered(23), train=facts["train"], queries=facts["queries"], seed=facts["seed"])
    assert (again.train.digest, again.pool.digest) == (first.train.digest, first.pool.digest)


@pytest.mark.parametrize(
    ("n", "train", "queries", "message"),
    [(10, 0, 1, "--train = 0"), (10, 1, 0, "--queries = 0"), (2, 1, 1, "at least 3 records")],
)
def test_splits_that_are_refused(n: int, train: int, queries: int, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        split(numbered(n), train=train, queries=queries, seed=0)
