"""Outputs as codes: of each feature, and coarser ones whose log ratios are added up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpassay.search.code_events import Events
from dpassay.search.features import Feature
from dpassay.search.grid import CODES, Codes, Grid, quantiles_of
from dpassay.search.scan import frequent
from dpassay.search.scores import OWN
from dpassay.search.views import Array

COARSE = 3
"""So many codes of a number are one where log ratios are added up."""
MOST_ROWS = 2000
"""Outputs whose quantiles are taken."""
SMOOTHED = 2.0
"""What is added to each count there."""


class Base:
    """Features (m, F) of what was drawn of a first dataset; candidates that share it share this."""

    def __init__(self, looks: Sequence[Feature], outputs: Array) -> None:
        numbers = [j for j, look in enumerate(looks) if not look.coded]
        tabled = [j for j in numbers if looks[j].kind == "number"]
        self.numbers = [*(j for j in numbers if looks[j].kind != "number"), *tabled]
        self.coded = [j for j, look in enumerate(looks) if look.coded]
        self.grid = Grid(quantiles_of(outputs[:MOST_ROWS, self.numbers]))
        self.events = Events(len(numbers), len(tabled), [looks[j].codes for j in self.coded])
        self.places = Places(looks, [*self.numbers, *self.coded], self.events)
        self.codes = self.coded_as(outputs)
        rows = {j: row for row, j in enumerate(self.coded, len(numbers))}
        self.roots = [
            (rows[j], np.arange(self.events.total) == self.events.begins[rows[j]] + code)
            for j, code in frequent(looks, outputs.T)
        ]
        """Frequent values, as events."""

    def coded_as(self, outputs: Array) -> Codes:
        """Return the codes (F, m) of outputs (m, F), each feature's in a range of its own."""
        columns = np.ascontiguousarray(outputs.T)
        found = np.empty(columns.shape, dtype=np.intp)
        numbers = len(self.numbers)
        if numbers:
            found[:numbers] = self.grid.codes(columns[self.numbers])
        found[numbers:] = columns[self.coded]
        found += self.events.begins[:, None]
        return found


class Places:
    """The features of single places, whose log ratios are added up, with coarser codes."""

    def __init__(self, looks: Sequence[Feature], order: Sequence[int], events: Events) -> None:
        with_number = {look.place for look in looks if look.kind == "number"}
        self.table = np.zeros(events.total, dtype=np.intp)
        """What a code is among the coarser ones."""
        self.total, rows = 0, []
        for row, j in enumerate(order):
            look, begin = looks[j], int(events.begins[row])
            if look.kind in OWN and not (look.kind == "value" and look.place in with_number):
                rows.append(row)
                size, step = (look.codes, 1) if look.coded else (CODES, COARSE)
                self.table[begin : begin + size] = self.total + np.arange(size) // step
                self.total += -(-size // step)
        self.rows = np.array(rows, dtype=np.intp)

    def of(self, codes: Codes) -> Codes:
        """Return the coarser codes (F', m), each feature's in a range of its own."""
        return np.asarray(self.table[codes[self.rows]])

    def log_ratios(self, one: Codes, other: Codes) -> Array:
        """Return smoothed log ratios of the coarser codes: (total,)."""
        x, y = (np.bincount(side.ravel(), minlength=self.total) + SMOOTHED for side in (one, other))
        return np.asarray(np.log(x / y))
