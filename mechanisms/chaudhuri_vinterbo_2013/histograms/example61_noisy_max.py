"""Largest of noisy values: the algorithm A' of section 6.1 of Chaudhuri and Vinterbo (2013).

t_i = f(D, i) + l R_i / (alpha n), R_i standard Laplace; i* = argmax t_i; the release is (i*, t_1,
..., t_l), the score t_(i*).

Claims as printed: alpha-differential privacy, alpha / l for each t_i, which the index is a function
of; training stability with beta_1 = 1 and delta = 0. The text argues that "if i* = i on D and
i* = i' on D', then |f(D, i) - f(D, i')| <= 1/n" and |t_i - t_i'| = |f(D, i) - f(D', i')|, which is
false: what is compared is the largest of values that each move by at most 1/n (docs/findings.md,
'Section 6.1').
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim, ScoreStability
from dpassay.data import Labelled
from dpassay.laws import FiniteLaw
from dpassay.mechanism import WorstCase
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.example61 import (
    Candidates,
    Counts,
    ReleasedIndex,
    answers_of,
    patterns,
    sides_log_p,
)
from dpassay.mechanisms.shared.ranges import check_word
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import Compared

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example61NoisyMax(Candidates):
    """The algorithm A'.

    Parameters
    ----------
    alpha, l, n, m, feature, cut
        See `Candidates`.
    release : {"values", "index"}
        What is answered: at a query with bits u_1 ... u_l (of `cut`) the sum of 2^(i - 1)
        [t_i >= u_i]: the index tells nothing that the values do not, and all f lie between 0 and 1,
        so that these events lose as much as there is; or the index alone, counted from 0.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    release: Literal["values", "index"] = "values"

    def __post_init__(self) -> None:
        super(Example61NoisyMax, self).__post_init__()
        check_word("values", "index", release=self.release)

    @property
    def labels(self) -> tuple[int, ...]:
        """Every answer there can be."""
        return tuple(range(2**self.l if self.release == "values" else self.l))

    @property
    def without_query(self) -> bool:
        """Whether only the index is released."""
        return self.release == "index"

    @property
    def spread(self) -> float:
        """Return n times the scale of the noise of a t_i."""
        return self.l / self.alpha

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Privacy and stability as printed; less privacy is lost by the index alone where l > 2."""
        text, page = "Chaudhuri and Vinterbo 2013, section 6.1", "docs/findings.md, 'Section 6.1'"
        unit = "released index and values" if self.release == "values" else "released index"
        facts: dict[str, Any] = {"unit": unit, "coins": "all fresh"}
        claims: list[Claim] = [DP(epsilon=self.alpha, source=text, status="printed", **facts)]
        if self.release == "index" and self.l > 2:
            claims.append(
                DP(epsilon=2 * self.alpha / self.l, source=page, status="corrected", **facts)
            )
        coins = "the same on both sides"
        claims.append(
            ScoreStability(
                beta1=1.0, beta2=0.0, unit="score", coins=coins, source=text, status="printed"
            )
        )
        return tuple(claims)

    def sample(
        self, state: Counts, queries: Array, size: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Answers of `size` independent releases at q queries, shape (size, q).

        There is one for each query.
        """
        found = self._release(state, self.noise(size * len(queries), rng))
        if self.release == "index":
            return found.index.reshape(size, len(queries))
        return answers_of(found.t.reshape(size, len(queries), self.l) >= self.large(queries))

    def distribution(self, state: Counts, queries: Array) -> FiniteLaw | None:
        """Exact law: the values are independent.

        Of the index for l = 2, None for more candidates.
        """
        if self.release == "index":
            return self._index_law(state, len(queries)) if self.l == 2 else None
        below, above = sides_log_p((self.large(queries) * self.trained - state) / self.spread)
        log_p = np.where(patterns(self.l), above[:, None], below[:, None]).sum(axis=2)
        return FiniteLaw(
            log_p=log_p, error=32 * self.l * UNIT_ROUNDOFF * (1 + self.trained / self.spread)
        )

    def _index_law(self, counts: Counts, queries: int) -> FiniteLaw:
        """Law of the larger of two.

        With w = alpha n |f_1 - f_2| / l the lower one wins with probability (2 + w) e^-w / 4.
        """
        w = abs(float(counts[0] - counts[1])) / self.spread
        lower = np.log((2 + w) / 4) - w
        row = [np.log1p(-np.exp(lower)), lower]
        log_p = np.array([row if counts[0] >= counts[1] else row[::-1]])
        return FiniteLaw(
            log_p=np.repeat(log_p, queries, axis=0), error=32 * UNIT_ROUNDOFF * (1 + w)
        )

    @property
    def looked_at(self) -> str:
        """What is answered of the release."""
        return (
            ""
            if self.release == "index"
            else "for each t_i whether it is at least a threshold (0 or 1),"
        )

    def answer_words(self, answer: int, query: Array) -> str:
        """The index, counted from 1 as in the text, or the side of each t_i."""
        return f"i* = {answer + 1}" if self.release == "index" else self.values_words(answer, query)

    def pairs(self) -> tuple[WorstCase, ...]:
        """One record moves all f(D, i) the same way.

        And one that moves them to and fro, where the index is rare.
        """
        ones, zeros = [1] * self.l, [0] * self.l
        first, others = [1, *zeros[1:]], [0, *ones[1:]]
        by = f"1/{self.trained}"
        same = (
            f"one record raises every candidate's share by {by}, and so the largest t_i, whatever "
            "the noise"
        )
        rare = (
            f"candidate 1 is as rare as possible: {self.shares(0, self.trained)}; one record "
            "reverses all its values"
        )
        return (
            self.moved([zeros] * self.trained, ones, ones, same),
            self.moved([others] * self.trained, first, first, rare),
        )

    def noise(self, size: int, rng: np.random.Generator) -> Array:
        """Draw R_1 ... R_l from the standard Laplace law, shape (size, l)."""
        return rng.laplace(size=(size, self.l))

    def apply(self, data: Labelled, theta: float, R: Array) -> ReleasedIndex:  # noqa: ARG002
        """Return the release for each random string."""
        return self._release(self.counts(data), R)

    def _release(self, counts: Counts, R: Array) -> ReleasedIndex:
        t = (counts + self.spread * R) / self.trained
        return ReleasedIndex(index=t.argmax(axis=1), t=t)

    def bad_share(self, state: Compared, claim: ScoreStability) -> tuple[float, float] | None:
        """Return the proportion 0 where no f(D, i) moves by more than beta_1 / n; else None.

        Then the largest t_i does not move so far either.
        """
        trains = len(state.base) - self.m
        base = self.counts(state.base)
        moved = [
            self.counts(change.apply(state.base))
            for change in state.changes
            if change.index < trains
        ]
        most = max((int(np.abs(counts - base).max()) for counts in moved), default=0)
        return (0.0, 0.0) if most <= claim.beta1 * (1 + 1e-12) else None
