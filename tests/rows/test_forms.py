"""Rows: what a user gives is what a mechanism gets, and what is written down is read back."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.errors import InvalidInput
from dpassay.rows.columns import MISSING, SPECIAL, Column
from dpassay.rows.reading import code, rows_of
from dpassay.rows.rows import Features, Handed, Rows, rows_from_json

FRAME = pd.DataFrame(
    {
        "age": [3, 4, 70],
        "income": [1.5, np.nan, 2.0],
        "city": ["a", None, "b"],
        "kind": pd.Categorical(["x", "y", "x"], categories=["y", "x", "z"]),
        "ok": [True, False, True],
        "born": pd.Series(
            np.array(["2020-01-01T00:00:00.5", "2021-05-05T10:20:30.123456", "NaT"], "M8[us]")
        ),
        "seen": pd.to_datetime(["2020-01-01", "2021-05-05", "2022-07-01"]).tz_localize(
            "Europe/Berlin"
        ),
        "count": pd.array([1, None, 3], dtype="Int64"),
    }
)
ROUND = st.one_of(
    st.text(max_size=300),
    st.integers(-(2**52), 2**52),
    st.booleans(),
    st.none(),
    st.tuples(st.text(max_size=3), st.integers(-9, 9)),
)


def back(rows: Rows) -> Rows:
    """Write rows down and read them."""
    return rows_from_json(json.loads(json.dumps(rows.as_json())))


def test_a_frame_comes_back_with_its_dtypes() -> None:
    rows = rows_of(FRAME, label="city")
    pd.testing.assert_frame_equal(rows.handed, FRAME)
    again = back(rows)
    assert again.digest == rows.digest
    assert again.form == rows.form
    assert (code(rows.form, FRAME) == rows.values).all()
    kinds = [column.kind for column in rows.form.columns]
    assert kinds == ["integer", "number", "value", "value", "value", "date", "date", "integer"]
    assert rows.form.columns[3].values == ("y", "x", "z")
    assert [column.missing for column in rows.form.columns] == [
        False, True, True, False, False, True, False, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "data",
    [
        [1, 2, "a", None],
        [True, 1, 1.0, "1"],
        [(1, "a"), (2, "b")],
        [(), (1,), "x"],
        [("only",)],
        [{"a": 1, "b": None}, {"a": 2, "b": "x"}],
    ],
    ids=str,
)
def test_lists_come_back(data: list[Any]) -> None:
    found = rows_of(data).handed
    assert found == data
    assert list(map(type, found)) == list(map(type, data))


@pytest.mark.parametrize(
    "data",
    [
        np.array([1, 2, 3]),
        np.array([1.5, np.nan]),
        np.array(["a", "bc"]),
        np.array([True, False]),
        np.eye(3),
        np.arange(6).reshape(3, 2),
        np.array([[1, "a"], [2.5, None]], dtype=object),
    ],
    ids=str,
)
def test_arrays_come_back(data: Any) -> None:
    found = rows_of(data).handed
    assert found.dtype == data.dtype
    if data.dtype.kind == "f":
        np.testing.assert_array_equal(found, data)
    else:
        assert found.tolist() == data.tolist()


@pytest.mark.parametrize("y", [["u", "v", "u"], np.array([0.5, 1.5, 2.0]), [1, 2, 3], [-1, 1, 1]])
@pytest.mark.parametrize("X", [np.eye(3), FRAME[["age", "city"]]], ids=["array", "frame"])
def test_features_and_labels_come_back(X: Any, y: Any) -> None:
    found = rows_of((X, y)).handed
    assert isinstance(found, Features)
    assert list(found.y) == list(y)
    if isinstance(X, np.ndarray):
        np.testing.assert_array_equal(found.X, X)
    else:
        pd.testing.assert_frame_equal(found.X, X)


@given(st.lists(ROUND, min_size=1, max_size=8))
def test_any_list_of_values_comes_back(data: list[Any]) -> None:
    rows = rows_of(data)
    assert repr(rows.handed) == repr(data)
    again = back(rows)
    assert again.digest == rows.digest
    assert repr(again.handed) == repr(data)


def test_what_somebody_does_to_data_the_next_one_does_not_see() -> None:
    for data in (FRAME, [1, "a"], [{"a": 1}], np.eye(2), (np.eye(3), [0.5, 1, 2])):
        rows = rows_of(data)
        hands = Handed(rows.form, rows.values)
        before, touched = repr(hands.fresh()), hands.fresh()
        if isinstance(touched, Features):
            touched.X[:] = 7
            touched.y[:] = 7
        elif isinstance(touched, list):
            if isinstance(touched[0], dict):
                touched[0].clear()
            touched.clear()
        elif isinstance(touched, np.ndarray):
            touched[:] = 7
        else:
            touched["age"] = 0
        assert repr(hands.fresh()) == before


def test_no_records_are_a_dataset_too() -> None:
    form = rows_of(FRAME).form
    empty = Rows(np.empty((0, len(form.columns))), form)
    assert len(empty) == 0
    assert empty.handed.dtypes.equals(FRAME.dtypes)
    assert back(empty).digest == empty.digest
    assert rows_of([1, "a"]).form.handed(np.empty((0, 1))) == []


def test_queries_look_like_features() -> None:
    odd = FRAME[["age"]].rename(columns={"age": "x0"})
    assert isinstance(rows_of((odd, [0, 1, 0])).handed.X, pd.DataFrame)
    form = rows_of((FRAME[["age", "city"]], [0, 1, 0])).form.of_queries
    asked = form.handed(rows_of(FRAME[["age", "city"]]).values)
    pd.testing.assert_frame_equal(asked, FRAME[["age", "city"]])
    for X in (np.eye(3), np.arange(6).reshape(3, 2), np.array([["a", "bc"]] * 3)):
        rows = rows_of((X, ["u", "v", "u"]))
        asked = rows.form.of_queries.handed(rows.values[:, :-1])
        assert asked.dtype == X.dtype
        assert (asked == X).all()
    mixed = rows_of((np.array([[1, "Oslo"], [2, None]], dtype=object), [0, 1]))
    assert mixed.handed.X.tolist() == [[1, "Oslo"], [2, None]]


def test_more_values_and_limits() -> None:
    rows = rows_of(
        FRAME, limits={"age": (0, 120)}, values={"city": ["c"], "age": [None], "ok": [None]}
    )
    age, city = rows.form.columns[0], rows.form.columns[2]
    assert (age.low, age.high, age.missing) == (0, 120, True)
    assert city.values == ("a", "b", "c")
    assert rows.handed["age"].dtype == float  # as pandas has integers of which some are missing
    assert rows.handed["ok"].dtype == object


def test_words() -> None:
    rows = rows_of(pd.DataFrame({"age": [30.5], "city": ["a" * 50], "day": [None]}))
    assert rows.words == "{(age 30.5, city '" + "a" * 35 + "...', day missing)}"
    assert rows_of([1, "b"]).words == "{1, 'b'}"


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    "data",
    [
        [0.5, NAN, None, -INF],
        [1, NAN, 3],
        ["a", NAN, None],
        [(1, "a"), (NAN, None), (INF, "b")],
        np.array([0.5, NAN, INF, -INF]),
        np.array([[0.5, NAN], [INF, 2.0]]),
        (np.array([[NAN, 1.0], [2.0, INF]]), [0, 1]),
        pd.DataFrame({"x": [0.5, NAN, INF], "t": ["a", None, "b"]}),
        pd.DataFrame({"x": pd.Series([None, NAN, 1.5], dtype=object)}),
        [INF],
    ],
    ids=repr,
)
def test_cells_that_are_no_finite_numbers_are_handed_over_unchanged(data: Any) -> None:
    rows = rows_of(data)
    handed = rows.handed
    if isinstance(data, tuple):
        assert repr((handed.X, handed.y.tolist())) == repr(data)
    else:
        assert type(handed) is type(data)
        assert repr(handed) == repr(data)
    again = rows_from_json(json.loads(json.dumps(rows.as_json(), allow_nan=False)))
    assert again.digest == rows.digest
    assert repr(again.handed.X if isinstance(data, tuple) else again.handed) == repr(
        handed.X if isinstance(data, tuple) else handed
    )


def test_such_cells_can_be_described_beside_data_that_have_none() -> None:
    column = rows_of([1.5, 2.5], values={"value": [NAN, None, -INF]}).form.columns[0]
    assert (column.missing, column.special) == (True, ("nan", "-inf"))
    assert (column.low, column.high) == (1.5, 2.5)
    assert [repr(column.plain(code)) for code in column.gaps] == ["None", "nan", "-inf"]
    assert not Column(name="x", kind="number", high=1.0).holds(SPECIAL["nan"])


@pytest.mark.parametrize(
    ("data", "more", "message"),
    [
        (pd.DataFrame({"a": [1]}), {"label": "b"}, "label = 'b': the data have no such column"),
        (pd.DataFrame({"age": [1]}), {"label": "Age"}, "did you mean 'age'"),
        (pd.DataFrame({"a": []}), {}, "no records"),
        (pd.DataFrame({"a": [2**60]}), {}, "column 'a': must be finite numbers below"),
        (pd.DataFrame({"a": [[1]]}), {}, "type list, which is not hashable"),
        (pd.DataFrame({"a": [5]}), {"limits": {"a": (0, 1)}}, "beyond"),
        (pd.DataFrame({"a": ["x"]}), {"limits": {"a": (0, 1)}}, "holds no numbers"),
        (np.zeros((2, 2, 2)), {}, "must be of shape"),
        ("text", {}, "data = str: must be a DataFrame"),
        ([{"a": 1}, {"b": 1}], {}, "dicts must have the same texts as keys"),
        ([{"a": 1}, {"a": 1, 2: 0}], {}, "dicts must have the same texts as keys"),
        ([{}, {}], {}, "dicts must have the same texts as keys"),
        ((np.eye(2), [1]), {}, "X has 2 records and y has 1"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "of different names"),
    ],
)
def test_what_cannot_be_coded_is_refused_in_one_line(
    data: Any, more: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        rows_of(data, **more)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_values_that_json_cannot_hold_stay_in_memory() -> None:
    rows = rows_of([frozenset({1}), frozenset({2})])
    assert rows.digest
    with pytest.raises(InvalidInput, match="cannot be written down"):
        rows.as_json()


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"values": [[0]], "form": None},
        {"values": "x", "form": {"shape": "list", "columns": [], "label": None, "group": None}},
        {"values": [[9.0]], "form": rows_of(["a"]).form.as_json()},
        {"values": [[0.0, 1.0]], "form": rows_of(["a"]).form.as_json()},
        {"values": [[0.0]], "form": rows_of(["a"]).form.as_json() | {"shape": "cube"}},
    ],
)
def test_what_is_read_must_be_rows(told: Any) -> None:
    with pytest.raises(InvalidInput):
        rows_from_json(told)


def test_cells() -> None:
    whole = Column(name="n", kind="integer", low=0, high=5)
    assert [whole.holds(cell) for cell in (0.0, 5.0, 0.5, 6.0, MISSING)] == [
        True, True, False, False, False,
    ]  # fmt: skip
    assert type(whole.plain(3.0)) is int
