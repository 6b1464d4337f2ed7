"""Arrays: outputs that are numbers, one array for all of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.search.columns import Column
from dpassay.search.values import ABSENT, NAN, NUMBER, Key, is_number, key_of, number_of
from dpassay.search.views import (
    LEAF,
    TAGS,
    Array,
    Codes,
    Mask,
    Place,
    Tally,
    array_words,
    by_frequency,
    first_hit,
    follow_tree,
    form_of,
    middle_of,
    tally_of,
)

LONGEST_LIST = 4096
"""Whole numbers in a shorter range are looked up in a list."""
FEW = 4
"""So few values are compared one after the other."""


class Numbers:
    """Numbers, one array for all outputs: (n,) for single values, (n, d) for vectors."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.n = len(array)
        self.width = 1 if array.ndim == 1 else array.shape[1]

    def _column(self, place: Place) -> NDArray[Any] | None:
        if not isinstance(place, int) or place >= self.width:
            return None
        return self.array if self.array.ndim == 1 else self.array[:, place]

    def _table(self) -> NDArray[Any]:
        return self.array[:, None] if self.array.ndim == 1 else self.array

    def number(self, place: Place) -> Array:
        """See `View`."""
        column = self._column(place)
        return np.full(self.n, np.nan) if column is None else column.astype(float, copy=False)

    def beyond(self, place: Place, at: float, *, below: bool) -> Mask:
        """See `View`."""
        column = self._column(place)
        if column is None:
            return np.zeros(self.n, dtype=bool)
        whole = column.dtype.kind in "biu"
        if column.dtype.kind == "b":
            column = column.view(np.uint8)
        # a float64: one of Python's would be rounded to the precision of the array
        limit: Any = math.ceil(at) if whole else np.float64(at)
        found: Mask = column < limit if below else column >= limit
        return found

    def codes(self, place: Place, table: tuple[Key, ...]) -> Codes:
        """See `View`."""
        column = self._column(place)
        if column is None:
            missing = table.index(ABSENT) if ABSENT in table else len(table)
            return np.full(self.n, missing, dtype=np.intp)
        rest = table.index(NUMBER) if NUMBER in table else len(table)
        if column.dtype.kind == "b":
            # Python holds False and 0, True and 1 to be equal
            no, yes = (table.index(key) if key in table else rest for key in (False, True))
            return np.where(column, np.intp(yes), np.intp(no))
        codes = np.full(self.n, rest, dtype=np.intp)
        plain = [k for k, key in enumerate(table) if isinstance(key, (bool, int, float))]
        if len(plain) <= FEW:
            for k in plain:
                codes[_equal(column, table[k])] = k
        elif (listed := _listed(column, table, plain, rest)) is not None:
            codes = listed
        else:
            values = np.array([number_of(table[k]) for k in plain])
            order = np.argsort(values)
            ranked = values[order]
            at = np.minimum(np.searchsorted(ranked, column), len(ranked) - 1)
            codes = np.where(ranked[at] == column, np.array(plain)[order][at], codes)
        if NAN in table:
            codes[np.isnan(column)] = table.index(NAN)
        return codes

    def member(self, place: Place, keys: tuple[Key, ...]) -> Mask:
        """See `View`."""
        column = self._column(place)
        plain = [key for key in keys if isinstance(key, (bool, int, float))]
        if column is None or len(plain) > FEW or len(plain) < len(keys) or not plain:
            return self.codes(place, keys) < len(keys)
        found = _equal(column, plain[0])
        for key in plain[1:]:
            found = found | _equal(column, key)
        return found

    def hits(self, key: Key) -> Mask:
        """See `View`."""
        values = self._table()
        if key == NUMBER:
            return np.ones(values.shape, dtype=bool)
        if key == NAN:
            return np.asarray(np.isnan(values))
        if not isinstance(key, (bool, int, float)):
            return np.zeros(values.shape, dtype=bool)
        return _equal(values, key)

    def spelled(self, place: Place, which: int = 0) -> Array:  # noqa: ARG002
        """See `View`; numbers are no texts."""
        return np.full(self.n, np.nan)

    letters = spelled

    def places(self) -> list[Place]:
        """See `View`."""
        return list(range(self.width))

    def minus(self) -> NDArray[np.bool_] | None:
        """Return which numbers are zeros with a sign; None where none is."""
        if self.array.dtype.kind != "f":
            return None
        zero = self.array == 0
        found: NDArray[np.bool_] = zero & np.signbit(self.array) if zero.any() else zero
        return found if found.any() else None

    def form(self) -> Column:
        """See `View`."""
        dtype, single = self.array.dtype, self.array.ndim == 1
        structure = LEAF if single else array_words(dtype, self.array.shape[1:])
        tag, minus = TAGS[dtype.str] if single else "", self.minus()
        if minus is None:
            return Column(np.zeros(self.n, dtype=np.intp), [form_of(structure, [tag] * self.width)])
        rows, ids = np.unique(minus.reshape(self.n, -1), axis=0, return_inverse=True)
        told = [np.where(row, "-0.0", tag).tolist() for row in rows]
        return Column(ids.ravel(), [form_of(structure, tags) for tags in told])

    def whole(self, table: tuple[Key, ...]) -> Codes:
        """See `View`; place by place along the tree of the table's beginnings."""
        if self.array.ndim == 1:
            return self.codes(0, table)
        rows = {
            k: key
            for k, key in enumerate(table)
            if isinstance(key, tuple) and len(key) == self.width and all(map(is_number, key))
        }
        if len(rows) > FEW or any(NAN in key for key in rows.values()):
            return follow_tree(self, rows, len(table))
        codes = np.full(self.n, len(table), dtype=np.intp)
        for k, row in rows.items():
            same = np.ones(self.n, dtype=bool)
            for place, key in enumerate(row):
                same &= _equal(self.array[:, place], key)
            codes[same] = k
        return codes

    def lengths(self) -> Array:
        """See `View`."""
        return np.full(self.n, float(self.width))

    def matrix(self) -> Array:
        """See `View`."""
        return self._table().astype(float, copy=False)

    def first_change(self) -> Array:
        """See `View`."""
        values = self._table()
        first = values[:, :1]
        both_nan = np.isnan(values) & np.isnan(first)
        return first_hit((values != first) & ~both_nan, self.lengths())

    def tally(self, place: Place | None) -> Tally:
        """See `View`."""
        if place is None and self.array.ndim == 2:
            rows, counts = np.unique(self.array, axis=0, return_counts=True)
            often = counts > 1
            common = zip(map(key_of, rows[often]), counts[often].tolist(), strict=True)
            return Tally(by_frequency(common), 0, len(rows), 0.0, fractions=False, total=self.n)
        column = self._column(place or 0)
        if column is None:
            return tally_of([ABSENT], [self.n])
        values, counts = np.unique(column, return_counts=True)
        often = counts > 1
        finite = values[np.isfinite(values)].astype(float)
        return Tally(
            common=by_frequency(
                zip(map(key_of, values[often]), counts[often].tolist(), strict=True)
            ),
            numbers=len(values),
            others=0,
            middle=middle_of(finite),
            fractions=bool((finite % 1 != 0).any()),
            total=self.n,
        )


