"""Neighbours: what may differ between two datasets of rows, relation by relation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.edits import Edit
from dpassay.relations import (
    ADD_REMOVE,
    ADD_REMOVE_USER,
    OWN,
    REPLACE_USER,
    ZERO_OUT,
    records_replaced,
)
from dpassay.rows.columns import Coded
from dpassay.rows.rows import Form

Parts = tuple[Coded, int, NDArray[np.float64]]
"""Rows, the place of one of them, and the row that may come there: what a pair is made of."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Neighbours:
    """Makes neighbours under one relation.

    Parameters
    ----------
    relation : str
        `replace-one`, `replace-k`: rows become others. `add-remove`: one side has a row less.
        `zero-out`: a row becomes `zero`. `replace-user`, `add-remove-user`: the same of all rows
        of a user, by the column `form.group`. `own`: whatever `function` returns.
    form : Form
    zero : array (d,), optional
        Codes of the row that stands for none; needed for `zero-out`.
    function : callable, optional
        Returns the codes of a neighbour of rows; needed for `own`.
    """

    relation: str
    form: Form
    zero: NDArray[np.float64] | None = None
    function: Callable[[Coded], Coded] | None = None

    def pair(self, parts: Parts) -> tuple[Coded, Edit] | None:
        """Return a base and what makes its neighbour; None where nothing changes.

        Where one side has a row less, or none in its place, the other side has the row that may
        come there.
        """
        values, place, new = parts
        if self.relation in (REPLACE_USER, ADD_REMOVE_USER):
            return self._of_user(parts)
        if self.relation == ADD_REMOVE:
            return _with(values, place, new), Edit(removed=(place,))
        if self.relation == ZERO_OUT:
            assert self.zero is not None
            if (new == self.zero).all():
                return None
            edit = Edit(replaced=((place, _row(self.zero)),), relation=ZERO_OUT)
            return _with(values, place, new), edit
        if self.relation == OWN:
            return self._by_function(_with(values, place, new))
        count = min(records_replaced(self.relation), len(values))
        places = sorted((place + step) % len(values) for step in range(count))
        changed = [each for each in places if (values[each] != new).any()]
        if not changed:
            return None
        return values, Edit(replaced=tuple((each, _row(new)) for each in changed))

    def _of_user(self, parts: Parts) -> tuple[Coded, Edit] | None:
        """Replace or remove all rows of the user whose row is at a place."""
        values, place, new = parts
        group = self.form.place(self.form.group)
        assert group is not None
        whose = np.flatnonzero(values[:, group] == values[place, group])
        if self.relation == ADD_REMOVE_USER:
            removed = Edit(removed=tuple(whose.tolist()), relation=ADD_REMOVE_USER)
            return _with(values, place, with_cell(new, group, values[place, group])), removed
        theirs = with_cell(new, group, values[place, group])
        changed = [int(each) for each in whose if (values[each] != theirs).any()]
        if not changed:
            return None
        replaced = tuple((each, _row(theirs)) for each in changed)
        return values, Edit(replaced=replaced, relation=REPLACE_USER)

    def _by_function(self, values: Coded) -> tuple[Coded, Edit] | None:
        """Ask the user's function for a neighbour, which may be any dataset."""
        assert self.function is not None
        neighbour = self.function(values)
        if neighbour.shape == values.shape:
            changed = np.flatnonzero((values != neighbour).any(axis=1))
            replaced = tuple((int(each), _row(neighbour[each])) for each in changed)
            return (values, Edit(replaced=replaced, relation=OWN)) if replaced else None
        kept = min(len(values), len(neighbour))
        replaced = tuple(
            (each, _row(neighbour[each]))
            for each in range(kept)
            if (values[each] != neighbour[each]).any()
        )
        removed = tuple(range(kept, len(values)))
        added = tuple(map(_row, neighbour[kept:]))
        return values, Edit(replaced=replaced, removed=removed, added=added, relation=OWN)

    def parts(self, values: Coded, change: Any) -> Parts:
        """Return rows, the place that changes, and the row that may come there."""
        assert isinstance(change, Edit)
        place = min(change.index, max(0, len(values) - 1))
        own = self.relation in (ADD_REMOVE, ZERO_OUT, ADD_REMOVE_USER, OWN)
        new = values[place] if own or not change.replaced else np.array(change.replaced[0][1])
        return values, place, new.copy()


def _with(values: Coded, place: int, row: NDArray[np.float64]) -> Coded:
    """Return rows with one of them in a place; themselves where it is there."""
    if (values[place] == row).all():
        return values
    found = values.copy()
    found[place] = row
    return found


def with_cell(row: NDArray[np.float64], column: int, cell: float) -> NDArray[np.float64]:
    """Return a row with another cell in one of its columns."""
    found = row.copy()
    found[column] = cell
    return found


def _row(cells: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(cells.tolist())
