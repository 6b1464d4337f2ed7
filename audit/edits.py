"""Edits: changes of rows, of which one or several are replaced, taken away or added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpassay.errors import is_count, require
from dpassay.relations import ADD_REMOVE, OWN, check_relation, replace_relation
from dpassay.rows.rows import Form, Rows

Row = tuple[float, ...]
"""The codes of a row's cells."""
SHOWN = 3
"""Of more rows than this the others are only counted."""


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
        places = [place for place, _ in self.replaced]
        changes = len(places) + len(self.removed) + len(self.added)
        require(changes > 0, "edit", "no row", "at least one row replaced, removed or added")
        known = all(is_count(place, 0) for place in (*places, *self.removed))
        ascending = places == sorted(set(places)) and list(self.removed) == sorted(
            set(self.removed)
        )
        known = known and ascending and not set(places) & set(self.removed)
        require(known, "edit", (places, self.removed), "places, ascending, each once")
        if not self.relation:
            one = not places and changes == 1
            narrow = ADD_REMOVE if one else OWN
            narrow = narrow if self.removed or self.added else replace_relation(changes)
            object.__setattr__(self, "relation", narrow)

    @property
    def index(self) -> int:
        """Place of the first row that is changed; 0 where rows are only added."""
        return min((*(place for place, _ in self.replaced), *self.removed), default=0)

    def at(self, index: int) -> Edit:
        """Return the same change moved along, its first row to this place."""
        by = index - self.index
        return replace(
            self,
            replaced=tuple((place + by, row) for place, row in self.replaced),
            removed=tuple(place + by for place in self.removed),
        )

    def fits(self, base: Any) -> bool:
        """Return whether it can be made to a dataset: of rows, with these places and columns."""
        if not isinstance(base, Rows):
            return False
        last = max((*(place for place, _ in self.replaced), *self.removed), default=-1)
        rows = [*(row for _, row in self.replaced), *self.added]
        width = len(base.form.columns)
        same = all(len(row) == width for row in rows)
        return last < len(base) and same and base.form.holds(np.array(rows).reshape(-1, width))

    def apply(self, data: Rows) -> Rows:
        """Return the rows as changed; the dataset itself is left as it is."""
        values = data.values.copy()
        for place, row in self.replaced:
            values[place] = row
        values = np.delete(values, list(self.removed), axis=0)
        if self.added:
            values = np.vstack([values, self.added])
        return Rows(values, data.form, known=True)

    # there is one description only
    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:  # noqa: ARG002
        """Kind, relation, and the rows that are replaced, removed and added."""
        return {
            "kind": "edit",
            "relation": self.relation,
            "replaced": [[place, list(row)] for place, row in self.replaced],
            "removed": list(self.removed),
            "added": [list(row) for row in self.added],
        }

    def told_by(self, form: Form) -> Edit:
        """Return the same, its rows told as the user gave them."""
        return replace(self, form=form)

    def __str__(self) -> str:
        parts = [
            f"record {place} replaced by {self._words(row)}" for place, row in self.replaced[:SHOWN]
        ]
        parts += _more(len(self.replaced))
        parts += [f"record {place} removed" for place in self.removed[:SHOWN]]
        parts += _more(len(self.removed))
        parts += [f"record {self._words(row)} added" for row in self.added[:SHOWN]]
        return ", ".join([*parts, *_more(len(self.added))])

    def _words(self, row: Row) -> str:
        return "another" if self.form is None else self.form.words(row)


def _more(count: int) -> list[str]:
    return [f"and {count - SHOWN} more"] if count > SHOWN else []


def edit_from_json(told: Mapping[str, Any]) -> Edit:
    """Read back what `Edit.as_json` wrote; raise InvalidInput for anything else."""
    check_relation(told["relation"])
    return Edit(
        replaced=tuple((place, _row(row)) for place, row in told["replaced"]),
        removed=tuple(told["removed"]),
        added=tuple(map(_row, told["added"])),
        relation=told["relation"],
    )


def _row(told: Any) -> Row:
    return tuple(float(cell) for cell in told)
