"""Remembered: what is found out about an output once, where there are few different ones.

Rows of a few small whole numbers are numbers in a small base: what has been said of one is looked
up when it comes again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 2**16
"""More different rows than this are not told apart."""
MOST_KINDS = 16
"""Tables that are kept, one for each least and largest number and each width."""


class Remembered:
    """Answers of a function of single outputs, each asked for once.

    The function takes n outputs, as `Encoder.view` does, and looks at each by itself; it
    returns an array whose first axis is theirs.
    """

    def __init__(self, function: Callable[[Any], NDArray[Any]]) -> None:
        self.function = function
        self.tables: dict[tuple[Any, ...], tuple[NDArray[Any], NDArray[np.bool_]]] = {}

    def __call__(self, draws: Any) -> NDArray[Any]:
        """Return what the function says."""
        found = _words(draws)
        if found is None:
            return self.function(draws)
        words, size, kind = found
        if kind not in self.tables:
            if len(self.tables) == MOST_KINDS or len(draws) == 0:
                return self.function(draws)
            one = self.function(draws[:1])
            self.tables[kind] = np.empty((size, *one.shape[1:]), one.dtype), np.zeros(size, bool)
        table, known = self.tables[kind]
        if not known[words].all():
            new, first = np.unique(words, return_index=True)
            first = first[~known[new]]
            table[words[first]] = self.function(draws[first])
            known[words[first]] = True
        return np.asarray(table[words])

    def __reduce__(self) -> tuple[type[Remembered], tuple[Callable[[Any], NDArray[Any]]]]:
        """Leave the tables behind: another process makes its own."""
        return Remembered, (self.function,)


def _words(draws: Any) -> tuple[NDArray[np.intp], int, tuple[Any, ...]] | None:
    """Return rows of whole numbers as one number each, how many there can be, and a kind.

    It is None where outputs are no such rows, or too many different ones.
    """
    if not isinstance(draws, np.ndarray) or draws.dtype.kind not in "biu" or draws.ndim > 2:
        return None
    if draws.size == 0 or draws.ndim == 0:
        return None
    width = 1 if draws.ndim == 1 else draws.shape[1]
    digits: NDArray[Any] = draws.view(np.uint8) if draws.dtype.kind == "b" else draws
    least, most = (0, 1) if draws.dtype.kind == "b" else (int(digits.min()), int(digits.max()))
    base = most - least + 1
    if width * np.log2(max(base, 2)) > np.log2(MOST_ROWS) or abs(least) > MOST_ROWS:
        return None
    size = base**width
    kind = (draws.dtype.str, draws.ndim, width, least, base)
    if draws.ndim == 1:
        words = digits.astype(np.intp)
        words -= least
        return words, size, kind
    places = float(base) ** np.arange(width)
    # floats of 24 bits hold these numbers exactly, all below 2^18, and their products are fast
    above = digits.astype(np.float32) - np.float32(least)
    return (above @ places.astype(np.float32)).astype(np.intp), size, kind
