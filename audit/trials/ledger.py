"""The ledger: finished work in a SQLite file, so that what was killed goes on where it stopped.

A row of a run holds the counts of a range of blocks of one dataset; a row of an attack holds the
answers of one trained model. It is known by what these depend on and by nothing else: the key of
the random stream, the queries, the coding, and the code that made them. So a row is either the very
result that would come now, or it is not found.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Self

from dpassay.errors import InvalidInput, LedgerError
from dpassay.mechanism import FunctionMechanism
from dpassay.targets.guard import AuditTarget
from dpassay.targets.source import files_of
from dpassay.trials.blocks import BlockCounts, block_of
from dpassay.trials.wire import Garbled, pack, read, unpack

APPLICATION = 0x64706173
"""`dpas`: marks a SQLite file as a ledger."""
VERSION = 5
BUSY = 30.0
"""Seconds to wait for another process that writes to the same ledger."""
PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")
TABLE = """
CREATE TABLE IF NOT EXISTS work (
    dataset BLOB NOT NULL, first INTEGER NOT NULL, stop INTEGER NOT NULL, trials INTEGER NOT NULL,
    value BLOB NOT NULL, checksum BLOB NOT NULL,
    PRIMARY KEY (dataset, first, stop, trials)
) WITHOUT ROWID
"""
FOUND = """
SELECT value, checksum FROM work WHERE dataset = ? AND first = ? AND stop = ? AND trials = ?
"""
HELD = [("table", "work")]
"""All that a ledger holds; a trigger could undo what is written."""

SEALED: dict[str, str] = {}
"""Digests of the modules of a command, made before any code of theirs ran."""

Key = tuple[bytes, int, int, int]
"""Dataset (a digest of all its counts depend on), first block, block after the last, trials."""
AGAIN = "run without --resume"
"""What to do about a ledger of a run that cannot be used."""


class Ledger:
    """Finished work in a file, made when the first result is written.

    Unless `resume`, what it already holds is removed; `remedy` says what to do about a file
    that cannot be used: one that is no ledger, of another version, or (with `resume`) damaged.
    """

    def __init__(self, path: Path, *, resume: bool, remedy: str = AGAIN) -> None:
        self.path = path
        self._remedy = remedy
        self._connection: sqlite3.Connection | None = None
        if not path.exists():
            return
        if not _is_ours(path):
            raise InvalidInput(
                f"'{path}': is no ledger of dpassay; move it away, or write to another folder"
            )
        if resume:
            with self._faults(InvalidInput):
                self._open()
        else:
            self._clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()

    def get(self, key: Key) -> BlockCounts | None:
        """Return the counts of a key, or None; raise `LedgerError` if they have been damaged."""
        found = self.find(key)
        if found is None:
            return None
        try:
            counts: BlockCounts = read(BlockCounts, found)
        except Garbled:
            raise self._damaged(key) from None
        if counts.calls.ndim != 3 or len(counts.marks) != key[2] - key[1]:
            raise self._damaged(key)
        return counts

    def find(self, key: Key) -> Any:
        """Return the result of a key, or None; raise `LedgerError` if it has been damaged."""
        with self._faults(LedgerError):
            row = self._open().execute(FOUND, key).fetchone()
        if row is None:
            return None
        value, checksum = row
        if not isinstance(value, bytes) or checksum != _checksum(key, value):
            raise self._damaged(key)
        try:
            return unpack(value)[1]
        except Garbled:
            raise self._damaged(key) from None

    def keep(self, rows: Iterable[tuple[Key, Any]]) -> None:
        """Write finished results, all of them or none.

        A `LedgerError` says that they cannot be written, or that the ledger holds another
        result under the same key.
        """
        with self._faults(LedgerError):
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                for key, value in rows:
                    self._insert(connection, key, pack(0, value))
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _insert(self, connection: sqlite3.Connection, key: Key, value: bytes) -> None:
        row = (*key, value, _checksum(key, value))
        written = connection.execute("INSERT OR IGNORE INTO work VALUES (?, ?, ?, ?, ?, ?)", row)
        if written.rowcount == 1:
            return
        if connection.execute(FOUND, key).fetchone() != row[4:]:
            raise LedgerError(
                f"ledger '{self.path}': holds another result for blocks {key[1]} to {key[2] - 1} "
                f"of dataset {key[0].hex()[:16]}; the mechanism does not draw from rng alone, or "
                f"it has changed; {self._remedy}"
            )

    def _damaged(self, key: Key) -> LedgerError:
        return LedgerError(
            f"ledger '{self.path}': blocks {key[1]} to {key[2] - 1} are damaged; {self._remedy}"
        )

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(self.path, timeout=BUSY, isolation_level=None)
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the table in a new file, or check it in an older one.

        Readers and one writer then work side by side.
        """
        connection.execute("BEGIN IMMEDIATE")
        found = tuple(
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        if found == (0, 0):
            connection.execute(TABLE)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        elif found != (APPLICATION, VERSION):
            raise LedgerError(
                f"ledger '{self.path}': has version {found[1]}, not {VERSION}; {self._remedy}"
            )
        if connection.execute("SELECT type, name FROM sqlite_master").fetchall() != HELD:
            raise LedgerError(
                f"ledger '{self.path}': holds other tables, or triggers; {self._remedy}"
            )
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        if connection.execute("PRAGMA quick_check").fetchone()[0] != "ok":
            raise LedgerError(f"ledger '{self.path}': is damaged; {self._remedy}")

    def _clear(self) -> None:
        """Empty a ledger in place, since another process may use it; remove it where that fails."""
        try:
            self._open().execute("DELETE FROM work")
        except sqlite3.OperationalError as error:
            raise InvalidInput(f"ledger '{self.path}': cannot be emptied ({error})") from None
        except (sqlite3.Error, LedgerError, UnicodeDecodeError):
            self._remove()

    def _remove(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        try:
            for suffix in ("", "-wal", "-shm", "-journal"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        except OSError as error:
            raise InvalidInput(
                f"ledger '{self.path}': cannot be removed ({error.strerror})"
            ) from None

    @contextmanager
    def _faults(self, kind: type[InvalidInput | LedgerError]) -> Iterator[None]:
        try:
            yield
        except LedgerError as error:
            raise (error if kind is LedgerError else kind(str(error))) from None
        except sqlite3.OperationalError as error:
            raise kind(f"ledger '{self.path}': cannot be read or written ({error})") from None
        except (sqlite3.Error, OverflowError, UnicodeDecodeError):
            raise kind(f"ledger '{self.path}': is damaged; {self._remedy}") from None


def dataset_key(
    stream: tuple[str | float, ...], queries: str, coding: str, code: list[str], rows: int
) -> bytes:
    """Return a digest of all that a dataset's counts depend on.

    `queries` is their digest, `rows` how many a call asks for.
    """
    return hashlib.sha256(json.dumps([*stream, queries, coding, code, rows]).encode()).digest()


def block_key(dataset: bytes, first: int, stop: int, size: int) -> Key:
    """Key of the blocks `first` to `stop - 1` of `size` trials on a dataset."""
    length = block_of(size)
    return dataset, first, stop, min(stop * length, size) - first * length


def code_of(target: AuditTarget) -> list[str]:
    """Versions and source digests of what makes the counts, as far as they can be known.

    Those of Python, of the numerical packages and of dpassay itself, of the file that defines the
    mechanism or function, and of those that its address and parameters name as `module:object`.
    They are found without importing anything, and the process of the mechanism is not asked. What
    these files import is not followed.
    """
    mechanism = target.given
    thing = mechanism.function if isinstance(mechanism, FunctionMechanism) else type(mechanism)
    modules = [str(getattr(thing, "__module__", None))]
    for value in (target.address, *target.parameters.values()):
        modules += re.findall(r"[\w.]+(?=:)", value) if isinstance(value, str) else []
    digests = (SEALED.get(module) or source_digest(module) for module in modules)
    return [str(target.address), *installed(), *digests]


@cache
def installed() -> tuple[str, ...]:
    """Versions of Python and the numerical packages, and the digest of dpassay's own source."""
    own = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        own.update(path.read_bytes())
    return sys.version, own.hexdigest(), *(metadata.version(name) for name in PACKAGES)


def source_digest(module: str) -> str:
    """Return the digest of a module's file, and of the packages that it is in."""
    try:
        held = [path.read_bytes() for path in files_of(module)]
    except OSError:
        held = []
    return hashlib.sha256(b"\0".join(held)).hexdigest() if held else "unknown"


def _is_ours(path: Path) -> bool:
    """Return whether a file bears the mark of a ledger, or is empty, as it first is."""
    try:
        with path.open("rb") as file:
            header = file.read(72)
    except OSError as error:
        raise InvalidInput(f"ledger '{path}': cannot be read ({error.strerror})") from None
    return not header or (
        header.startswith(b"SQLite format 3\0") and header[68:72] == APPLICATION.to_bytes(4, "big")
    )


def _checksum(key: Key, value: bytes) -> bytes:
    return hashlib.sha256(json.dumps([key[0].hex(), *key[1:]]).encode() + value).digest()
