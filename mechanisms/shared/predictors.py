"""Predictors: mechanisms that answer a real number without coins and claim their stability.

They claim a rate of prediction stability.

They are what noise is added to (Lemma 4.5 of Dwork and Feldman 2018) and what is averaged (Lemma
4.6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import PredictionStability
from dpassay.errors import InvalidInput
from dpassay.laws import PointLaw
from dpassay.mechanism import Mechanism, offers
from dpassay.targets.adapter import full
from dpassay.targets.importing import load_object


class Predictor(Mechanism):
    """A mechanism without coins that answers a number; its first claim is the rate gamma."""

    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def numbers(self) -> tuple[float, float]: ...  # noqa: D102

    def distribution(self, state: Any, queries: NDArray[np.float64]) -> PointLaw:
        """Return the predictions, with their numerical error."""
        raise NotImplementedError


def predictor_of(given: Any) -> Predictor:
    """Return a predictor given as an object, or as `module:object`.

    That is an object, or a callable that makes one.

    Raises
    ------
    InvalidInput
        If it is no predictor, or its first claim is no `PredictionStability`.
    """
    predictor = load_object(given, "predictor") if isinstance(given, str) else given
    found = full(predictor() if isinstance(predictor, type) else predictor)
    has = {
        "claims": bool(found.claims),
        "numbers": found.numbers is not None,
        "distribution": offers(found, "distribution"),
    }
    missing = [name for name, there in has.items() if not there]
    if missing:
        raise InvalidInput(
            f"predictor = {given!r}: must be a mechanism that answers numbers; it has no "
            f"{missing[0]}"
        )
    if not isinstance(found.claims[0], PredictionStability):
        raise InvalidInput(
            f"predictor = {given!r}: must claim PredictionStability first, not {found.claims[0]}"
        )
    return cast("Predictor", found)
