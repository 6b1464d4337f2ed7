"""The file of cells: the same bytes again, only what is asked for, and no more of it in memory."""

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
import pytest

from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.errors import InvalidInput
from dpassay.record import cells
from dpassay.record.cells import COLUMNS, FILE, read_cells, write_cells
from dpassay.record.files import unpacked
from tests.core.toys import TableMechanism, flip_group, target_of


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


def test_all_cells_are_read(results: list[Result], tmp_path: Path) -> None:
    assert write_cells(tmp_path, results).name == FILE
    read = read_cells(tmp_path)
    assert tuple(read.columns) == COLUMNS
    assert math.inf in set(read["upper"])


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
def test_filters(wanted: dict[str, object], results: list[Result], tmp_path: Path) -> None:
    write_cells(tmp_path, results)
    every, kept = read_cells(tmp_path), read_cells(tmp_path, **wanted)  # type: ignore[arg-type]
    for name, value in wanted.items():
        every = every[every["lower"] > value] if name == "above" else every[every[name] == value]
    pd.testing.assert_frame_equal(kept, every.reset_index(drop=True))
    assert (len(kept) == 0) == (wanted == {"result": "nobody"})


@pytest.mark.parametrize("name", ["=1+1", "+a", "-a", "@a", "'=a", 'a,"b"', "a"])
def test_names_are_no_formulas_and_come_back(
    name: str, results: list[Result], tmp_path: Path
) -> None:
    result = replace(results[0], id=name)
    path = write_cells(tmp_path, [result])
    rows = list(csv.reader(io.StringIO(unpacked(path))))[1:]
    assert {row[0] for row in rows} == {("" if name[0] == "a" else "'") + result.id}
    assert not any(row[-1].startswith("'") for row in rows)
    assert len(read_cells(tmp_path, result=result.id)) == len(rows) > 0


def test_same_cells_same_bytes(results: list[Result], tmp_path: Path) -> None:
    first = write_cells(tmp_path, results).read_bytes()
    assert write_cells(tmp_path, results).read_bytes() == first


def peak(work: Callable[[], object]) -> int:
    """Return how many bytes of Python's memory some work takes at most, done once before."""
    work()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_cells_are_written_in_parts(
    results: list[Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "PART", 1000)
    large = [many_cells(results[0], 10_000)]
    assert peak(lambda: write_cells(tmp_path, large)) < 1_500_000


def test_cells_are_read_in_parts(
    results: list[Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "CHUNK", 1000)
    write_cells(tmp_path, [many_cells(results[0], 20_000)])
    every, one = (peak(partial(read_cells, tmp_path, pair=pair)) for pair in (None, 37))
    assert len(read_cells(tmp_path, pair=37)) == 100
    assert one < every / 2


def test_what_is_no_file_of_cells_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"must be the folder of a run, with cells\.csv\.gz"):
        read_cells(tmp_path)
    (tmp_path / FILE).write_bytes(b"nothing")
    with pytest.raises(InvalidInput, match=rf"{FILE} cannot be read"):
        read_cells(tmp_path)
    with pytest.raises(InvalidInput, match=r"pair = -1: must be an integer >= 0"):
        read_cells(tmp_path, pair=-1)
