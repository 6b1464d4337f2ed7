"""Columns: what is in one place of many answers, numbers of one type or values of any kind."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.mechanism.opening import SIMPLE
from dpassay.search.values import (
    FAILED,
    NAN,
    NUMBER,
    Key,
    is_failure,
    is_number,
    key_of,
    letters,
    number_of,
    spelled,
)

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Codes = NDArray[np.intp]

LONGEST_LIST = 4096
"""Whole numbers in a shorter range are looked up in a list."""
FEW = 4
"""So few values are compared one after the other."""
OFF = 0.02
"""So little of the width of the middle half may a median be off when it is written."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What values there are among `total` outputs.

    `common` are values that are seen more than once or are no numbers, and how often; the most
    frequent first, ties in a fixed order. `numbers` and `others` say how many different numbers and
    other values there are. `middle` is about the median of the different finite numbers, with few
    digits; 0 without. `fractions` says whether some finite number is not whole.
    """

    common: tuple[tuple[Key, int], ...]
    numbers: int
    others: int
    middle: float
    fractions: bool
    total: int


class Numbers:
    """Numbers in one place of all outputs, an array (n,)."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def number(self) -> Array:
        """Return the number in each output's place."""
        return self.array.astype(float, copy=False)

    def beyond(self, at: float, *, below: bool) -> Mask:
        """Return whether each number is at least, or below, a threshold."""
        column = self.array
        whole = column.dtype.kind in "biu"
        if column.dtype.kind == "b":
            column = column.view(np.uint8)
        # a float64: one of Python's would be rounded to the precision of the array
        limit: Any = math.ceil(at) if whole else np.float64(at)
        found: Mask = column < limit if below else column >= limit
        return found

    def codes(self, table: tuple[Key, ...]) -> Codes:
        """Return the index in a table of each number.

        That of `NUMBER` for any other number where it is in the table, else the table's length.
        """
        column = self.array
        rest = table.index(NUMBER) if NUMBER in table else len(table)
        if column.dtype.kind == "b":
            # Python holds False and 0, True and 1 to be equal
            no, yes = (table.index(key) if key in table else rest for key in (False, True))
            return np.where(column, np.intp(yes), np.intp(no))
        codes = np.full(len(column), rest, dtype=np.intp)
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

    def member(self, keys: tuple[Key, ...]) -> Mask:
        """Return whether each number is one of these."""
        plain = [key for key in keys if isinstance(key, (bool, int, float))]
        if len(plain) > FEW or len(plain) < len(keys) or not plain:
            return self.codes(keys) < len(keys)
        found = _equal(self.array, plain[0])
        for key in plain[1:]:
            found = found | _equal(self.array, key)
        return found

    def spelled(self, which: int = 0) -> Array:  # noqa: ARG002
        """Return a number that a text spells, or its length: numbers are no texts."""
        return np.full(len(self.array), np.nan)

    letters = spelled

    def tally(self) -> Tally:
        """Count the numbers."""
        values, counts = np.unique(self.array, return_counts=True)
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
            total=len(self.array),
        )

    def differs(self, other: Numbers | ValueColumn) -> Mask:
        """Return whether each number differs from what is in another place; NaN equals NaN."""
        same = self.array == (other.array if isinstance(other, Numbers) else other.number())
        found: Mask = ~(same | (np.isnan(self.array) & (other.codes((NAN,)) == 0)))
        return found


