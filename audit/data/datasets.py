"""Datasets: what a mechanism may be audited on, and how it is checked."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpassay.errors import InvalidInput, require
from dpassay.rows.rows import Rows


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Labelled:
    """A dataset S of labelled records; frozen, its arrays are read-only.

    Parameters
    ----------
    X : array (n, d)
        Features; finite.
    y : array (n,)
        Labels; integers >= 0.

    Raises
    ------
    InvalidInput
        If the shapes do not fit, a feature is NaN or infinite (its row and column are named), or a
        label is no integer.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", points(self.X, "X"))
        labels, size = np.array(self.y), len(self.X)
        allowed = f"of shape ({size},), one label a row of X"
        require(labels.shape == (size,), "y", f"shape {labels.shape}", allowed)
        whole = labels.dtype.kind in "biuf" and bool(
            np.all((labels >= 0) & (labels < 2**53) & (np.trunc(labels) == labels))
        )
        require(whole, "y", labels, "integers >= 0")
        codes = labels.astype(np.int64)
        codes.flags.writeable = False
        object.__setattr__(self, "y", codes)

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Any) -> Labelled:
        """Return the records with these indices, in this order."""
        return Labelled(self.X[rows], self.y[rows])

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Return what it is made of."""
        return self.X, self.y

    @property
    def digest(self) -> str:
        """SHA-256 of shape and contents, by which a random stream and a witness know it."""
        return digest(*self.arrays)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Values:
    """A frozen dataset of finite numbers, one or more: one a record, or true answers of queries."""

    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", numbers(self.values, "values"))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """Return what it is made of."""
        return (self.values,)

    @property
    def digest(self) -> str:
        """SHA-256 of shape and contents, in hexadecimal; see `Labelled.digest`."""
        return digest(*self.arrays)


Dataset = Labelled | Values | Rows
"""What a mechanism may be audited on."""


def digest(*arrays: NDArray[Any]) -> str:
    """SHA-256 of the shapes and little-endian bytes of the arrays."""
    state = hashlib.sha256()
    for array in arrays:
        state.update(f"{array.dtype.kind}{array.shape}".encode())
        state.update(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes())
    return state.hexdigest()


def numbers(values: ArrayLike, argument: str) -> NDArray[np.float64]:
    """Check a list of at least one finite number, shape (n,); return it as read-only float64."""
    return _finite(values, argument, "(n,)", "a list of numbers, of shape (n,)")


def points(values: ArrayLike, argument: str) -> NDArray[np.float64]:
    """Check an array of finite points, shape (n, d), n, d >= 1; return it as read-only float64."""
    return _finite(values, argument, "(n, d)", "an array of numbers of shape (n, d)")


def _finite(values: ArrayLike, argument: str, shape: str, wanted: str) -> NDArray[np.float64]:
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        given = type(values).__name__
        raise InvalidInput(f"{argument} = {given}: must be {wanted}") from None
    right = array.ndim == len(shape.strip("(,)").split(",")) and array.size > 0
    sizes = shape.strip("(,)")
    require(right, argument, f"shape {array.shape}", f"of shape {shape} with {sizes} >= 1")
    finite = np.isfinite(array)
    if not finite.all():
        place = tuple(np.argwhere(~finite)[0].tolist())
        where = ", ".join(map(str, place))
        raise InvalidInput(f"{argument}[{where}] = {array[place]}: must be a finite number")
    array.flags.writeable = False
    return array
