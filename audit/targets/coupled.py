"""Score stability: both sides of a pair run with the same random string R.

R is good or bad for all of them at once.

Definition 2 of Chaudhuri and Vinterbo (2013) asks for a set of good random strings, of probability
at least 1 - delta, on which no change of one training record moves a validation score by more than
beta1 / n, and no change of one validation record by more than beta2 / m. A trial therefore is one
R; its answer is 1 if R is bad. On the dataset alone nothing is compared and the answer is always 0,
so the change of its probability is the proportion of bad R, and everything that is known about
changes of probabilities applies. This is the only audit that shares randomness between the sides; a
neighbour may be chosen after R is seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import Claim, ScoreStability
from dpassay.data import Labelled
from dpassay.errors import TargetError
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Mechanism, WorstCase
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import NOTHING_ASKED, AnyOf, Change, Compared, Pairs
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coupled(Mechanism):
    """A trainer with a score as a mechanism that answers whether a random string is bad."""

    trainer: Any
    claim: ScoreStability  # how far a score may move

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The one claim."""
        return (self.claim,)

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` if the trainer cannot take the data."""
        self.trainer.check(data)

    def pairs(self) -> tuple[WorstCase, ...]:
        """The trainer's own worst cases."""
        cases: tuple[WorstCase, ...] = self.trainer.pairs()
        return cases

    def prepare(self, data: Labelled | Compared) -> Compared:
        """Keep the dataset, and the neighbours that it is compared with."""
        return data if isinstance(data, Compared) else Compared(base=data, changes=())

    def sample(
        self, state: Compared, queries: Array, size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Say of `size` random strings whether they are bad, shape (size, 1)."""
        R = self.trainer.noise(size, rng)
        bad = self.bad(state, R) if state.changes else np.zeros(size, dtype=bool)
        return np.tile(bad[:, None], (1, len(queries))).astype(np.int64)

    def bad(self, state: Compared, R: Array) -> NDArray[np.bool_]:
        """Return whether each random string lets some change move a theta's score too far.

        Numerical error is taken off.
        """
        n, m = self.trainer.sizes(state.base)
        bad = np.zeros(len(R), dtype=bool)
        neighbours = [(change.index < n, change.apply(state.base)) for change in state.changes]
        for theta in self.trainer.thetas:
            trained = self.trainer.apply(state.base, theta, R)
            score, error = self._score(trained, state.base, len(R))
            for trains, data in neighbours:
                other = self.trainer.apply(data, theta, R) if trains else trained
                moved, other_error = self._score(other, data, len(R))
                allowed = self.claim.beta1 / n if trains else self.claim.beta2 / m
                rounding = 4 * UNIT_ROUNDOFF * (np.abs(score) + np.abs(moved) + allowed)
                bad |= np.abs(score - moved) - error - other_error - rounding > allowed
        return bad

    def _score(self, trained: Any, data: Labelled, size: int) -> tuple[Array, float]:
        score, error = self.trainer.score(trained, data)
        score = np.asarray(score, dtype=float)
        if score.shape != (size,) or np.isnan(score).any() or not 0 <= error < math.inf:
            raise TargetError(
                f"score returned {score.shape} with error {error}; expected {size} scores and a "
                "finite error"
            )
        return score, float(error)

    def distribution(self, state: Compared, queries: Array) -> FiniteLaw | None:
        """Return the exact proportion of bad random strings if `bad_share` knows it."""
        share = getattr(self.trainer, "bad_share", None)
        known = (
            (0.0, 0.0) if not state.changes else None if share is None else share(state, self.claim)
        )
        if known is None:
            return None
        p, error = known
        with np.errstate(divide="ignore"):
            log_p = np.log(np.array([[1 - p, p]]))
        return FiniteLaw(log_p=np.repeat(log_p, len(queries), axis=0), error=error)


def parts(target: AuditTarget) -> tuple[AuditTarget, ...]:
    """Return what is audited of a mechanism.

    Its answers against all other claims, and each claim about its scores by itself.
    """
    scores = [claim for claim in target.claims if isinstance(claim, ScoreStability)]
    others = tuple(claim for claim in target.claims if not isinstance(claim, ScoreStability))
    answers = [target] if not scores else [replace(target, claims=others)] if others else []
    return (*answers, *(coupled(target, claim) for claim in scores))


def as_audited(target: AuditTarget, claim: Claim) -> AuditTarget:
    """Return what is audited against a claim: for score stability a mechanism's stand-in."""
    return coupled(target, claim) if isinstance(claim, ScoreStability) else target


def coupled(target: AuditTarget, claim: ScoreStability) -> AuditTarget:
    """Return what is audited for score stability in the place of a trainer."""
    return replace(
        target, mechanism=Coupled(trainer=target.mechanism, claim=claim), claims=(claim,)
    )


def coupled_group(group: PairGroup) -> PairGroup:
    """Return pairs whose sides share a random string.

    They are each change alone, and all of them, any of which may be chosen after the string.
    """
    single: list[Change] = [AnyOf((change,)) for change in group.pairs.changes]
    every = [AnyOf(group.pairs.changes)] if 1 < len(single) <= MOST_TOGETHER else []
    given = group.pairs
    pairs = Pairs(
        base=given.base,
        changes=(*every, *single),
        how=given.how,
        pool=given.pool,
        relation=given.relation,
    )
    return replace(group, pairs=pairs, queries=NOTHING_ASKED, asked=False)


MOST_TOGETHER = 64
"""So many changes are compared at once at most, each with every random string."""
