"""Changes: what turns a dataset into its neighbour, by one record or by several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled, Values, numbers
from dpassay.errors import as_real, is_count, require
from dpassay.relations import ADD_REMOVE, OWN, replace_relation
from dpassay.rows.rows import Form, Rows

# of more changes, different moves or rows than this the others are only counted
SHOWN, SHOWN_ROWS = 5, 3
Row = tuple[float, ...]
"""The codes of a row's cells."""


class Change(Protocol):
    """A change that turns a dataset into its neighbour: one record, unless it is `Several`."""

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
        """Return what `change_from_json` reads back; with `by_value` it needs no pool."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True, eq=False)
class _OfOne:
    """A change of record `index`, counted from 0."""

    index: int

    def at(self, index: int) -> Self:
        """Return the same change at another place."""
        return replace(self, index=index)


@dataclass(frozen=True, slots=True, eq=False)
class Replace(_OfOne):
    """Replace record `index` of a labelled dataset by (x, y).

    `pool` is the place of the new record in the pool it was drawn from; a witness on real data
    names it instead of the values. `line` and `new_line` are where the record, and the new one,
    begin in the file that they were read from; only words depend on these.
    """

    x: NDArray[np.float64]
    y: int
    pool: int | None = None
    line: int | None = None
    new_line: int | None = None

    def apply(self, data: Labelled) -> Labelled:
        """Return the dataset with the record replaced."""
        X, y = data.X.copy(), data.y.copy()
        X[self.index], y[self.index] = self.x, self.y
        return Labelled(X, y)

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:
        """Return the new record by its place in the pool where there is one, else by value."""
        value = by_value or self.pool is None
        record = {"x": self.x.tolist(), "y": self.y} if value else {"pool": self.pool}
        return {"kind": "replace", "index": self.index} | record

    def __str__(self) -> str:
        if self.new_line is not None:
            new = f"that of line {self.new_line}"
        elif self.pool is not None:
            new = f"record {self.pool} of the pool"
        else:
            few = ", ".join(f"{value:g}" for value in self.x[:3])
            more = f", ... ({len(self.x)} features)" if len(self.x) > 3 else ""
            new = f"(x = {few}{more}, label {self.y})"
        old = f"record {self.index}" if self.line is None else f"record of line {self.line}"
        return f"{old} replaced by {new}"


@dataclass(frozen=True, slots=True)
class FlipLabel(_OfOne):
    """Replace the label y in {0, 1} of record `index` by 1 - y; its features stay.

    `line` is where the record begins in the file that it was read from; only words depend on it.
    """

    line: int | None = field(default=None, compare=False)

    def apply(self, data: Labelled) -> Labelled:
        """Return the dataset with the label flipped."""
        y = data.y.copy()
        y[self.index] = 1 - y[self.index]
        return Labelled(data.X, y)

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:  # noqa: ARG002
        """Return kind and place."""
        return {"kind": "flip-label", "index": self.index}

    def __str__(self) -> str:
        whose = f"record {self.index}" if self.line is None else f"line {self.line}"
        return f"label of {whose} flipped"


@dataclass(frozen=True, slots=True)
class ReplaceValue(_OfOne):
    """Replace number `index` of a list of numbers by a finite one."""

    value: float

    def __post_init__(self) -> None:
        value = as_real(self.value)
        require(math.isfinite(value), "value", self.value, "a finite number")
        object.__setattr__(self, "value", value)

    def apply(self, data: Values) -> Values:
        """Return the dataset with the number replaced."""
        values = data.values.copy()
        values[self.index] = self.value
        return Values(values)

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:  # noqa: ARG002
        """Return kind, place and number."""
        return {"kind": "replace-value", "index": self.index, "value": self.value}

    def __str__(self) -> str:
        return f"record {self.index} replaced by {self.value:.6g}"


@dataclass(frozen=True, slots=True)
class Shift:
    """Add to each of the true answers of some queries: what one record can do to all of them.

    `by` is finite, in the order of the answers, and not all 0.
    """

    by: tuple[float, ...]

    index: ClassVar[int] = 0  # it is of the answers as a whole

    def __post_init__(self) -> None:
        by = numbers(self.by, "by")
        require(bool(by.any()), "by", self.by, "other than 0 somewhere, else nothing changes")
        object.__setattr__(self, "by", tuple(by.tolist()))

    @property
    def largest(self) -> float:
        """Return the largest move of an answer."""
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

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:  # noqa: ARG002
        """Return kind, and what is added to each."""
        return {"kind": "shift", "by": list(self.by)}

    def __str__(self) -> str:
        alike: dict[float, list[int]] = {}  # answers that move alike are named together
        for place, step in enumerate(self.by):
            if step:
                alike.setdefault(step, []).append(place)
        if len(alike) > SHOWN:
            return f"{self.moved} answers moved by up to {self.largest:.6g}"
        return ", ".join(
            f"{_answers(places, len(self.by))} {'raised' if step > 0 else 'lowered'} by "
            f"{abs(step):.6g}"
            for step, places in sorted(alike.items(), key=lambda item: item[1])
        )


def _answers(places: Sequence[int], size: int) -> str:
    """Name some answers of so many, in stretches; the first of them is answer 1."""
    if len(places) == size:
        return "the answer" if size == 1 else "all answers"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replace some rows, take others away, and add new ones at the end.

    `replaced` has places, counted from 0 and ascending, and the codes of the rows that come there;
    the places `removed` ascend too, none of them replaced. `relation` is the narrowest under which
    it makes a neighbour; by default what the numbers of rows say: `replace-k`, `add-remove` for one
    row more or less, else `own`. `form` is what the codes stand for; only words depend on it. Raise
    InvalidInput if nothing changes, or places are out of order.
    """

    replaced: tuple[tuple[int, Row], ...] = ()
    removed: tuple[int, ...] = ()
    added: tuple[Row, ...] = ()
    relation: str = ""
    form: Form | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        places, gone = [place for place, _ in self.replaced], list(self.removed)
        changes = len(places) + len(gone) + len(self.added)
        require(changes > 0, "edit", "no row", "at least one row replaced, removed or added")
        known = all(is_count(place, 0) for place in (*places, *gone))
        known = known and places == sorted(set(places)) and gone == sorted(set(gone))
        known = known and not set(places) & set(gone)
        require(known, "edit", (places, self.removed), "places, ascending, each once")
        if not self.relation:
            narrow = ADD_REMOVE if not places and changes == 1 else OWN
            narrow = narrow if gone or self.added else replace_relation(changes)
            object.__setattr__(self, "relation", narrow)

    @property
    def places(self) -> list[int]:
        """Places of the rows that are replaced or removed."""
        return [*(place for place, _ in self.replaced), *self.removed]

    @property
    def index(self) -> int:
        """Place of the first row that is changed; 0 where rows are only added."""
        return min(self.places, default=0)

    def at(self, index: int) -> Edit:
        """Return the same change moved along, its first row to this place."""
        by = index - self.index
        moved = tuple((place + by, row) for place, row in self.replaced)
        return replace(self, replaced=moved, removed=tuple(place + by for place in self.removed))

    def fits(self, base: Any) -> bool:
        """Return whether it can be made to a dataset: of rows, with these places and columns."""
        if not isinstance(base, Rows):
            return False
        rows, width = [*(row for _, row in self.replaced), *self.added], len(base.form.columns)
        there = max(self.places, default=-1) < len(base) and {*map(len, rows)} <= {width}
        return there and base.form.holds(np.array(rows).reshape(-1, width))

    def apply(self, data: Rows) -> Rows:
        """Return the rows as changed; the dataset itself is left as it is."""
        values = data.values.copy()
        for place, row in self.replaced:
            values[place] = row
        values = np.delete(values, list(self.removed), axis=0)
        if self.added:
            values = np.vstack([values, self.added])
        return Rows(values, data.form, known=True)

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:  # noqa: ARG002
        """Return kind, relation, and the rows that are replaced, removed and added."""
        return {
            "kind": "edit",
            "relation": self.relation,
            "replaced": [[place, list(row)] for place, row in self.replaced],
            "removed": list(self.removed),
            "added": [list(row) for row in self.added],
        }

    def __str__(self) -> str:
        def words(row: Row) -> str:
            return "another" if self.form is None else self.form.words(row)

        kinds: tuple[tuple[Any, Any], ...] = (
            (self.replaced, lambda each: f"record {each[0]} replaced by {words(each[1])}"),
            (self.removed, "record {} removed".format),
            (self.added, lambda row: f"record {words(row)} added"),
        )
        parts: list[str] = []
        for rows, say in kinds:
            parts += map(say, rows[:SHOWN_ROWS])
            parts += [f"and {len(rows) - SHOWN_ROWS} more"] if len(rows) > SHOWN_ROWS else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, eq=False)
class _Together:
    """The common part of lists of changes."""

    # the words between two changes, and for those that are only counted
    kind: ClassVar[str]
    between: ClassVar[str]
    beyond: ClassVar[str]

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
        """Return the description of each change."""
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
