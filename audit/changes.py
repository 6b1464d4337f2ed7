"""Changes: what turns a dataset into its neighbour, by one record or by several."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Dataset, Labelled, Lines, Values, numbers
from dpassay.edits import Edit, edit_from_json
from dpassay.errors import InvalidInput, as_real, is_count, require
from dpassay.relations import answers_relation, replace_relation

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


@dataclass(frozen=True, slots=True)
class ReplaceValue:
    """Replace number `index` of a list of numbers, one for each record.

    Parameters
    ----------
    index : int
        Place of the number, counted from 0.
    value : float
        The new number; finite.

    Raises
    ------
    InvalidInput
        If the new number is none, or not finite.
    """

    index: int
    value: float

    def __post_init__(self) -> None:
        value = as_real(self.value)
        require(math.isfinite(value), "value", self.value, "a finite number")
        object.__setattr__(self, "value", value)

    def at(self, index: int) -> ReplaceValue:
        """Return the same replacement at another place."""
        return ReplaceValue(index, self.value)

    def apply(self, data: Values) -> Values:
        """Return the dataset with the number replaced."""
        values = data.values.copy()
        values[self.index] = self.value
        return Values(values)

    # there is one description only
    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:  # noqa: ARG002
        """Kind, place and number."""
        return {"kind": "replace-value", "index": self.index, "value": self.value}

    def __str__(self) -> str:
        return f"record {self.index} replaced by {self.value:.6g}"


@dataclass(frozen=True, slots=True)
class Shift:
    """Move each of the true answers of some queries: what one record can do to all of them.

    Parameters
    ----------
    by : tuple of float
        What is added to each answer, in their order; finite, and not all 0.

    Raises
    ------
    InvalidInput
        If one of these is no finite number, or nothing is moved.
    """

    by: tuple[float, ...]

    def __post_init__(self) -> None:
        by = numbers(self.by, "by")
        require(bool(by.any()), "by", self.by, "other than 0 somewhere, else nothing changes")
        object.__setattr__(self, "by", tuple(by.tolist()))

    @property
    def index(self) -> int:
        """0: it is of the answers as a whole."""
        return 0

    @property
    def largest(self) -> float:
        """By how much it moves the answer that it moves most."""
        return max(map(abs, self.by))

    @property
    def moved(self) -> int:
        """How many answers it moves."""
        return sum(map(bool, self.by))

    def at(self, index: int) -> Shift:  # noqa: ARG002
        """Return the same: it has no place of its own."""
        return self

    def apply(self, data: Values) -> Values:
        """Return the answers as moved."""
        return Values(data.values + np.array(self.by))

    # there is one description only
    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:  # noqa: ARG002
        """Kind, and what is added to each."""
        return {"kind": "shift", "by": list(self.by)}

    def __str__(self) -> str:
        return _moved(self.by)


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


def narrowest(change: Change, *, among: bool = False) -> str:
    """Return the narrowest relation under which a change makes a neighbour.

    With `among` the number of answers that it moves is told too.
    """
    if isinstance(change, Shift):
        return answers_relation(change.largest, change.moved if among else None)
    if isinstance(change, Edit):
        return change.relation
    return replace_relation(len(one_by_one(change)))


def fits(change: Change, base: Dataset) -> bool:
    """Whether a change can be made to a dataset: of its kind, and of a record that is there."""
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


def from_pool(pool: Labelled, index: int, j: int) -> Replace:
    """Return the replacement of record `index` by record `j` of a pool."""
    return Replace(index, pool.X[j], int(pool.y[j]), j)


def _moved(by: Sequence[float]) -> str:
    """Say which answers are moved by how much, those that move alike together."""
    alike: dict[float, list[int]] = {}
    for place, step in enumerate(by):
        if step:
            alike.setdefault(step, []).append(place)
    if len(alike) > SHOWN:
        return f"{sum(map(len, alike.values()))} answers moved by up to {max(map(abs, alike)):.6g}"
    return ", ".join(
        f"{_places(places, len(by))} {'raised' if step > 0 else 'lowered'} by {abs(step):.6g}"
        for step, places in sorted(alike.items(), key=lambda item: item[1])
    )


def _places(places: Sequence[int], size: int) -> str:
    """Name some answers of so many, in stretches; the first of them is answer 1."""
    if size == 1:
        return "the answer"
    if len(places) == size:
        return "all answers"
    if len(places) == 1:
        return f"answer {places[0] + 1}"
    starts = [place + 1 for place in places if place - 1 not in places]
    ends = [place + 1 for place in places if place + 1 not in places]
    stretches = [
        f"{first}" if first == last else f"{first}{' to' if last > first + 1 else ','} {last}"
        for first, last in zip(starts, ends, strict=True)
    ]
    return f"answers {', '.join(stretches)}" if len(starts) <= SHOWN else f"{len(places)} answers"


def _short(x: Sequence[float] | NDArray[np.float64]) -> str:
    numbers = ", ".join(f"{value:g}" for value in x[:3])
    return f"x = {numbers}" if len(x) <= 3 else f"x = {numbers}, ... ({len(x)} features)"