def _listed(
    column: NDArray[Any], table: tuple[Key, ...], plain: list[int], rest: int
) -> Codes | None:
    """Return codes of whole numbers from a list of least to largest, None if that is long."""
    if column.dtype.kind not in "iu":
        return None
    values = {int(number): k for k in plain if (number := number_of(table[k])).is_integer()}
    if not values or max(values) - min(values) > LONGEST_LIST or max(map(abs, values)) > 2**31:
        return None
    least = min(values) - 1
    codes = np.full(max(values) - least + 2, rest, dtype=np.intp)
    for value, k in values.items():
        codes[value - least] = k
    limits = np.iinfo(column.dtype)
    low, high = max(least, limits.min), min(max(values) + 1, limits.max)
    if low > high:
        return np.full(len(column), rest, dtype=np.intp)
    return np.asarray(codes[np.clip(column, low, high).astype(np.intp) - least])


def _equal(column: NDArray[Any], key: Key) -> Mask:
    """Return whether each number is this one; whole numbers are compared as such."""
    number = number_of(key)
    found: Mask
    if column.dtype.kind == "f":
        found = column == np.float64(number)
    elif not number.is_integer():
        found = np.zeros(len(column), dtype=bool)
    elif column.dtype.kind == "b":
        found = column.view(np.uint8) == int(number)
    else:
        found = column == int(number)
    return found
