"""Private choice of a training parameter on held-out data.

Source: Chaudhuri and Vinterbo (2013), Algorithm 1.

Train h_i = F(T, theta_i, alpha_1, R_i) for every parameter, with random strings R_i of their own;
let beta = max(beta_1 / n, beta_2 / m) and t_i = q(h_i, V) + 2 beta Z_i, Z_i exponential with mean
1 / alpha_2; release the index of the largest t_i.

Claim as printed (Theorem 1): if the score is (beta_1, beta_2, delta / k)-stable, this is (alpha_2,
delta)-differentially private in T and in V, whatever the training loses. By Equation 9 it is
alpha_2-differentially private for every value of good random strings; with `coins="frozen"` that is
what is claimed, and the law is exact: see `dpassay.mechanisms.chaudhuri_vinterbo_2013.selection`.
With fresh ones the law of the index is known in one dimension, up to a proven error: see
`dpassay.mechanisms.chaudhuri_vinterbo_2013.score_mixtures`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, LARGEST, ScoreStability
from dpassay.data import Labelled
from dpassay.errors import InvalidInput, is_count, is_real, require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Mechanism, WorstCase
from dpassay.mechanisms.chaudhuri_vinterbo_2013.perturbation_scores import Scored
from dpassay.mechanisms.chaudhuri_vinterbo_2013.score_mixtures import fresh_log_p, located
from dpassay.mechanisms.chaudhuri_vinterbo_2013.selection import select, selection_log_p
from dpassay.mechanisms.chaudhuri_vinterbo_2013.trainers import (
    LinearTrainer,
    enough_stability_of,
    stability_of,
    trainer_of,
)
from dpassay.mechanisms.chaudhuri_vinterbo_2013.validation_pairs import found_pairs
from dpassay.mechanisms.shared.bases import base_text
from dpassay.mechanisms.shared.ranges import check_proportion, check_word
from dpassay.pairs import Change
from dpassay.seeds import stream
from dpassay.targets.adapter import full

Array = NDArray[np.float64]
Stable = Literal["enough", "printed", "corrected"]
STABLE: Final[tuple[Stable, ...]] = ("enough", "printed", "corrected")


def sample_one(
    trainer: LinearTrainer,
    data: Labelled,
    *,
    beta1: float,
    beta2: float,
    alpha2: float,
    rng: np.random.Generator,
) -> int:
    """One run of Algorithm 1, line by line as printed.

    `Validate` with fresh coins draws from the same law, many at a time.

    Parameters
    ----------
    trainer : LinearTrainer
        Theta, (G, F), q and alpha_1.
    data : Labelled
        T, then V.
    beta1, beta2, alpha2 : float
        beta_1, beta_2 and alpha_2.
    rng : numpy.random.Generator
        All coins.

    Returns
    -------
    int
        i*, counted from 0.
    """
    (n, m), t = trainer.sizes(data), []
    for theta_i in trainer.thetas:  # line 2
        R_i = trainer.noise(1, rng)  # line 3: R_i ~ G
        h_i = trainer.apply(data, theta_i, R_i)  # h_i = F(T, theta_i, alpha_1, R_i)
        beta = max(beta1 / n, beta2 / m)  # line 4
        Z_i = rng.exponential(1 / alpha2)  # line 5: Exp(1 / alpha_2), by its expectation
        q_i = trainer.score(h_i, data)[0][0]  # q(h_i, V)
        t.append(q_i + 2 * beta * Z_i)
    return int(np.argmax(t))  # line 7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Validated:
    """State: the dataset, and with frozen coins the trained objects, scores and their errors.

    For each parameter; errors are numerical.

    With fresh ones, `located` is what trainers on the line know before they draw, for each
    parameter.
    """

    data: Labelled
    trained: tuple[Any, ...]
    located: tuple[Any, ...]
    scores: Array
    error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Validate(Mechanism):
    """Algorithm 1; the answer is the chosen parameter's index, 0 to k - 1; no query is asked.

    Parameters
    ----------
    alpha1, alpha2 : float
        Privacy parameters of training and of validation; finite and > 0.
    base : str, dict or trainer
        See `trainer_of`; its `thetas` are the parameter list Theta, of at least two.
    m : int
        Records of V, >= 1: the last ones. The others are T.
    delta : float
        Of Theorem 1, in (0, 1); each of the k strings may be bad with probability delta / k.
    beta1, beta2 : float, optional
        Stability that the noise is made for; what the base claims, unless given.
    stability : {"enough", "printed", "corrected"}
        Which of the base's claims is taken for them; `enough`: each as printed, and as corrected
        where what is printed is too little.
    coins : {"frozen", "fresh"}
        Whether R_1, ..., R_k are drawn once, by `seed`, or in every trial.
    seed : int
        Of frozen coins; >= 0.

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
    coins: Literal["frozen", "fresh"] = "frozen"
    seed: int = 0
    trainer: LinearTrainer = field(init=False, repr=False, compare=False)
    without_query = True

    def __post_init__(self) -> None:
        for name in ("alpha1", "alpha2"):
            value = getattr(self, name)
            require(is_real(value) and 0 < value < math.inf, name, value, "a finite number > 0")
        require(is_count(self.m), "m", self.m, "an integer >= 1")
        check_proportion(delta=self.delta)
        for name in ("beta1", "beta2"):
            value = getattr(self, name)
            right = value is None or (is_real(value) and 0 < value < math.inf)
            allowed = "a finite number > 0"
            require(right, name, value, allowed)
        allowed = f"one of {', '.join(STABLE)}"
        require(self.stability in STABLE, "stability", self.stability, allowed)
        check_word("frozen", "fresh", coins=self.coins)
        require(is_count(self.seed, 0), "seed", self.seed, "an integer >= 0")
        object.__setattr__(self, "base", base_text(self.base))
        trainer = trainer_of(
            self.base, alpha=self.alpha1, m=self.m, delta=self.delta, released=False
        )
        allowed = "a trainer with at least two parameters to choose from"
        require(len(trainer.thetas) >= 2, "base", self.base, allowed)
        object.__setattr__(self, "trainer", trainer)

    @property
    def labels(self) -> tuple[int, ...]:
        """Indices of the parameters."""
        return tuple(range(len(self.trainer.thetas)))

    @property
    def betas(self) -> tuple[float, float]:
        """beta_1 and beta_2 that the noise is made for."""
        if self.beta1 is not None and self.beta2 is not None:
            return self.beta1, self.beta2
        if self.stability == "enough":
            beta1, beta2 = enough_stability_of(self.trainer)
        else:
            claim = stability_of(self.trainer, self.stability)
            beta1, beta2 = claim.beta1, claim.beta2
        return (self.beta1 or beta1), (self.beta2 or beta2)

    @property
    def derived_parameters(self) -> dict[str, float]:
        """Stability that the noise is made for."""
        return dict(zip(("beta1", "beta2"), self.betas, strict=True))

    @property
    def claims(self) -> tuple[DP, ...]:
        """What is printed, unless the frozen strings are bad.

        And what is true where that is more.
        """
        source, facts = (
            "Chaudhuri and Vinterbo 2013, Theorem 1",
            dict[str, Any](unit="released index"),
        )
        if self.coins == "fresh":
            facts |= {"delta": self.delta, "coins": "training and selection fresh"}
        else:
            source = f"{source} (Equation 9)"
            facts["coins"] = (
                "selection fresh; the random strings of training frozen, from seed "
                f"{self.seed}{self._quality}"
            )
        if self.stability == "printed":
            source += f", with the stability of {stability_of(self.trainer, 'printed').source}"
        source += self._given
        printed = DP(epsilon=self.alpha2, source=source, status="printed", **facts)
        times = self.shortfall
        if times is None or times <= 1 or self.alpha2 * times > LARGEST:
            return (printed,)
        page = "docs/findings.md, 'Equation 9'" + (
            ", for these strings" if self.coins == "frozen" else ""
        )
        true = DP(epsilon=self.alpha2 * times, source=page, status="corrected", **facts)
        return (printed, true) if self.good else (true,)

    @property
    def _given(self) -> str:
        """Say which of beta_1 and beta_2 was given and differs from the trainer's claims."""
        if self.beta1 is None and self.beta2 is None:
            return ""
        try:
            made: tuple[float | None, ...] = replace(self, beta1=None, beta2=None).betas
        except InvalidInput:  # the trainer claims no stability
            made = (None, None)
        named = zip(("beta_1", "beta_2"), (self.beta1, self.beta2), made, strict=True)
        given = [f"{name} = {value:g}" for name, value, own in named if value not in (None, own)]
        return f", with {' and '.join(given)} as given" if given else ""

    @property
    def _quality(self) -> str:
        """Say whether the frozen strings are good, and by what."""
        trainer = self.trainer
        if not isinstance(trainer, Scored):
            return " (not known whether they are good)"
        share = trainer.delta / len(trainer.thetas)
        within = (
            f"no longer than the length that is exceeded with probability delta / k = {share:g}"
        )
        if self.good:
            return f" (good strings: all are {within})"
        return f" (bad strings: not all are {within}; Equation 9 does not cover them)"

    @property
    def strings(self) -> tuple[Array, ...]:
        """The frozen random strings R_1, ..., R_k, each of one row."""
        return tuple(map(self._string, self.labels))

    @property
    def good(self) -> bool:
        """Whether no frozen string of a linear trainer is longer than all but delta / k of them.

        Nothing is known of others.
        """
        trainer = self.trainer
        if self.coins == "fresh" or not isinstance(trainer, Scored):
            return True
        return all(float(np.linalg.norm(R)) <= trainer.length for R in self.strings)

    @property
    def shortfall(self) -> float | None:
        """How many times as much noise would be needed for alpha_2 at worst, whatever n and m are.

        None where that is not known.

        With noise for beta_1 and beta_2 the loss is at most alpha_2 times the larger part that the
        true constants are of them. For frozen strings those are of these strings (docs/findings.md,
        'Equation 9').
        """
        trainer = self.trainer
        true = [
            claim
            for claim in trainer.claims
            if isinstance(claim, ScoreStability) and claim.status == "corrected"
        ]
        if not true:
            return None
        (beta1, beta2), needed = self.betas, true[0].beta2
        if self.coins == "frozen" and isinstance(trainer, Scored):
            moves = zip(trainer.thetas, self.strings, strict=True)
            needed = max(
                trainer.moved_by_validation(theta, float(np.linalg.norm(R))) for theta, R in moves
            )
        return max(true[0].beta1 / beta1, needed / beta2)

    def scale(self, data: Labelled) -> float:
        """2 beta / alpha_2, the mean of the noise on a score."""
        (beta1, beta2), (n, m) = self.betas, self.trainer.sizes(data)
        return 2 * max(beta1 / n, beta2 / m) / self.alpha2

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless T has a record besides V's m, and the base takes the data."""
        require(self.m < len(data), "m", self.m, f"below the number of records, {len(data)}")
        self.trainer.check(data)

    def prepare(self, data: Labelled) -> Validated:
        """Train with the frozen strings; fresh ones leave little to prepare."""
        self.check(data)
        if self.coins == "fresh":
            return self._scored(data, (), located(self.trainer, data))
        return self._scored(data, tuple(self._train(data, i) for i in self.labels), ())

    def update(self, state: Validated, change: Change) -> Validated:
        """Return the neighbour's state.

        A changed validation record leaves what was trained as it is.
        """
        data: Labelled = change.apply(state.data)
        return (
            self.prepare(data)
            if change.index < len(data) - self.m
            else self.validated_on(state, data)
        )

    def validated_on(self, state: Validated, data: Labelled) -> Validated:
        """Return the state of data that differ in V alone."""
        return self._scored(data, state.trained, state.located)

    def sample(
        self, state: Validated, queries: Array, size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Indices of `size` independent trials, shape (size, q).

        A trial for each query, though none is asked.
        """
        columns = [
            select(self._scores(state, size, rng), self.scale(state.data), rng)
            for _ in range(len(queries))
        ]
        return np.stack(columns, axis=1)

    def distribution(self, state: Validated, queries: Array) -> FiniteLaw | None:
        """Exact law of the index; an error e of the scores moves log-probabilities by 2 e / s.

        None where scores have no law.
        """
        if self.coins == "fresh" and not state.located:
            return None
        scale = self.scale(state.data)
        if self.coins == "fresh":
            found = fresh_log_p(self.trainer, state.data, state.located, scale)
            return (
                None
                if found is None
                else FiniteLaw(log_p=np.tile(found[0], (len(queries), 1)), error=found[1])
            )
        log_p, error = selection_log_p(state.scores, scale)
        return FiniteLaw(
            log_p=np.tile(log_p, (len(queries), 1)), error=error + 2 * state.error / scale
        )

    def pairs(self) -> tuple[WorstCase, ...]:
        """Those of the base, and what a search finds on the line."""
        return (*full(self.trainer).pairs(), *found_pairs(self))

    def _train(self, data: Labelled, i: int) -> Any:
        return self.trainer.apply(data, self.trainer.thetas[i], self._string(i))

    def _string(self, i: int) -> Array:
        return self.trainer.noise(1, stream(self.seed, "validate", i))

    def _scored(
        self, data: Labelled, trained: tuple[Any, ...], located: tuple[Any, ...]
    ) -> Validated:
        found = [self.trainer.score(each, data) for each in trained]
        scores = np.array([score[0] for score, _ in found])
        error = max((error for _, error in found), default=0.0)
        return Validated(data=data, trained=trained, located=located, scores=scores, error=error)

    def _scores(self, state: Validated, size: int, rng: np.random.Generator) -> Array:
        """Scores of each trial, shape (size, k)."""
        if state.trained:
            return np.broadcast_to(state.scores, (size, len(state.scores)))
        trainer, data = self.trainer, state.data
        trained = (trainer.apply(data, theta, trainer.noise(size, rng)) for theta in trainer.thetas)
        return np.stack([trainer.score(each, data)[0] for each in trained], axis=1)
