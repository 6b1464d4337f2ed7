"""What is remembered of outputs is what would be found out about each of them anew."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpassay.search.outputs import fit_encoder
from dpassay.trials.encoders import MOST_ROWS, Remembered


class Told:
    """A function of rows that counts how many it was asked about."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, draws: Any) -> Any:
        self.asked += len(draws)
        array = np.asarray(draws, dtype=float)
        rows = array[:, None] if array.ndim == 1 else array
        return np.column_stack([rows.sum(axis=1), rows @ (3.0 ** np.arange(rows.shape[1]))])


SHAPES = st.one_of(
    st.integers(0, 60).map(lambda n: (n,)), st.tuples(st.integers(0, 60), st.integers(1, 12))
)


@given(st.data())
def test_what_is_remembered_is_what_would_be_said(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([np.int8, np.uint8, np.int64, np.bool_]))
    numbers = st.booleans() if kind is np.bool_ else st.integers(0, 120)
    if kind in (np.int8, np.int64):
        numbers = st.one_of(st.integers(-1, 1), st.integers(-120, 120))
    remembered = Remembered(Told())
    for _ in range(3):
        draws = data.draw(hnp.arrays(kind, data.draw(SHAPES), elements=numbers))
        assert np.array_equal(remembered(draws), Told()(draws))


@pytest.mark.parametrize("least", [0, 1000, 60_000, -60_000])
@pytest.mark.parametrize("width", [1, 2, 16])
def test_numbers_far_from_zero_are_told_apart(least: int, width: int) -> None:
    """Sums of their digits are no floats of 24 bits: rows were once taken for others."""
    rng = np.random.default_rng(2)
    most = {1: 60_000, 2: 255, 16: 1}[width]
    remembered = Remembered(Told())
    for _ in range(3):
        draws = least + rng.integers(0, most + 1, (2_000, width))
        assert np.array_equal(remembered(draws), Told()(draws))
    assert remembered.tables


@pytest.mark.parametrize("width", [1, 10, 16])
def test_each_output_is_asked_about_once(width: int) -> None:
    rng, told = np.random.default_rng(0), Told()
    remembered = Remembered(told)
    for _ in range(30):
        remembered(rng.random((5_000, width)) < 0.5)
    assert told.asked <= 2**width + 1


@pytest.mark.parametrize(
    "draws",
    [
        np.arange(10) * MOST_ROWS,
        np.full(3, 2**62),
        np.array([-(2**62), 2**62]),
        np.full((4, 60), True),
        np.linspace(0, 1, 9),
        np.zeros((5, 0), dtype=np.int8),
    ],
)
def test_of_many_kinds_nothing_is_remembered(draws: Any) -> None:
    told = Told()
    remembered = Remembered(told)
    for _ in range(2):
        assert np.array_equal(remembered(draws), Told()(draws))
    assert told.asked == 2 * len(draws)


def test_features_are_those_of_the_encoder() -> None:
    rng = np.random.default_rng(1)
    runs = [np.cumsum(rng.random((500, 6)) < 0.2, axis=1).astype(np.int8) - 1 for _ in range(4)]
    encoder = fit_encoder(runs[:2])
    remembered = Remembered(encoder.features)
    for each in runs:
        assert np.array_equal(remembered(each), encoder.features(each), equal_nan=True)


def test_another_process_remembers_for_itself() -> None:
    remembered = Remembered(np.sum)
    remembered.tables[()] = np.zeros(1), np.zeros(1, dtype=bool)
    assert copy.copy(remembered).tables == {}
