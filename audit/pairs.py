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
        require(
            known, "base", _kind(self.base), "a dataset: Labelled(X, y), Values(values) or Rows"
        )
        known = isinstance(self.changes, (tuple, list)) and all(map(_is_change, self.changes))
        require(
            known,
            "changes",
            _kind(self.changes),
            f"a tuple of changes: {_changes_of(self.base)}, Several(...)",
        )
        require(
            self.pool is None or isinstance(self.pool, Labelled),
            "pool",
            _kind(self.pool),
            "a Labelled(X, y), or None",
        )
        told = tuple(map(self._told, self.changes))
        object.__setattr__(self, "changes", told)
        require(
            len(self.changes) > 0,
            "pairs",
            "no change",
            "at least one change, else there is nothing to compare",
        )
        for change in (
            each for several in self.changes for each in getattr(several, "changes", (several,))
        ):
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
    return (
        "Replace(...), FlipLabel(...)"
        if isinstance(base, Labelled)
        else "Shift(...), ReplaceValue(...)"
    )


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
    inside = (
        {type(each).__name__ for each in found}
        if isinstance(found, (tuple, list)) and len(found) <= 100
        else set()
    )
    return (
        f"{type(found).__name__} of {', '.join(sorted(inside))}" if inside else type(found).__name__
    )


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
    candidates = (
        pool
        if pool is None
        or isinstance(
            pool,
            Labelled,
        )
        else Labelled(*pool)  # type: ignore[arg-type]
    )
    if candidates is not None and candidates.X.shape[1] != base.X.shape[1]:
        raise InvalidInput(
            f"pool = {candidates.X.shape[1]} columns: must be {base.X.shape[1]}, as X has"
        )
    if candidates is None or len(candidates) == 0:
        require(
            neighbours in ("flip", "one+flip"),
            "neighbours",
            neighbours,
            "'flip' where there is no pool",
        )
        candidates, neighbours = None, "flip"

    changes: list[Change] = []
    if candidates is not None and neighbours in ("one", "one+flip"):
        drawn = stream(int(seed), "replace-one", base.digest, candidates.digest).integers(
            len(candidates), size=len(base)
        )
        changes += [from_pool(candidates, i, int(j)) for i, j in enumerate(drawn)]
    if candidates is not None and neighbours == "all":
        changes += [
            from_pool(candidates, i, j) for i in range(len(base)) for j in range(len(candidates))
        ]
    if neighbours != "one":
        require(
            bool((base.y <= 1).all()),
            "y",
            np.unique(base.y).tolist(),
            "labels 0 and 1, for a label to be flipped",
        )
        changes += [FlipLabel(i) for i in range(len(base))]
    size = 0 if candidates is None else len(candidates)
    how = {
        "one": f"each of {len(base)} records replaced once by one drawn from a pool of {size}",
        "flip": f"the label of each of {len(base)} records flipped once",
        "one+flip": (
            f"each of {len(base)} records replaced once by one drawn from a pool of {size}, and "
            "its label flipped once"
        ),
        "all": (
            f"each of {len(base)} records replaced once by each one of a pool of {size}, and its "
            "label flipped once"
        ),
    }[neighbours]
    how += f" ({len(changes):,} {'pair' if len(changes) == 1 else 'pairs'})"
    key = f"{neighbours}:{len(base)}:{size}"
    return Pairs(base=base, changes=tuple(changes), how=how, pool=candidates, key=key)


def replace_several(pairs: Pairs, k: int) -> Pairs:
    """Make neighbours under replace-k, as many, of neighbours under replace-one.

    Each is a change with the next ones of other records, k in all; fewer where the changes are of
    fewer records.
    """
    changes = tuple(_with_others(pairs.changes, place, k) for place in range(len(pairs)))
    how = pairs.how if k == 1 else f"{pairs.how}; {k} of these changes at a time"
    key = pairs.key if k == 1 else f"{pairs.key}:{k}"
    return Pairs(
        base=pairs.base,
        changes=changes,
        how=how,
        pool=pairs.pool,
        relation=replace_relation(k),
        key=key,
    )


def _with_others(changes: tuple[Change, ...], place: int, k: int) -> Change:
    """Return the change at a place and the next ones, in a circle, that are of other records."""
    chosen: dict[int, Change] = {}
    for step in range(len(changes)):
        change = changes[(place + step) % len(changes)]
        chosen.setdefault(change.index, change)
        if len(chosen) == k:
            break
    return changes[place] if len(chosen) == 1 else Several(tuple(chosen.values()))
