"""What a change is known by, under which relation it makes a neighbour, which data it fits."""

from __future__ import annotations

import hashlib
import json

from dpassay.changes.change import Change
from dpassay.changes.numbers import ReplaceValue, Shift
from dpassay.changes.records import FlipLabel, Replace
from dpassay.changes.several import AnyOf, Several, one_by_one
from dpassay.data import Dataset, Labelled, Values
from dpassay.edits import Edit
from dpassay.errors import is_count
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
