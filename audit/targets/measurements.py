"""Measurements of OpenDP as functions of a dataset; the library is not imported here."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpassay.mechanism import OwnCoins

WHOLE = 2.0**53 - 1
"""Integers up to here are described; a float holds no larger ones."""
INTEGERS = {
    f"{sign}{bits}": (
        (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1) if sign == "i" else (0.0, 2.0**bits - 1)
    )
    for sign in "iu"
    for bits in (8, 16, 32, 64)
} | {"usize": (0.0, WHOLE), "isize": (-WHOLE, WHOLE)}
"""Limits of the types of integers."""
FLOATS = {"f32": (-1e38, 1e38), "f64": (-1e300, 1e300)}
"""Limits of the types of floats, as far as numbers between them can be told apart."""


def is_measurement(thing: Any) -> bool:
    """Return whether it is a measurement of OpenDP; imports nothing."""
    module = sys.modules.get("opendp.mod")
    return module is not None and isinstance(thing, module.Measurement)


@dataclass(frozen=True, slots=True, eq=False)
class Release(OwnCoins):
    """A measurement as a function of a dataset, which it converts to the measurement's carrier."""

    measurement: Any
    _atom: str = field(init=False, repr=False)
    _vector: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # asking the library for a domain takes as long as a release
        element, vector = element_of(self.measurement.input_domain)
        object.__setattr__(self, "_atom", atom_of(element))
        object.__setattr__(self, "_vector", vector)

    def __call__(self, data: Any) -> Any:
        """Release once.

        Missing numbers of `data` (n,), None, are passed as NaN. To integers numbers are rounded
        down: two that are an integer apart stay so. A measurement of one value takes the first.
        """
        if not (self._atom and isinstance(data, (list, np.ndarray))):
            return self.measurement(data)
        cells = data.tolist() if isinstance(data, np.ndarray) else data
        if self._atom in INTEGERS:
            cells = [math.floor(cell) for cell in cells]
        elif self._atom in FLOATS:
            cells = [math.nan if cell is None else float(cell) for cell in cells]
        return self.measurement(cells if self._vector else cells[0])


def plain(name: Any) -> str:
    """Return the name of a type without the modules it lies in."""
    return str(name).replace("opendp::metrics::", "").replace("opendp::measures::", "")


def element_of(domain: Any) -> tuple[Any, bool]:
    """Return the domain of the elements, and whether there are several in a dataset."""
    vector = plain(domain.type).startswith("VectorDomain<")
    return (domain.element_domain if vector else domain), vector


def atom_of(domain: Any) -> str:
    """Return the type of an atom domain that can be described; empty for all else."""
    name = plain(domain.type)
    if not name.startswith("AtomDomain<"):
        return ""
    atom = name.removeprefix("AtomDomain<").removesuffix(">")
    return atom if atom in ("bool", "String", *INTEGERS, *FLOATS) else ""
