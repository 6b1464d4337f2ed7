"""A tester: how trials are held against one kind of claim; `events`, `means` and `proportions` beside it are the three."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.detection import DetectionCurve
from dpassay.engine.evidence import Event
from dpassay.stats.bounds import Bound, Estimate
from dpassay.stats.power import Screening
from dpassay.stats.profile import Profile

Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """What certification trials say about a cell; see `dpassay.engine.evidence.Cell`."""

    p1: float
    p0: float
    lower: Bound
    upper: Bound
    estimate: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What the screening saw at a cell that is then certified.

    Parameters
    ----------
    apparent : float
        A bound on its leak that chance alone lifts above 0 at any cell of one audit in a hundred; certifies nothing.
    frequency : float
        Of its event on the likelier side.
    method : object
        The test that was chosen.
    """

    apparent: float
    frequency: float
    method: Any


class Tester(Protocol):
    """Ranks cells by screening counts, chooses a test, certifies, and knows what it could have seen."""

    @property
    def promised(self) -> float:
        """The leak that the claim allows."""
        ...

    @property
    def profiled(self) -> bool:
        """Whether there is a privacy profile, which takes a part of alpha."""
        ...

    def rank(self, sides: Array) -> tuple[NDArray[np.float64], Array]:
        """From counts (2, P, K): how bad each (direction, pair) looks, and through which event."""
        ...

    def choose(self, event: int, one: Array, other: Array, n: int, alpha: float) -> Any:
        """From screening counts (K,) on the two sides: the test that n certification trials per side will be put to."""
        ...

    def certify(self, event: int, method: Any, one: Array, other: Array, alphas: tuple[float, float]) -> Certified:
        """Bound a cell from fresh counts, at error probabilities for the lower and the upper bound."""
        ...

    def upper(self, method: Any, one: Array, other: Array, alpha: float, floor: float = 0.0) -> float:
        """Bound all events and both directions of a cell from above; need not go below `floor`."""
        ...

    def apparent(self, event: int, one: Array, other: Array, looks: int) -> tuple[float, float]:
        """From screening counts (K,) of one of so many cells and events: see `Looked`."""
        ...

    def sight(self, looked: Sequence[Looked], n: int, alpha: float, screening: Screening) -> DetectionCurve:
        """Say what would have been refuted with probability 0.9, the screening included."""
        ...

    def profile(self, one: Array, other: Array, alpha: float) -> Profile | None:
        """Band of delta(epsilon) from certification counts (K,) on the two sides; None where the claim has no such thing."""
        ...

    def event(self, event: int, group: int, query: int) -> Event:
        """Say what an event is."""
        ...
