"""Parquet files: read as the CSV file of the same table is, or refused in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpassay.csv_files import read_frame
from dpassay.data import load
from dpassay.errors import InvalidInput

PEOPLE = pd.DataFrame(
    {
        "age": [23.0, None, 61.0, 58.0],
        "city": pd.Categorical(["Bern", None, "Oslo", "Bern"]),
        "since": pd.to_datetime(["2020-01-01", "2021-05-06", "2020-01-01", "2021-05-06"]),
        "income": ["low", "high", "low", "high"],
    }
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    PEOPLE.to_parquet(path)
    return path


def test_what_was_written_is_read(file: Path) -> None:
    pd.testing.assert_frame_equal(read_frame(file, missing=True), PEOPLE, check_dtype=False)
    PEOPLE.set_index("age").to_parquet(file)
    assert list(read_frame(file, missing=True).columns) == list(PEOPLE.columns)
    PEOPLE[PEOPLE["age"] > 30].to_parquet(file)
    assert list(read_frame(file, missing=True).columns) == list(PEOPLE.columns)


def test_records_are_those_of_the_csv_file(file: Path) -> None:
    PEOPLE.to_csv(file.with_suffix(".csv"), index=False)
    ends = (".parquet", ".csv")
    ours, other = (load(str(file.with_suffix(end)), "income", missing=True) for end in ends)
    assert np.array_equal(ours.data.X, other.data.X)
    assert np.array_equal(ours.data.y, other.data.y)
    assert ours.lines is None
    with pytest.raises(InvalidInput, match=r"column 'age' in 1 of 4 records \(first in record 2\)"):
        load(str(file), "income")


@pytest.mark.parametrize(
    ("frame", "wrong"),
    [
        (PEOPLE.assign(age=[1, 2, np.inf, 3]), "column 'age' is inf in record 3"),
        (
            PEOPLE.assign(age=pd.Series([[1], [2], [], [3]], dtype=object)),
            "column 'age' holds list; must hold single",
        ),
        (PEOPLE.head(0), "has no records; must have at least one"),
    ],
)
def test_what_no_table_holds_is_refused(file: Path, frame: pd.DataFrame, wrong: str) -> None:
    frame.to_parquet(file)
    with pytest.raises(InvalidInput, match=wrong):
        read_frame(file, missing=True)


def test_a_file_that_is_cut_off_is_refused(file: Path) -> None:
    whole = file.read_bytes()
    for size in range(4, len(whole), 97):
        file.write_bytes(whole[:size])
        with pytest.raises(InvalidInput, match=r"--data = .* cannot be read as Parquet \("):
            read_frame(file)


def test_without_a_library_it_says_which(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(engine: str) -> None:
        raise ImportError(engine)

    monkeypatch.setattr("pandas.io.parquet.get_engine", missing)
    with pytest.raises(InvalidInput, match="needs pyarrow or fastparquet: pip install pyarrow"):
        read_frame(file)
