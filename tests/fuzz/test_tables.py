"""Tables beside a record with something wrong in them: refused in one line, or what they say."""

from __future__ import annotations

import gzip
import io
import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.attacks.experiment.vulnerability import COLUMNS as OF_RECORDS
from dpassay.attacks.experiment.vulnerability import read_records
from dpassay.attacks.user_models.signals import read_signals
from dpassay.errors import InvalidInput
from dpassay.record.cells import COLUMNS, read_cells
from tests.fuzz.mutations import mangled
from tests.fuzz.running import fuzz

FOLDER = Path()
CELLS = [
    ("soft-majority.printed.exact", 0, pair, direction, query, 0.25 * query, 0.25 * query + 1)
    for pair in range(3)
    for direction in (0, 1)
    for query in (1, 2)
]
RECORDS = [
    ("tree", "labels", k, k + 2, k % 2, "canaries", 1.5, 8, k, 0.5, 0.25, 1e-5) for k in range(6)
] + [("tree", "scores", 7, "", 0, "", 0.5, 8, 4, 0, "", "")]
ODD = (
    *("", "-1", "0", "1", "2", "0.5", "1e400", "inf", "-inf", "nan", "NaN", "x", "1_0", " 1"),
    *("1e2", "9" * 12, "9" * 30, "9" * 5000, '"', '"a, b"', "\0", "\ufeff", "\r", "True", "-0"),
    *("٣", "0x1"),
)
PLACES = ("group", "pair", "direction", "query")


def text_of(columns: tuple[str, ...], rows: list[tuple[Any, ...]], rng: random.Random) -> str:
    """Return a table as CSV, most times with a few things wrong in it."""
    lines = [list(columns), *([str(each) for each in row] for row in rows)]
    for _ in range(rng.choice((0, 1, 1, 2))):
        line = rng.choice(lines)
        k = rng.randrange(len(line) + 1)
        line[k : k + rng.choice((0, 1, 1, 1))] = rng.choice(([rng.choice(ODD)],) * 4 + ([],))
    if rng.random() < 0.1:
        del lines[rng.randrange(len(lines)) :]
    text = rng.choice(("\n", "\n", "\n", "\r\n", "\r")).join(map(",".join, lines)) + "\n"
    return mangled(text, rng) if rng.random() < 0.15 else text


def torn(data: bytes, rng: random.Random) -> bytes:
    """Return bytes, at times with some of them cut off, changed, or others in front."""
    way, place = rng.random(), rng.randrange(len(data) + 1)
    if way < 0.1:
        return data[:place]
    if way < 0.2:
        return data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
    if way < 0.25:
        return data[:place] + bytes(rng.choice((1, 16, 512))) + data[place:]
    return rng.choice((b"", b"\x1f\x8b", b"PAR1", b"PK\x03\x04")) + data if way < 0.3 else data


def packed(text: str) -> bytes:
    return gzip.compress(text.encode("utf-8", "replace"), mtime=0)


def cells(rng: random.Random) -> str:
    """Say what of a file of cells is read that no run can have written."""
    (FOLDER / "cells.csv.gz").write_bytes(torn(packed(text_of(COLUMNS, CELLS, rng)), rng))
    wanted = rng.choice(({}, {}, {"pair": 1}, {"above": 0.3}, {"result": CELLS[0][0], "query": 2}))
    frame = read_cells(FOLDER, **wanted)
    if list(frame.columns) != list(COLUMNS):
        return f"has columns {list(frame.columns)}"
    bad = (frame["lower"] > frame["upper"]) | (frame[list(PLACES)] < 0).any(axis=1)
    bad |= frame[["lower", "upper"]].isna().any(axis=1) | ~frame["direction"].isin([0, 1])
    bad |= frame["result"].isna() | (frame["result"] == "") | (frame["lower"] == -math.inf)
    return f"reads {frame[bad].iloc[0].tolist()}" if bad.any() else ""


def records(rng: random.Random) -> str:
    """Say what of a table of all records is read that no attack can have written."""
    path = FOLDER / "records.csv.gz"
    path.write_bytes(torn(packed(text_of(OF_RECORDS, RECORDS, rng)), rng))
    return next((f"reads {row}" for row in read_records(path) if not _can_be(row)), "")


def _can_be(row: dict[str, Any]) -> bool:
    least = {"record": 0, "line": 1, "label": 0, "right": 0, "targets": 1}
    whole = all(row[name] is None or row[name] >= low for name, low in least.items())
    bounds = row["loss_certified"], row["alpha"]
    known = (bounds[0] is None) == (bounds[1] is None)
    return (
        whole
        and row["right"] <= row["targets"]
        and row["loss_estimate"] >= 0
        and known
        and (bounds[0] is None or (bounds[0] >= 0 and 0 < bounds[1] < 1))
        and bool(row["subject"])
        and bool(row["view"])
    )


