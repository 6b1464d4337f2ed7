"""Predictors: mechanisms that answer a real number without coins and claim a rate of prediction stability.

They are what noise is added to (Lemma 4.5 of Dwork and Feldman 2018) and what is averaged (Lemma 4.6).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, PredictionStability
from dpassay.errors import InvalidInput
from dpassay.laws import PointLaw
from dpassay.targets.resolve import load_object


class Predictor(Protocol):
    """A mechanism without coins; its first claim is the rate gamma."""

    @property
    def claims(self) -> tuple[Claim, ...]:
        """`PredictionStability` first."""
        ...

    @property
    def numbers(self) -> tuple[float, float]:
        """Least and greatest prediction."""
        ...

    def check(self, data: Any) -> None:
        """Raise `InvalidInput` if these data can never be prepared."""
        ...

    def prepare(self, data: Any) -> Any:
        """Train."""
        ...

    def distribution(self, state: Any, queries: NDArray[np.float64]) -> PointLaw:
        """Return the predictions, with their numerical error."""
        ...


def predictor_of(given: Any) -> Predictor:
    """Return a predictor given as an object, or as `module:object` (an object, or a callable that makes one).

    Raises
    ------
    InvalidInput
        If it is no predictor, or its first claim is no `PredictionStability`.
    """
    predictor = load_object(given, "predictor") if isinstance(given, str) else given
    predictor = predictor() if isinstance(predictor, type) else predictor
    missing = [name for name in ("claims", "numbers", "check", "prepare", "distribution") if not hasattr(predictor, name)]
    if missing:
        raise InvalidInput(f"predictor = {given!r}: must be a mechanism that answers numbers; it has no {missing[0]}")
    if not isinstance(predictor.claims[0], PredictionStability):
        raise InvalidInput(f"predictor = {given!r}: must claim PredictionStability first, not {predictor.claims[0]}")
    found: Predictor = predictor
    return found
