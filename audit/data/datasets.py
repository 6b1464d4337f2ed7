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
        labels = np.array(self.y)
        require(
            labels.shape == (len(self.X),),
            "y",
            f"shape {labels.shape}",
            f"of shape ({len(self.X)},), one label a row of X",
        )
        numeric = labels.dtype.kind in "biuf"
        whole = numeric and bool(
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
        """SHA-256 of shape and contents, in hexadecimal.

        What a random stream and a witness know the dataset by.
        """
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
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{argument} = {type(values).__name__}: must be a list of numbers, of shape (n,)"
        ) from None
    allowed = "of shape (n,) with n >= 1"
    require(array.ndim == 1 and array.size > 0, argument, f"shape {array.shape}", allowed)
    finite = np.isfinite(array)
    if not finite.all():
        place = int(np.argmin(finite))
        raise InvalidInput(f"{argument}[{place}] = {array[place]}: must be a finite number")
    array.flags.writeable = False
    return array


def points(values: ArrayLike, argument: str) -> NDArray[np.float64]:
    """Check an array of finite points, shape (n, d), n, d >= 1; return it as read-only float64."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{argument} = {type(values).__name__}: must be an array of numbers of shape (n, d)"
        ) from None
    require(
        array.ndim == 2 and array.size > 0,
        argument,
        f"shape {array.shape}",
        "of shape (n, d) with n, d >= 1",
    )
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise InvalidInput(
            f"{argument}[{row}, {column}] = {array[row, column]}: must be a finite number"
        )
    array.flags.writeable = False
    return array
