"""Files of cells: CSV or Parquet, the same numbers, the same bytes, and no more of it in memory."""

from __future__ import annotations

import csv
import io
import math
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.record import cell_files, cells
from dpassay.record.cell_files import CSV, PARQUET, read_cells, write_cells
from dpassay.record.cells import COLUMNS
from dpassay.record.files import unpacked
from tests.core.toys import TableMechanism, flip_group, target_of

Large = Callable[[bool], None]


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> Large:
    """Return what says whether three cells are many."""
    return lambda many: monkeypatch.setattr(cell_files, "MANY", 2 if many else 10**9)


@pytest.fixture(scope="module")
def results() -> list[Result]:
    """Two claims of one mechanism, and another one that leaks without limit."""
    tables = {"thirds": ((2 / 3, 1 / 3), (1 / 7, 6 / 7)), "leaky": ((1.0, 0.0), (0.5, 0.5))}
    targets = [
        target_of(TableMechanism(table=tables[name]), name=name)
        for name in ("thirds", "leaky", "thirds")
    ]
    group = flip_group(records=4, queries=3)
    return list(assay(targets, group, Settings(mode="exact", executor="inline")))


def many_cells(result: Result, rows: int) -> Result:
    """Return a result with as many cells as are asked for, each with a bound of its own."""
    assert result.evidence is not None
    leaks = np.linspace(0.1, 2.0, rows)
    zeros = np.zeros(rows, int)
    place = {"group": zeros, "pair": np.arange(rows) // 100, "direction": zeros}
    place |= {"query": np.arange(rows) % 100}
    table = place | {"loss": leaks, "lower": leaks - 1e-9, "upper": leaks + 1e-9}
    return replace(result, evidence=replace(result.evidence, table=table))


def test_both_formats_hold_the_same(results: list[Result], tmp_path: Path, large: Large) -> None:
    large(False)
    assert write_cells(tmp_path / "few", results).name == CSV
    large(True)
    assert write_cells(tmp_path / "many", results).name == PARQUET
    one, other = (read_cells(tmp_path / name) for name in ("few", "many"))
    pd.testing.assert_frame_equal(one, other)
    assert tuple(one.columns) == COLUMNS
    assert math.inf in set(one["upper"])


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize(
    "wanted",
    [
        {"result": "leaky.own.exact"},
        {"pair": 0},
        {"query": 1, "direction": 1},
        {"result": "thirds.own.exact", "pair": 0, "group": 0},
        {"above": 0.7},
        {"result": "nobody"},
    ],
)
def test_filters(
    many: bool, wanted: dict[str, object], results: list[Result], tmp_path: Path, large: Large
) -> None:
    large(many)
    write_cells(tmp_path, results)
    every, kept = read_cells(tmp_path), read_cells(tmp_path, **wanted)  # type: ignore[arg-type]
    for name, value in wanted.items():
        every = every[every["lower"] > value] if name == "above" else every[every[name] == value]
    pd.testing.assert_frame_equal(kept, every.reset_index(drop=True))
    assert (len(kept) == 0) == (wanted == {"result": "nobody"})


@pytest.mark.parametrize("name", ["=1+1", "+a", "-a", "@a", "'=a", 'a,"b"', "a"])
def test_names_are_no_formulas_and_come_back(
    name: str, results: list[Result], tmp_path: Path, large: Large
) -> None:
    large(False)
    result = replace(results[0], id=name)
    path = write_cells(tmp_path, [result])
    rows = list(csv.reader(io.StringIO(unpacked(path))))[1:]
    assert {row[0] for row in rows} == {("" if name[0] == "a" else "'") + result.id}
    assert not any(row[-1].startswith("'") for row in rows)
    assert len(read_cells(tmp_path, result=result.id)) == len(rows) > 0


def test_same_cells_same_bytes_and_one_file(
    results: list[Result], tmp_path: Path, large: Large
) -> None:
    large(True)
    first = write_cells(tmp_path, results).read_bytes()
    assert write_cells(tmp_path, results).read_bytes() == first
    large(False)
    write_cells(tmp_path, results)
    assert [path.name for path in tmp_path.iterdir()] == [CSV]


def test_only_parts_that_can_hold_a_pair_are_read(
    results: list[Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups of rows follow the pairs, and each says which pairs it holds."""
    monkeypatch.setattr(cells, "PART", 1000)
    monkeypatch.setattr(cell_files, "MANY", 2)
    path = write_cells(tmp_path, [many_cells(results[0], 10_000)])
    told = pq.ParquetFile(path).metadata
    assert told.num_row_groups == 10
    pair = COLUMNS.index("pair")
    held = [told.row_group(k).column(pair).statistics for k in range(10)]
    assert [(each.min, each.max) for each in held] == [(10 * k, 10 * k + 9) for k in range(10)]
    assert len(read_cells(tmp_path, pair=37)) == 100


@pytest.fixture(params=[CSV, PARQUET])
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name of a file that is written and read in parts of a thousand rows."""
    monkeypatch.setattr(cell_files, "MANY", 2 if request.param == PARQUET else 10**9)
    monkeypatch.setattr(cells, "PART", 1000)
    monkeypatch.setattr(cell_files, "CHUNK", 1000)
    return str(request.param)


def peak(work: Callable[[], object]) -> int:
    """Return how many bytes of Python's memory some work takes at most, done once before."""
    work()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_cells_are_written_in_parts(name: str, results: list[Result], tmp_path: Path) -> None:
    large = [many_cells(results[0], 10_000)]
    assert write_cells(tmp_path, large).name == name
    assert peak(lambda: write_cells(tmp_path, large)) < 1_500_000


def test_cells_are_read_in_parts(
    results: list[Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of CSV; of Parquet, Arrow holds the memory, and groups of rows are passed over."""
    monkeypatch.setattr(cell_files, "CHUNK", 1000)
    write_cells(tmp_path, [many_cells(results[0], 20_000)])
    every, one = (peak(partial(read_cells, tmp_path, pair=pair)) for pair in (None, 37))
    assert len(read_cells(tmp_path, pair=37)) == 100
    assert one < every / 2


def test_without_pyarrow_many_cells_are_csv(
    results: list[Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: Large
) -> None:
    large(True)
    write_cells(tmp_path / "parquet", results)
    monkeypatch.setattr(cell_files, "find_spec", lambda name: None)
    assert write_cells(tmp_path / "csv", results).name == CSV
    with pytest.raises(InvalidInput, match=r"needs pyarrow; pip install 'dpassay\[parquet\]'"):
        read_cells(tmp_path / "parquet")


@pytest.mark.parametrize("name", [CSV, PARQUET])
def test_what_is_no_file_of_cells_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"must be the folder of a run, with cells\.csv\.gz or"):
        read_cells(tmp_path)
    (tmp_path / name).write_bytes(b"nothing")
    with pytest.raises(InvalidInput, match=rf"{name} cannot be read"):
        read_cells(tmp_path)
    with pytest.raises(InvalidInput, match=r"pair = -1: must be an integer >= 0"):
        read_cells(tmp_path, pair=-1)
