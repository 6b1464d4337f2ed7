"""Pairs of neighbouring datasets: a base dataset and a change to it, never two unrelated copies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.claims import REPLACE_ONE, records_replaced, replace_relation
from dpassay.data import Labelled
from dpassay.errors import InvalidInput, is_count, require
from dpassay.seeds import stream

Neighbours = Literal["one", "flip", "one+flip", "all"]
"""Per record: `one` replacement from the pool, the label `flip`ped, both, or `all` of the pool and the flip."""

NEIGHBOURS: tuple[Neighbours, ...] = ("one", "flip", "one+flip", "all")


class Change(Protocol):
    """What turns a dataset into its neighbour, by one record unless it is `Several`."""

    @property
    def index(self) -> int:
        """Place of the changed record, which it keeps."""
        ...

    def at(self, index: int) -> Change:
        """Return the same change for the record at another place (inside a block, say)."""
        ...

    def apply(self, data: Any) -> Any:
        """Return the neighbour; the dataset itself is left as it is."""
        ...

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:
        """Description that `change_from_json` reads back; with `by_value` it needs no pool."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True, eq=False)
class Replace:
    """Replace record `index` of a labelled dataset by (x, y).

    Parameters
    ----------
    index : int
        Place of the record, counted from 0.
    x : array (d,)
        Features of the new record.
    y : int
        Its label.
    pool : int, optional
        Where the new record stands in the pool it was drawn from; a witness on real data names it instead of the values.
    """

    index: int
    x: NDArray[np.float64]
    y: int
    pool: int | None = None

    def at(self, index: int) -> Replace:
        """Return the same replacement at another place."""
        return Replace(index, self.x, self.y, self.pool)

    def apply(self, data: Labelled) -> Labelled:
        """Return the dataset with the record replaced."""
        X, y = data.X.copy(), data.y.copy()
        X[self.index], y[self.index] = self.x, self.y
        return Labelled(X, y)

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:
        """By place in the pool where there is one, else by value."""
        what = {"x": self.x.tolist(), "y": self.y} if by_value or self.pool is None else {"pool": self.pool}
        return {"kind": "replace", "index": self.index} | what

    def __str__(self) -> str:
        new = f"({_short(self.x)}, label {self.y})" if self.pool is None else f"record {self.pool} of the pool"
        return f"record {self.index} replaced by {new}"


@dataclass(frozen=True, slots=True)
class FlipLabel:
    """Replace the label y in {0, 1} of record `index` by 1 - y; its features stay."""

    index: int

    def at(self, index: int) -> FlipLabel:
        """Return the same flip at another place."""
        return FlipLabel(index)

    def apply(self, data: Labelled) -> Labelled:
        """Return the dataset with the label flipped."""
        y = data.y.copy()
        y[self.index] = 1 - y[self.index]
        return Labelled(data.X, y)

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:  # noqa: ARG002  (there is one description only)
        """Kind and place."""
        return {"kind": "flip-label", "index": self.index}

    def __str__(self) -> str:
        return f"label of record {self.index} flipped"


@dataclass(frozen=True, slots=True, eq=False)
class Several:
    """Several records changed, each once.

    Parameters
    ----------
    changes : tuple of Change
        At least two, of one record each and of different records.

    Raises
    ------
    InvalidInput
        If there are fewer, or two of them change the same record.
    """

    changes: tuple[Change, ...]

    def __post_init__(self) -> None:
        single = not any(isinstance(change, Several) for change in self.changes)
        require(len(self.changes) >= 2 and single, "changes", self.changes, "at least two changes of one record each")
        places = [change.index for change in self.changes]
        require(len(set(places)) == len(places), "changes", places, "changes of different records")

    @property
    def index(self) -> int:
        """Place of the first record that is changed; the others have places of their own."""
        return min(change.index for change in self.changes)

    def at(self, index: int) -> Several:
        """Return the same changes moved along together, the first of them to this place."""
        return Several(tuple(change.at(change.index - self.index + index) for change in self.changes))

    def apply(self, data: Any) -> Any:
        """Return the dataset with all the records changed."""
        for change in self.changes:
            data = change.apply(data)
        return data

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:
        """Description of each change."""
        return {"kind": "several", "changes": [change.as_json(by_value=by_value) for change in self.changes]}

    def __str__(self) -> str:
        left = len(self.changes) - SHOWN
        return ", ".join(map(str, self.changes[:SHOWN])) + (f", and {left} more" if left > 0 else "")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """A dataset and some of its neighbours, compared under one random string; see `dpassay.targets.coupled`.

    Parameters
    ----------
    base : Labelled
        The dataset S.
    changes : tuple of Change
        Of one record each.
    """

    base: Any
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AnyOf:
    """One of several changes, whichever is worst once the random string is known.

    Parameters
    ----------
    changes : tuple of Change
        At least one, of one record each.

    Raises
    ------
    InvalidInput
        If there is none, or one of them changes several records.
    """

    changes: tuple[Change, ...]

    def __post_init__(self) -> None:
        single = not any(isinstance(change, (Several, AnyOf)) for change in self.changes)
        require(len(self.changes) > 0 and single, "changes", self.changes, "at least one change, of one record each")

    @property
    def index(self) -> int:
        """Place of the first record that may be changed."""
        return min(change.index for change in self.changes)

    def at(self, index: int) -> AnyOf:
        """Return the same changes moved along together."""
        return AnyOf(tuple(change.at(change.index - self.index + index) for change in self.changes))

    def apply(self, data: Any) -> Compared:
        """Return the dataset beside its neighbours."""
        return Compared(base=data, changes=self.changes)

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:
        """Description of each change."""
        return {"kind": "any-of", "changes": [change.as_json(by_value=by_value) for change in self.changes]}

    def __str__(self) -> str:
        left = len(self.changes) - SHOWN
        return " or ".join(map(str, self.changes[:SHOWN])) + (f", or one of {left} more" if left > 0 else "")


