"""What all entries share that add noise to a predictor.

The predictor's work, then one draw of noise per answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.errors import is_real, require
from dpassay.laws import NoiseLaw
from dpassay.mechanism import Mechanism, Reachable, WorstCase, prepared
from dpassay.mechanisms.dwork_feldman_2018.averaged import Averaged
from dpassay.mechanisms.shared.blocks import one_record_per_block
from dpassay.mechanisms.shared.predictors import Predictor, predictor_of
from dpassay.mechanisms.shared.ranges import check_positive
from dpassay.noise import Noise
from dpassay.pairs import Change

ANY = (-np.inf, np.inf)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoisyState:
    """State: the dataset, and what the predictor has made of it."""

    data: Labelled
    state: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Noisy(Mechanism):
    """A prediction-stable predictor plus noise, fresh in every answer.

    Parameters
    ----------
    epsilon : float
        Claimed privacy loss of one prediction, in nats; finite and > 0. Relation: replace-one.
    r, learner
        Of the predictor where no other is given: `Averaged`, the mean of r classifiers, of rate
        1 / r.
    predictor : object or `module:object`, optional
        Any other predictor: a mechanism that answers a number without coins and claims
        `PredictionStability` first.
    gamma : float, optional
        The rate that the noise is made for; finite and > 0. That which the predictor claims, unless
        given.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, or the predictor claims no rate.
    """

    epsilon: float = 1.0
    r: int = 25
    learner: Any = "logistic"
    predictor: Any = None
    gamma: float | None = None
    source: Predictor = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_positive(epsilon=self.epsilon)
        known = self.gamma is None or (is_real(self.gamma) and 0 < self.gamma < np.inf)
        require(known, "gamma", self.gamma, "a finite number > 0")
        given = self.predictor
        object.__setattr__(
            self,
            "source",
            Averaged(r=self.r, learner=self.learner) if given is None else predictor_of(given),
        )

    @property
    def rate(self) -> float:
        """The rate gamma that the noise is made for."""
        return self.source.claims[0].promised if self.gamma is None else float(self.gamma)

    def cited(self, source: str) -> str:
        """The source of a claim that rests on the predictor's rate.

        It says that the rate was given where the predictor claims more.
        """
        claimed = self.source.claims[0].promised
        given = f", with gamma = {self.rate:g} as given; the predictor claims {claimed:g}"
        return source if self.rate >= claimed else source + given

    @property
    def derived_parameters(self) -> dict[str, float | str]:
        """The predictor, and the rate that the noise is made for."""
        return {"predictor": f"the mean of {self.r} classifiers", "gamma": self.rate}

    @property
    def noise(self) -> Noise:
        """What is added."""
        raise NotImplementedError

    @property
    def numbers(self) -> tuple[float, float]:
        """Least and greatest answer: the noise has no limits."""
        return ANY

    @property
    def coins(self) -> str:
        """Which coins are fresh."""
        return "noise fresh; the coins of the predictor, if any, frozen"

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` if the predictor can never take these data."""
        self.source.check(data)

    def prepare(self, data: Labelled) -> NoisyState:
        """Train the predictor."""
        return NoisyState(data=data, state=self.source.prepare(data))

    def update(self, state: NoisyState, change: Change) -> NoisyState:
        """Return the neighbour's state, for as little as the predictor can."""
        neighbour = change.apply(state.data)
        return NoisyState(
            data=neighbour, state=prepared(self.source, state.state, change, neighbour)
        )

    def sample(
        self, state: NoisyState, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Answers of `size` independent trials at q queries, shape (size, q)."""
        values = self.source.distribution(state.state, queries).values
        return np.clip(values + self.noise.draw((size, len(queries)), rng), *self.numbers)

    def distribution(self, state: NoisyState, queries: NDArray[np.float64]) -> NoiseLaw:
        """Exact law: the prediction plus noise, projected to `numbers`."""
        law = self.source.distribution(state.state, queries)
        return self._law(law.values, law.error)

    def pairs(self) -> tuple[WorstCase, ...]:
        """The predictor's own; for votes also one in the middle, where answers are frequent."""
        own = self.source.pairs()
        if self.predictor is None and self.r >= 4:
            votes = self.r // 2 - 1
            reason = f"{votes} of the {self.r} predictions are 1, and one more becomes 1"
            own = (*own, one_record_per_block(self.r, votes, reason))
        return own

    def reachable(self) -> Reachable | None:
        """The predictor's states, where they are known."""
        known = self.source.reachable()
        if known is None:
            return None
        law = self._law(known.law.table[:, 0], known.law.error)
        return replace(known, law=law)

    def _law(self, values: NDArray[np.float64], error: float) -> NoiseLaw:
        low, high = self.numbers
        return NoiseLaw(values=values, noise=self.noise, error=error, low=low, high=high)
