"""Pairs of neighbouring datasets: a base dataset and a change to it, never two unrelated copies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpassay.changes import (
    AnyOf,
    Change,
    Compared,
    FlipLabel,
    Replace,
    ReplaceValue,
    Several,
    Shift,
    change_from_json,
    change_key,
    fits,
    from_pool,
    in_file,
    narrowest,
    one_by_one,
)
from dpassay.data import Dataset, Labelled, Lines, Values
from dpassay.edits import Edit
from dpassay.errors import InvalidInput, is_count, require
from dpassay.relations import REPLACE_ONE, answers_among, check_relation, replace_relation, within
from dpassay.rows.rows import Rows
from dpassay.seeds import stream

__all__ = [
    "NEIGHBOURS",
    "NOTHING_ASKED",
    "AnyOf",
    "Change",
    "Compared",
    "FlipLabel",
    "Neighbours",
    "Pairs",
    "Replace",
    "ReplaceValue",
    "Several",
    "Shift",
    "change_from_json",
    "change_key",
    "one_by_one",
    "replace_one",
    "replace_several",
]
"""Changes have a module of their own; they can be imported from here too."""

Neighbours = Literal["one", "flip", "one+flip", "all"]
"""Per record: `one` replacement from the pool, the label `flip`ped, both, or `all` of the pool and
the flip."""

NOTHING_ASKED = np.zeros((1, 1))
"""In the place of query points where there are none."""
NOTHING_ASKED.flags.writeable = False
NEIGHBOURS: tuple[Neighbours, ...] = ("one", "flip", "one+flip", "all")


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
        known = isinstance(self.base, Dataset)
        datasets = "a dataset: Labelled(X, y), Values(values) or Rows"
        require(known, "base", _kind(self.base), datasets)
        known = isinstance(self.changes, (tuple, list)) and all(map(_is_change, self.changes))
        tuples = f"a tuple of changes: {_changes_of(self.base)}, Several(...)"
        require(known, "changes", _kind(self.changes), tuples)
        known = self.pool is None or isinstance(self.pool, Labelled)
        require(known, "pool", _kind(self.pool), "a Labelled(X, y), or None")
        object.__setattr__(self, "changes", tuple(map(self._told, self.changes)))
        some = "at least one change, else there is nothing to compare"
        require(len(self.changes) > 0, "pairs", "no change", some)
        for several in self.changes:
            for change in getattr(several, "changes", (several,)):
                require(fits(change, self.base), "change", str(change), _allowed(change, self.base))
        check_relation(self.relation)
        for change in self.changes:
            narrow = narrowest(change, among=answers_among(self.relation) is not None)
            allowed = f"'{narrow}' or wider, as a change {_does(change)}"
            require(within(narrow, self.relation), "relation", self.relation, allowed)
        require(isinstance(self.key, str), "key", self.key, "a text")
        if not self.key:
            object.__setattr__(self, "key", f"given:{len(self.base)}:{len(self.changes)}")

    def _told(self, change: Change) -> Change:
        """Return a change of rows so that it tells cells as the user gave them."""
        rows = isinstance(change, Edit) and isinstance(self.base, Rows)
        return change.told_by(self.base.form) if rows else change  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self.changes)

    def in_file(self, lines: Lines | None) -> Pairs:
        """Return the same pairs, their changes told by the lines of a file."""
        return replace(self, changes=tuple(in_file(change, lines) for change in self.changes))


def _changes_of(base: Dataset) -> str:
    if isinstance(base, Rows):
        return "Edit(...)"
    labelled = isinstance(base, Labelled)
    return "Replace(...), FlipLabel(...)" if labelled else "Shift(...), ReplaceValue(...)"


def _allowed(change: Change, base: Dataset) -> str:
    """Say which changes of a dataset there are: of a record that is there, or of its kind."""
    if isinstance(base, Rows):
        return f"an Edit(...) of the records 0 to {len(base) - 1}, with cells that there may be"
    numbers = isinstance(base, Values)
    if isinstance(change, (Shift, ReplaceValue)) != numbers:
        return f"a change of {type(base).__name__}: {_changes_of(base)}"
    if isinstance(change, Shift):
        return f"of {len(base)} answers, as many as base has"
    return f"of one of the records 0 to {len(base) - 1} of base"


def _does(change: Change) -> str:
    if isinstance(change, Shift):
        if change.moved == 1:
            return f"moves an answer by {change.largest:.6g}"
        return f"moves {change.moved} answers, one of them by {change.largest:.6g}"
    if isinstance(change, Edit):
        return f"replaces {len(change.replaced)} records and adds or removes others"
    return f"replaces {len(one_by_one(change))} records"


def _is_change(change: object) -> bool:
    return all(hasattr(change, name) for name in ("index", "at", "apply", "as_json"))


def _kind(found: object) -> str:
    """Name the type given in place of a dataset, not its values: they may be anybody's records."""
    name = type(found).__name__
    short = isinstance(found, (tuple, list)) and 0 < len(found) <= 100
    if not short:
        return name
    inside = {type(each).__name__ for each in found}  # type: ignore[attr-defined]
    return f"{name} of {', '.join(sorted(inside))}"


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
    """Make neighbours under replace-k, as many, of neighbours under replace-one.

    Each is a change with the next ones of other records, k in all; fewer where the changes are of
    fewer records.
    """
    changes = tuple(_with_others(pairs.changes, place, k) for place in range(len(pairs)))
    how = pairs.how if k == 1 else f"{pairs.how}; {k} of these changes at a time"
    key = pairs.key if k == 1 else f"{pairs.key}:{k}"
    return replace(pairs, changes=changes, how=how, relation=replace_relation(k), key=key)


def _with_others(changes: tuple[Change, ...], place: int, k: int) -> Change:
    """Return the change at a place and the next ones, in a circle, that are of other records."""
    chosen: dict[int, Change] = {}
    for step in range(len(changes)):
        change = changes[(place + step) % len(changes)]
        chosen.setdefault(change.index, change)
        if len(chosen) == k:
            break
    return changes[place] if len(chosen) == 1 else Several(tuple(chosen.values()))
