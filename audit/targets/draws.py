"""Draws: answers of any kind, as rows that can be told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import TargetError

PLAIN = "biuf"
"""Kinds of arrays whose rows are numbers."""


def as_bytes(answers: NDArray[Any]) -> NDArray[Any]:
    """Return answers that are True or False as bytes, which are compared with numbers unchanged."""
    return answers.view(np.uint8) if answers.dtype.kind == "b" else answers


def as_draws(answers: Any, size: int, queries: int, where: str) -> NDArray[Any]:
    """Put `size` answers of any kind into one array whose first axis is the trials.

    Parameters
    ----------
    answers : array or sequence
        What `sample` returned.
    size : int
        Trials that were asked for.
    queries : int
        Query points whose answers lie side by side; 0 where an answer is of no query.
    where : str
        The dataset, in words.

    Returns
    -------
    array (size,), (size, d), or (size, q)
        Of numbers, or of Python objects.

    Raises
    ------
    TargetError
        If it is not `size` rows, or their columns are not the queries.
    """
    found = _rows(answers)
    if found is None:
        raise TargetError(
            f"sample on {where} returned {type(answers).__name__}; expected {size} answers, one a "
            "run: an array or a sequence of that length"
        )
    if len(found) != size:
        raise TargetError(
            f"sample on {where} returned {len(found)} answers; expected `size` = {size}, one a run"
        )
    if (
        queries
        and found.ndim == 1
        and {len(each) for each in found if isinstance(each, (tuple, list))} == {queries}
    ):
        found = _columns(found, queries)
    if queries and not (found.ndim == 2 and found.shape[1] == queries):
        raise TargetError(
            f"sample on {where} returned shape {found.shape}; expected (size, queries) = "
            f"({size}, {queries}), or together=True if all its answers are one output"
        )
    if not queries and found.ndim > 1 and found.dtype.kind not in PLAIN:
        return _objects(found)
    return found.reshape(size, -1) if found.ndim > 2 else found


def _columns(found: NDArray[Any], queries: int) -> NDArray[Any]:
    """Return tuples or lists of answers, one for each query, as rows."""
    table = np.empty((len(found), queries), dtype=object)
    for place, each in enumerate(found):
        table[place] = each
    return table


def _rows(answers: Any) -> NDArray[Any] | None:
    """Return answers as an array; None if they are no rows."""
    if isinstance(answers, np.ndarray):
        if answers.ndim == 0:
            return None
        return answers
    if not isinstance(answers, (list, tuple)):
        return None
    kinds = {type(each) for each in answers}
    if kinds <= {bool, np.bool_} or kinds <= {int, float, np.float64, np.int64}:
        try:
            return np.array(answers)
        except (OverflowError, ValueError):
            return _objects(answers)
    if kinds == {np.ndarray} and len({each.shape for each in answers}) == 1:
        stacked = np.stack(answers)
        return stacked if stacked.dtype.kind in PLAIN else _objects(answers)
    return _objects(answers)


def _objects(answers: Any) -> NDArray[Any]:
    """Return an array of Python objects, a trial each; arrays among them as tuples."""
    found = np.empty(len(answers), dtype=object)
    for place, each in enumerate(answers):
        found[place] = tuple(each.tolist()) if isinstance(each, np.ndarray) and each.ndim else each
    return found
