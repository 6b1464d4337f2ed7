"""Amplification by subsampling (Dagan and Feldman 2020, Lemma 5), over any private predictor A'.

"1. Select a uniformly random subset T of S of size n'. 2. Run A' on T. For any epsilon in (0, 1),
if A' gives epsilon-private prediction then A gives 2 epsilon eta-private prediction", n' = eta n.

What holds (docs/findings.md, 'Lemma 5: amplification by subsampling'), for every epsilon > 0:
ln(1 + eta (e^epsilon - 1)).

The order of T. A dataset is a sequence in the paper, a subset has no order, and A' may depend on it
(on a partition into blocks by place, say). The proof exchanges the changed record for another one.
With `order="random"` the records of T come in a uniformly random order, the other record takes the
place of the changed one, and the claims hold for every A'. With `order="kept"` they come as in S,
later records move up, and the claims hold for an A' that does not depend on the order. For others
even the printed claim can fail: `docs/findings.md` has a witness.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.claims import DP, LARGEST, Claim
from dpassay.data import Labelled
from dpassay.errors import is_count, require
from dpassay.laws import FiniteLaw, mixture_law
from dpassay.mechanism import Reachable, WorstCase
from dpassay.mechanisms.dagan_feldman_2020.subset_draws import (
    MOST_SUBSETS,
    draw_subsets,
    enlarged,
    of_equal_records,
    subset_count,
    subsets,
)
from dpassay.mechanisms.dagan_feldman_2020.subset_laws import (
    Countable,
    Masses,
    count_masses,
    countable,
    indifferent,
)
from dpassay.mechanisms.shared.bases import Wrapper, base_of, dp_claims
from dpassay.mechanisms.shared.blocks import check_binary
from dpassay.mechanisms.shared.ranges import check_positive, check_proportion, check_word
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import Change
from dpassay.relations import REPLACE_ONE
from dpassay.targets.guard import AuditTarget

PAGE = "docs/findings.md, 'Lemma 5: amplification by subsampling'"
LEFT_OUT = 0.5
"""Privacy loss that the base claims unless it is said otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subsets:
    """State: the dataset.

    The law of the vote or the walk where it can be counted, or A' prepared on every subset.

    Parameters
    ----------
    data : Labelled
    masses : Masses or None
    members : tuple or None
        In the order of `subsets`.
    """

    data: Labelled
    masses: Masses | None = None
    members: tuple[Any, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subsampled(Wrapper):
    """A private predictor that is run on a random subset, drawn anew in every trial.

    Parameters
    ----------
    epsilon : float
        What the predictor claims, in nats; finite and > 0. The lemma is stated for epsilon < 1, and
        elsewhere not claimed as printed. An object has its own, which is put here.
    eta : float
        Share of the records that are drawn, in (0, 1): n' = eta n, rounded, at least 1 and below n.
        The claims are made for n' / n.
    base : str or Mechanism
        A': a name of the catalogue or `module:object`, its parameters behind it
        (`projected-walk,T=3`; all but epsilon, and n, which is n'), or an object. It promises
        DP(...) under replace-one.
    order : {"random", "kept"}
        Order of the records drawn; see the module's docstring.
    n : int
        Number of records, >= 2: the claims depend on it, so other datasets are refused.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, the base promises no differential privacy under
        replace-one, or nothing can be promised: epsilon >= 1 and an order that is kept for a base
        that is not known to be indifferent to it.
    """

    epsilon: float = LEFT_OUT
    eta: float = 0.05
    base: Any = "projected-walk,T=20"
    order: Literal["random", "kept"] = "random"
    n: int = 100
    built: AuditTarget = field(init=False, repr=False, compare=False)
    counted: Countable | None = field(init=False, repr=False, compare=False)
    """How the law is counted, where the base allows it."""
    every: NDArray[np.int64] | None = field(init=False, repr=False, compare=False)
    """All subsets, if there are at most 10,000 and the base has an exact law."""

    def __post_init__(self) -> None:
        check_positive(epsilon=self.epsilon)
        check_proportion(eta=self.eta)
        check_word("random", "kept", order=self.order)
        require(is_count(self.n, 2), "n", self.n, "an integer >= 2")
        allowed = f"such that eta n rounds to 1, ..., n - 1 for n = {self.n}"
        require(1 <= self.size < self.n, "eta", self.eta, allowed)
        base, epsilon, built = base_of(
            self.base, self.epsilon, "subsampled", left_out=LEFT_OUT, n=self.size
        )
        single = all(claim.relation == REPLACE_ONE for claim in dp_claims(built.mechanism))
        require(single, "base", self.base, f"an algorithm whose claims are about '{REPLACE_ONE}'")
        counted = countable(built.mechanism, self.size)
        kept = self.order == "kept" or indifferent(built.mechanism, self.size)
        few = subset_count(self.n, self.size, kept=kept) <= MOST_SUBSETS
        listed = few and counted is None and built.has_law
        every = subsets(self.n, self.size, kept=kept) if listed else None
        for name, value in {
            "base": base,
            "epsilon": epsilon,
            "built": built,
            "counted": counted,
            "every": every,
        }.items():
            object.__setattr__(self, name, value)
        allowed = "'random', else nothing is promised for this epsilon and base"
        require(len(self.claims) > 0, "order", self.order, allowed)

    @property
    def exchangeable(self) -> bool:
        """Whether the order of the records does not matter: it is drawn, or the base ignores it."""
        return self.order == "random" or bool(self.base_mechanism.exchangeable)

    @property
    def size(self) -> int:
        """n': records that are drawn."""
        return round(self.eta * self.n)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Lemma 5 for the base's printed claim, and what holds for its claim known to hold."""
        singles, share = dp_claims(self.base_mechanism), self.size / self.n
        first = [
            claim
            for claim in singles
            if claim.status != "corrected" and claim.delta == 0 and claim.epsilon < 1
        ]
        sound = [claim for claim in singles if claim.status == "corrected"] or singles
        known = self.order == "random" or indifferent(self.base_mechanism, self.size)
        return (
            *(
                self._derived(
                    claim, 2 * claim.epsilon * share, "printed", "Dagan and Feldman 2020, Lemma 5"
                )
                for claim in first
            ),
            *(
                self._derived(claim, amplified(claim.epsilon, share), "corrected", PAGE)
                for claim in sound
                if known and claim.epsilon <= LARGEST
            ),
        )

    def _derived(
        self, claim: DP, epsilon: float, status: Literal["printed", "corrected"], source: str
    ) -> DP:
        return replace(
            claim,
            epsilon=epsilon,
            delta=self.size / self.n * claim.delta,
            coins=f"subset fresh; for the base: {claim.coins}",
            source=f"{claim.source}; {source}",
            status=status,
            expected=None,
        )

    @property
    def fixed_n(self) -> int:
        """The only number of records that it takes."""
        return self.n

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless there are n records and the base takes n' of them.

        Labelled 0 and 1 if the answers are.
        """
        require(len(data) == self.n, "n", self.n, f"the number of records, {len(data)}")
        if self.labels == (0, 1):
            check_binary(data)
        self.base_mechanism.check(data.take(slice(self.size)))

    def prepare(self, data: Labelled) -> Subsets:
        """Count what can be counted.

        Else prepare the base on every subset, if there are at most 10,000.
        """
        self.check(data)
        if self.counted is not None:
            return Subsets(data=data, masses=self.counted.masses(data))
        if self.every is None:
            return Subsets(data=data)
        return Subsets(
            data=data,
            members=tuple(self.base_mechanism.prepare(data.take(row)) for row in self.every),
        )

    def update(self, state: Subsets, change: Change) -> Subsets:
        """Return the neighbour's state, preparing only what holds the changed record."""
        data: Labelled = change.apply(state.data)
        if state.members is None or self.every is None:
            return self.prepare(data)
        prepare, touched = self.base_mechanism.prepare, (self.every == change.index).any(axis=1)
        members = zip(self.every, state.members, touched, strict=True)
        return Subsets(
            data=data,
            members=tuple(prepare(data.take(row)) if new else old for row, old, new in members),
        )

    def sample(
        self, state: Subsets, queries: NDArray[np.float64], size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Answers of `size` independent trials at q queries, shape (size, q).

        Each is on a subset of its own.
        """
        kept = self.order == "kept"
        drawn = draw_subsets(self.n, self.size, size, rng, kept=kept)
        return np.concatenate([self._answers(state.data, rows, queries, rng) for rows in drawn])

    def _answers(
        self,
        data: Labelled,
        rows: NDArray[np.int64],
        queries: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> NDArray[Any]:
        """One trial on each of these subsets."""
        if self.counted is not None:
            logits = self.counted.logits(data, rows, queries)
            return (rng.random(logits.shape) < expit(logits)).astype(np.int64)
        base = self.base_mechanism
        different, which, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        order = np.argsort(which.ravel(), kind="stable")
        parts = [
            base.sample(base.prepare(data.take(row)), queries, int(count), rng)
            for row, count in zip(different, counts, strict=True)
        ]
        return np.concatenate(parts)[np.argsort(order, kind="stable")]

    def distribution(self, state: Subsets, queries: NDArray[np.float64]) -> FiniteLaw | None:
        """Exact law, the mixture over all subsets; None where it is out of reach."""
        base = self.base_mechanism
        if self.counted is not None and state.masses is not None:
            return self.counted.law(state.masses, queries)
        if state.members is None:
            return None
        laws = [base.distribution(member, queries) for member in state.members]
        finite = [law for law in laws if isinstance(law, FiniteLaw)]
        return mixture_law(finite) if len(finite) == len(laws) else None

    def pairs(self) -> tuple[WorstCase, ...]:
        """Worst cases of the base that consist of equal records, with n of them; one label flipped.

        Of those of a walk that would be projected only so many are put at the query that T of them
        are drawn on average.
        """
        walk = None if self.counted is None else self.counted.walk
        m = self.n if walk is None else min(self.n, round(walk.T / self.size * self.n))
        return tuple(
            enlarged(case, self.n, self.size, m)
            for case in super(Subsampled, self).pairs()
            if of_equal_records(case)
        )

    def reachable(self) -> Reachable | None:
        """Numbers of ones, where each of n' blocks has one record.

        For other bases it is not known.
        """
        if self.counted is None or self.counted.walk is not None:
            return None
        ones = np.arange(self.n + 1)
        counted = [count_masses(self.n, k, self.size) for k in ones.tolist()]
        masses = replace(
            counted[0],
            places=ones[1:].astype(float),
            mass=np.concatenate([each.mass for each in counted]),
        )
        return Reachable(
            states=tuple(f"{k} of {self.n} labels are 1" for k in ones),
            law=masses.law(ones.astype(float), self.counted.slope),
            moves=np.stack([ones[:-1], ones[1:]], axis=1),
            argument=(
                "A block of one record is a constant predictor, so the vote count of a subset is "
                "its number of labels 1. Its law depends on the number of labels 1 among the "
                f"{self.n} records alone; a replacement changes that number by at most 1, and "
                "every number and every such change occurs."
            ),
            several=(
                "k replaced records change the number of labels 1 by at most k, and any k labels "
                "can be flipped."
            ),
        )


def amplified(epsilon: float, share: float) -> float:
    """Return ln(1 + share (e^epsilon - 1)), rounded up.

    The loss of an epsilon-private algorithm on a share of the records.
    """
    return math.log1p(share * math.expm1(epsilon)) * (1 + 8 * UNIT_ROUNDOFF)
