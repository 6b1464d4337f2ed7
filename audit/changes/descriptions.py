"""What is said of changes: in records, in files, and of which data and relation they are."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import numpy as np

from dpassay.changes.kinds import (
    AnyOf,
    Change,
    FlipLabel,
    Replace,
    ReplaceValue,
    Several,
    Shift,
    from_pool,
    one_by_one,
)
from dpassay.data import Dataset, Labelled, Lines, Values
from dpassay.edits import Edit, edit_from_json
from dpassay.errors import InvalidInput, is_count, require
from dpassay.relations import answers_relation, replace_relation


def change_key(change: Change, pool: Labelled | None) -> str:
    """Return what a change is known by in every record.

    16 hexadecimal digits of the SHA-256 of what it does.

    A replacement by a record of the pool is known by its number and the pool's digest, so that the
    key tells nothing of the record.
    """
    told = [change.as_json(), None if pool is None else pool.digest]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def narrowest(change: Change, *, among: bool = False) -> str:
    """Return the narrowest relation of neighbours for a change, `among` so many answers."""
    if isinstance(change, Shift):
        return answers_relation(change.largest, change.moved if among else None)
    if isinstance(change, Edit):
        return change.relation
    return replace_relation(len(one_by_one(change)))


def fits(change: Change, base: Dataset) -> bool:
    """Return whether a change can be made to a dataset: of its kind, with its record there."""
    if isinstance(change, (Several, AnyOf)):
        return all(fits(each, base) for each in change.changes)
    if isinstance(change, Shift):
        return isinstance(base, Values) and len(change.by) == len(base)
    if isinstance(change, Edit):
        return change.fits(base)
    kind = Values if isinstance(change, ReplaceValue) else Labelled
    # others are of the user's own
    known = isinstance(change, (Replace, FlipLabel, ReplaceValue))
    there = is_count(change.index, 0) and change.index < len(base)
    return there and (isinstance(base, kind) or not known)


def in_file(change: Change, lines: Lines | None) -> Change:
    """Return the same change, told by the lines of a file instead of the places of records.

    Without lines it is told by places again. A change of a user's own class stays as it is.
    """
    if isinstance(change, (Several, AnyOf)):
        return type(change)(tuple(in_file(each, lines) for each in change.changes))
    if isinstance(change, FlipLabel):
        return replace(change, line=None if lines is None else int(lines.train[change.index]))
    if isinstance(change, Replace):
        if lines is None:
            return replace(change, line=None, new_line=None)
        new = None if change.pool is None else int(lines.pool[change.pool])
        return replace(change, line=int(lines.train[change.index]), new_line=new)
    return change


def changed_lines(change: Change) -> tuple[int, ...]:
    """Return the lines in which the changed records begin; empty where they are of no file."""
    each_line = (getattr(each, "line", None) for each in getattr(change, "changes", (change,)))
    return tuple(line for line in each_line if line is not None)


def change_from_json(change: dict[str, Any], pool: Labelled | None) -> Change:
    """Read back what `Change.as_json` wrote.

    Raise InvalidInput if the kind is unknown, a field is missing, or it names a record of a pool
    that is not there.
    """
    try:
        kind = change["kind"]
        if kind == "several":
            return Several(tuple(change_from_json(each, pool) for each in change["changes"]))
        if kind == "any-of":
            return AnyOf(tuple(change_from_json(each, pool) for each in change["changes"]))
        if kind == "shift":
            return Shift(tuple(change["by"]))
        if kind == "edit":
            return edit_from_json(change)
        single = _single_from_json(change, pool)
        if single is not None:
            return single
    except InvalidInput:
        raise
    except (LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise InvalidInput(f"change = {change!r:.80}: cannot be read ({error})") from None
    raise InvalidInput(
        f"change = {change!r:.80}: must be of kind 'replace', 'flip-label', 'replace-value', "
        "'shift', 'edit', 'several' or 'any-of'"
    )


def _single_from_json(change: dict[str, Any], pool: Labelled | None) -> Change | None:
    """Read back the change of one record; None if it is of no such kind."""
    kind, index = change["kind"], change["index"]
    require(is_count(index, 0), "change: index", index, "an integer >= 0")
    if kind == "flip-label":
        return FlipLabel(index)
    if kind == "replace-value":
        return ReplaceValue(index, change["value"])
    if kind == "replace" and "pool" in change:
        if pool is None or not 0 <= int(change["pool"]) < len(pool):
            raise InvalidInput(
                f"change names record {change['pool']} of the pool, which the data do not have"
            )
        return from_pool(pool, index, int(change["pool"]))
    if kind == "replace":
        return Replace(index, np.array(change["x"], dtype=float), int(change["y"]))
    return None
