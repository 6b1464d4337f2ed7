"""Changes of numbers: one of a list replaced, or the true answers of queries moved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.data import Values, numbers
from dpassay.errors import as_real, require

SHOWN = 5
"""Of more different moves than this the others are only counted."""


@dataclass(frozen=True, slots=True)
class ReplaceValue:
    """Replace number `index`, counted from 0, of a list of numbers by a finite one."""

    index: int
    value: float

    def __post_init__(self) -> None:
        value = as_real(self.value)
        require(math.isfinite(value), "value", self.value, "a finite number")
        object.__setattr__(self, "value", value)

    def at(self, index: int) -> ReplaceValue:
        """Return the same replacement at another place."""
        return ReplaceValue(index, self.value)

    def apply(self, data: Values) -> Values:
        """Return the dataset with the number replaced."""
        values = data.values.copy()
        values[self.index] = self.value
        return Values(values)

    # there is one description only
    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:  # noqa: ARG002
        """Kind, place and number."""
        return {"kind": "replace-value", "index": self.index, "value": self.value}

    def __str__(self) -> str:
        return f"record {self.index} replaced by {self.value:.6g}"


@dataclass(frozen=True, slots=True)
class Shift:
    """Add to each of the true answers of some queries: what one record can do to all of them.

    `by` is finite, in the order of the answers, and not all 0.
    """

    by: tuple[float, ...]

    def __post_init__(self) -> None:
        by = numbers(self.by, "by")
        require(bool(by.any()), "by", self.by, "other than 0 somewhere, else nothing changes")
        object.__setattr__(self, "by", tuple(by.tolist()))

    @property
    def index(self) -> int:
        """0: it is of the answers as a whole."""
        return 0

    @property
    def largest(self) -> float:
        """By how much it moves the answer that it moves most."""
        return max(map(abs, self.by))

    @property
    def moved(self) -> int:
        """Return how many answers it moves."""
        return sum(map(bool, self.by))

    def at(self, index: int) -> Shift:  # noqa: ARG002
        """Return the same: it has no place of its own."""
        return self

    def apply(self, data: Values) -> Values:
        """Return the answers as moved."""
        return Values(data.values + np.array(self.by))

    # there is one description only
    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:  # noqa: ARG002
        """Kind, and what is added to each."""
        return {"kind": "shift", "by": list(self.by)}

    def __str__(self) -> str:
        return _moved(self.by)


def _moved(by: Sequence[float]) -> str:
    """Say which answers are moved by how much, those that move alike together."""
    alike: dict[float, list[int]] = {}
    for place, step in enumerate(by):
        if step:
            alike.setdefault(step, []).append(place)
    if len(alike) > SHOWN:
        return f"{sum(map(len, alike.values()))} answers moved by up to {max(map(abs, alike)):.6g}"
    return ", ".join(
        f"{_places(places, len(by))} {'raised' if step > 0 else 'lowered'} by {abs(step):.6g}"
        for step, places in sorted(alike.items(), key=lambda item: item[1])
    )


def _places(places: Sequence[int], size: int) -> str:
    """Name some answers of so many, in stretches; the first of them is answer 1."""
    if size == 1:
        return "the answer"
    if len(places) == size:
        return "all answers"
    if len(places) == 1:
        return f"answer {places[0] + 1}"
    known = set(places)
    starts = [place + 1 for place in places if place - 1 not in known]
    ends = [place + 1 for place in places if place + 1 not in known]
    stretches = [
        f"{first}" if first == last else f"{first}{' to' if last > first + 1 else ','} {last}"
        for first, last in zip(starts, ends, strict=True)
    ]
    return f"answers {', '.join(stretches)}" if len(starts) <= SHOWN else f"{len(places)} answers"
