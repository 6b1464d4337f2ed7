"""Columns: what the cells of one may be, and the numbers that they are coded as."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import InvalidInput, require

# finite, so that coded rows are: a cell without a value, and, where these are told from it, numbers
# that are not finite; no finite number has a code up to the last of them
MISSING = -sys.float_info.max
SPECIAL = {
    name: MISSING + place * math.ulp(MISSING)
    for place, name in enumerate(("nan", "inf", "-inf"), 1)
}
LAST = max(SPECIAL.values())
Kind = Literal["number", "integer", "date", "value"]
Coded = NDArray[np.float64]
SHOWN = 40
"""Longer texts are cut in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What the cells of a column may be.

    `kind` is 'number', 'integer', 'date' or 'value'. `low` and `high` are finite limits of numbers
    and, in microseconds since 1970, of dates; otherwise a cell has one of the `values`, each once.
    Cells may have no value where `missing`, and the values of `SPECIAL` that `special` names.
    `dtype` is that of a DataFrame or array. Raise InvalidInput if limits or values are missing or
    out of order.
    """

    name: str
    kind: Kind
    low: float = 0.0
    high: float = 0.0
    values: tuple[Any, ...] = ()
    missing: bool = False
    dtype: str = ""
    special: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        where = f"column '{self.name}'"
        require(self.kind in get_args(Kind), where, self.kind, f"one of {get_args(Kind)}")
        object.__setattr__(self, "special", tuple(self.special))
        known = set(self.special) <= set(SPECIAL)
        require(known, f"{where}: special", self.special, f"among {', '.join(SPECIAL)}")
        if self.kind == "value":
            require(len(self.values) > 0, f"{where}: values", self.values, "at least one value")
        else:
            known = math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high
            limits = (self.low, self.high)
            require(known, f"{where}: limits", limits, "finite, the first not above the other")

    @property
    def gaps(self) -> tuple[float, ...]:
        """The codes of cells that are neither finite numbers nor dates nor known values."""
        return (*([MISSING] if self.missing else []), *map(SPECIAL.__getitem__, self.special))

    def holds(self, cell: float) -> bool:
        """Return whether a code stands for a cell that there may be."""
        if cell <= LAST:
            return cell in self.gaps
        if self.kind == "value":
            return cell == int(cell) and 0 <= cell < len(self.values)
        whole = self.kind != "integer" or cell == math.trunc(cell)
        return whole and self.low <= cell <= self.high

    def plain(self, cell: float) -> Any:
        """Return what a code stands for, as a value of Python's own; None where it is missing."""
        if cell == MISSING:
            return None
        if cell <= LAST:
            return float(next(name for name, code in SPECIAL.items() if code == cell))
        if self.kind == "value":
            return self.values[int(cell)]
        if self.kind == "date":
            return np.datetime64(int(cell), "us").item()
        return int(cell) if self.kind == "integer" else float(cell)

    def words(self, cell: float) -> str:
        """Say a cell."""
        value = self.plain(cell)
        if cell == MISSING:
            return "missing"
        text = f"{value:.6g}" if self.kind == "number" or cell <= LAST else repr(value)
        text = value.isoformat() if self.kind == "date" else text
        return text if len(text) <= SHOWN else f"{text[: SHOWN - 4]}...{text[-1]}"

    def as_json(self) -> dict[str, Any]:
        """Return name, kind, and limits or values."""
        told: dict[str, Any] = {"name": self.name, "kind": self.kind, "missing": self.missing}
        if self.kind == "value":
            told["values"] = [value_to_json(value, self.name) for value in self.values]
        else:
            told |= {"low": self.low, "high": self.high}
        special = {"special": list(self.special)} if self.special else {}
        return told | {"dtype": self.dtype} | special


def value_to_json(value: Any, where: str) -> Any:
    """Return a column's text, number, truth value, None or tuple as JSON; refuse any other."""
    if isinstance(value, tuple):
        return {"tuple": [value_to_json(each, where) for each in value]}
    if value is None or type(value) in (str, bool, int):
        return value
    if type(value) is float and math.isfinite(value):
        return {"float": value}  # 1.0 is not 1
    raise InvalidInput(
        f"column '{where}': has a value of type {type(value).__name__}, which cannot be written "
        "down; must be texts, numbers, truth values, None or tuples of such"
    )


def value_from_json(told: Any) -> Any:
    """Read back what `value_to_json` wrote; raise InvalidInput for anything else."""
    if isinstance(told, dict) and set(told) == {"tuple"} and isinstance(told["tuple"], list):
        return tuple(map(value_from_json, told["tuple"]))
    if isinstance(told, dict) and set(told) == {"float"} and type(told["float"]) is float:
        return told["float"]
    if told is None or type(told) in (str, bool, int):
        return told
    raise InvalidInput(f"value = {told!r:.80}: must be a text, number, truth value, None or tuple")
