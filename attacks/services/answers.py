"""Answers that are numbers or vectors, as values that can be counted."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

MOST_LABELS = 10
"""Answers that are told apart, the others together."""


def middle(answers: tuple[Any, ...]) -> Any:
    """The commonest answer; of numbers or vectors that are all different, their medians."""
    if len(set(answers)) == len(answers) > 1 and _real(answers[0]):
        return tuple(np.median(np.array(answers, dtype=float).reshape(len(answers), -1), axis=0))
    return Counter(answers).most_common(1)[0][0]


def _real(answer: Any) -> bool:
    """Return whether it is a real number or a vector of such."""
    return isinstance(answer, float) or (
        isinstance(answer, tuple) and all(isinstance(each, int | float) for each in answer)
    )


def halves(one: list[Any], other: list[Any]) -> tuple[list[Any], list[Any]]:
    """Real answers by whether each value is above the median of both sides together."""
    everything = one + other
    if len(set(everything)) <= MOST_LABELS or not all(map(_real, everything)):
        return one, other
    values = np.array([np.ravel(each) for each in everything], dtype=float)
    above = [tuple(row) for row in (values > np.median(values, axis=0)).tolist()]
    return above[: len(one)], above[len(one) :]