SHOWN = 5
"""Of more changes than this the others are only counted."""


def change_key(change: Change, pool: Labelled | None) -> str:
    """Return what a change is known by in every record: 16 hexadecimal digits of the SHA-256 of what it does.

    A replacement by a record of the pool is known by its number and the pool's digest, so that the key tells nothing of the
    record.
    """
    told = [change.as_json(), None if pool is None else pool.digest]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def one_by_one(change: Change) -> tuple[Change, ...]:
    """Return the changes of one record each that make up a change."""
    return change.changes if isinstance(change, Several) else (change,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """One base dataset and the changes that make its neighbours.

    Parameters
    ----------
    base : Labelled
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
        How they were chosen, for programs: what two records are compared by, however `how` is worded. By default the numbers
        of records and of changes.

    Raises
    ------
    InvalidInput
        If the dataset is no Labelled, if there is no change, or one that the relation does not allow or of a record that is not
        there, or the pool is no Labelled.
    """

    base: Any
    changes: tuple[Change, ...]
    how: str
    pool: Labelled | None = None
    relation: str = field(default=REPLACE_ONE)
    key: str = ""

    def __post_init__(self) -> None:
        require(isinstance(self.base, Labelled), "base", _kind(self.base), "a dataset, Labelled(X, y)")
        known = isinstance(self.changes, (tuple, list)) and all(map(_is_change, self.changes))
        require(known, "changes", _kind(self.changes), "a tuple of changes: Replace(...), FlipLabel(...), Several(...)")
        require(self.pool is None or isinstance(self.pool, Labelled), "pool", _kind(self.pool), "a Labelled(X, y), or None")
        object.__setattr__(self, "changes", tuple(self.changes))
        require(len(self.changes) > 0, "pairs", "no change", "at least one change, else there is nothing to compare")
        for change in (each for several in self.changes for each in getattr(several, "changes", (several,))):
            there = is_count(change.index, 0) and change.index < len(self.base)
            require(there, "change", str(change), f"of one of the records 0 to {len(self.base) - 1} of base")
        most = max(len(one_by_one(change)) for change in self.changes)
        allowed = f"'{replace_relation(most)}' or wider, as a change replaces {most} records"
        require(records_replaced(self.relation) >= most, "relation", self.relation, allowed)
        require(isinstance(self.key, str), "key", self.key, "a text")
        if not self.key:
            object.__setattr__(self, "key", f"given:{len(self.base)}:{len(self.changes)}")

    def __len__(self) -> int:
        return len(self.changes)


def _is_change(change: object) -> bool:
    return all(hasattr(change, name) for name in ("index", "at", "apply", "as_json"))


def _kind(found: object) -> str:
    """Name the type of what was given in place of a dataset: its values may be anybody's records."""
    inside = {type(each).__name__ for each in found} if isinstance(found, (tuple, list)) and len(found) <= 100 else set()
    return f"{type(found).__name__} of {', '.join(sorted(inside))}" if inside else type(found).__name__


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
        Each record replaced by one drawn from the pool, its label flipped, both, or replaced by every record of the pool
        and flipped.
    seed : int
        Decides which record of the pool replaces which.

    Returns
    -------
    Pairs

    Raises
    ------
    InvalidInput
        If the arrays are no labelled data, the pool has other columns, or the choice needs a pool and there is none.
    """
    base = Labelled(X, y)  # type: ignore[arg-type]
    require(neighbours in NEIGHBOURS, "neighbours", neighbours, f"one of {', '.join(NEIGHBOURS)}")
    require(is_count(seed, 0), "seed", seed, "an integer >= 0")
    candidates = pool if pool is None or isinstance(pool, Labelled) else Labelled(*pool)  # type: ignore[arg-type]
    if candidates is not None and candidates.X.shape[1] != base.X.shape[1]:
        raise InvalidInput(f"pool = {candidates.X.shape[1]} columns: must be {base.X.shape[1]}, as X has")
    if candidates is None or len(candidates) == 0:
        require(neighbours in ("flip", "one+flip"), "neighbours", neighbours, "'flip' where there is no pool")
        candidates, neighbours = None, "flip"

    changes: list[Change] = []
    if candidates is not None and neighbours in ("one", "one+flip"):
        drawn = stream(int(seed), "replace-one", base.digest, candidates.digest).integers(len(candidates), size=len(base))
        changes += [_from_pool(candidates, i, int(j)) for i, j in enumerate(drawn)]
    if candidates is not None and neighbours == "all":
        changes += [_from_pool(candidates, i, j) for i in range(len(base)) for j in range(len(candidates))]
    if neighbours != "one":
        require(bool((base.y <= 1).all()), "y", np.unique(base.y).tolist(), "labels 0 and 1, for a label to be flipped")
        changes += [FlipLabel(i) for i in range(len(base))]
    size = 0 if candidates is None else len(candidates)
    how = {
        "one": f"each of {len(base)} records replaced once by one drawn from a pool of {size}",
        "flip": f"the label of each of {len(base)} records flipped once",
        "one+flip": f"each of {len(base)} records replaced once by one drawn from a pool of {size}, and its label flipped once",
        "all": f"each of {len(base)} records replaced once by each one of a pool of {size}, and its label flipped once",
    }[neighbours]
    how += f" ({len(changes):,} {'pair' if len(changes) == 1 else 'pairs'})"
    key = f"{neighbours}:{len(base)}:{size}"
    return Pairs(base=base, changes=tuple(changes), how=how, pool=candidates, key=key)


def replace_several(pairs: Pairs, k: int) -> Pairs:
    """Make neighbours under replace-k of neighbours under replace-one: each change, and the next ones of other records.

    Parameters
    ----------
    pairs : Pairs
        Changes of one record each.
    k : int
        Records that are changed at a time, >= 1; fewer where the changes are of fewer records.

    Returns
    -------
    Pairs
        As many as there were.
    """
    changes = tuple(_with_others(pairs.changes, place, k) for place in range(len(pairs)))
    how = pairs.how if k == 1 else f"{pairs.how}; {k} of these changes at a time"
    key = pairs.key if k == 1 else f"{pairs.key}:{k}"
    return Pairs(base=pairs.base, changes=changes, how=how, pool=pairs.pool, relation=replace_relation(k), key=key)


def _with_others(changes: tuple[Change, ...], place: int, k: int) -> Change:
    """Return the change at a place together with the ones behind it, in a circle, that are of other records."""
    chosen: dict[int, Change] = {}
    for step in range(len(changes)):
        change = changes[(place + step) % len(changes)]
        chosen.setdefault(change.index, change)
        if len(chosen) == k:
            break
    return changes[place] if len(chosen) == 1 else Several(tuple(chosen.values()))


def change_from_json(change: dict[str, Any], pool: Labelled | None) -> Change:
    """Read back what `Change.as_json` wrote.

    Raises
    ------
    InvalidInput
        If the kind is unknown, a field is missing, or it names a record of a pool that is not there.
    """
    try:
        kind = change["kind"]
        if kind == "several":
            return Several(tuple(change_from_json(each, pool) for each in change["changes"]))
        if kind == "any-of":
            return AnyOf(tuple(change_from_json(each, pool) for each in change["changes"]))
        index = change["index"]
        require(is_count(index, 0), "change: index", index, "an integer >= 0")
        if kind == "flip-label":
            return FlipLabel(index)
        if kind == "replace" and "pool" in change:
            if pool is None or not 0 <= int(change["pool"]) < len(pool):
                raise InvalidInput(f"change names record {change['pool']} of the pool, which the data do not have")  # noqa: TRY301
            return _from_pool(pool, index, int(change["pool"]))
        if kind == "replace":
            return Replace(index, np.array(change["x"], dtype=float), int(change["y"]))
    except InvalidInput:
        raise
    except (LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise InvalidInput(f"change = {change!r:.80}: cannot be read ({error})") from None
    raise InvalidInput(f"change = {change!r:.80}: must be of kind 'replace', 'flip-label', 'several' or 'any-of'")


def _from_pool(pool: Labelled, index: int, j: int) -> Replace:
    return Replace(index, pool.X[j], int(pool.y[j]), j)


def _short(x: Sequence[float] | NDArray[np.float64]) -> str:
    numbers = ", ".join(f"{value:g}" for value in x[:3])
    return f"x = {numbers}" if len(x) <= 3 else f"x = {numbers}, ... ({len(x)} features)"
