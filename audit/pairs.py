"""Pairs of neighbouring datasets: a base dataset and a change to it, never two unrelated copies."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpassay.changes import (
    AnyOf,
    Change,
    Compared,
    Edit,
    FlipLabel,
    Replace,
    ReplaceValue,
    Several,
    Shift,
)
from dpassay.data import Dataset, Labelled, Lines, Values
from dpassay.errors import InvalidInput, is_count, require
from dpassay.relations import (
    REPLACE_ONE,
    answers_among,
    answers_relation,
    check_relation,
    replace_relation,
    within,
)
from dpassay.rows.rows import Rows
from dpassay.seeds import stream

__all__ = ["AnyOf", "Change", "Compared", "Edit", "FlipLabel", "Pairs", "Replace", "ReplaceValue"]
__all__ += ["Several", "Shift", "change_from_json", "replace_one"]

Neighbours = Literal["one", "flip", "one+flip", "all"]
"""Per record: `one` replacement from the pool, the label `flip`ped, both, or `all` of the pool and
the flip."""
NEIGHBOURS: tuple[Neighbours, ...] = ("one", "flip", "one+flip", "all")
NOTHING_ASKED = np.zeros((1, 1))
"""In the place of query points where there are none."""
NOTHING_ASKED.flags.writeable = False


def change_key(change: Change, pool: Labelled | None) -> str:
    """Return what a change is known by in records: 16 digits of the SHA-256 of what it does.

    A replacement by a record of the pool is known by its number and the pool's digest, so that the
    key tells nothing of the record.
    """
    told = [change.as_json(), None if pool is None else pool.digest]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def one_by_one(change: Change) -> tuple[Change, ...]:
    """Return the changes of one record each that make up a change."""
    return change.changes if isinstance(change, Several) else (change,)


def from_pool(pool: Labelled, index: int, j: int) -> Replace:
    """Return the replacement of record `index` by record `j` of a pool."""
    return Replace(index, pool.X[j], int(pool.y[j]), j)


def fits(change: Change, base: Dataset) -> bool:
    """Return whether a change can be made to a dataset: of its kind, with its record there."""
    if isinstance(change, (Several, AnyOf)):
        return all(fits(each, base) for each in change.changes)
    if isinstance(change, Shift):
        return isinstance(base, Values) and len(change.by) == len(base)
    if isinstance(change, Edit):
        return change.fits(base)
    kind = Values if isinstance(change, ReplaceValue) else Labelled
    known = isinstance(change, (Replace, FlipLabel, ReplaceValue))  # others are of the user's own
    there = is_count(change.index, 0) and change.index < len(base)
    return there and (isinstance(base, kind) or not known)


def in_file(change: Change, lines: Lines | None) -> Change:
    """Return the same change, told by the lines of a file, or by the places of records again."""
    if isinstance(change, (Several, AnyOf)):
        return type(change)(tuple(in_file(each, lines) for each in change.changes))
    if not isinstance(change, (FlipLabel, Replace)):
        return change
    line = None if lines is None else int(lines.train[change.index])
    if isinstance(change, FlipLabel):
        return replace(change, line=line)
    new = None if lines is None or change.pool is None else int(lines.pool[change.pool])
    return replace(change, line=line, new_line=new)


def changed_lines(change: Change) -> tuple[int, ...]:
    """Return the lines in which the changed records begin; empty where they are of no file."""
    each_line = (getattr(each, "line", None) for each in getattr(change, "changes", (change,)))
    return tuple(line for line in each_line if line is not None)


def change_from_json(change: dict[str, Any], pool: Labelled | None) -> Change:
    """Read back what `Change.as_json` wrote; refuse a record that the pool does not have."""
    try:
        kind = change["kind"]
        if kind in ("several", "any-of"):
            parts = tuple(change_from_json(each, pool) for each in change["changes"])
            return (Several if kind == "several" else AnyOf)(parts)
        if kind == "shift":
            return Shift(tuple(change["by"]))
        if kind == "edit":
            check_relation(change["relation"])
            return Edit(
                replaced=tuple(
                    (place, tuple(map(float, row))) for place, row in change["replaced"]
                ),
                removed=tuple(change["removed"]),
                added=tuple(tuple(map(float, row)) for row in change["added"]),
                relation=change["relation"],
            )
        single = _of_one_from_json(change, pool)
    except InvalidInput:
        raise
    except (LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise InvalidInput(f"change = {change!r:.80}: cannot be read ({error})") from None
    if single is None:
        raise InvalidInput(
            f"change = {change!r:.80}: must be of kind 'replace', 'flip-label', 'replace-value', "
            "'shift', 'edit', 'several' or 'any-of'"
        )
    return single


def _of_one_from_json(change: dict[str, Any], pool: Labelled | None) -> Change | None:
    """Read back the change of one record; return None if it is of no such kind."""
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """One base dataset and the changes that make its neighbours.

    Parameters
    ----------
    base : Labelled or Values
        The dataset S.
    changes : tuple of Change
        One per pair; at least one.
    how : str
        How they were chosen, in words; stands in the report beside what was searched.
    pool : Labelled, optional
        The records that replacements with a `pool` number were drawn from.
    relation : str
        Neighbour relation that every change keeps to.
    key : str
        How they were chosen, for programs: what two records are compared by, however `how` is
        worded. By default the numbers of records and of changes.

    Raises
    ------
    InvalidInput
        If the dataset is no Labelled or Values, if there is no change, or one that the relation
        does not allow, of another kind of data or of a record that is not there, or the pool is no
        Labelled.
    """

    base: Any
    changes: tuple[Change, ...]
    how: str
    pool: Labelled | None = None
    relation: str = field(default=REPLACE_ONE)
    key: str = ""

    def __post_init__(self) -> None:
        base, changes = self.base, self.changes
        datasets = "a dataset: Labelled(X, y), Values(values) or Rows"
        require(isinstance(base, Dataset), "base", _kind(base), datasets)
        members = ("index", "at", "apply", "as_json")
        known = isinstance(changes, (tuple, list)) and all(
            hasattr(change, name) for change in changes for name in members
        )
        tuples = f"a tuple of changes: {_changes_of(base)}, Several(...)"
        require(known, "changes", _kind(changes), tuples)
        known = self.pool is None or isinstance(self.pool, Labelled)
        require(known, "pool", _kind(self.pool), "a Labelled(X, y), or None")
        if isinstance(base, Rows):  # a change of rows tells cells as the user gave them
            form = base.form
            told = (
                replace(each, form=form) if isinstance(each, Edit) else each for each in changes
            )
            changes = tuple(told)
        object.__setattr__(self, "changes", tuple(changes))
        some = "at least one change, else there is nothing to compare"
        require(len(self.changes) > 0, "pairs", "no change", some)
        for several in self.changes:
            for change in getattr(several, "changes", (several,)):
                require(fits(change, base), "change", str(change), _allowed(change, base))
        check_relation(self.relation)
        for change in self.changes:
            narrow, does = _narrowest(change, among=answers_among(self.relation) is not None)
            allowed = f"'{narrow}' or wider, as a change {does}"
            require(within(narrow, self.relation), "relation", self.relation, allowed)
        require(isinstance(self.key, str), "key", self.key, "a text")
        if not self.key:
            object.__setattr__(self, "key", f"given:{len(base)}:{len(self.changes)}")

    def __len__(self) -> int:
        return len(self.changes)

    def in_file(self, lines: Lines | None) -> Pairs:
        """Return the same pairs, their changes told by the lines of a file."""
        return replace(self, changes=tuple(in_file(change, lines) for change in self.changes))


def _narrowest(change: Change, *, among: bool) -> tuple[str, str]:
    """Return the narrowest relation for a change, `among` so many answers, and what it does."""
    if isinstance(change, Shift):
        many = f"{change.moved} answers, one of them" if change.moved > 1 else "an answer"
        relation = answers_relation(change.largest, change.moved if among else None)
        return relation, f"moves {many} by {change.largest:.6g}"
    if isinstance(change, Edit):
        does = f"replaces {len(change.replaced)} records and adds or removes others"
        return change.relation, does
    count = len(one_by_one(change))
    return replace_relation(count), f"replaces {count} records"


def _changes_of(base: Dataset) -> str:
    if isinstance(base, Rows):
        return "Edit(...)"
    labelled = isinstance(base, Labelled)
    return "Replace(...), FlipLabel(...)" if labelled else "Shift(...), ReplaceValue(...)"


def _allowed(change: Change, base: Dataset) -> str:
    """Say which changes of a dataset there are: of a record that is there, or of its kind."""
    if isinstance(base, Rows):
        return f"an Edit(...) of the records 0 to {len(base) - 1}, with cells that there may be"
    if isinstance(change, (Shift, ReplaceValue)) != isinstance(base, Values):
        return f"a change of {type(base).__name__}: {_changes_of(base)}"
    if isinstance(change, Shift):
        return f"of {len(base)} answers, as many as base has"
    return f"of one of the records 0 to {len(base) - 1} of base"


def _kind(given: object) -> str:
    """Name the type given in place of a dataset, not its values: they may be anybody's records."""
    name = type(given).__name__
    if not (isinstance(given, (tuple, list)) and 0 < len(given) <= 100):
        return name
    return f"{name} of {', '.join(sorted({type(each).__name__ for each in given}))}"


