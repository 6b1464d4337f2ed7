"""The claim about a validation score under one shared random string."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from dpassay.claims.promise import Promise, keep_number


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreStability(Promise):
    """(beta1, beta2, delta)-stability of a validation score.

    Source: Chaudhuri and Vinterbo (2013), Definition 2.

    All but a share delta of the random strings R are good: with the same R on both sides, no change
    of one of n training records moves the score by more than beta1 / n, and no change of one of m
    validation records by more than beta2 / m.

    Parameters
    ----------
    beta1, beta2 : float
        In units of the score, times n and m; finite and >= 0.
    delta : float
        Claimed proportion of bad R; in [0, 1). Theorems 4 and 6 promise delta / k for each of k
        parameters: say that here.
    relation, unit, coins, source, status, expected
        See `Promise`.

    Raises
    ------
    InvalidInput
        If a number is out of its range.
    """

    kind: ClassVar[str] = "ScoreStability"
    named: ClassVar[str] = "proportion of bad random strings"
    share: ClassVar[bool] = True
    coupled: ClassVar[bool] = True

    beta1: float
    beta2: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        super(ScoreStability, self).__post_init__()
        for name in ("beta1", "beta2"):
            keep_number(self, name, lambda beta: 0 <= beta < math.inf, "a finite number >= 0")
        keep_number(self, "delta", lambda delta: 0 <= delta < 1, "a number in [0, 1)")

    def __str__(self) -> str:
        return f"ScoreStability({self.beta1:g}, {self.beta2:g}, {self.delta:g})"

    @property
    def promised(self) -> float:
        """delta, a proportion of random strings."""
        return self.delta
