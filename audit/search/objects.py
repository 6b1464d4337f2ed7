"""Objects: outputs of any kind, each value looked at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from dpassay.search.values import (
    ABSENT,
    FAILED,
    NUMBER,
    SIMPLE,
    Key,
    is_failure,
    is_number,
    key_of,
    leaves,
    letters,
    number_of,
    spelled,
)
from dpassay.search.views import Array, Codes, Mask, Tally, follow_tree, tally_of

MOST_PLACES = 64
"""Of outputs that are no arrays so many parts are looked at."""


class Objects:
    """Outputs of any kind, one Python object each.

    Parameters
    ----------
    outputs : sequence
        One for each trial.
    parts : bool
        Whether sequences are looked at place by place; else each output is one value.
    nested : bool
        Whether the parts of parts have places of their own.
    """

    def __init__(self, outputs: Sequence[Any], *, parts: bool, nested: bool) -> None:
        self.outputs, self.nested = outputs, nested
        self.rows: Sequence[Sequence[Any]] | None = _rows(outputs, nested) if parts else None
        self.by_place = parts and not nested and set(map(type, outputs)) <= {tuple}
        self.n = len(outputs)
        longest = 1 if self.rows is None else max(map(len, self.rows), default=0)
        self.cut = longest > MOST_PLACES
        self.width = min(MOST_PLACES, longest)
        self._known: dict[int | None, _Column] = {}

    def _column(self, place: int | None) -> _Column:
        """Return the values in a place, or the whole outputs (None)."""
        if place not in self._known:
            if self.rows is None or place is None:
                values = self.outputs if not place else [ABSENT] * self.n
            else:
                values = [row[place] if len(row) > place else ABSENT for row in self.rows]
            self._known[place] = _Column(values)
        return self._known[place]

    def number(self, place: int) -> Array:
        """See `View`."""
        return self._column(place).numbers

    def beyond(self, place: int, at: float, *, below: bool) -> Mask:
        """See `View`."""
        numbers = self.number(place)
        found: Mask = numbers < at if below else numbers >= at
        return found

    def codes(self, place: int, table: tuple[Key, ...]) -> Codes:
        """See `View`."""
        return self._column(place).codes(table)

    def member(self, place: int, keys: tuple[Key, ...]) -> Mask:
        """See `View`."""
        return self.codes(place, keys) < len(keys)

    def hits(self, key: Key) -> Mask:
        """See `View`."""
        found = np.zeros((self.n, self.width), dtype=bool)
        for place in range(self.width):
            found[:, place] = self.codes(place, (key,)) == 0
        return found

    def spelled(self, place: int) -> Array:
        """See `View`."""
        return self._column(place).each(spelled)

    def letters(self, place: int) -> Array:
        """See `View`."""
        return self._column(place).each(letters)

    def whole(self, table: tuple[Key, ...]) -> Codes:
        """See `View`."""
        if not self.by_place or self.cut:
            return self._column(None).codes(table)
        rows = {
            k: key + (ABSENT,) * (self.width - len(key))
            for k, key in enumerate(table)
            if isinstance(key, tuple) and len(key) <= self.width
        }
        return follow_tree(self, rows, len(table))

    def lengths(self) -> Array:
        """See `View`."""
        if self.rows is None:
            return np.ones(self.n)
        return np.fromiter(map(len, self.rows), dtype=float, count=self.n)

    def matrix(self) -> Array:
        """See `View`."""
        if self.width == 0:
            return np.full((self.n, 1), np.nan)
        return np.stack([self.number(place) for place in range(self.width)], axis=1)

    def first_change(self) -> Array:
        """See `View`."""
        length = self.lengths()
        found = np.minimum(length, MOST_PLACES) + 1
        for place in reversed(range(1, self.width)):
            changed = self._column(place).differs(self._column(0)) & (length > place)
            found[changed] = place + 1
        return found

    def tally(self, place: int | None) -> Tally:
        """See `View`."""
        column = self._column(place)
        return tally_of(column.keys, np.bincount(column.ids, minlength=len(column.keys)).tolist())


class _Column:
    """Values of any kind, each different one looked at once."""

    def __init__(self, values: Sequence[Any]) -> None:
        simple = set(map(type, values)) <= SIMPLE
        index: dict[Any, int] = {}
        number = index.setdefault
        self.ids: Codes = np.fromiter(
            (number(v, len(index)) for v in (values if simple else map(key_of, values))),
            dtype=np.intp,
            count=len(values),
        )
        self.keys: list[Key] = [key_of(value) for value in index]
        self._numbers: Array | None = None

    @property
    def numbers(self) -> Array:
        """The number that each value is; NaN for what is none."""
        if self._numbers is None:
            self._numbers = self.each(number_of)
        return self._numbers

    def each(self, function: Callable[[Key], float]) -> Array:
        """Return a number of each value, found once for each different one."""
        known = np.fromiter(map(function, self.keys), dtype=float, count=len(self.keys))
        return known[self.ids]

    def codes(self, table: tuple[Key, ...]) -> Codes:
        """Return the index of each value in a table."""
        at = {key: k for k, key in enumerate(table)}
        number = at.get(NUMBER, len(table))
        failed = at.get(FAILED, len(table))

        def of(key: Key) -> int:
            rest = number if is_number(key) else failed if is_failure(key) else len(table)
            return at.get(key, rest)

        known = list(map(of, self.keys))
        return np.array(known, dtype=np.intp)[self.ids] if known else self.ids

    def differs(self, other: _Column) -> Mask:
        """Whether each value differs from that of another column."""
        names = {key: k for k, key in enumerate(dict.fromkeys(self.keys + other.keys))}
        one = np.array([names[key] for key in self.keys], dtype=np.intp)[self.ids]
        two = np.array([names[key] for key in other.keys], dtype=np.intp)[other.ids]
        found: Mask = one != two
        return found


def _rows(outputs: Sequence[Any], nested: bool) -> list[Sequence[Any]]:
    """Return the parts of each output; what is no sequence is its only part."""
    if nested:
        return [tuple(islice(leaves(key_of(output)), 10 * MOST_PLACES)) for output in outputs]
    if set(map(type, outputs)) <= {tuple}:
        return list(outputs)
    keys = [output if type(output) is tuple else key_of(output) for output in outputs]
    return [key if isinstance(key, tuple) else (key,) for key in keys]
