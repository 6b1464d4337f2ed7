"""Changes of one labelled record: replaced, or its label flipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled


@dataclass(frozen=True, slots=True, eq=False)
class Replace:
    """Replace record `index`, counted from 0, of a labelled dataset by (x, y).

    `pool` is the place of the new record in the pool it was drawn from; a witness on real data
    names it instead of the values. `line` and `new_line` are where the record, and the new one,
    begin in the file that they were read from; only words depend on these.
    """

    index: int
    x: NDArray[np.float64]
    y: int
    pool: int | None = None
    line: int | None = None
    new_line: int | None = None

    def at(self, index: int) -> Replace:
        """Return the same replacement at another place."""
        return replace(self, index=index)

    def apply(self, data: Labelled) -> Labelled:
        """Return the dataset with the record replaced."""
        X, y = data.X.copy(), data.y.copy()
        X[self.index], y[self.index] = self.x, self.y
        return Labelled(X, y)

    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:
        """By place in the pool where there is one, else by value."""
        what = (
            {"x": self.x.tolist(), "y": self.y}
            if by_value or self.pool is None
            else {"pool": self.pool}
        )
        return {"kind": "replace", "index": self.index} | what

    def __str__(self) -> str:
        if self.new_line is not None:
            new = f"that of line {self.new_line}"
        elif self.pool is not None:
            new = f"record {self.pool} of the pool"
        else:
            new = f"({_short(self.x)}, label {self.y})"
        old = f"record {self.index}" if self.line is None else f"record of line {self.line}"
        return f"{old} replaced by {new}"


@dataclass(frozen=True, slots=True)
class FlipLabel:
    """Replace the label y in {0, 1} of record `index` by 1 - y; its features stay.

    `line` is where the record begins in the file that it was read from; only words depend on it.
    """

    index: int
    line: int | None = field(default=None, compare=False)

    def at(self, index: int) -> FlipLabel:
        """Return the same flip at another place."""
        return replace(self, index=index)

    def apply(self, data: Labelled) -> Labelled:
        """Return the dataset with the label flipped."""
        y = data.y.copy()
        y[self.index] = 1 - y[self.index]
        return Labelled(data.X, y)

    # there is one description only
    def as_json(self, *, by_value: bool = False) -> dict[str, Any]:  # noqa: ARG002
        """Kind and place."""
        return {"kind": "flip-label", "index": self.index}

    def __str__(self) -> str:
        whose = f"record {self.index}" if self.line is None else f"line {self.line}"
        return f"label of {whose} flipped"


def from_pool(pool: Labelled, index: int, j: int) -> Replace:
    """Return the replacement of record `index` by record `j` of a pool."""
    return Replace(index, pool.X[j], int(pool.y[j]), j)


def _short(x: Sequence[float] | NDArray[np.float64]) -> str:
    numbers = ", ".join(f"{value:g}" for value in x[:3])
    return f"x = {numbers}" if len(x) <= 3 else f"x = {numbers}, ... ({len(x)} features)"
