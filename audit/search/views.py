"""Views: what a feature may ask of outputs, be they arrays of numbers or of any kind.

An output is one value, or a sequence of parts that are looked at place by place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from dpassay.mechanism.opening import Special
from dpassay.search.columns import Array, Codes, Mask, Numbers, Tally, ValueColumn
from dpassay.search.values import ABSENT, Key, long_text

Place: TypeAlias = int | str
"""Of a part: counted from 0 in the order in which an answer holds them, or how it is reached."""
LEAF = "\0"
"""Stands for a number or a text in what is said of the form of an answer."""
TAGS = (
    {"<f8": "", "<i8": "int", "|b1": "bool"}
    | {
        f"{kind}{size}": f"{name}{8 * size}"
        for kind, name, sizes in (
            ("<f", "float", (2, 4)),
            ("<i", "int", (2, 4)),
            ("<u", "uint", (2, 4, 8)),
        )
        for size in sizes
    }
    | {"|i1": "int8", "|u1": "uint8"}
)
"""What is said of the type of numbers; NumPy's float64 and int64 are Python's float and int."""

HUGE = 1e150
"""What is larger is told apart by thresholds alone: sums and squares of it are no floats."""


class View:
    """Outputs as what a feature asks for: `n` of them, of which `width` places are looked at."""

    n: int
    width: int

    def column(self, place: Place | None) -> Numbers | ValueColumn:
        """Return the values in a place, or the whole outputs (None)."""
        raise NotImplementedError

    def places(self) -> list[Place]:
        """Return the places of parts, the ones that most outputs have first."""
        raise NotImplementedError

    def lengths(self) -> Array:
        """Return the number of parts of each output."""
        raise NotImplementedError

    def tally(self) -> Tally:
        """Count the whole outputs."""
        return self.column(None).tally()

    def form(self) -> ValueColumn:
        """Return what each output is besides its values."""
        raise NotImplementedError

    def hits(self, key: Key) -> Mask:
        """Return whether each place (n, places) has this value; any number for `NUMBER`."""
        found = np.zeros((self.n, self.width), dtype=bool)
        for place in range(self.width):
            found[:, place] = self.column(place).codes((key,)) == 0
        return found

    def matrix(self) -> Array:
        """Return all the numbers (n, places); NaN where there is none."""
        if self.width == 0:
            return np.full((self.n, 1), np.nan)
        return np.stack([self.column(place).number() for place in range(self.width)], axis=1)

    def first_change(self) -> Array:
        """Return the first place, from 1, that differs from the first part.

        It is one more than there are parts where none does.
        """
        length, first = self.lengths(), self.column(0)
        found = np.minimum(length, self.width) + 1
        for place in reversed(range(1, self.width)):
            found[first.differs(self.column(place)) & (length > place)] = place + 1
        return found

    def whole(self, table: tuple[Key, ...]) -> Codes:
        """Return the index in a table of each whole output; the table's length for all others.

        They are followed place by place along the tree of the beginnings of the table's values.
        """
        rows = {
            k: key + (ABSENT,) * (self.width - len(key))
            for k, key in enumerate(table)
            if isinstance(key, tuple) and len(key) <= self.width
        }
        state = np.ones(self.n, dtype=np.intp)  # 0 is the state of no return
        states = dict.fromkeys(rows, 1)
        for place in range(self.width):
            values = tuple(dict.fromkeys(key[place] for key in rows.values()))
            code = {value: k for k, value in enumerate(values)}
            steps = {k: (states[k], code[key[place]]) for k, key in rows.items()}
            number = {step: k + 1 for k, step in enumerate(dict.fromkeys(steps.values()))}
            follow = np.zeros((max(states.values(), default=1) + 1, len(values) + 1), dtype=np.intp)
            for (before, value), after in number.items():
                follow[before, value] = after
            state = follow[state, self.column(place).codes(values)]
            states = {k: number[step] for k, step in steps.items()}
        last = np.full(max(states.values(), default=1) + 1, len(table), dtype=np.intp)
        for k, at in states.items():
            last[at] = k
        return last[state]


def array_words(dtype: np.dtype[Any], shape: tuple[int, ...]) -> str:
    """Say what an array is besides its numbers."""
    return f"array of {dtype.name} {shape}"


def form_of(structure: str, tags: Sequence[str]) -> Special:
    """Return the form of an answer: how it holds its parts, and the types of its leaves."""
    pieces = structure.split(LEAF)
    if len(pieces) == len(tags) + 1:
        told = "".join(f"{one}{tag or '·'}" for one, tag in zip(pieces, tags, strict=False))
        return long_text("form", told + pieces[-1])
    types = ", ".join(tag or "·" for tag in tags) if any(tags) else ""
    return long_text("form", f"{structure.replace(LEAF, '·')}{types and f' of {types}'}")


def first_hit(hit: Mask, lengths: Array) -> Array:
    """Return the first place of each row, counted from 1, that is hit; one past its end if none."""
    if not hit.shape[1]:
        return lengths + 1.0
    return np.where(hit.any(axis=1), hit.argmax(axis=1) + 1.0, lengths + 1.0)
