"""Claims about a number that is predicted or computed: how far it moves, how large it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from dpassay.claims.promise import Promise, keep_number


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionStability(Promise):
    """Uniform replace-one prediction stability of a real prediction: |A(S, x) - A(S', x)| <= gamma.

    Definition 4.4 of Dwork and Feldman (2018). Where the prediction is randomised it is held
    against the difference of the means, which is what adding noise and averaging rest on.

    Parameters
    ----------
    gamma : float
        Claimed change of a prediction, in the units of the prediction; finite and > 0.
    relation, unit, coins, source, status, expected
        See `Promise`.

    Raises
    ------
    InvalidInput
        If a number is out of its range.
    """

    kind: ClassVar[str] = "PredictionStability"
    named: ClassVar[str] = "change of the prediction"
    means: ClassVar[bool] = True

    gamma: float

    def __post_init__(self) -> None:
        super(PredictionStability, self).__post_init__()
        keep_number(self, "gamma", lambda gamma: 0 < gamma < math.inf, "a finite number > 0")

    def __str__(self) -> str:
        return f"PredictionStability({self.gamma:g})"

    @property
    def promised(self) -> float:
        """gamma, a difference of predictions."""
        return self.gamma

    def most(self, numbers: tuple[float, float] | None) -> float:
        """The range of the predictions."""
        low, high = numbers or (0.0, 1.0)
        return high - low

    def misfit(self, numbers: tuple[float, float] | None, name: str) -> str:
        """It is about numbers."""
        return (
            f"is about real predictions, {name} answers labels; say Stability(...)"
            if numbers is None
            else ""
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy(Promise):
    """An error computed from one dataset S alone is at most `bound`, whatever S is.

    Theorems about learning promise such numbers: an empirical error beyond that of the best
    function of a class, say. The neighbour relation says only which datasets are looked at; every
    one of them is held against the bound by itself. A mechanism that claims it answers the error,
    as a number without coins, and is audited in exact or exhaustive mode.

    Parameters
    ----------
    bound : float
        Claimed largest error, in the units of the answer; finite and > 0.
    excess : bool
        Whether the number is an excess: an error minus what it is compared with, so that it may be
        below 0.
    relation, unit, coins, source, status, expected
        See `Promise`.

    Raises
    ------
    InvalidInput
        If a number is out of its range.
    """

    kind: ClassVar[str] = "Accuracy"
    named: ClassVar[str] = "error"
    computed: ClassVar[bool] = True

    bound: float
    excess: bool = False

    def __post_init__(self) -> None:
        super(Accuracy, self).__post_init__()
        keep_number(self, "bound", lambda bound: 0 < bound < math.inf, "a finite number > 0")

    def __str__(self) -> str:
        return f"Accuracy({self.bound:g})"

    @property
    def quantity(self) -> str:
        """An error, or an excess error."""
        return f"excess {self.named}" if self.excess else self.named

    @property
    def promised(self) -> float:
        """The bound, an error."""
        return self.bound

    def most(self, numbers: tuple[float, float] | None) -> float:
        """The largest error that can be answered."""
        return max(0.0, (numbers or (0.0, 1.0))[1])

    def misfit(self, numbers: tuple[float, float] | None, name: str) -> str:
        """An error is a number."""
        return f"is about an error, {name} answers labels, not numbers" if numbers is None else ""
