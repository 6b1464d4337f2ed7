"""Plain answers: any object as numbers, texts and named parts of these, so that nothing is lost.

All that is done to an object of a stranger is done here, once, in the process that made it. What
cannot be read is named, and the audit ends as `error`: nothing passes for looked at that was not.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from dpassay.mechanism.opening import (
    LEAVES,
    WRAPPED,
    Node,
    Special,
    UnreadError,
    digest_of,
    is_numeric,
    opened,
)

DEEPEST, MOST_LEAVES = 40, 20_000
"""Parts are read so deep and so many of an answer; what is left is known by a digest."""


def is_plain(values: Sequence[Any]) -> bool:
    """Return whether answers are Python's own numbers, texts and shallow containers."""
    most, level = MOST_LEAVES * len(values), values
    for _ in range(DEEPEST + 2):
        kinds = set(map(type, level))
        below: list[Any] = []
        for kind in kinds - LEAVES:
            some: Any = level if len(kinds) == 1 else [each for each in level if type(each) is kind]
            if kind is dict:
                keys = set(map(tuple, some))
                if not set(map(type, chain.from_iterable(keys))) <= {str}:
                    return False
                below += chain.from_iterable(map(dict.values, some))
            elif kind is tuple or kind is list:
                below += chain.from_iterable(some)
            elif kind is Node:
                below += chain.from_iterable(each.parts.values() for each in some)
            elif kind is not np.ndarray or not all(map(is_numeric, some)):
                return False
        if not below:
            return True
        if len(below) > most:
            return False
        level = below
    return False


def owned(value: Any) -> Any:
    """Return an answer that `is_plain` and that nobody else holds."""
    # most functions answer one flat container: one look at its types, for a third of the time
    kind = type(value)
    flat = kind in LEAVES
    if kind is dict and len(value) <= MOST_LEAVES:
        texts = {str}.issuperset(map(type, value))
        flat = texts and LEAVES.issuperset(map(type, value.values()))
    elif (kind is list or kind is tuple) and len(value) <= MOST_LEAVES:
        flat = LEAVES.issuperset(map(type, value))
    return _copied(value) if flat or is_plain((value,)) else plain(value)


def _copied(value: Any) -> Any:
    """Return what `is_plain` as something that nobody else holds."""
    kind = type(value)
    if kind is tuple:
        return value if LEAVES.issuperset(map(type, value)) else tuple(map(_copied, value))
    if kind is list:
        return value.copy() if LEAVES.issuperset(map(type, value)) else list(map(_copied, value))
    if kind is dict:
        if LEAVES.issuperset(map(type, value.values())):
            return value.copy()
        return {key: _copied(part) for key, part in value.items()}
    return value.copy() if kind is np.ndarray else value


def plain(value: Any) -> Any:
    """Return an answer that `is_plain`."""
    reader = _Reader()
    found = reader.read(value)
    return Node("", {"": found}, reader.unread) if reader.unread else found


class _Reader:
    """Reads one answer; it knows the objects above the one at hand, which may hold themselves."""

    def __init__(self) -> None:
        self.above: dict[int, int] = {}
        self.left, self.unread = MOST_LEAVES, ""

    def read(self, value: Any) -> Any:
        """Return a part as plain parts."""
        kind = type(value)
        if kind in LEAVES:
            self.left -= 1
            return value
        if kind in WRAPPED:
            return value.item() if kind is not np.str_ else str.__str__(value)
        if kind is np.ndarray and is_numeric(value):
            return value.copy()
        if id(value) in self.above:
            return Special("cycle", str(len(self.above) - self.above[id(value)]))
        try:
            if len(self.above) == DEEPEST or self.left < 0:
                return Special("rest", digest_of(value))
            parts = opened(value)
        except UnreadError as error:
            self.unread = self.unread or str(error)
            return Special("object", self.unread)
        self.above[id(value)] = len(self.above)
        found: Any = parts
        if type(parts) is Node:
            for k, part in parts.parts.items():
                parts.parts[k] = self.read(part)
        elif type(parts) is dict:
            found = {k: self.read(v) for k, v in parts.items()}
        else:
            found = type(parts)(map(self.read, parts))
        del self.above[id(value)]
        return found
