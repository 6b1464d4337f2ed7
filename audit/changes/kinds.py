"""Changes: what turns a dataset into its neighbour, by one record or by several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled, Values, numbers
from dpassay.errors import as_real, require

SHOWN = 5
"""Of more changes, or different moves, than this the others are only counted."""


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
    """Replace record `index`, counted from 0, of a labelled dataset by (x, y).

    `pool` is the place of the new record in the pool it was drawn from; a witness on real data
    names it instead of the values. `line` and `new_line` are where the record, and the new one,
    begin in the file that they were read from; only words depend on these.
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


def from_pool(pool: Labelled, index: int, j: int) -> Replace:
    """Return the replacement of record `index` by record `j` of a pool."""
    return Replace(index, pool.X[j], int(pool.y[j]), j)


def _short(x: Sequence[float] | NDArray[np.float64]) -> str:
    numbers = ", ".join(f"{value:g}" for value in x[:3])
    return f"x = {numbers}" if len(x) <= 3 else f"x = {numbers}, ... ({len(x)} features)"


@dataclass(frozen=True, slots=True)
class ReplaceValue:
    """Replace number `index`, counted from 0, of a list of numbers by a finite one."""

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
    """Add to each of the true answers of some queries: what one record can do to all of them.

    `by` is finite, in the order of the answers, and not all 0.
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
        """Return how many answers it moves."""
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
    known = set(places)
    starts = [place + 1 for place in places if place - 1 not in known]
    ends = [place + 1 for place in places if place + 1 not in known]
    stretches = [
        f"{first}" if first == last else f"{first}{' to' if last > first + 1 else ','} {last}"
        for first, last in zip(starts, ends, strict=True)
    ]
    return f"answers {', '.join(stretches)}" if len(starts) <= SHOWN else f"{len(places)} answers"


@dataclass(frozen=True, slots=True, eq=False)
class _Together:
    """What lists of changes have in common."""

    kind: ClassVar[str]
    between: ClassVar[str]
    beyond: ClassVar[str]
    """Words between two changes, and for those that are only counted."""

    changes: tuple[Change, ...]

    @property
    def index(self) -> int:
        """Place of the first record that is changed; the others have places of their own."""
        return min(change.index for change in self.changes)

    def at(self, index: int) -> Self:
        """Return the same changes moved along together, the first of them to this place."""
        moved = (change.at(change.index - self.index + index) for change in self.changes)
        return type(self)(tuple(moved))

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:
        """Description of each change."""
        changes = [change.as_json(by_value=by_value) for change in self.changes]
        return {"kind": self.kind, "changes": changes}

    def __str__(self) -> str:
        left = len(self.changes) - SHOWN
        more = self.beyond.format(left) if left > 0 else ""
        return self.between.join(map(str, self.changes[:SHOWN])) + more


@dataclass(frozen=True, slots=True, eq=False)
class Several(_Together):
    """At least two changes, of one record each and of different records, all made."""

    kind: ClassVar[str] = "several"
    between: ClassVar[str] = ", "
    beyond: ClassVar[str] = ", and {} more"

    def __post_init__(self) -> None:
        single = not any(isinstance(change, Several) for change in self.changes)
        allowed = "at least two changes of one record each"
        require(len(self.changes) >= 2 and single, "changes", self.changes, allowed)
        places = [change.index for change in self.changes]
        require(len(set(places)) == len(places), "changes", places, "changes of different records")

    def apply(self, data: Any) -> Any:
        """Return the dataset with all the records changed."""
        for change in self.changes:
            data = change.apply(data)
        return data


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Compared:
    """A dataset S and some neighbours, one record changed in each, under one random string.

    See `dpassay.targets.coupled`.
    """

    base: Any
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AnyOf(_Together):
    """One of several changes of one record, whichever is worst once the random string is known."""

    kind: ClassVar[str] = "any-of"
    between: ClassVar[str] = " or "
    beyond: ClassVar[str] = ", or one of {} more"

    def __post_init__(self) -> None:
        single = not any(isinstance(change, _Together) for change in self.changes)
        allowed = "at least one change, of one record each"
        require(len(self.changes) > 0 and single, "changes", self.changes, allowed)

    def apply(self, data: Any) -> Compared:
        """Return the dataset beside its neighbours."""
        return Compared(base=data, changes=self.changes)


def one_by_one(change: Change) -> tuple[Change, ...]:
    """Return the changes of one record each that make up a change."""
    return change.changes if isinstance(change, Several) else (change,)
