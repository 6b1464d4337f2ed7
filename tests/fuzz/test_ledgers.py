"""Ledgers that are damaged, or are other databases: what they give back is what was written,
and a run that goes on with one has the record of the whole run, or one line that refuses.
"""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dpassay.errors import InvalidInput, LedgerError
from dpassay.trials.blocks import BlockCounts
from dpassay.trials.ledger import Key, Ledger
from tests.fuzz.running import fuzz, ran

FILE = Path("ledger.sqlite")
ROWS: dict[Key, BlockCounts] = {
    (bytes([k]) * 32, k, k + 2, 200 + k): BlockCounts(
        calls=np.arange(2 * 3 * 4, dtype=np.int64).reshape(2, 3, 4) + k, marks=(b"a" * k, b"b")
    )
    for k in range(12)
}
NEW: Key = (b"n" * 32, 0, 1, 100)
VALUE = BlockCounts(calls=np.ones((1, 1, 1), dtype=np.int64), marks=(b"",))
STATEMENTS = (
    "UPDATE work SET value = x'00' WHERE first = {k}",
    "UPDATE work SET checksum = x'00' WHERE first = {k}",
    "UPDATE work SET value = 'text' WHERE first = {k}",
    "UPDATE work SET trials = trials + 1",
    "UPDATE work SET value = (SELECT value FROM work WHERE first = {k})",
    "UPDATE work SET (value, checksum) = (SELECT value, checksum FROM work WHERE first = {k})",
    "DELETE FROM work WHERE first = {k}",
    "DROP TABLE work",
    "ALTER TABLE work RENAME TO works",
    "ALTER TABLE work DROP COLUMN checksum",
    "ALTER TABLE work ADD COLUMN more",
    "CREATE TABLE other (x)",
    "PRAGMA user_version = {k}",
    "PRAGMA application_id = {k}",
    "PRAGMA journal_mode = DELETE",
    "CREATE TRIGGER t BEFORE INSERT ON work BEGIN SELECT RAISE(IGNORE); END",
    "CREATE TRIGGER t AFTER INSERT ON work BEGIN DELETE FROM work; END",
    "CREATE VIEW seen AS SELECT * FROM work",
)


@cache
def whole() -> bytes:
    """Return the bytes of a ledger that holds all rows."""
    _remove()
    with Ledger(FILE, resume=False) as ledger:
        ledger.keep(ROWS.items())
    with closing(sqlite3.connect(FILE)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return FILE.read_bytes()


def _remove(file: Path = FILE) -> None:
    for path in file.parent.glob(f"{file.name}*"):
        path.unlink()


def damage(rng: random.Random, data: bytes, file: Path = FILE) -> None:
    """Write a ledger with something wrong in it."""
    _remove(file)
    changed = bytearray(data)
    way = rng.randrange(6)
    if way == 0:
        for _ in range(rng.choice((1, 2, 8))):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    elif way == 1:
        del changed[rng.randrange(len(changed)) :]
    elif way == 2:
        start = rng.randrange(len(changed))
        end = min(len(changed), start + rng.choice((1, 16, 512, 4096)))
        changed[start:end] = bytes(end - start)
    elif way == 3:
        changed = bytearray(rng.choice((b"", b"\0" * 100, data[:100], b"SQLite format 3\0", b"x")))
    file.write_bytes(changed)
    if way == 4:
        with closing(sqlite3.connect(file)) as connection, suppress(sqlite3.Error):
            for _ in range(rng.choice((1, 1, 2))):
                k = rng.randrange(len(ROWS))
                connection.execute(rng.choice(STATEMENTS).format(k=k))
            connection.commit()
    if way == 5:
        suffix = rng.choice(("-wal", "-journal", "-shm"))
        Path(f"{file}{suffix}").write_bytes(bytes(rng.randrange(256) for _ in range(64)))


def case(rng: random.Random) -> str:
    """Say what a damaged ledger gives back that nobody wrote, or what it raises."""
    damage(rng, whole())
    try:
        with Ledger(FILE, resume=rng.random() < 0.8) as ledger:
            for key, counts in ROWS.items():
                found = ledger.get(key)
                if found is not None and not _same(found, counts):
                    return f"gives {found} for {key[1:]}"
            ledger.keep([(NEW, VALUE)])
            found = ledger.get(NEW)
            if found is None or not _same(found, VALUE):
                return f"gives {found} for what was just put into it"
    except (InvalidInput, LedgerError) as error:
        return "" if "ledger" in str(error) and "\n" not in str(error) else f"says {error}"
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what is looked for)
        return f"raises {type(error).__name__}: {error}"
    return ""


def _same(one: BlockCounts, other: BlockCounts) -> bool:
    return one.marks == other.marks and np.array_equal(one.calls, other.calls)


@pytest.mark.slow
def test_damaged_ledgers_give_back_what_was_written_or_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fuzz(120, case)


RUN = "run soft-majority-overview -p r=3 --mode monte-carlo --budget 300 --train 10 --queries 1"
SIZES = "--models 4 --references 4 --records 20 --transcripts 20 --attacks gap --budgets 1 -p r=3"
COMMANDS = {
    "run": (f"{RUN} --profile quick", "ledger.sqlite", "record.json"),
    "attack": (f"attack soft-majority {SIZES}", "models.sqlite", "attack.json"),
}
"""The words of a command, its ledger, and its record."""
OUT = Path("out")


@cache
def finished(name: str) -> tuple[bytes, bytes]:
    """Return the ledger of a whole run and its record."""
    words, ledger, record = COMMANDS[name]
    assert ran([*words.split(), "--out", "out", "-q"]).code == 4
    return (OUT / ledger).read_bytes(), (OUT / record).read_bytes()


def resumed(rng: random.Random) -> str:
    """Say what a run that is gone on with does wrong where its ledger is damaged."""
    name = rng.choice(sorted(COMMANDS))
    words, ledger, record = COMMANDS[name]
    data, whole_record = finished(name)
    damage(rng, data, OUT / ledger)
    (OUT / record).unlink(missing_ok=True)
    more = ["--resume"] if name == "run" else []
    done = ran([*words.split(), "--out", "out", "-q", *more])
    if done.wrong:
        return done.wrong
    if done.code in (2, 3):
        told = done.err.strip()
        return "" if "ledger" in told or "sqlite" in told else f"says {told[:300]}"
    same = (OUT / record).read_bytes() == whole_record
    return "" if same else f"{name}: exit {done.code}, and another record"


@pytest.mark.slow
def test_what_goes_on_with_a_damaged_ledger_is_whole_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fuzz(20, resumed)