def replace_one(
    X: ArrayLike,
    y: ArrayLike,
    *,
    pool: Labelled | tuple[ArrayLike, ArrayLike] | None = None,
    neighbours: Neighbours = "one+flip",
    seed: int = 0,
) -> Pairs:
    """Neighbours of a labelled dataset under replace-one, for every record of it.

    Parameters
    ----------
    X, y : array (n, d), array (n,)
        The base dataset. Label flips need labels in {0, 1}.
    pool : Labelled or (X, y), optional
        Records that may replace one of the dataset; without it only labels are flipped.
    neighbours : {"one+flip", "one", "flip", "all"}
        Each record replaced by one drawn from the pool, its label flipped, both, or replaced by
        every record of the pool and flipped.
    seed : int
        Decides which record of the pool replaces which.

    Raises
    ------
    InvalidInput
        If the arrays are no labelled data, the pool has other columns, or the choice needs a pool
        and there is none.
    """
    base = Labelled(X, y)  # type: ignore[arg-type]
    require(neighbours in NEIGHBOURS, "neighbours", neighbours, f"one of {', '.join(NEIGHBOURS)}")
    require(is_count(seed, 0), "seed", seed, "an integer >= 0")
    records = pool if pool is None or isinstance(pool, Labelled) else Labelled(*pool)  # type: ignore[arg-type]
    if records is not None and records.X.shape[1] != base.X.shape[1]:
        raise InvalidInput(
            f"pool = {records.X.shape[1]} columns: must be {base.X.shape[1]}, as X has"
        )
    if records is None or len(records) == 0:
        flips = neighbours in ("flip", "one+flip")
        require(flips, "neighbours", neighbours, "'flip' where there is no pool")
        records, neighbours = None, "flip"

    count, size = len(base), 0 if records is None else len(records)
    changes: list[Change] = []
    if records is not None and neighbours in ("one", "one+flip"):
        rng = stream(int(seed), "replace-one", base.digest, records.digest)
        drawn = rng.integers(size, size=count)
        changes += [from_pool(records, i, int(j)) for i, j in enumerate(drawn)]
    if records is not None and neighbours == "all":
        changes += [from_pool(records, i, j) for i in range(count) for j in range(size)]
    if neighbours != "one":
        known = np.unique(base.y).tolist()
        require(max(known) <= 1, "y", known, "labels 0 and 1, for a label to be flipped")
        changes += [FlipLabel(i) for i in range(count)]
    replaced = f"each of {count} records replaced once by"
    how = {
        "one": f"{replaced} one drawn from a pool of {size}",
        "flip": f"the label of each of {count} records flipped once",
        "one+flip": f"{replaced} one drawn from a pool of {size}, and its label flipped once",
        "all": f"{replaced} each one of a pool of {size}, and its label flipped once",
    }[neighbours]
    how += f" ({len(changes):,} {'pair' if len(changes) == 1 else 'pairs'})"
    key = f"{neighbours}:{count}:{size}"
    return Pairs(base=base, changes=tuple(changes), how=how, pool=records, key=key)


def replace_several(pairs: Pairs, k: int) -> Pairs:
    """Return neighbours under replace-k: each change with the next ones of other records."""
    changes, size = [], len(pairs)
    for place, first in enumerate(pairs.changes):
        chosen: dict[int, Change] = {}  # of other records: the next ones, in a circle
        for step in range(size):
            change = pairs.changes[(place + step) % size]
            chosen.setdefault(change.index, change)
            if len(chosen) == k:
                break
        changes.append(first if len(chosen) == 1 else Several(tuple(chosen.values())))
    how = pairs.how if k == 1 else f"{pairs.how}; {k} of these changes at a time"
    key = pairs.key if k == 1 else f"{pairs.key}:{k}"
    return replace(pairs, changes=tuple(changes), how=how, relation=replace_relation(k), key=key)
