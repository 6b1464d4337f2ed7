"""What baselines of several kinds have in common: a schema, the same facts, what none excuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from dpassay.errors import InvalidInput
from dpassay.record.files import read_json, schema_at
from dpassay.record.schemas import fault

Raw = Mapping[str, Any]


def read_kept(path: Path, argument: str, name: str, command: str) -> dict[str, Any]:
    """Read a record of schema `dpassay/NAME/1`, which a command writes, or say what the file is."""
    held = schema_at(path)
    if held != f"dpassay/{name}/1":
        what = f"is of schema {held:.40}" if held else "is no record, or not valid JSON"
        raise InvalidInput(f"{argument} = '{path}': {what}; must be a record of `{command}`")
    record: dict[str, Any] = read_json(path.read_text(encoding="utf-8"))
    if wrong := fault(record, name):
        raise InvalidInput(f"{argument} = '{path}': is damaged: {wrong}")
    return record


def require_same(
    before: Raw, after: Raw, may_differ: AbstractSet[str], where: str, remedy: str
) -> None:
    """Make sure that two runs have the same facts, apart from those that may differ."""
    for name in sorted({*before, *after} - may_differ):
        if before.get(name) != after.get(name):
            one, other = (_short(run.get(name)) for run in (before, after))
            raise InvalidInput(
                f"{where}: is stale: it has {name} = {one}, the record {other}; {remedy}"
            )


def refuted(record: Raw) -> Iterator[str]:
    """Say which results of a record are refuted, but for those that are known to be wrong."""
    for result in record["results"]:
        if result["verdict"] == "refuted" != result["expected"]:
            yield f"{result['id']} is refuted: no baseline excuses that, only a suppression does"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
