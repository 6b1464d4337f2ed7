"""The baseline of theorems: the record that a team has accepted, which later ones are held against.

It is a whole record: a row is compared with itself, at the case that either record calls its worst.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpassay.errors import InvalidInput
from dpassay.record.files import schema_at
from dpassay.record.kept import read_kept, require_same

Raw = Mapping[str, Any]

SCHEMA = "dpassay/theorems/1"
THEOREM_BASELINE = "dpassay-theorem-baseline.json"
"""Where it is kept unless another file is named."""
MAY_DIFFER = frozenset({"command", "commit", "complete", "packages", "seed", "version"})
"""Facts that two records may differ in."""


def is_theorem_record(path: Path) -> bool:
    """Return whether a file is a record of theorems, of this schema."""
    return schema_at(path) == SCHEMA


def read_theorem_record(path: Path, argument: str = "RECORD") -> dict[str, Any]:
    """Read a record of theorems; raise `InvalidInput` if the file is none, or damaged."""
    return read_kept(path, argument, "theorems", "dpassay theorem run")


def require_same_depth(old: Raw, new: Raw, path: Path, argument: str = "baseline") -> None:
    """Make sure that two records of theorems went equally deep and have a row in common."""
    where = f"{argument} = '{path}'"
    again = (
        "run `dpassay theorem run` with the same options, or look at the new record and run "
        "`dpassay baseline accept`"
    )
    require_same(old["run"], new["run"], MAY_DIFFER, where, again)
    mine, theirs = ({each["id"] for each in record["results"]} for record in (old, new))
    if not mine & theirs:
        raise InvalidInput(f"{where}: is stale: it has none of the rows of the record; {again}")
