"""What baselines of attacks and of theorems have in common: their schema, and the same facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from dpassay.errors import InvalidInput
from dpassay.record.files import dumps, exists, schema_at, write_text

Raw = Mapping[str, Any]


def require_schema(path: Path, argument: str, schema: str, command: str) -> None:
    """Make sure that a file says that it is of a schema.

    Raises
    ------
    InvalidInput
        If it does not; the message says what it is instead.
    """
    held = schema_at(path)
    if held != schema:
        what = f"is of schema {held:.40}" if held else "is no record, or not valid JSON"
        raise InvalidInput(f"{argument} = '{path}': {what}; must be a record of `{command}`")


def require_same(
    before: Raw, after: Raw, may_differ: AbstractSet[str], where: str, remedy: str
) -> None:
    """Make sure that two runs have the same facts.

    Parameters
    ----------
    before, after : mapping
        Facts of the older and of the newer run, by name.
    may_differ : set of str
        Names of facts that say nothing of what was measured.
    where : str
        Argument and file of the older record, for the message.
    remedy : str
        What to do.

    Raises
    ------
    InvalidInput
        If another fact differs.
    """
    for name in sorted({*before, *after} - may_differ):
        if before.get(name) != after.get(name):
            one, other = (_short(run.get(name)) for run in (before, after))
            raise InvalidInput(
                f"{where}: is stale: it has {name} = {one}, the record {other}; {remedy}"
            )


def replace_baseline(
    baseline: Path, record: Raw, is_one: Callable[[Path], bool], kind: str
) -> None:
    """Write a baseline; a file that is none of its kind is not replaced.

    Raises
    ------
    InvalidInput
        If there is such a file, or the baseline cannot be written.
    """
    if exists(baseline) and not is_one(baseline):
        raise InvalidInput(
            f"--baseline = '{baseline}': is not {kind}, so it is not replaced; move it away, or "
            "name another file"
        )
    write_text(baseline, dumps(record), "--baseline")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
