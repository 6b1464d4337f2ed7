"""Views: what a feature may ask of outputs, be they arrays of numbers or of any kind.

An output is one value, or a sequence of parts that are looked at place by place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpassay.mechanism.opening import Special
from dpassay.search.values import Key, is_number, long_text, number_of

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Codes = NDArray[np.intp]
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


class View(Protocol):
    """Outputs as what a feature asks for."""

    @property
    def n(self) -> int:
        """Number of outputs."""
        ...

    @property
    def width(self) -> int:
        """Number of places that are looked at."""
        ...

    def number(self, place: Place) -> Array:
        """Return the number in each output's place; NaN where there is none."""
        ...

    def beyond(self, place: Place, at: float, *, below: bool) -> Mask:
        """Return whether the number in each output's place is at least, or below, a threshold."""
        ...

    def codes(self, place: Place, table: tuple[Key, ...]) -> Codes:
        """Return the index in a table of the value in each output's place.

        That of `NUMBER` for any other number where it is in the table, else the table's length.
        """
        ...

    def member(self, place: Place, keys: tuple[Key, ...]) -> Mask:
        """Return whether the value in each output's place is one of these."""
        ...

    def hits(self, key: Key) -> Mask:
        """Return whether each place (n, places) has this value; any number for `NUMBER`."""
        ...

    def spelled(self, place: Place, which: int = 0) -> Array:
        """Return a number that the text in each output's place spells, the first one for 0."""
        ...

    def letters(self, place: Place) -> Array:
        """Return the length of the text in each output's place; NaN where there is none."""
        ...

    def whole(self, table: tuple[Key, ...]) -> Codes:
        """Return the index in a table of each whole output; the table's length for all others."""
        ...

    def lengths(self) -> Array:
        """Return the number of parts of each output."""
        ...

    def matrix(self) -> Array:
        """Return all the numbers (n, places); NaN where there is none."""
        ...

    def first_change(self) -> Array:
        """Return the first place, from 1, that differs from the first part.

        It is one more than there are parts where none does.
        """
        ...

    def tally(self, place: Place | None) -> Tally:
        """Count the values in a place, or the whole outputs (None)."""
        ...

    def places(self) -> list[Place]:
        """Return the places of parts, the ones that most outputs have first."""
        ...

    def form(self) -> Any:
        """Return what each output is besides its values, as the view of a single place."""
        ...


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


def follow_tree(view: View, rows: dict[int, tuple[Key, ...]], other: int) -> Codes:
    """Return which of the rows each output is, place by place along the tree of their beginnings.

    `rows` are values of all places, by code; all outputs that are none of them have the code
    `other`.
    """
    state = np.ones(view.n, dtype=np.intp)  # 0 is the state of no return
    states = dict.fromkeys(rows, 1)
    for place in range(view.width):
        values = tuple(dict.fromkeys(key[place] for key in rows.values()))
        code = {value: k for k, value in enumerate(values)}
        steps = {k: (states[k], code[key[place]]) for k, key in rows.items()}
        number = {step: k + 1 for k, step in enumerate(dict.fromkeys(steps.values()))}
        follow = np.zeros((max(states.values(), default=1) + 1, len(values) + 1), dtype=np.intp)
        for (before, value), after in number.items():
            follow[before, value] = after
        state = follow[state, view.codes(place, values)]
        states = {k: number[step] for k, step in steps.items()}
    last = np.full(max(states.values(), default=1) + 1, other, dtype=np.intp)
    for k, at in states.items():
        last[at] = k
    return last[state]


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
