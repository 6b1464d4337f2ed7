"""Draws: answers of any kind, as rows that can be told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import UNREAD, TargetError, printable
from dpassay.mechanism.opening import Node
from dpassay.mechanism.plain import is_plain, plain
from dpassay.search.views import TAGS


def as_bytes(answers: NDArray[Any]) -> NDArray[Any]:
    """Return answers that are True or False as bytes, which are compared with numbers unchanged."""
    return answers.view(np.uint8) if answers.dtype.kind == "b" else answers


def as_draws(answers: Any, size: int, queries: int, where: str) -> NDArray[Any]:
    """Put `size` answers of any kind into one array whose first axis is the trials.

    The shape is (size,), (size, d) or (size, q), of numbers or of Python objects. `queries` is
    the number of query points whose answers lie side by side, 0 if an answer is of no query.
    `where` names the dataset in messages. Answers that do not fit raise `TargetError`.
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
        and {len(each) for each in found if isinstance(each, (tuple, list, np.ndarray))}
        == {queries}
    ):
        found = _columns(found, queries)
    if queries and not (found.ndim == 2 and found.shape[1] == queries):
        raise TargetError(
            f"sample on {where} returned shape {found.shape}; expected (size, queries) = "
            f"({size}, {queries}), or together=True if all its answers are one output"
        )
    if not queries and found.dtype.str not in TAGS and (found.ndim > 1 or found.dtype.kind != "O"):
        found = _objects(list(found))
    if found.dtype.kind == "O":
        _read(found, where)
    return found.reshape(size, -1) if found.ndim > 2 else found


def _read(found: NDArray[Any], where: str) -> None:
    """Put plain answers in the place of all others, or say which of them cannot be read."""
    answers = found.ravel().tolist()
    if not is_plain(answers):
        answers = list(map(plain, answers))
        for place, each in zip(np.ndindex(found.shape), answers, strict=True):
            found[place] = each
    unread = [each.unread for each in answers if type(each) is Node and each.unread]
    if unread:
        share = f"{len(unread) / len(answers):.0%} of the runs of sample on {where}"
        raise TargetError(
            f"{UNREAD}an object that cannot be read, of type {printable(unread[0])}, in {share}; "
            "must be numbers, texts, and containers, arrays, frames or objects of these"
        )


def _columns(found: NDArray[Any], queries: int) -> NDArray[Any]:
    """Return sequences of answers, one for each query, as rows."""
    table = np.empty((len(found), queries), dtype=object)
    for place, each in enumerate(found):
        table[place] = each.tolist() if isinstance(each, np.ndarray) else each
    return table


def _rows(answers: Any) -> NDArray[Any] | None:
    """Return answers as an array; None if they are no rows."""
    if isinstance(answers, np.ndarray):
        if answers.ndim == 0:
            return None
        return answers
    if not isinstance(answers, (list, tuple)):
        return None
    kinds = set(map(type, answers))
    if kinds and any(kinds <= alike for alike in ALIKE):
        found = np.array(answers)
        return _objects(answers) if found.dtype.kind not in "bif" else found
    if kinds == {np.ndarray}:
        (dtype, shape), *more = {(each.dtype, each.shape) for each in answers}
        if not more and dtype.str in TAGS and len(shape) == 1:
            return np.stack(answers)
    return _objects(answers)


ALIKE = ({bool, np.bool_}, {int, np.int64}, {float, np.float64})
"""Types of numbers that nobody tells apart."""


def _objects(answers: Any) -> NDArray[Any]:
    """Return an array of Python objects, a trial each."""
    found = np.empty(len(answers), dtype=object)
    for place, each in enumerate(answers):
        found[place] = each
    return found
