"""The ledger: what is put in comes out again, or a clear error does."""

from __future__ import annotations

import multiprocessing
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.claims import DP
from dpassay.errors import InvalidInput, LedgerError
from dpassay.mechanism import FunctionMechanism
from dpassay.targets.resolve import resolve
from dpassay.trials.blocks import BlockCounts
from dpassay.trials.ledger import Key, Ledger, block_key, code_of, dataset_key
from tests.core.toys import target_of

DATASET = b"d" * 32


def row(first: int = 0, value: int = 7) -> tuple[Key, BlockCounts]:
    calls = [[[value, 1000 - value], [1, 999]], [[value, 1000 - value], [0, 1000]]]
    counts = BlockCounts(calls=np.array(calls, dtype=np.int64), marks=(b"m" * 16, b""))
    return block_key(DATASET, first, first + 2, 10_000), counts


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Ledger(tmp_path / "ledger.sqlite", resume=False) as ledger:
        ledger.keep([row(0), row(2, 8)])
    return tmp_path / "ledger.sqlite"


def test_what_is_put_in_comes_out(path: Path) -> None:
    """Floats as floats: quantiles and moments were kept as the bit patterns of whole numbers."""
    floats = BlockCounts(calls=np.array([[[0.1, -0.0, np.nan, np.inf]]]), marks=(b"", b""))
    with Ledger(path, resume=True) as ledger:
        ledger.keep([(row(6)[0], floats)])
        for key, counts in (row(0), row(2, 8), (row(6)[0], floats)):
            found = ledger.get(key)
            assert found is not None
            assert found.calls.tobytes() == counts.calls.tobytes()
            assert found.calls.dtype == counts.calls.dtype
            assert found.marks == counts.marks
        assert ledger.get(row(4)[0]) is None
        assert ledger.get((DATASET, 0, 2, 1999)) is None
    with Ledger(path, resume=False) as ledger:
        assert ledger.get(row()[0]) is None, "without resume it is emptied"


def test_any_result_is_kept(path: Path) -> None:
    value = {"answers": np.linspace(0, 1, 6).reshape(1, 2, 3), "names": ["a", "b"]}
    key = (DATASET, 0, 1, 1)
    with Ledger(path, resume=True, remedy="remove it") as ledger:
        ledger.keep([(key, value)])
        found = ledger.find(key)
        assert found["answers"].tobytes() == value["answers"].tobytes()  # type: ignore[attr-defined]
        assert found["names"] == value["names"]
        with pytest.raises(LedgerError, match=r"damaged; remove it$"):
            ledger.get(key)
    damage(path, "UPDATE work SET checksum = x'00'")
    with (
        Ledger(path, resume=True, remedy="remove it") as ledger,
        pytest.raises(LedgerError, match=r"damaged; remove it$"),
    ):
        ledger.find(key)


def test_a_file_is_made_by_the_first_counts_only(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.sqlite", resume=True):
        pass
    assert not list(tmp_path.iterdir())


def test_other_counts_under_the_same_key_are_an_error(path: Path) -> None:
    with Ledger(path, resume=True) as ledger:
        ledger.keep([row()])
        said = "holds another result for blocks 0 to 1 of dataset 64646464"
        with pytest.raises(LedgerError, match=said):
            ledger.keep([row(6), row(0, 9)])
        assert ledger.get(row(6)[0]) is None, "all of a shard or nothing of it"


def damage(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(sql)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE work SET value = zeroblob(32) WHERE first = 0",
        "UPDATE work SET value = (SELECT value FROM work WHERE first > 0) WHERE first = 0",
        "UPDATE work SET value = CAST(value || x'00' AS BLOB) WHERE first = 0",
        "UPDATE work SET checksum = x'00' WHERE first = 0",
        "UPDATE work SET stop = 3, dataset = x'00' WHERE first = 2; ",
    ],
)
def test_a_changed_row_is_never_used(path: Path, sql: str) -> None:
    damage(path, sql)
    with Ledger(path, resume=True) as ledger:
        if "first = 2" in sql:
            assert ledger.get(row(2, 8)[0]) is None
            with pytest.raises(LedgerError, match="damaged"):
                ledger.get((b"\0", 2, 3, 2000))
        else:
            with pytest.raises(LedgerError, match="damaged"):
                ledger.get(row()[0])


def noise(path: Path) -> None:
    path.write_bytes(np.random.default_rng(0).bytes(20_000))


def foreign(path: Path) -> None:
    path.unlink()
    damage(path, "CREATE TABLE accounts (balance)")


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def scrambled(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + np.random.default_rng(0).bytes(len(whole) - 100))


