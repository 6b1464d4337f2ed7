"""End-to-end training and validation (Chaudhuri and Vinterbo 2013, Algorithm 2).

Choose a parameter, then train with it afresh.

Let i* be the index that Algorithm 1 releases; draw R and release h = F(T, theta_i*, alpha_1, R).

Claim as printed (Theorem 2): (alpha_1 + alpha_2, delta)-differentially private, if Algorithm 1 is
(alpha_2, delta)- and training alpha_1-differentially private. Algorithm 3 run with alpha_1, as line
3 has it, need not be (docs/findings.md, 'Algorithm 2 over Algorithm 3'); what the base claims
itself makes the claim with status `corrected`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpassay.claims import DP, LARGEST, Claim
from dpassay.data import Labelled
from dpassay.errors import require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import WorstCase
from dpassay.mechanisms.chaudhuri_vinterbo_2013.auc import sample_of
from dpassay.mechanisms.chaudhuri_vinterbo_2013.perturbation import Perturbation
from dpassay.mechanisms.chaudhuri_vinterbo_2013.released import (
    RELEASED,
    RELEASES,
    Release,
    Released,
)
from dpassay.mechanisms.chaudhuri_vinterbo_2013.trainers import (
    LinearTrainer,
    answer_law,
    training_loss,
)
from dpassay.mechanisms.chaudhuri_vinterbo_2013.validate import Stable, Validate, Validated
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import Change

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidateTrain(Released):
    """Algorithm 2.

    Parameters
    ----------
    alpha1, alpha2, base, m, delta, beta1, beta2, stability
        See `Validate`, which is run with fresh coins.
    release, public
        See `Released`: what is shown of h; with `index` of theta_i* alone.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, the base is no trainer, or there is only one parameter
        to choose.
    """

    alpha1: float = 1.0
    alpha2: float = 1.0
    base: Any = "output-perturbation,lambdas=0.01;0.1;1"
    m: int = 10
    delta: float = 0.01
    beta1: float | None = None
    beta2: float | None = None
    stability: Stable = "enough"
    validation: Validate = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super(ValidateTrain, self).__post_init__()
        names = ("alpha1", "alpha2", "base", "m", "delta", "beta1", "beta2", "stability")
        given: dict[str, Any] = {name: getattr(self, name) for name in names}
        object.__setattr__(self, "validation", Validate(**given, coins="fresh"))
        known = self.release == "index" or hasattr(self.validation.trainer, "margins")
        allowed = "a trainer that releases weights, with margins, unless release is 'index'"
        require(known, "base", self.base, allowed)
        binned = self.release != "bins" or isinstance(self.shown, Perturbation)
        allowed = "a trainer with bins, like objective-perturbation, if release is 'bins'"
        require(binned, "base", self.base, allowed)
        sample_of(self.public, getattr(self.shown, "d", 1))

    @property
    def derived_parameters(self) -> dict[str, float | str]:
        """Those of Algorithm 1, and of the release."""
        return {
            **self.validation.derived_parameters,
            **super(ValidateTrain, self).derived_parameters,
        }

    @property
    def shown(self) -> LinearTrainer:
        """The trainer."""
        return self.validation.trainer

    @property
    def thetas(self) -> tuple[float, ...]:
        """The parameter list Theta."""
        return self.validation.trainer.thetas

    @property
    def ways_to_answer(self) -> tuple[Release, ...]:
        """Bins too."""
        return (*RELEASES, "bins")

    @property
    def labels(self) -> tuple[int, ...]:
        """0 and 1, an index, or the base's bins."""
        base: Any = self.shown
        return (
            tuple(range(len(base.cuts) + 1))
            if self.release == "bins"
            else super(ValidateTrain, self).labels
        )

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What Algorithm 2 promises, run as printed with alpha_1.

        And what follows from what the base claims itself.
        """
        source, trainer = "Chaudhuri and Vinterbo 2013, Theorem 2", self.validation.trainer
        epsilon = trainer.alpha + self.alpha2
        printed = DP(
            epsilon=epsilon, delta=self.delta, source=source, status="printed", unit=RELEASED
        )
        training = training_loss(trainer, "corrected")
        chosen = self.validation.claims[-1]
        epsilon = max(claim.epsilon for claim in training) + chosen.epsilon
        delta = max(claim.delta for claim in training) + chosen.delta
        if (epsilon, delta) == (printed.epsilon, printed.delta) or epsilon > LARGEST or delta >= 1:
            return (printed,)
        source = "docs/findings.md, 'What section 5 claims'"
        return (
            printed,
            DP(epsilon=epsilon, delta=delta, source=source, status="corrected", unit=RELEASED),
        )

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` if Algorithm 1 cannot take the data."""
        self.validation.check(data)

    def prepare(self, data: Labelled) -> Validated:
        """As for Algorithm 1."""
        return self.validation.prepare(data)

    def update(self, state: Validated, change: Change) -> Validated:
        """As for Algorithm 1."""
        return self.validation.update(state, change)

    def sample(
        self, state: Validated, queries: Array, size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Answers of `size` independent trials at q queries, shape (size, q)."""
        trainer = self.validation.trainer
        chosen = self.validation.sample(state, queries[:1], size, rng)[:, 0]
        if self.release == "index":
            return self.answers(trainer, chosen, None, queries)
        found: NDArray[Any] | None = None
        for i in np.unique(chosen).tolist():
            trials = np.flatnonzero(chosen == i)
            weights = trainer.apply(state.data, trainer.thetas[i], trainer.noise(len(trials), rng))
            answers = self.answers(trainer, chosen[trials], weights, queries)
            found = np.empty((size, len(queries)), dtype=answers.dtype) if found is None else found
            found[trials] = answers
        assert found is not None
        return found

    def distribution(self, state: Validated, queries: Array) -> FiniteLaw | None:
        """Law of index, prediction or bin in one dimension.

        P[label] is the sum of P[i] P[label | theta_i], trained afresh.
        """
        index = (
            None
            if self.release in ("vector", "auc")
            else self.validation.distribution(state, queries)
        )
        if index is None or self.release == "index":
            return index
        trainer = self.validation.trainer
        known = zip(trainer.thetas, state.located, strict=True)
        found = [
            answer_law(trainer, state.data, theta, queries, located, self.release)
            for theta, located in known
        ]
        laws = [law for law in found if law is not None]
        if len(laws) < len(found):
            return None
        log_p = logsumexp([index.log_p[:, [i]] + law.log_p for i, law in enumerate(laws)], axis=0)
        error = index.error + max(law.error for law in laws) + 8 * UNIT_ROUNDOFF * (len(laws) + 700)
        return FiniteLaw(log_p=np.minimum(log_p, 0.0), error=error)

    def pairs(self) -> tuple[WorstCase, ...]:
        """Those of the trainer."""
        return self.validation.pairs()
