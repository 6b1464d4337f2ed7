"""Exponential mechanism, then noisy values.

The algorithm A of section 6.1 of Chaudhuri and Vinterbo (2013).

i* = E_0(R_0) for R_0 uniform on [0, 1], the map that gives i a probability proportional to e^(n
alpha f(D, i) / 4); t_i = f(D, i) + 2 l R_i / (alpha n), R_i standard Laplace; the release is (i*,
t_1, ..., t_l), the score t_(i*).

Claims as printed: alpha-differential privacy ("it follows from standard results"), where the index
is that of an alpha / 2-private exponential mechanism. "With standard deviation 2 l / (alpha n)" is
meant as the scale of the noise, as F_A has it, and then each t_i loses alpha / (2 l);
`scale="printed"` reads it as it stands, which loses alpha (1/2 + 1/sqrt(2)). `scale="noisy-max"`
takes the noise l / (alpha n), which the text has for A' alone and not for A: that loses 3
alpha / 2.

The example is there to show that training stability fails "for beta_1 = o(n)" and delta below e^(n
alpha / 8) (e^(alpha / 2) - 1) / ((e^(n alpha / 8) + 1) (e^(n alpha / 8) + e^(alpha / 2))), l = 2:
what is held against it here is beta_1 = n / 3 and delta = 0, which nobody claims; it is refuted.
The formula is about e^(-n alpha / 8); at any delta that is of use the score is stable with
beta_1 = 1 + (4 / alpha) Q, Q the (1 - delta)-quantile of |logit R_0 + R_1 - R_2|, which n does not
enter: the claim `corrected` (docs/findings.md, 'Section 6.1').
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax

from dpassay.claims import DP, Claim, ScoreStability
from dpassay.data import Labelled
from dpassay.errors import is_real, require
from dpassay.laws import FiniteLaw
from dpassay.mechanism import WorstCase
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.example61 import (
    Candidates,
    Counts,
    ReleasedIndex,
    answers_of,
    difference_outside,
    logistic_between,
    patterns,
    sides_log_p,
)
from dpassay.mechanisms.shared.ranges import check_word
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import Compared

Array = NDArray[np.float64]
SCALES = {"meant": 2.0, "printed": math.sqrt(2.0), "noisy-max": 1.0}
"""The scale of the noise by how it is read, in units of l / (alpha n)."""
NOISE = "docs/findings.md, 'The noise in section 6.1'"
LEAST = 1e-12
CELL = 2.0**-11
"""Width of the cells of `quantile`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example61Exponential(Candidates):
    """The algorithm A.

    Parameters
    ----------
    alpha, l, n, m, feature, cut
        See `Candidates`.
    delta : float
        Share of random strings that the claim `corrected` about scores leaves out; in [1e-12, 1).
    scale : {"meant", "printed", "noisy-max"}
        What the Laplace noise has: the scale 2 l / (alpha n), the standard deviation 2 l / (alpha
        n), or the scale l / (alpha n).
    release : {"all", "index"}
        What is answered: at a query with bits u_1 ... u_l (of `cut`) the number i* 2^l + sum of
        2^(i - 1) [t_i >= u_i], i* counted from 0: all f lie between 0 and 1, so that these events
        lose as much of t_i as there is; or i* alone.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    delta: float = 0.01
    scale: Literal["meant", "printed", "noisy-max"] = "meant"
    release: Literal["all", "index"] = "all"

    def __post_init__(self) -> None:
        super(Example61Exponential, self).__post_init__()
        allowed = f"a number in [{LEAST:g}, 1)"
        require(is_real(self.delta) and LEAST <= self.delta < 1, "delta", self.delta, allowed)
        require(self.scale in SCALES, "scale", self.scale, f"one of {', '.join(SCALES)}")
        check_word("all", "index", release=self.release)

    @property
    def labels(self) -> tuple[int, ...]:
        """Every answer there can be."""
        return tuple(range(self.l * (2**self.l if self.release == "all" else 1)))

    @property
    def without_query(self) -> bool:
        """Whether only the index is released."""
        return self.release == "index"

    @property
    def spread(self) -> float:
        """Return n times the scale of the noise of a t_i."""
        return SCALES[self.scale] * self.l / self.alpha

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Privacy as printed, and what is true of less or of other noise.

        For l = 2 a stability that fails and one that holds.
        """
        text, page = "Chaudhuri and Vinterbo 2013, section 6.1", "docs/findings.md, 'Section 6.1'"
        unit = "released index and values" if self.release == "all" else "released index"
        facts: dict[str, Any] = {"unit": unit, "coins": "all fresh"}
        printed = DP(epsilon=self.alpha, source=text, status="printed", **facts)
        if self.scale == "noisy-max":  # no line of the text gives A this noise
            printed = replace(
                printed,
                source=f"not printed: {text}, algorithm A with the noise of A'",
                status="own",
            )
        claims: list[Claim] = [printed]
        true = self.alpha / 2 + (self.l / self.spread if self.release == "all" else 0.0)
        if not math.isclose(true, self.alpha):
            derived = page if self.scale == "meant" or self.release == "index" else NOISE
            claims.append(DP(epsilon=true, source=derived, status="corrected", **facts))
        if self.l == 2 and self.scale == "meant":
            same: dict[str, Any] = {
                "beta2": 0.0,
                "unit": "score",
                "coins": "the same on both sides",
            }
            wrong = f"not printed: {text}, says that it does not hold"
            false = ScoreStability(beta1=self.trained / 3, source=wrong, status="own", **same)
            beta1 = 1 + self.spread * quantile(self.delta)
            claims += [
                false,
                ScoreStability(
                    beta1=beta1, delta=self.delta, source=page, status="corrected", **same
                ),
            ]
        return tuple(claims)

    def sample(
        self, state: Counts, queries: Array, size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Answers of `size` independent releases at q queries, shape (size, q).

        There is one for each query.
        """
        found = self._release(state, self.noise(size * len(queries), rng))
        index = found.index.reshape(size, len(queries))
        if self.release == "index":
            return index
        large = answers_of(found.t.reshape(size, len(queries), self.l) >= self.large(queries))
        return np.asarray(index * 2**self.l + large)

    def distribution(self, state: Counts, queries: Array) -> FiniteLaw:
        """Exact law: index and values are independent."""
        index = log_softmax(self.alpha * state / 4)
        error = 32 * UNIT_ROUNDOFF * (2 + self.alpha * float(state.max()))
        if self.release == "index":
            return FiniteLaw(log_p=np.repeat(index[None], len(queries), axis=0), error=error)
        below, above = sides_log_p((self.large(queries) * self.trained - state) / self.spread)
        values = np.where(patterns(self.l), above[:, None], below[:, None]).sum(axis=2)
        log_p = (index[:, None] + values[:, None, :]).reshape(len(queries), -1)
        return FiniteLaw(
            log_p=log_p,
            error=error + 32 * self.l * UNIT_ROUNDOFF * (1 + self.trained / self.spread),
        )

    @property
    def looked_at(self) -> str:
        """What is answered of the release."""
        return (
            ""
            if self.release == "index"
            else "i*, and for each t_i whether it is at least a threshold (0 or 1),"
        )

    def answer_words(self, answer: int, query: Array) -> str:
        """The index, counted from 1 as in the text, and the side of each t_i."""
        index = answer if self.release == "index" else answer >> self.l
        values = (
            "" if self.release == "index" else f", {self.values_words(answer % 2**self.l, query)}"
        )
        return f"i* = {index + 1}{values}"

    def pairs(self) -> tuple[WorstCase, ...]:
        """The rarest index becomes less rare; the pair of the text.

        And a pair near a tie, whose lead one record takes away.
        """
        first, others = [1, *[0] * (self.l - 1)], [0, *[1] * (self.l - 1)]
        rare = (
            f"candidate 1 is as rare as possible: {self.shares(0, self.trained)}; one record "
            "reverses all its values"
        )
        n, ones = self.trained, self.trained // 2 + 1
        whose = (
            "the pair of section 6.1"
            if n % 2 == 0
            else f"the closest to the pair of section 6.1 for n = {n}"
        )
        text = (
            f"{whose}: {self.shares(n, n // 2)}; one record lowers the first count by 1 and "
            "raises the second by 1"
        )
        near = f"{self.shares(ones, n - ones)}: one record takes this lead of {2 * ones - n} away"
        tie = [first] * ones + [others] * (n - ones)
        return (
            self.moved([others] * n, first, first, rare),
            self.moved(self.half(), others, first, text),
            self.moved(tie, others, first, near),
        )

    def noise(self, size: int, rng: np.random.Generator) -> Array:
        """Draw R_0 uniformly on [0, 1] and R_1 ... R_l standard Laplace, shape (size, l + 1)."""
        return np.concatenate([rng.random((size, 1)), rng.laplace(size=(size, self.l))], axis=1)

    def apply(self, data: Labelled, theta: float, R: Array) -> ReleasedIndex:  # noqa: ARG002
        """Return the release for each random string."""
        return self._release(self.counts(data), R)

    def _release(self, counts: Counts, R: Array) -> ReleasedIndex:
        below = np.cumsum(np.exp(log_softmax(self.alpha * counts / 4)))[:-1]
        index = (R[:, :1] > below).sum(axis=1)
        return ReleasedIndex(index=index, t=(counts + self.spread * R[:, 1:]) / self.trained)

    def bad_share(self, state: Compared, claim: ScoreStability) -> tuple[float, float] | None:
        """Return the exact proportion of bad strings for l = 2, None for more candidates.

        i* = 1 where logit R_0 <= z = alpha n (f(D, 1) - f(D, 2)) / 4. Between two such limits each
        side has one index for all R_0, and for each neighbour the strings are good whose R_1 - R_2
        lies in an interval.
        """
        if self.l > 2:
            return None
        base, trains = tuple(self.counts(state.base).tolist()), len(state.base) - self.m
        others = {
            tuple(self.counts(change.apply(state.base)).tolist())
            for change in state.changes
            if change.index < trains
        }
        moved = sorted(others - {base})
        limit = {c: self.alpha * (c[0] - c[1]) / 4 for c in (base, *moved)}
        ends = sorted({-math.inf, math.inf, *limit.values()})
        share, certain = 0.0, True
        for low, high in pairwise(ends):
            index = [int(high > limit[c]) for c in (base, *moved)]
            gaps = [
                (base[index[0]] - c[i], i - index[0]) for c, i in zip(moved, index[1:], strict=True)
            ]
            outside = self._outside(gaps, claim.beta1)
            share, certain = (
                share + logistic_between(low, high) * outside,
                certain and outside == 1.0,
            )
        error = 64 * UNIT_ROUNDOFF * (2 + self.alpha * self.n + self.trained / self.spread)
        if certain:
            return 1.0, error
        return share, error * max(1.0, share / max(1 - share, UNIT_ROUNDOFF))

    def _outside(self, gaps: list[tuple[int, int]], beta1: float) -> float:
        """Probability that |gap + spread s (R_1 - R_2)| > beta_1 for a pair (gap, s).

        For one of them, with s in {-1, 0, 1}.
        """
        low, high = -math.inf, math.inf
        for gap, sign in gaps:
            if sign == 0 and abs(gap) > beta1 * (1 + 1e-12):
                return 1.0
            if sign != 0:
                ends = sorted((sign * (edge - gap) / self.spread) for edge in (-beta1, beta1))
                low, high = max(low, ends[0]), min(high, ends[1])
        return difference_outside(low, high) if low < high else 1.0


@cache
def quantile(delta: float) -> float:
    """Return a q with P[|L + X| > q] <= delta, at most 1e-3 above the smallest.

    L standard logistic, X = R_1 - R_2.

    P[L + X > q] = E sigma(X - q), sigma increases, and the distribution function of X is known: the
    sum over cells of P[X in the cell] sigma(its upper end - q) is no smaller.
    """
    x = np.arange(-60, 60 + CELL, CELL)
    above = np.where(
        x >= 0,
        (2 + np.abs(x)) * np.exp(-np.abs(x)) / 4,
        1 - (2 + np.abs(x)) * np.exp(-np.abs(x)) / 4,
    )
    cells = above[:-1] - above[1:]

    def outside(q: float) -> float:
        return (
            2
            * (float(cells @ expit(x[1:] - q)) + float(above[-1]) + float(1 - above[0]))
            * (1 + 1e-9)
        )

    low, high = 0.0, 50.0
    while high - low > CELL / 4:
        middle = (low + high) / 2
        low, high = (low, middle) if outside(middle) <= delta else (middle, high)
    return high
