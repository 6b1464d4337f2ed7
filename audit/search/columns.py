"""Columns: values of any kind in one place of many answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dpassay.mechanism.opening import SIMPLE
from dpassay.search.values import (
    FAILED,
    NUMBER,
    Key,
    is_failure,
    is_number,
    key_of,
    letters,
    number_of,
    spelled,
)
from dpassay.search.views import Array, Codes, Mask, Place, Tally, tally_of


class Column:
    """Values of any kind, each different one looked at once: a view of a single place.

    `ids` says which of the different hashable `values` each output is.
    """

    def __init__(self, ids: Codes, values: list[Any]) -> None:
        self.n, self.width = len(ids), 1
        self.ids, self.values = ids, values
        self.keys: list[Key] = list(map(key_of, values))

    def each(self, function: Callable[[Any], float], values: Iterable[Any]) -> Array:
        """Return a number of each value, found once for each different one."""
        known = np.fromiter(map(function, values), dtype=float, count=len(self.keys))
        return known[self.ids]

    def number(self, place: Place) -> Array:
        """See `View`."""
        del place
        return self.each(number_of, self.keys)

    def beyond(self, place: Place, at: float, *, below: bool) -> Mask:
        """See `View`."""
        numbers = self.number(place)
        found: Mask = numbers < at if below else numbers >= at
        return found

    def member(self, place: Place, keys: tuple[Key, ...]) -> Mask:
        """See `View`."""
        return self.codes(place, keys) < len(keys)

    def spelled(self, place: Place, which: int = 0) -> Array:
        """See `View`."""
        del place
        return self.each(lambda value: spelled(value, which), self.values)

    def letters(self, place: Place) -> Array:
        """See `View`."""
        del place
        return self.each(letters, self.values)

    def codes(self, place: Place, table: tuple[Key, ...]) -> Codes:
        """See `View`."""
        del place
        at = {key: k for k, key in enumerate(table)}
        number = at.get(NUMBER, len(table))
        failed = at.get(FAILED, len(table))

        def of(key: Key) -> int:
            rest = number if is_number(key) else failed if is_failure(key) else len(table)
            return at.get(key, rest)

        known = list(map(of, self.keys))
        return np.array(known, dtype=np.intp)[self.ids] if known else self.ids

    def tally(self, place: Place) -> Tally:
        """See `View`."""
        del place
        return tally_of(self.keys, np.bincount(self.ids, minlength=len(self.keys)).tolist())

    def differs(self, other: Column) -> Mask:
        """Return whether each value differs from that of another column."""
        names = {key: k for k, key in enumerate(dict.fromkeys(self.keys + other.keys))}
        one = np.array([names[key] for key in self.keys], dtype=np.intp)[self.ids]
        two = np.array([names[key] for key in other.keys], dtype=np.intp)[other.ids]
        found: Mask = one != two
        return found


def column_of(values: Sequence[Any]) -> Column:
    """Return values of any kind as a column."""
    if not set(map(type, values)) <= SIMPLE:
        values = list(map(_hashable, values))
    index: dict[Any, Any] = dict.fromkeys(values)
    different = list(index)
    index.update(zip(different, range(len(different)), strict=True))
    return Column(np.fromiter(map(index.__getitem__, values), np.intp, len(values)), different)


def _hashable(value: Any) -> Any:
    """Return a value that is known by equality: a text as it is, all else by its key."""
    return value if type(value) is str else key_of(value)