def signals(rng: random.Random) -> str:
    """Say what of saved signals is read that makes no sense."""
    shape = (4, 6)
    arrays: dict[str, Any] = {
        "scores": np.linspace(0, 1, 24).reshape(shape),
        "membership": np.arange(24).reshape(shape) % 2,
        "labels": np.arange(6) % 2,
        "kind": "probability",
    }
    for _ in range(rng.choice((0, 1, 1, 2))):
        name = rng.choice(tuple(arrays))
        arrays[name] = rng.choice(tuple(_odd(np.asarray(arrays[name]), rng)))
    out = io.BytesIO()
    if rng.random() < 0.1:
        del arrays[rng.choice(tuple(arrays))]
    np.savez(out, **arrays)
    path = FOLDER / "signals.npz"
    path.write_bytes(torn(out.getvalue(), rng))
    found, _ = read_signals(path)
    fine = np.isfinite(found.scores).all() and set(np.unique(found.membership)) <= {0, 1}
    return "" if fine else f"reads {found}"


def _odd(array: Any, rng: random.Random) -> Iterator[Any]:
    text = array if array.dtype.kind == "S" else array.astype(str)
    yield from (text, array[..., None], array[:0] if array.ndim else array)
    yield from (np.array([]), np.array(3), np.array("x"), np.zeros((0, 6)), np.array([["a"]]))
    yield from (np.array(b"\xff"), np.zeros(3, dtype="M8[D]"), np.zeros(3, dtype="c16"))
    yield np.zeros((4, 6), dtype=[("a", "f8")])
    if array.ndim and array.dtype.kind in "if":
        changed = array.astype(float)
        odd = rng.choice((math.nan, math.inf, -1, 2, 1e308, 0.5))
        changed.flat[rng.randrange(max(1, changed.size)) :][:1] = odd
        yield changed
        with np.errstate(over="ignore"):
            yield array * 1e300


READ: tuple[Callable[[random.Random], str], ...] = (cells, records, signals)


def case(rng: random.Random) -> str:
    """Say what is made of a damaged table that it does not say."""
    read = rng.choice(READ)
    try:
        told = read(rng)
    except InvalidInput as error:
        return "" if " = '" in str(error) and "\n" not in str(error) else f"says {error!r}"
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what is looked for)
        told = f"raises {type(error).__name__}: {error!s:.200}"
    return f"{read.__name__}: {told}" if told else ""


@pytest.mark.slow
def test_damaged_tables_are_refused_or_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fuzz(200, case)


@pytest.mark.parametrize("replaced", range(len(COLUMNS)))
def test_a_cell_that_cannot_be_is_refused(replaced: int, tmp_path: Path) -> None:
    wrong = ("", -1, -1, 2, -1, 1.5, "")
    for row in (CELLS[0], [*CELLS[0][:replaced], wrong[replaced], *CELLS[0][replaced + 1 :]]):
        lines = "\n".join(",".join(map(str, each)) for each in (COLUMNS, row))
        (tmp_path / "cells.csv.gz").write_bytes(gzip.compress(lines.encode()))
        if row is CELLS[0]:
            assert len(read_cells(tmp_path)) == 1
        else:
            with pytest.raises(InvalidInput, match="has no possible cell"):
                read_cells(tmp_path)


def test_a_file_of_cells_without_cells_is_read(tmp_path: Path) -> None:
    (tmp_path / "cells.csv.gz").write_bytes(gzip.compress(",".join(COLUMNS).encode()))
    assert list(read_cells(tmp_path, pair=1).columns) == list(COLUMNS)


ROW = dict(zip(OF_RECORDS, RECORDS[0], strict=True))


@pytest.mark.parametrize(
    "wrong",
    [
        {"record": -1},
        {"label": -1},
        {"line": 0},
        {"right": 9},
        {"targets": 0},
        {"alpha": 2},
        {"alpha": ""},
        {"loss_certified": -0.5},
        {"loss_estimate": "nan"},
        {"view": ""},
    ],
)
def test_a_vulnerability_that_cannot_be_is_refused(wrong: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "records.csv.gz"
    for row, good in ((ROW, True), (ROW | wrong, False)):
        lines = "\n".join(",".join(map(str, each)) for each in (OF_RECORDS, row.values()))
        path.write_bytes(gzip.compress(lines.encode()))
        if good:
            assert len(read_records(path)) == 1
        else:
            with pytest.raises(InvalidInput, match="is damaged in line 2"):
                read_records(path)


def test_a_packed_table_with_a_byte_changed_is_refused(tmp_path: Path) -> None:
    """`zlib.error` is no `OSError`."""
    packed = bytearray(gzip.compress(b"subject,view" * 100))
    packed[10:14] = b"\xff\xff\xff\xff"
    (tmp_path / "records.csv.gz").write_bytes(packed)
    with pytest.raises(InvalidInput, match="cannot be read as CSV"):
        read_records(tmp_path)


def test_labels_of_signals_that_are_texts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "signals.npz"
    members = np.eye(2, dtype=int)
    np.savez(path, scores=members * 0.5, membership=members, labels=np.array(["a", "b"]))
    with pytest.raises(InvalidInput, match="labels = 'of <U1': must be integers >= 0"):
        read_signals(path)


@pytest.mark.parametrize("name", ["scores", "membership"])
def test_complex_signals_are_refused(name: str, tmp_path: Path) -> None:
    """Their imaginary part was dropped."""
    path, members = tmp_path / "signals.npz", np.eye(2)
    arrays: dict[str, Any] = {"scores": members * 0.5, "membership": members, name: members + 1j}
    np.savez(path, **arrays)
    with pytest.raises(InvalidInput, match=f"{name}: must be"):
        read_signals(path)
