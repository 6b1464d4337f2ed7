"""What a mechanism may answer, whether its answers and laws are of that kind, and free answers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dpassay.errors import UNREAD, TargetError, as_real, printable, require
from dpassay.laws import FiniteLaw, NoiseLaw, PointLaw
from dpassay.mechanism import Mechanism
from dpassay.mechanism.opening import Node
from dpassay.mechanism.plain import is_plain, plain
from dpassay.search.views import TAGS

PROBABILITY = (
    "if it is a probability, draw the label with it, or audit the number itself with "
    "numbers=(0, 1), --answers 0..1"
)
NUMBERS = "declare the range of numbers with numbers=(least, greatest), --answers LEAST..GREATEST"
LABELS = "declare other labels with labels=(-1, 1), --answers=-1,1"
NAMES = "answer labels by their number, 0, 1, ... in sorted order"
"""What is said of answers that new users often give."""
FEW = 8
"""So many labels are few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSet:
    """What a mechanism may answer: labels, or real numbers."""

    labels: tuple[int, ...]  # at least two, all different; empty where it answers numbers
    # the least and the greatest, or infinite; None where it answers labels
    numbers: tuple[float, float] | None

    @classmethod
    def of(cls, mechanism: Mechanism) -> Self:
        """Return what a mechanism declares: a range of numbers or a set of labels."""
        numbers = mechanism.numbers
        if numbers is None:
            return cls(labels=_labels(mechanism.labels), numbers=None)
        known = (
            isinstance(numbers, tuple)
            and len(numbers) == 2
            and as_real(numbers[0]) < as_real(numbers[1])
        )
        require(known, "numbers", numbers, "(least, greatest), the least below the greatest")
        return cls(labels=(), numbers=(as_real(numbers[0]), as_real(numbers[1])))

    def __str__(self) -> str:
        if self.numbers is None:
            return f"one of {self.labels}"
        return f"a finite number in [{self.numbers[0]:g}, {self.numbers[1]:g}]"

    def check(self, draws: NDArray[Any], size: int, queries: int, where: str) -> None:
        """Raise `TargetError` if trials, shape (size, queries), are none."""
        _check_shape(draws, (size, queries), where)
        if draws.dtype.kind not in "biuf":
            names = f"; {NAMES}" if draws.dtype.kind in "US" and self.numbers is None else ""
            raise TargetError(
                f"sample on {where} returned an array of {draws.dtype}; expected {self}{names}"
            )
        known = self._holds(draws)
        if not known.all():
            trial, query = np.argwhere(~known)[0]
            value = draws[trial, query].item()
            what = f"{value!r} in trial {trial} at query {query}"
            raise TargetError(
                f"sample on {where} returned {what}; expected {self}{self._declared(value)}"
            )

    def check_law(self, law: Any, queries: int, where: str) -> None:
        """Raise `TargetError` if what a mechanism declares is no law of such answers."""
        kinds = (FiniteLaw,) if self.numbers is None else (PointLaw, NoiseLaw)
        if law is not None and not isinstance(law, kinds):
            known = " or a ".join(kind.__name__ for kind in kinds)
            raise TargetError(
                f"distribution on {where} returned {type(law).__name__}; expected a {known}, or "
                "None"
            )
        expected = (queries, len(self.labels) or 1)
        if law is not None and law.table.shape != expected:
            raise TargetError(
                f"distribution on {where} has shape {law.table.shape}; expected (queries, labels) "
                f"= {expected}"
            )

    def _holds(self, draws: NDArray[Any]) -> NDArray[np.bool_]:
        if self.numbers is None:
            return _among(draws, self.labels)
        low, high = self.numbers
        known: NDArray[np.bool_] = np.isfinite(draws) & (draws >= low) & (draws <= high)
        return known

    def _declared(self, value: float) -> str:
        """Say how an answer would be declared that is none of those declared."""
        if not math.isfinite(value):
            return ""
        if self.numbers is not None:
            return "; declare a range that holds every answer"
        return f"; {LABELS if value == int(value) else PROBABILITY if 0 < value < 1 else NUMBERS}"


def _check_shape(draws: NDArray[Any], expected: tuple[int, int], where: str) -> None:
    if draws.shape == expected:
        return
    nothing = draws.shape == () and draws.item() is None
    found = "None" if nothing else f"shape {draws.shape}"
    raise TargetError(
        f"sample on {where} returned {found}; expected (size, queries) = {expected}"
        f"{'; has it a return statement?' if nothing else _turned(draws.shape, expected)}"
    )


def _turned(shape: tuple[int, ...], expected: tuple[int, int]) -> str:
    """Say what was perhaps done to the shape of answers."""
    if shape == expected[::-1]:
        return "; transpose it"
    if shape in ((), (expected[1],)):
        return "; return a row for each of `size` runs, all drawn anew"
    return "; return a column for each query" if shape == (expected[0],) else ""


def _among(draws: NDArray[Any], labels: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return where an answer is a label, or one for all where none can be anything else.

    `np.isin` takes longer where labels are few.
    """
    if draws.dtype.kind == "b" and {0, 1} <= set(labels):
        return np.ones((1, 1), dtype=bool)
    if len(labels) > FEW:
        return np.isin(draws, labels)
    draws = as_bytes(draws)
    known: NDArray[np.bool_] = draws == labels[0]
    for label in labels[1:]:
        known |= draws == label
    return known


def _labels(said: Any) -> tuple[int, ...]:
    """Return labels as plain integers."""
    labels = tuple(said) if isinstance(said, Iterable) else ()
    known = (
        len(labels) >= 2
        and all(isinstance(label, Integral) for label in labels)
        and len(set(labels)) == len(labels)
    )
    require(known, "labels", said, "at least two integers, all different")
    return tuple(int(label) for label in labels)


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
        table = np.empty((len(found), queries), dtype=object)
        for place, each in enumerate(found):
            table[place] = each.tolist() if isinstance(each, np.ndarray) else each
        found = table
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


def _rows(answers: Any) -> NDArray[Any] | None:
    """Return answers as an array; None if they are no rows."""
    if isinstance(answers, np.ndarray):
        return None if answers.ndim == 0 else answers
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
