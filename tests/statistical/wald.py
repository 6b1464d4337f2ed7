"""Wald's sequential test: whether something happens as often as promised, or as it must not."""

from __future__ import annotations

import math
from collections.abc import Iterable


def decision(
    count: int, runs: int, promised: float, wrong: float, error: float, missed: float
) -> bool | None:
    """Whether it happens as promised, after so many of so many runs; None if it is undecided."""
    ratio = count * math.log(wrong / promised)
    ratio += (runs - count) * math.log((1 - wrong) / (1 - promised))
    return ratio < 0 if ratio >= -math.log(error) or ratio <= math.log(missed) else None


def as_promised(
    events: Iterable[bool], promised: float, wrong: float, error: float = 0.01, missed: float = 0.02
) -> bool:
    """Draw events until the likelihood ratio of the two probabilities decides between them.

    The ratio has mean 1 under its denominator, so by Ville's inequality the answer is False with
    probability at most `error` where the events have the promised probability, and True with
    probability at most `missed` where they have the wrong one; with less beyond either of them.
    """
    count = 0
    for runs, happened in enumerate(events, start=1):
        count += happened
        found = decision(count, runs, promised, wrong, error, missed)
        if found is not None:
            return found
    raise AssertionError("too few events to decide")
