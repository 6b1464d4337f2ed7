"""The baseline of theorems: the record that a team has accepted, which later ones are held against.

It is a whole record: a row is compared with itself, at the case that either record calls its worst.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpassay.errors import InvalidInput
from dpassay.record.files import read_json, schema_at
from dpassay.record.kept import require_same, require_schema
from dpassay.record.schemas import fault

Raw = Mapping[str, Any]

SCHEMA = "dpassay/theorems/1"
THEOREM_BASELINE = "dpassay-theorem-baseline.json"
"""Where it is kept unless another file is named."""
EQUAL = 2e-9
"""A check calls numbers equal that are so near: `dpassay.theorems.row.ROUNDING`, and the digits."""
MAY_DIFFER = frozenset({"command", "commit", "complete", "packages", "seed", "version"})
"""Facts that two records may differ in."""


def is_theorem_record(path: Path) -> bool:
    """Whether a file is a record of theorems, of this schema."""
    return schema_at(path) == SCHEMA


def read_theorem_record(path: Path, argument: str = "RECORD") -> dict[str, Any]:
    """Read a record of theorems.

    Parameters
    ----------
    path : Path
    argument : str
        The argument that named the file, for messages.

    Raises
    ------
    InvalidInput
        If the file is no such record, or damaged.
    """
    require_schema(path, argument, SCHEMA, "dpassay theorem run")
    record: dict[str, Any] = read_json(path.read_text(encoding="utf-8"))
    wrong = (
        fault(record, "theorems")
        or _twice(record)
        or _disordered(record)
        or next(filter(None, map(_contradiction, record["results"])), "")
    )
    if wrong:
        raise InvalidInput(f"{argument} = '{path}': is damaged: {wrong}")
    return record


def _twice(record: Raw) -> str:
    known: set[str] = set()
    for result in record["results"]:
        if result["id"] in known:
            return f"results has {result['id']} twice"
        known.add(result["id"])
    return ""


def _disordered(record: Raw) -> str:
    """Say which bounds are out of order; empty where none are."""
    for result in record["results"]:
        for name in ("worst", "witness"):
            held = result[name]
            if held is not None and float(held["lower"]) > float(held["upper"]):
                return f"{name} of {result['id']} has lower = {held['lower']} above its upper"
    return ""


def _contradiction(result: Raw) -> str:
    """Say where the verdict on a row is not that of its numbers; empty if it is."""
    worst, witness, refuted = result["worst"], result["witness"], result["verdict"] == "refuted"
    if (witness is not None) != refuted:
        return (
            f"{result['id']} is {result['verdict']}, {'with' if witness else 'without'} a witness"
        )
    if (worst is None) != (result["verdict"] == "error"):
        return f"{result['id']} is {result['verdict']}, {'with' if worst else 'without'} numbers"
    for name, held in (("worst", worst), ("witness", witness)):
        if held is not None and _misjudged(held, result["relation"], refuted=refuted):
            return (
                f"{name} of {result['id']} is {held['lower']} to {held['upper']}, claimed "
                f"{result['relation']} {held['claimed']}, and the verdict {result['verdict']}"
            )
    return ""


def _misjudged(held: Raw, relation: str, *, refuted: bool) -> bool:
    """Whether a number is beyond its claim for certain and not refuted, or the other way round."""
    claimed = float(held["claimed"])
    true = float(held["lower" if relation == "at most" else "upper"])
    beyond = true > claimed if relation == "at most" else true < claimed
    return beyond != refuted and not (beyond and math.isclose(true, claimed, rel_tol=EQUAL))


def require_same_depth(old: Raw, new: Raw, path: Path, argument: str = "baseline") -> None:
    """Make sure that two records of theorems went equally deep and have a row in common.

    Raises
    ------
    InvalidInput
        If they did not, or have none.
    """
    where = f"{argument} = '{path}'"
    again = (
        "run `dpassay theorem run` with the same options, or look at the new record and run "
        "`dpassay baseline accept`"
    )
    require_same(old["run"], new["run"], MAY_DIFFER, where, again)
    mine, theirs = ({each["id"] for each in record["results"]} for record in (old, new))
    if not mine & theirs:
        raise InvalidInput(f"{where}: is stale: it has none of the rows of the record; {again}")
