"""Private prediction by relabelling (Dagan and Feldman 2020, Theorem 5).

Section 4.2 has the algorithm.

1. Draw I, n' of the n records, uniformly. 2. H_{S_I} has one representative of each labelling of
   S_I by H. 3. Draw h in H_{S_I}
with probability proportional to exp(-L_S(h) / eta): the exponential mechanism with privacy
parameter 2 / (eta n). 4. Label S by h; phi_S(h) is what A^R, the private learner for the realisable
case with privacy 1 / (eta n), makes of S_h. 5. Output phi_S(h)(x). 6. Flip the output with
probability alpha ("as in the proof of Corollary 1").

A^R is Theorem 4.1 of Dwork and Feldman (2018), as Lemma 6 says: r blocks of S_h, a hypothesis
consistent with each, and with v the votes for 1 less those for 0, answer 1 with probability
sigma(v / (2 eta n)). Record i is in block i mod r.

Claim as printed: O(epsilon)-private prediction for epsilon >= n' / n and epsilon >= 1 / (eta n).
The constants are those of the proof; docs/findings.md, 'Theorem 5: relabelling', derives them and
what can be proven besides.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim, Stability
from dpassay.data import Labelled
from dpassay.errors import is_count, is_real, require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Mechanism, WorstCase
from dpassay.mechanisms.dagan_feldman_2020 import relabelled_bounds as bounds
from dpassay.mechanisms.dagan_feldman_2020.relabelling import (
    Counts,
    Line,
    RealisableLearner,
    chances_of,
    drawn,
    labellings_of,
)
from dpassay.mechanisms.shared.blocks import check_binary
from dpassay.mechanisms.shared.classes import class_of
from dpassay.mechanisms.shared.hypothesis_class import RULES, HypothesisClass, Labels, Points, Rule
from dpassay.mechanisms.shared.line_classes import Thresholds
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import FlipLabel, Replace

MOST_SUBSETS = 10_000
"""Subsets are enumerated up to this number."""
PORTION = 2_000
"""Trials that are drawn at a time."""

State = tuple[Labelled, Line | None]
"""The dataset, and what thresholds see of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relabelled(Mechanism):
    """Exponential mechanism over H_{S_I}, relabelling, private realisable learner, flipped output.

    Parameters
    ----------
    n : int
        Number of records, >= 1: the claims depend on it, so other datasets are refused.
    n_prime : int
        Size of I, 1 to n; 0 for floor(sqrt(n)).
    eta : float
        Scale of the exponential mechanism: 2 / (eta n) is its privacy parameter, 1 / (eta n) that
        of A^R; finite and > 0; 0 for 1 / (4 sqrt(n)).
    r : int
        Blocks of A^R, 1 to n; 0 for floor(2 sqrt(n)). Its answers lie between sigma(-r / (2 eta n))
        and sigma(r / (2 eta n)).
    alpha : float
        Probability of flipping, in [1e-6, 1/2).
    H, points, feature, feature2
        The class, as for `Exponential`; an infinite one needs no grid here.
    representative : {"least", "greatest", "middle"}
        Which h is taken for a labelling, of S_I and of a block. With thresholds the first two have
        an exact law for large n.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    n: int = 400
    n_prime: int = 0
    eta: float = 0.0
    r: int = 0
    alpha: float = 0.1
    H: Any = "thresholds"
    points: int = 3
    feature: int = 0
    feature2: int = 1
    representative: Rule = "least"
    learner: RealisableLearner = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        require(is_count(self.n), "n", self.n, "an integer >= 1")
        right = is_count(self.n_prime, 0) and self.n_prime <= self.n
        allowed = f"an integer from 1 to n = {self.n}"
        require(right, "n_prime", self.n_prime, allowed)
        allowed = "a finite number > 0"
        require(is_real(self.eta) and 0 <= self.eta < math.inf, "eta", self.eta, allowed)
        allowed = f"an integer from 1 to n = {self.n}"
        require(is_count(self.r, 0) and self.r <= self.n, "r", self.r, allowed)
        allowed = "a number in [1e-06, 1/2)"
        require(is_real(self.alpha) and 1e-6 <= self.alpha < 0.5, "alpha", self.alpha, allowed)
        allowed = f"one of {', '.join(RULES)}"
        require(self.representative in RULES, "representative", self.representative, allowed)
        object.__setattr__(self, "n_prime", self.n_prime or math.isqrt(self.n))
        object.__setattr__(self, "eta", float(self.eta or 1 / (4 * math.sqrt(self.n))))
        object.__setattr__(self, "r", self.r or min(self.n, math.isqrt(4 * self.n)))
        H = class_of(self.H, points=self.points, feature=self.feature, feature2=self.feature2)
        object.__setattr__(
            self,
            "learner",
            RealisableLearner(H=H, rule=self.representative, r=self.r, rate=self.rate),
        )

    @property
    def family(self) -> HypothesisClass:
        """The class H."""
        return self.learner.H

    @property
    def rate(self) -> float:
        """1 / (eta n): of the weights exp(-rate |errors|), and the privacy of A^R."""
        return 1 / (self.eta * self.n)

    @property
    def epsilon(self) -> float:
        """The least epsilon that Lemma 8 allows: n' <= epsilon n and epsilon >= 1 / (eta n)."""
        return max(self.n_prime / self.n, self.rate)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Theorem 5 with the constants of its proof where eta n >= 1 and n' < n.

        What can be proven; and stability.
        """
        coins = (
            "subset, choice of h, answer and flip fresh; the partition of A^R frozen (the claim "
            "holds for every partition)"
        )
        found: list[Claim] = []
        if self.rate <= 1 and self.n_prime < self.n:
            source = (
                "Dagan and Feldman 2020, Theorem 5 by Lemma 8, which prints O(epsilon), with the "
                "constants of its proof (Lemmas 10 and 11)"
            )
            if not self._is_net:
                source += ", with delta = n' / n where no net is proven"
            found.append(
                DP(epsilon=self.printed_loss(), coins=coins, source=source, status="printed")
            )
        source = "docs/findings.md, 'Theorem 5: relabelling'"
        found.append(DP(epsilon=self.proven_loss(), coins=coins, source=source, status="corrected"))
        gamma = (1 - 2 * self.alpha) * bounds.stability(
            self.n_prime / self.n, 3 * self.rate, self._reach
        )
        return (
            *found,
            Stability(gamma=min(1.0, gamma), coins=coins, source=source, status="corrected"),
        )

    @property
    def _reach(self) -> float:
        return self.r * self.rate / 2

    @property
    def _is_net(self) -> bool:
        """Whether I without 1 is proven to be a net with probability 1 - alpha, as Lemma 8 asks."""
        return bounds.net_failure(self.family, self.n, self.n_prime, self.eta) <= self.alpha

    def printed_loss(self) -> float:
        """h_S <= (1 + 4 e^6 n' / (n - n')) e^(3 / (eta n)) h_S' + delta, then flipped.

        delta = alpha n' / n where I without 1 is proven to be a net with probability 1 - alpha, as
        Lemma 8 asks; else n' / n.
        """
        factor = (1 + bounds.NET * self.n_prime / (self.n - self.n_prime)) * math.exp(3 * self.rate)
        delta = self.n_prime / self.n * (self.alpha if self._is_net else 1.0)
        return bounds.flipped_printed(factor, delta, self.alpha)

    def proven_loss(self) -> float:
        """The least of what is derived in docs/findings.md."""
        share, shift = self.n_prime / self.n, 3 * self.rate
        known = [bounds.flipped_stable(share, shift, self._reach, self.alpha)]
        if share < 1:
            moved = math.floor(self.eta * (self.n - 1)) + 1
            exponent = (2 * moved + min(moved, self.r)) * self.rate + shift
            if exponent < 500:
                factor = math.exp(shift) + 4 * math.exp(exponent) * share / (1 - share)
                failure = bounds.net_failure(self.family, self.n, self.n_prime, self.eta)
                known.append(bounds.flipped_both(factor, share * failure, self.alpha))
        return min(known) + 16 * UNIT_ROUNDOFF

    @property
    def fixed_n(self) -> int:
        """The only number of records that it takes."""
        return self.n

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless there are n records labelled 0 and 1 in the domain."""
        check_binary(data)
        require(len(data) == self.n, "n", self.n, f"the number of records, {len(data)}")
        self.family.check(data.X)

    def prepare(self, data: Labelled) -> State:
        """Check; for thresholds sort and count."""
        self.check(data)
        return data, Line.of(data, self.family.feature) if isinstance(
            self.family, Thresholds
        ) else None

    def sample(
        self, state: State, queries: Points, size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Labels of `size` independent trials at q queries, shape (size, q)."""
        self.family.check(queries)
        data, line = state
        p = np.empty((size, len(queries)))
        every = (
            None
            if line is None
            else self.learner.answers(line.votes(self.learner, data.X, queries), 1)
        )
        for start in range(0, size, PORTION):
            trials = p[start : start + PORTION]
            keys, coins = rng.random((len(trials), self.n)), rng.random((len(trials), 1))
            subsets = np.argpartition(keys, self.n_prime - 1, axis=1)[:, : self.n_prime]
            if line is not None and every is not None:
                numbers, present = line.labellings(subsets, self.representative)
                chosen = drawn(chances_of(line.errors[numbers], self.rate, present), coins)
                trials[:] = every[np.take_along_axis(numbers, chosen, axis=1)[:, 0]]
            else:
                labels = np.concatenate(
                    [self._drawn(data, *each) for each in zip(subsets, coins, strict=True)]
                )
                trials[:] = self.learner.answers(self.learner.votes(data.X, labels, queries), 1)
        return (rng.random(p.shape) < self.alpha + (1 - 2 * self.alpha) * p).astype(np.int64)

    def distribution(self, state: State, queries: Points) -> FiniteLaw | None:
        """Exact law: by quadrature for thresholds (not `middle`), else over all subsets.

        Where there are at most 10,000 subsets.
        """
        self.family.check(queries)
        data, line = state
        known = (
            None
            if line is None
            else line.chance_of_each(self.n_prime, self.representative, self.rate)
        )
        if known is None and math.comb(self.n, self.n_prime) > MOST_SUBSETS:
            return None
        subsets = itertools.combinations(range(self.n), self.n_prime)
        hypotheses = (
            1
            if known is not None
            else math.comb(self.n, self.n_prime) * self.family.growth(self.n_prime)
        )
        error = 8 * UNIT_ROUNDOFF * (self.n + hypotheses + self.rate * (self.n + self.r) + 8)
        if line is not None:
            chances, more = (self._enumerated(line, subsets), 0.0) if known is None else known
            votes, error = line.votes(self.learner, data.X, queries), error + more
        else:
            chances, labels = labellings_of(
                (self._labels(data, data.X[list(each)]) for each in subsets), data.y, self.rate
            )
            votes = self.learner.votes(data.X, labels, queries)
        p = np.stack([chances @ self.learner.answers(votes, y) for y in (0, 1)], axis=1)
        return FiniteLaw(
            log_p=np.minimum(np.log(self.alpha + (1 - 2 * self.alpha) * p), 0.0), error=error
        )

    def given(self, data: Labelled, T: Points, queries: Points) -> Points:
        """h_{S,T} of Eq. (8) for points T, of S or not.

        Probabilities of the labels 0 and 1 before flipping, shape (2, q).
        """
        labels = self._labels(data, T)
        chances = chances_of((labels != (data.y == 1)).sum(axis=1), self.rate)
        votes = self.learner.votes(data.X, labels, queries)
        return np.stack([chances @ self.learner.answers(votes, y) for y in (0, 1)])

    def _enumerated(self, line: Line, subsets: Iterable[tuple[int, ...]]) -> Points:
        """As `Line.chance_of_each`, over these subsets."""
        numbers, present = line.labellings(np.array(list(subsets)), self.representative)
        chances = chances_of(line.errors[numbers], self.rate, present)
        return np.bincount(
            numbers.ravel(), weights=chances.ravel(), minlength=len(line.errors)
        ) / len(chances)

    def _labels(self, data: Labelled, T: Points) -> Labels:
        """Labels of S by H_T, shape (k, n)."""
        labels: Labels = self.family.predict(
            self.family.representatives(T, self.representative), data.X
        )
        return labels

    def _drawn(self, data: Labelled, subset: Counts, coin: Points) -> Labels:
        """Labels of S by the h that a coin chooses from H_{S_I}, shape (1, n)."""
        labels = self._labels(data, data.X[subset])
        chances = chances_of((labels != (data.y == 1)).sum(axis=1), self.rate)
        row: Labels = labels[drawn(chances[None], coin[None])[0]]
        return row

    def pairs(self) -> tuple[WorstCase, ...]:
        """A record leaves a crowd for another point and changes its label.

        That is best for all h that answer 0 to the crowd.
        """
        rare = (math.sqrt(self.alpha * (1 - self.alpha)) - self.alpha) / (1 - 2 * self.alpha)
        ones = round(self.eta * self.n * math.log((1 - rare) / rare))
        rarer = int(self.representative == "greatest")
        moves = "error counts change" + (
            ", and if the record is drawn, T does too" if self.points > 1 else ""
        )
        loses = (
            f"at that point fewer records have label {rarer}; a factor changes its probability "
            f"most where that is sqrt(alpha (1 - alpha)); {moves}"
        )
        even = f"at that point, the numbers of labels 0 and 1 differ by at most 3; {moves}"
        found = [self._crowd(ones, False, loses), self._crowd(0, False, even)]
        if self.r < self.n:
            found.append(
                self._crowd(1, True, f"{even}; its block has no other record at that point")
            )
        return tuple(found)

    def _crowd(self, more: int, alone: bool, reason: str) -> WorstCase:
        """All others stay, so many more of them ones than zeros; or, not those of its block.

        `greatest` is `least` mirrored.
        """
        mirrored = self.representative == "greatest"
        here, there = np.full(
            (2, 1 + max(self.feature, self.feature2)),
            [[2.0], [1.0]] if mirrored else [[1.0], [2.0]],
        )
        block = np.arange(self.n) % self.r == 0
        away = block & (np.arange(self.n) > 0) & alone
        stay = np.flatnonzero(~away)[1:]
        labels = np.arange(self.n) // self.r % 2
        labels[stay] = np.arange(len(stay)) < (len(stay) + 1 + more) // 2
        labels[0] = 1
        data = Labelled(np.where(away[:, None], there, here), 1 - labels if mirrored else labels)
        change = Replace(0, there, int(mirrored)) if self.points > 1 else FlipLabel(0)
        moves = "moves away and changes its label" if self.points > 1 else "changes its label"
        how = (
            f"{len(stay) + 1} of {self.n} records at one point, {int(data.y.sum())} of all "
            f"labelled 1; one {moves}"
        )
        return WorstCase.of(data, change, how=how, reason=reason, query=here[None])