def newer(path: Path) -> None:
    damage(path, "PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("harm", "message", "ours"),
    [
        (noise, "is no ledger of dpassay", False),
        (foreign, "is no ledger of dpassay", False),
        (truncated, "is damaged", True),
        (scrambled, "is damaged", True),
        (newer, "has version 99, not 5", True),
    ],
)
def test_a_file_that_cannot_be_used(
    path: Path, harm: Callable[[Path], None], message: str, ours: bool
) -> None:
    harm(path)
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match=message) as caught:
        Ledger(path, resume=True)
    assert "\n" not in str(caught.value)
    if ours:
        with Ledger(path, resume=False) as ledger:
            ledger.keep([row()])
            assert ledger.get(row()[0]) is not None
    else:
        with pytest.raises(InvalidInput, match=message):
            Ledger(path, resume=False)
        assert path.read_bytes() == before, "what is not ours is left alone"


def test_an_empty_file_is_a_run_that_was_killed_at_once(path: Path) -> None:
    path.write_bytes(b"")
    with Ledger(path, resume=True) as ledger:
        assert ledger.get(row()[0]) is None


def test_a_full_disk(path: Path) -> None:
    with Ledger(path, resume=True) as ledger:
        assert ledger.get(row()[0]) is not None
        assert ledger._connection is not None
        ledger._connection.execute("PRAGMA max_page_count = 3")
        many = [row(first) for first in range(10, 2000, 2)]
        with pytest.raises(LedgerError, match=r"cannot be read or written .*full"):
            ledger.keep(many)
        assert ledger.get(row()[0]) is not None
        assert all(ledger.get(key) is None for key, _ in many)


class ReadOnly:
    """A connection into a folder that cannot be written."""

    in_transaction = False

    def execute(self, *_: object) -> None:
        raise sqlite3.OperationalError("attempt to write a readonly database")

    def close(self) -> None: ...


def test_a_read_only_folder(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpassay.trials.ledger.sqlite3.connect", lambda *_, **__: ReadOnly())
    with pytest.raises(InvalidInput, match=r"cannot be read or written .*readonly"):
        Ledger(path, resume=True)
    with pytest.raises(InvalidInput, match=r"cannot be emptied .*readonly"):
        Ledger(path, resume=False)
    assert path.exists()
    with pytest.raises(LedgerError, match="readonly"):
        Ledger(path.parent / "new.sqlite", resume=False).keep([row()])


def write_all(path: Path, start: Any) -> None:
    start.wait()
    with Ledger(path, resume=True) as ledger:
        for first in range(0, 200, 2):
            ledger.keep([row(first)])


def test_two_processes_write_the_same_rows(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    start, path = context.Event(), tmp_path / "ledger.sqlite"
    writers = [context.Process(target=write_all, args=(path, start)) for _ in range(2)]
    for writer in writers:
        writer.start()
    start.set()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    connection = sqlite3.connect(path)
    counted = connection.execute("SELECT count(*), count(DISTINCT first) FROM work")
    assert counted.fetchone() == (100, 100)
    connection.close()


def test_the_key_of_a_dataset_tells_everything_apart() -> None:
    known: list[Any] = [("a", 1), "q", "01", ["c"], 1000]
    keys = {dataset_key(*known)}
    for place, other in [(0, ("b", 1)), (0, ("a", 2)), (1, "r"), (2, "02"), (3, ["d"]), (4, 250)]:
        keys.add(dataset_key(*(*known[:place], other, *known[place + 1 :])))
    assert len(keys) == 7
    blocks = [(0, 1, 500), (0, 1, 1000), (0, 2, 2000), (1, 2, 2000)]
    assert len({block_key(DATASET, *each) for each in blocks}) == 4
    assert block_key(DATASET, 2, 4, 3100) == (DATASET, 2, 4, 1100)


def test_the_code_of_a_mechanism_belongs_to_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    source = tmp_path / "coded_mechanism.py"
    source.write_text("def f(data, queries, size, rng): return 0\n")
    target = resolve("coded_mechanism:f", claims=(DP(epsilon=1.0),))
    before = code_of(target)
    assert code_of(target) == before
    source.write_text("def f(data, queries, size, rng): return 1\n")
    assert code_of(target) != before


def test_a_mechanism_without_a_source_file_has_a_key_too() -> None:
    scope: dict[str, object] = {"__name__": "nowhere"}
    exec("def f(data, queries, size, rng): return 0", scope)
    function: Any = scope["f"]
    target = target_of(FunctionMechanism(function=function, claims=(DP(epsilon=1.0),)))
    assert code_of(target)[-1] == "unknown"
