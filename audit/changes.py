"""Changes: what turns a dataset into its neighbour, by one record or by several."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled, Lines
from dpassay.errors import InvalidInput, is_count, require

SHOWN = 5
"""Of more changes than this the others are only counted."""


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
        Where the new record stands in the pool it was drawn from; a witness on real data names it
        instead of the values.
    line, new_line : int, optional
        Where the record, and the new one, begin in the file that they were read from; only words
        depend on these.
    """

    index: int
    x: NDArray[np.float64]
    y: int
    pool: int | None = None
    line: int | None = None
    new_line: int | None = None

    def at(self, index: int) -> Replace:
        """Return the same replacement at another place."""
        return replace(self, index=index)

    def apply(self, data: Labelled) -> Labelled:
        """Return the dataset with the record replaced."""
        X, y = data.X.copy(), data.y.copy()
        X[self.index], y[self.index] = self.x, self.y
        return Labelled(X, y)

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:
        """By place in the pool where there is one, else by value."""
        what = (
            {"x": self.x.tolist(), "y": self.y}
            if by_value or self.pool is None
            else {"pool": self.pool}
        )
        return {"kind": "replace", "index": self.index} | what

    def __str__(self) -> str:
        if self.new_line is not None:
            new = f"that of line {self.new_line}"
        elif self.pool is not None:
            new = f"record {self.pool} of the pool"
        else:
            new = f"({_short(self.x)}, label {self.y})"
        old = f"record {self.index}" if self.line is None else f"record of line {self.line}"
        return f"{old} replaced by {new}"


@dataclass(frozen=True, slots=True)
class FlipLabel:
    """Replace the label y in {0, 1} of record `index` by 1 - y; its features stay.

    `line` is where the record begins in the file that it was read from; only words depend on it.
    """

    index: int
    line: int | None = field(default=None, compare=False)

    def at(self, index: int) -> FlipLabel:
        """Return the same flip at another place."""
        return replace(self, index=index)

    def apply(self, data: Labelled) -> Labelled:
        """Return the dataset with the label flipped."""
        y = data.y.copy()
        y[self.index] = 1 - y[self.index]
        return Labelled(data.X, y)

    # there is one description only
    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:  # noqa: ARG002
        """Kind and place."""
        return {"kind": "flip-label", "index": self.index}

    def __str__(self) -> str:
        whose = f"record {self.index}" if self.line is None else f"line {self.line}"
        return f"label of {whose} flipped"


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
        require(
            len(self.changes) >= 2 and single,
            "changes",
            self.changes,
            "at least two changes of one record each",
        )
        places = [change.index for change in self.changes]
        require(len(set(places)) == len(places), "changes", places, "changes of different records")

    @property
    def index(self) -> int:
        """Place of the first record that is changed; the others have places of their own."""
        return min(change.index for change in self.changes)

    def at(self, index: int) -> Several:
        """Return the same changes moved along together, the first of them to this place."""
        return Several(
            tuple(change.at(change.index - self.index + index) for change in self.changes)
        )

    def apply(self, data: Any) -> Any:
        """Return the dataset with all the records changed."""
        for change in self.changes:
            data = change.apply(data)
        return data

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:
        """Description of each change."""
        return {
            "kind": "several",
            "changes": [change.as_json(by_value=by_value) for change in self.changes],
        }

    def __str__(self) -> str:
        left = len(self.changes) - SHOWN
        return ", ".join(map(str, self.changes[:SHOWN])) + (
            f", and {left} more" if left > 0 else ""
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """A dataset and some of its neighbours, compared under one random string.

    See `dpassay.targets.coupled`.

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
        require(
            len(self.changes) > 0 and single,
            "changes",
            self.changes,
            "at least one change, of one record each",
        )

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
        return {
            "kind": "any-of",
            "changes": [change.as_json(by_value=by_value) for change in self.changes],
        }

    def __str__(self) -> str:
        left = len(self.changes) - SHOWN
        return " or ".join(map(str, self.changes[:SHOWN])) + (
            f", or one of {left} more" if left > 0 else ""
        )


def change_key(change: Change, pool: Labelled | None) -> str:
    """Return what a change is known by in every record.

    16 hexadecimal digits of the SHA-256 of what it does.

    A replacement by a record of the pool is known by its number and the pool's digest, so that the
    key tells nothing of the record.
    """
    told = [change.as_json(), None if pool is None else pool.digest]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def one_by_one(change: Change) -> tuple[Change, ...]:
    """Return the changes of one record each that make up a change."""
    return change.changes if isinstance(change, Several) else (change,)


def in_file(change: Change, lines: Lines | None) -> Change:
    """Return the same change, told by the lines of a file instead of the places of records.

    Parameters
    ----------
    change : Change
        One of a class of the user's own stays as it is.
    lines : Lines or None
        Where the records begin; None to tell it by places again.
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

    Raises
    ------
    InvalidInput
        If the kind is unknown, a field is missing, or it names a record of a pool that is not
        there.
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
                raise InvalidInput(  # noqa: TRY301
                    f"change names record {change['pool']} of the pool, which the data do not have"
                )
            return from_pool(pool, index, int(change["pool"]))
        if kind == "replace":
            return Replace(index, np.array(change["x"], dtype=float), int(change["y"]))
    except InvalidInput:
        raise
    except (LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise InvalidInput(f"change = {change!r:.80}: cannot be read ({error})") from None
    raise InvalidInput(
        f"change = {change!r:.80}: must be of kind 'replace', 'flip-label', 'several' or 'any-of'"
    )


def from_pool(pool: Labelled, index: int, j: int) -> Replace:
    """Return the replacement of record `index` by record `j` of a pool."""
    return Replace(index, pool.X[j], int(pool.y[j]), j)


def _short(x: Sequence[float] | NDArray[np.float64]) -> str:
    numbers = ", ".join(f"{value:g}" for value in x[:3])
    return f"x = {numbers}" if len(x) <= 3 else f"x = {numbers}, ... ({len(x)} features)"