class ValueColumn:
    """Values of any kind in one place, each different one looked at once; see `Numbers`.

    `ids` says which of the different hashable `values` each output is.
    """

    def __init__(self, ids: Codes, values: list[Any]) -> None:
        self.ids, self.values = ids, values
        self.keys: list[Key] = list(map(key_of, values))

    def each(self, function: Callable[[Any], float], values: Iterable[Any]) -> Array:
        """Return a number of each value, found once for each different one."""
        known = np.fromiter(map(function, values), dtype=float, count=len(self.keys))
        return known[self.ids]

    def number(self) -> Array:
        """Return the number in each output's place; NaN where there is none."""
        return self.each(number_of, self.keys)

    def beyond(self, at: float, *, below: bool) -> Mask:
        """Return whether each value is a number that is at least, or below, a threshold."""
        numbers = self.number()
        found: Mask = numbers < at if below else numbers >= at
        return found

    def member(self, keys: tuple[Key, ...]) -> Mask:
        """Return whether each value is one of these."""
        return self.codes(keys) < len(keys)

    def spelled(self, which: int = 0) -> Array:
        """Return a number that each text spells, the first one for 0."""
        return self.each(lambda value: spelled(value, which), self.values)

    def letters(self) -> Array:
        """Return the length of each text; NaN where there is none."""
        return self.each(letters, self.values)

    def codes(self, table: tuple[Key, ...]) -> Codes:
        """Return the index in a table of each value; see `Numbers.codes`."""
        at = {key: k for k, key in enumerate(table)}
        number = at.get(NUMBER, len(table))
        failed = at.get(FAILED, len(table))

        def of(key: Key) -> int:
            rest = number if is_number(key) else failed if is_failure(key) else len(table)
            return at.get(key, rest)

        known = list(map(of, self.keys))
        return np.array(known, dtype=np.intp)[self.ids] if known else self.ids

    def tally(self) -> Tally:
        """Count the values."""
        return tally_of(self.keys, np.bincount(self.ids, minlength=len(self.keys)).tolist())

    def differs(self, other: Numbers | ValueColumn) -> Mask:
        """Return whether each value differs from what is in another place."""
        if isinstance(other, Numbers):
            return other.differs(self)
        names = {key: k for k, key in enumerate(dict.fromkeys(self.keys + other.keys))}
        one = np.array([names[key] for key in self.keys], dtype=np.intp)[self.ids]
        two = np.array([names[key] for key in other.keys], dtype=np.intp)[other.ids]
        found: Mask = one != two
        return found


def typed(values: Any) -> Numbers | ValueColumn:
    """Return values of one place as an array where they are numbers of one type."""
    if isinstance(values, np.ndarray):
        return Numbers(values)
    kinds = set(map(type, values))
    if len(kinds) == 1 and kinds <= NUMERIC.keys():
        try:
            return Numbers(np.fromiter(values, NUMERIC[kinds.pop()], len(values)))
        except OverflowError:  # an integer of more than 63 bits
            pass
    return column_of(values)


NUMERIC: dict[type, type] = {float: np.float64, bool: np.bool_, int: np.int64}
"""Python's numbers, and the arrays that hold them."""


def column_of(values: Sequence[Any]) -> ValueColumn:
    """Return values of any kind as a column."""
    if not set(map(type, values)) <= SIMPLE:
        # known by equality: a text as it is, all else by its key
        values = [each if type(each) is str else key_of(each) for each in values]
    index: dict[Any, Any] = dict.fromkeys(values)
    different = list(index)
    index.update(zip(different, range(len(different)), strict=True))
    return ValueColumn(np.fromiter(map(index.__getitem__, values), np.intp, len(values)), different)


def minus(array: NDArray[Any]) -> Mask | None:
    """Return which numbers are zeros with a sign; None where none is."""
    if array.dtype.kind != "f":
        return None
    zero = array == 0
    found: Mask = zero & np.signbit(array) if zero.any() else zero
    return found if found.any() else None


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


def tally_of(keys: Sequence[Key], counts: Sequence[int]) -> Tally:
    """Count values of any kind."""
    seen: Counter[Key] = Counter()
    for key, count in zip(keys, counts, strict=True):
        seen[key] += count
    numbers = [key for key in seen if is_number(key)]
    finite = np.array([number_of(key) for key in numbers])
    finite = finite[np.isfinite(finite)]
    return Tally(
        common=by_frequency((key, n) for key, n in seen.items() if n > 1 or not is_number(key)),
        numbers=len(numbers),
        others=len(seen) - len(numbers),
        middle=middle_of(finite),
        fractions=bool((finite % 1 != 0).any()),
        total=seen.total(),
    )


def middle_of(numbers: Array) -> float:
    """Return the median with few digits, off by little of the middle half's width; 0 of none."""
    if not len(numbers):
        return 0.0
    low, middle, high = np.quantile(numbers, [0.25, 0.5, 0.75], method="nearest").tolist()
    for digits in range(1, 17):
        short = float(f"{middle:.{digits}g}")
        if abs(short - middle) <= OFF * (high - low):
            return short
    return float(middle)


def by_frequency(counted: Iterable[tuple[Key, int]]) -> tuple[tuple[Key, int], ...]:
    """Return the most frequent first; ties in a fixed order."""
    return tuple(sorted(counted, key=lambda item: (-item[1], repr(item[0]))))
