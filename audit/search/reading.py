"""Reading: what came back from a mechanism as a view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.search.arrays import Numbers
from dpassay.search.objects import Objects
from dpassay.search.views import View


def view_of(draws: Any, *, parts: bool, nested: bool) -> View:
    """Return outputs as what features ask for.

    Parameters
    ----------
    draws : array or sequence
        First axis: trials.
    parts, nested
        See `Objects`.
    """
    if isinstance(draws, np.ndarray):
        array: NDArray[Any] = draws.reshape(1) if draws.ndim == 0 else draws
        if array.dtype.kind in "biuf":
            if array.ndim > 2:
                array = array.reshape(len(array), int(np.prod(array.shape[1:])))
            if array.ndim == 2 and array.shape[1] == 1 and not parts:
                array = array[:, 0]
            if array.ndim == 1 or parts:
                return Numbers(array)
        draws = list(array) if array.ndim == 1 and array.dtype.kind == "O" else array.tolist()
    return Objects(list(draws), parts=parts, nested=nested)


def pooled(views: Sequence[View]) -> View:
    """Return the outputs of several datasets as those of one."""
    if all(isinstance(view, Numbers) for view in views):
        arrays = [view.array for view in views if isinstance(view, Numbers)]
        if len({(array.shape[1:], array.dtype) for array in arrays}) == 1:
            return Numbers(np.concatenate(arrays))
    outputs: list[Any] = []
    for view in views:
        if isinstance(view, Numbers):
            values = view.array.tolist()
            outputs += values if view.array.ndim == 1 else map(tuple, values)
        elif isinstance(view, Objects):
            outputs += view.outputs
    shapes = [view for view in views if isinstance(view, Objects)]
    parts = any(view.rows is not None for view in shapes) or any(
        isinstance(view, Numbers) and view.array.ndim == 2 for view in views
    )
    return Objects(outputs, parts=parts, nested=any(view.nested for view in shapes))
