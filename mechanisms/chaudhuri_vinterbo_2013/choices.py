"""The four alternatives of section 5 of Chaudhuri and Vinterbo (2013).

Train for every parameter, then choose by errors on V.

(1) Train a private classifier f_i = oplr(alpha_i, theta_i, T_i) for each theta_i; (2) count its
    errors e_i on V; (3) choose i*
with probability p_i; (4) output (theta_i*, f_i*). They differ in alpha_i, T_i and p_i.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpassay.claims import DP
from dpassay.data import Labelled, points
from dpassay.errors import is_count, require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import WorstCase
from dpassay.mechanisms.chaudhuri_vinterbo_2013.auc import sample_of
from dpassay.mechanisms.chaudhuri_vinterbo_2013.released import RELEASED, Released
from dpassay.mechanisms.chaudhuri_vinterbo_2013.trainers import (
    LinearTrainer,
    part_of,
    sign_law,
    trainer_of,
    training_loss,
    with_alpha,
)
from dpassay.mechanisms.shared.bases import base_text
from dpassay.mechanisms.shared.ranges import check_positive
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import FlipLabel, Pairs

Array = NDArray[np.float64]
MOST_PARAMETERS = 10
"""All signs of so many weights are enumerated."""
PAGE: Final = "docs/findings.md, 'What section 5 claims'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Released):
    """What the four share.

    Parameters
    ----------
    alpha : float
        Claimed privacy loss of the whole, in nats; finite and > 0.
    base : str, dict or trainer
        oplr, see `trainer_of`; its `thetas` are the parameter list, of at least two.
    m : int
        Records of V, >= 1: the last ones. The others are T, so T and V are disjoint.
    release, public
        See `Released`.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, the base is no trainer, or there is only one parameter
        to choose.
    """

    by_errors: ClassVar[bool] = True
    """Whether the choice looks at errors on V."""

    alpha: float = 1.0
    base: Any = "objective-perturbation,oplr=true,lambdas=0.01;0.1;1"
    m: int = 10
    trainer: LinearTrainer = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super(Choice, self).__post_init__()
        check_positive(alpha=self.alpha)
        require(is_count(self.m), "m", self.m, "an integer >= 1")
        object.__setattr__(self, "base", base_text(self.base))
        trainer = trainer_of(self.base, alpha=self.alpha, m=self.m, delta=0.01)
        allowed = "a trainer with at least two parameters to choose from"
        require(len(trainer.thetas) >= 2, "base", self.base, allowed)
        sample_of(self.public, getattr(trainer, "d", 1))
        object.__setattr__(self, "trainer", with_alpha(trainer, self.budget(len(trainer.thetas))))

    def composed(
        self, *, printed: str, chosen: float, summed: bool = False, parts: int = 1, **facts: Any
    ) -> tuple[DP, ...]:
        """Return the claims that follow from the base's claim of each training.

        As printed and as corrected.

        Parameters
        ----------
        printed : str
            The theorem.
        chosen : float
            Loss of the choice in a record of V, which nothing is trained on.
        summed : bool
            Whether a record of T is in all trainings, and all count; else in one of them, or only
            one is released.
        parts : int
            Into how many parts T is cut.
        facts
            Of the claims, see `DP`.
        """
        claims: list[DP] = []
        statuses: tuple[tuple[Literal["printed", "corrected"], str], ...] = (
            ("printed", printed),
            ("corrected", PAGE),
        )
        for status, source in statuses:
            said, each = source, training_loss(self.trainer, status, parts)
            gather = math.fsum if summed else max
            epsilon = max(chosen, gather(claim.epsilon for claim in each))
            delta = gather(claim.delta for claim in each)
            if math.isclose(epsilon, self.alpha, rel_tol=1e-12):
                epsilon = self.alpha
            elif status == "printed":
                said = f"{printed}, with what the base claims of each training"
            if not claims or (epsilon, delta) != (claims[0].epsilon, claims[0].delta):
                claims.append(
                    DP(
                        epsilon=epsilon,
                        delta=delta,
                        source=said,
                        status=status,
                        unit=RELEASED,
                        **facts,
                    )
                )
        return tuple(claims)

    def budget(self, k: int) -> float:  # noqa: ARG002
        """alpha_i, the privacy parameter of each training."""
        return self.alpha

    def rows(self, i: int, k: int) -> Any:  # noqa: ARG002
        """Which training records make T_i."""
        return slice(None)

    def losses(self, trained: Any, data: Labelled) -> Array:
        """e_i: errors on V of each of the trained weights, shape (size,)."""
        wrong = (self.trainer.margins(trained, data.X[-self.m :]) >= 0) != (data.y[-self.m :] == 1)
        return np.asarray(wrong.sum(axis=1), dtype=float)

    def log_chances(self, losses: Array) -> Array | None:
        """Logarithms of p_i for losses (..., k).

        None where the choice does not depend on them alone.
        """
        logits = -self.alpha * losses / 2
        chances: Array = logits - logsumexp(logits, axis=-1, keepdims=True)
        return chances

    def choose(self, losses: Array, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw i* for each trial from the losses (size, k).

        The exponential mechanism, p_i proportional to e^(-alpha e_i / 2).
        """
        drawn: NDArray[np.int64] = (rng.gumbel(size=losses.shape) - self.alpha * losses / 2).argmax(
            axis=1
        )
        return drawn

    @property
    def shown(self) -> LinearTrainer:
        """The trainer."""
        return self.trainer

    @property
    def thetas(self) -> tuple[float, ...]:
        """The parameter list."""
        return self.trainer.thetas

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless every T_i has a record, and the base can take the data."""
        k, n = len(self.thetas), len(data) - self.m
        require(n >= 1, "m", self.m, f"below the number of records, {len(data)}")
        least = min(len(np.arange(n)[self.rows(i, k)]) for i in range(k))
        allowed = f"so small that each of the {k} parts of the other {n} records has one"
        require(least >= 1, "m", self.m, allowed)
        self.trainer.check(data)

    def prepare(self, data: Labelled) -> Labelled:
        """Keep the dataset: training has coins of its own in every trial."""
        self.check(data)
        return data

    def sample(
        self, state: Labelled, queries: Array, size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Answers of `size` independent trials at q queries, shape (size, q)."""
        k, trainer = len(self.thetas), self.trainer
        weights, losses = [], []
        for i, theta in enumerate(self.thetas):
            trained = trainer.apply(
                part_of(state, self.rows(i, k), self.m), theta, trainer.noise(size, rng)
            )
            weights.append(trained)
            losses.append(self.losses(trained, state))
        chosen = self.choose(np.stack(losses, axis=1), rng)
        return self.answers(trainer, chosen, np.stack(weights)[chosen, np.arange(size)], queries)

    def distribution(self, state: Labelled, queries: Array) -> FiniteLaw | None:
        """Exact law of index and prediction in one dimension.

        There errors depend on the signs of the weights alone.
        """
        k, signs = len(self.thetas), np.array([[-1.0], [1.0]])
        if (
            self.release in ("vector", "auc")
            or k > MOST_PARAMETERS
            or getattr(self.trainer, "d", None) != 1
        ):
            return None
        found = [
            sign_law(self.trainer, part_of(state, self.rows(i, k), self.m), theta)
            for i, theta in enumerate(self.thetas)
        ]
        laws = [law for law in found if law is not None]
        if len(laws) < k:
            return None
        patterns = np.array(list(itertools.product((0, 1), repeat=k)))
        log_p = sum(laws[i].log_p[0][patterns[:, i]] for i in range(k))
        chances = self.log_chances(self.losses(signs, state)[patterns])
        if chances is None:
            return None
        each = np.asarray(log_p)[:, None] + chances  # of every pattern of signs and every choice
        error = k * max(law.error for law in laws) + 8 * UNIT_ROUNDOFF * (
            len(patterns) + self.alpha * self.m + 700
        )
        if self.release == "index":
            return FiniteLaw(log_p=np.tile(logsumexp(each, axis=0), (len(queries), 1)), error=error)
        # (2, q): of a negative and of a positive weight; most queries are answered alike
        positive = self.trainer.margins(signs, queries) >= 0
        kinds, which = np.unique(positive, axis=1, return_inverse=True)
        rows = [
            [logsumexp(each, b=answers[patterns] == label) for label in (False, True)]
            for answers in kinds.T
        ]
        return FiniteLaw(log_p=np.minimum(rows, 0.0)[which], error=error)

    def pairs(self) -> tuple[WorstCase, ...]:
        """All records at one point, the labels of V all alike.

        A label of T is flipped, or one of V.

        There are so many records of T that a weight of the wrong sign is rarer than the choice of a
        bad one. Where labels of T are to be balanced the last one is at the origin if their number
        is odd, or half way there.
        """
        k, m = len(self.thetas), self.m
        size = getattr(self.trainer, "n", None)
        n = 16 * m * k if size is None else size - m
        sure = np.ones(n, dtype=np.int64)
        coins, parted = np.arange(1, n + 1) % 2, np.zeros(n, dtype=np.int64)
        parted[self.rows(0, k)] = 1
        split = bool((parted == 0).any())
        other = "a flipped one in the last part" if split else "the flip of another"
        uneven = "makes weights of the other sign likelier"

        def apart_from_half(last: float) -> float:
            signs = 2.0 * coins - 1
            signs[-1] *= last
            return max(abs(float(signs[self.rows(i, k)].sum())) for i in range(k))

        middle = "and one training label shifts that balance"
        alternate = (
            "the labels of T alternate, those of a part need not; the flip makes one sign likelier "
            "for the weight of its part"
        )
        chosen = (
            "a weight of the wrong sign may be chosen despite its errors, and the flip removes one "
            "of these errors"
        )
        chosen = (
            chosen
            if self.by_errors
            else "the flip changes the error counts by one, but this choice ignores error counts"
        )
        apart = (
            "one part of T has the opposite labels of the others, and the flip adds one to its "
            "errors"
        )
        told: tuple[tuple[NDArray[np.int64], int, float, str], ...] = (
            (
                coins,
                0,
                1.0 - n % 2,
                (
                    "both signs of each trained weight are equally likely before the choice, "
                    f"{middle}"
                    if apart_from_half(1.0 - n % 2) == 0
                    else alternate
                ),
            ),
            (
                coins,
                0,
                0.5,
                (
                    "for each weight, the labels trained on balance up to at most half a record, "
                    f"{middle}"
                    if apart_from_half(0.5) <= 0.5
                    else alternate
                ),
            ),
            (sure, 0, 1.0, f"all labels of T are equal, and a flipped one {uneven}"),
            (sure, min(k, n) - 1, 1.0, f"all labels of T are equal, and {other} {uneven}"),
            (sure, n, 1.0, chosen),
        )
        if split:
            told = (*told, (parted, n, 1.0, apart if self.by_errors else chosen))
        return tuple(self._case(y, index, last, reason) for y, index, last, reason in told)

    def _case(self, y: NDArray[np.int64], index: int, last: float, reason: str) -> WorstCase:
        """Labels y of T, the record whose label is flipped, and how far T's last lies from 0."""
        labels = np.concatenate([y, np.ones(self.m, dtype=np.int64)])
        X = np.zeros((len(labels), getattr(self.trainer, "d", 1)))
        X[:, 0] = getattr(self.trainer, "scale", np.ones(1))[0]
        query = points(X[:1], "queries")
        X[len(y) - 1] *= last
        pair = Pairs(
            base=Labelled(X, labels),
            changes=(FlipLabel(index),),
            how=f"{len(labels)} records, one label flipped",
        )
        return WorstCase(pairs=pair, queries=query, reason=reason)
