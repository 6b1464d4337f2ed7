"""The file of cells: what leaks is listed with bounds that hold, in few bytes, for pandas."""

from __future__ import annotations

import gc
import gzip
import math
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpassay.cli.shared import clear, write_sidecars
from dpassay.engine.result import Result
from dpassay.engine.run import assay
from dpassay.engine.settings import Settings
from dpassay.record import cells
from dpassay.record.cells import COLUMNS, NOTHING, PLACE, csv_lines, write_cells
from dpassay.record.files import dumps
from dpassay.record.run_record import make_record
from tests.core.toys import TableMechanism, flip_group, target_of

TABLES = {
    "leaky": ((1.0, 0.0), (0.5, 0.5)),
    "thirds": ((2 / 3, 1 / 3), (1 / 7, 6 / 7)),
    "same": ((0.25, 0.75), (0.25, 0.75)),
}


def found(mode: str, *names: str) -> list[Result]:
    settings = Settings(mode=mode, budget=500, executor="inline")  # type: ignore[arg-type]
    targets = [target_of(TableMechanism(table=TABLES[name]), name=name) for name in names]
    return list(assay(targets, flip_group(records=4, queries=2), settings))


@pytest.fixture(scope="module")
def results() -> list[Result]:
    """Two claims of one mechanism, and another one that leaks without limit."""
    return found("exact", "thirds", "leaky", "thirds")


def listed(results: list[Result], folder: Path) -> pd.DataFrame:
    write_sidecars(folder, results, seconds=1.0)
    return pd.read_csv(folder / "cells.csv.gz")


def test_pandas_reads_them_in_one_line(tmp_path: Path) -> None:
    table = listed(found("exact", "leaky"), tmp_path)
    assert list(table.columns) == list(COLUMNS)
    assert set(table.result) == {"leaky.own.exact"}
    there, back = table[table.direction == 1], table[table.direction == 0]
    assert set(there["lower"]) == set(there["upper"]) == {math.inf}
    assert len(there) == len(back)
    assert (back["lower"] <= math.log(2)).all()
    assert (math.log(2) <= back["upper"]).all()
    assert (back["upper"] - back["lower"] <= 2e-6).all()


@pytest.mark.parametrize("mode", ["exact", "monte-carlo"])
def test_every_bound_is_rounded_outwards(mode: str, tmp_path: Path) -> None:
    (result,) = found(mode, "thirds")
    assert result.evidence is not None
    columns = {name: result.evidence.table[name] for name in (*PLACE, "lower", "upper")}
    both = listed([result], tmp_path).merge(pd.DataFrame(columns), on=list(PLACE), validate="1:1")
    assert len(both) == len(columns["pair"])
    assert (both["lower_x"] <= both["lower_y"]).all()
    assert (both["upper_x"] >= both["upper_y"]).all()
    assert (both["lower_x"] != both["lower_y"]).any()


def test_what_is_computed_and_zero_is_not_listed(tmp_path: Path) -> None:
    results = found("exact", "same", "leaky")
    assert set(listed(results, tmp_path).result) == {"leaky.own.exact"}
    assert results[0].evidence is not None
    assert (results[0].evidence.table["upper"] <= NOTHING).all()
    sampled = found("monte-carlo", "same")
    assert sampled[0].evidence is not None
    table = listed(sampled, tmp_path)
    assert len(table) == len(sampled[0].evidence.table["pair"])
    assert (table["lower"] == 0).all()


def test_a_zero_that_is_known_up_to_an_error_is_listed(tmp_path: Path) -> None:
    (result,) = found("exact", "same")
    assert result.evidence is not None
    result.evidence.table["upper"][3] = 2 * NOTHING
    assert len(listed([result], tmp_path)) == 1


@pytest.mark.parametrize("beside", [-1, 1])
def test_no_bound_changes_its_side_of_the_claim(beside: int, tmp_path: Path) -> None:
    (result,) = found("exact", "thirds")
    assert result.evidence is not None
    claimed = result.claim.promised
    for name in ("lower", "upper", "loss"):
        result.evidence.table[name][:] = np.nextafter(claimed, beside * math.inf)
    table = listed([result], tmp_path)
    assert ((table["lower"] > claimed) == (beside > 0)).all()
    assert ((table["upper"] > claimed) == (beside > 0)).all()


def test_rows_of_one_mechanism_alternate_and_others_stay_apart() -> None:
    one, two, other = found("exact", "thirds", "thirds", "leaky")
    names = [line.split(",")[0] for line in "".join(csv_lines([one, other, two])).splitlines()[1:]]
    half = names.index(other.id)
    assert names[:half] == [one.id, two.id] * (half // 2)
    assert set(names[half:]) == {other.id}


def test_same_cells_same_bytes_and_no_leftovers(tmp_path: Path) -> None:
    """The file goes with the other pages."""
    results = found("exact", "leaky")
    for folder in ("one", "two"):
        write_sidecars(tmp_path / folder, results, seconds=1.0)
    written = (tmp_path / "one" / "cells.csv.gz").read_bytes()
    assert gzip.decompress(written).decode() == "".join(csv_lines(results))
    assert written == (tmp_path / "two" / "cells.csv.gz").read_bytes()
    run = {"confidence": 0.999, "complete": True}
    (tmp_path / "one" / "record.json").write_text(dumps(make_record(run, results)))
    clear(tmp_path / "one")
    assert not list((tmp_path / "one").glob("cells.csv*"))


def many_cells(result: Result, rows: int) -> Result:
    """Return a result with as many cells as are asked for, each with a bound of its own."""
    assert result.evidence is not None
    leaks = np.linspace(0.1, 2.0, rows)
    zeros = np.zeros(rows, int)
    place = {"group": zeros, "pair": np.arange(rows) // 100, "direction": zeros}
    place |= {"query": np.arange(rows) % 100}
    table = place | {"loss": leaks, "lower": leaks - 1e-9, "upper": leaks + 1e-9}
    return replace(result, evidence=replace(result.evidence, table=table))


@pytest.mark.parametrize("name", ["=1+1", "+a", "-a", "@a", "'=a", 'a,"b"', "a"])
def test_names_are_no_formulas_and_come_back(
    name: str, results: list[Result], tmp_path: Path
) -> None:
    result = replace(results[0], id=name)
    path = write_cells(tmp_path, [result])
    rows = pd.read_csv(path, dtype=str)
    assert set(rows["result"]) == {("" if name[0] == "a" else "'") + result.id}
    assert set(rows["result"].str.removeprefix("'")) == {result.id}
    assert not rows["upper"].str.startswith("'").any()


def peak(work: Callable[[], object]) -> int:
    """Return how many bytes of Python's memory some work takes at most, done once before."""
    work()
    gc.collect()
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
