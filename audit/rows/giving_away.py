"""Columns that give the label away: a model that sees one of them need not learn anything."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpassay.rows.columns import LAST
from dpassay.rows.rows import Rows

LEAST = 20
"""Of fewer records it may be chance."""
OFTEN = 4
"""A value that names a record gives everything away; one that gives a label away comes so often, on
average."""


def giving_away(rows: Rows) -> list[str]:
    """Return the columns from which the label, of two values or more, of every record can be told.

    These are columns each of whose values goes with one label, and comes `OFTEN` times on average;
    and numbers that one threshold for every further label divides by it. Fewer than `LEAST` records
    have none.
    """
    place = rows.form.place(rows.form.label)
    if place is None or len(rows) < LEAST:
        return []
    labels = rows.values[:, place]
    if len(np.unique(labels)) < 2:
        return []
    return [
        rows.form.columns[j].name
        for j in rows.form.features
        if _gives(rows.values[:, j], labels, numeric=rows.form.columns[j].kind != "value")
    ]


def _gives(cells: NDArray[np.float64], labels: NDArray[np.float64], *, numeric: bool) -> bool:
    pairs = np.unique(np.column_stack([cells, labels]), axis=0)
    values = len(np.unique(cells))
    if values < len(pairs) or values == 1:
        return False
    if OFTEN * values <= len(cells):
        return True
    if not numeric or (cells <= LAST).any():
        return False
    ordered = labels[np.argsort(cells, kind="stable")]
    return int((np.diff(ordered) != 0).sum()) == len(np.unique(labels)) - 1
