"""The base class of training procedures with a validation score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import ScoreStability
from dpassay.mechanism.base import Mechanism
from dpassay.pairs import Compared


class Trainer(Mechanism):
    """A training procedure T = (G, F) with a validation score q.

    It is that of sections 2 and 3 of Chaudhuri and Vinterbo (2013), for the parameters Theta,
    `thetas`, that are tried. It needs no `sample`: a claim `ScoreStability` is about its scores.
    """

    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def thetas(self) -> tuple[float, ...]: ...  # noqa: D102
    else:
        thetas = ()

    def sizes(self, data: Any) -> tuple[int, int]:
        """Return n and m: the first n records train, the last m validate."""
        raise NotImplementedError

    def noise(self, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw `size` random strings R from G, shape (size, ...).

        They may not depend on the data.
        """
        raise NotImplementedError

    def apply(self, data: Any, theta: float, R: NDArray[np.float64]) -> Any:
        """Return F(T, theta, alpha, R) for each R: what training releases; deterministic."""
        raise NotImplementedError

    def score(self, trained: Any, data: Any) -> tuple[NDArray[np.float64], float]:
        """Return q(h, V), shape (size,), for each h that `apply` returned, and error bounds."""
        raise NotImplementedError

    def bad_share(
        self,
        state: Compared,  # noqa: ARG002
        claim: ScoreStability,  # noqa: ARG002
    ) -> tuple[float, float] | None:
        """Return the exact proportion of bad random strings and the error of its logarithm.

        Default: None, not known.
        """
        return None
