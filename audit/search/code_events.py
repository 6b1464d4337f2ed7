"""Events on one feature, as sums of counts of codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpassay.search.grid import CODES, EDGES, Codes
from dpassay.search.views import Array, Mask


class Events:
    """Events on one feature, as sums of counts of codes.

    Of a number: it is below an edge, or at least that. Of a table: one code, the first k in the
    order of their smoothed likelihood ratios, all but the first k. The numbers in single places
    have such a table too: what tells is sometimes a range.

    Features that are numbers come first; `tabled` of the last of them have a table too. `sizes` are
    the numbers of codes of the others.
    """

    def __init__(self, numbers: int, tabled: int, sizes: Sequence[int]) -> None:
        edges, all_sizes = len(EDGES), np.array([*[CODES] * tabled, *sizes], dtype=np.intp)
        self.numbers, self.untabled = numbers, numbers - tabled
        self.split = self.untabled * CODES
        limits = np.cumsum([0, *[CODES] * numbers, *sizes])
        self.begins, self.total = limits[:-1], int(limits[-1])
        self.feature = np.repeat(np.arange(len(all_sizes)), all_sizes)
        self.tables = self.begins[self.untabled :] - self.split
        self.lasts = self.tables + all_sizes - 1
        kept = np.ones(len(self.feature), dtype=bool)
        kept[self.lasts] = False
        self.firsts = np.flatnonzero(kept)
        """Places of the tables' codes, but for the last one of each."""
        lengths = [*[edges] * (2 * numbers), *all_sizes, *(all_sizes - 1), *(all_sizes - 1)]
        self.starts = np.cumsum([0, *lengths])[:-1][np.array(lengths) > 0]
        self.events = int(sum(lengths))

    def counts(self, *sides: Codes) -> Codes:
        """Count codes: (2, total)."""
        return np.array([np.bincount(side.ravel(), minlength=self.total) for side in sides])

    def order(self, counted: Codes) -> Codes:
        """Return the order of the tables' codes, from counts (2, ..., total)."""
        x, y = counted[..., self.split :] + 1
        return np.argsort(self.feature + y / (x + y), axis=-1, kind="stable")

    def sums(self, *parts: tuple[Codes, Codes]) -> Codes:
        """Return the counts of all events on both sides: (2, ..., events).

        Each part is counted (2, ..., total), and its unions in an order (..., n) of its own.
        """
        counted: Codes = sum(counts for counts, _ in parts)  # type: ignore[assignment]
        shape, edges = counted.shape[:-1], len(EDGES)
        ordered = counted[..., : self.numbers * CODES]
        below = ordered.reshape(*shape, self.numbers, CODES).cumsum(axis=-1)
        at_least = below[..., edges : edges + 1] - below[..., :edges]
        numbers = np.stack([below[..., :edges], at_least], axis=-2).reshape(*shape, -1)
        single = counted[..., self.split :]
        ranked = sum(
            np.take_along_axis(counts[..., self.split :], order[None], axis=-1)
            for counts, order in parts
        )
        running = np.concatenate([0 * single[..., :1], np.cumsum(ranked, axis=-1)], axis=-1)
        of = self.feature[self.firsts]
        first = running[..., self.firsts + 1] - running[..., self.tables[of]]
        rest = running[..., self.lasts[of] + 1] - running[..., self.firsts + 1]
        return np.concatenate([numbers, single, first, rest], axis=-1)

    def expected(self, one: Codes, other: Codes) -> Codes:
        """Return what `sums` of two halves of outputs will be on others.

        Each half is counted in the order that the other half shows: in their own order, unions of
        many rare codes would look best.
        """
        return self.sums((one, self.order(other)), (other, self.order(one)))

    def best(self, worth: Array) -> Codes:
        """Return the place of the best event of each kind and feature."""
        most = np.maximum.reduceat(worth, self.starts)
        lengths = np.diff(np.append(self.starts, self.events))
        places = np.flatnonzero(worth == np.repeat(most, lengths))
        return places[places.searchsorted(self.starts)]

    def members(self, place: int, order: Codes) -> tuple[int, Mask]:
        """Return the feature of an event, and which codes (total,) belong to it."""
        found, edges = np.zeros(self.total, dtype=bool), len(EDGES)
        if place < self.numbers * 2 * edges:
            feature, at = divmod(place, 2 * edges)
            begin = int(self.begins[feature])
            if at < edges:
                found[begin : begin + at + 1] = True
            else:
                found[begin + at - edges + 1 : begin + edges + 1] = True
            return feature, found
        place -= self.numbers * 2 * edges
        kind = 0
        if place >= len(order):
            kind, place = divmod(place - len(order), max(1, len(self.firsts)))
            kind, place = kind + 1, int(self.firsts[place])
        table = int(self.feature[place])
        chosen = [
            np.arange(place, place + 1),
            order[self.tables[table] : place + 1],
            order[place + 1 : self.lasts[table] + 1],
        ][kind]
        found[self.split + chosen] = True
        return self.untabled + table, found
