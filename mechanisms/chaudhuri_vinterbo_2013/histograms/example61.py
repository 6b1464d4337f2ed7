"""What both algorithms of section 6.1 of Chaudhuri and Vinterbo (2013) share.

The function f(D, i), and difference laws.

f maps a dataset of n records and a candidate i in {1, ..., l} to [0, 1], and one record moves it by
at most 1 / n. Here f(D, i) is the share of training records with a large value in column i. The
release is (i*, t_1, ..., t_l), t_i being f(D, i) plus Laplace noise; the score is t_(i*), whatever
the validation records are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.data import Labelled
from dpassay.errors import is_count, is_real, require
from dpassay.mechanism import Trainer, WorstCase
from dpassay.mechanisms.shared.blocks import check_binary
from dpassay.mechanisms.shared.ranges import check_positive
from dpassay.noise import Noise
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import Replace

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
MOST = 6
"""Candidates at most: answers are one of l 2^l."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReleasedIndex:
    """What is released: the index i*, from 0, shape (size,), and all t_i, shape (size, l)."""

    index: NDArray[np.int64]
    t: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates(Trainer):
    """f(D, i) = share of the training records whose column feature + i - 1 is at least `cut`.

    Parameters
    ----------
    alpha : float
        Privacy parameter of the whole release, in nats; finite and > 0. Relation: replace-one.
    l : int
        Number of candidates, in {2, ..., 6}.
    n : int
        Records of (T, V) together, above m.
    m : int
        Records of V, the last ones; >= 0. The score does not look at them.
    feature : int
        Column of the first candidate, >= 0.
    cut : float
        Where a value is large; finite. The default suits the mean radius and texture of the breast
        cancer set.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range.
    """

    alpha: float = 1.0
    l: int = 2  # noqa: E741  (the paper's letter)
    n: int = 400
    m: int = 10
    feature: int = 0
    cut: float = 15.0

    def __post_init__(self) -> None:
        check_positive(alpha=self.alpha)
        require(is_count(self.l, 2) and self.l <= MOST, "l", self.l, f"an integer from 2 to {MOST}")
        require(is_count(self.m, 0), "m", self.m, "an integer >= 0")
        require(is_count(self.n) and self.n > self.m, "n", self.n, f"an integer above m = {self.m}")
        require(is_count(self.feature, 0), "feature", self.feature, "an integer >= 0")
        require(is_real(self.cut) and math.isfinite(self.cut), "cut", self.cut, "a finite number")

    @property
    def trained(self) -> int:
        """Records of T: the text's n."""
        return self.n - self.m

    @property
    def thetas(self) -> tuple[float, ...]:
        """There is nothing to tune: one setting."""
        return (1.0,)

    def sizes(self, data: Labelled) -> tuple[int, int]:
        """Records of T and of V."""
        return len(data) - self.m, self.m

    @property
    def fixed_n(self) -> int:
        """The only number of records that it takes."""
        return self.n

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless there are n records labelled 0 and 1 and the columns."""
        check_binary(data)
        require(len(data) == self.n, "n", self.n, f"the number of records, {len(data)}")
        columns, last = data.X.shape[1], self.feature + self.l
        require(last <= columns, "feature + l", last, f"at most the number of columns, {columns}")

    def large(self, X: Array) -> NDArray[np.bool_]:
        """Which of the l values are large, shape (rows, l)."""
        return X[:, self.feature : self.feature + self.l] >= self.cut

    def counts(self, data: Labelled) -> Counts:
        """Return n f(D, i) for every candidate."""
        return np.asarray(self.large(data.X[: len(data) - self.m]).sum(axis=0), dtype=np.int64)

    def prepare(self, data: Labelled) -> Counts:
        """Count."""
        self.check(data)
        return self.counts(data)

    def score(self, trained: ReleasedIndex, data: Labelled) -> tuple[Array, float]:  # noqa: ARG002
        """Return t_i of the released index and a bound on its error, for any validation records."""
        error = 8 * UNIT_ROUNDOFF * (1 + float(np.abs(trained.t).max(initial=0.0)))
        return np.take_along_axis(trained.t, trained.index[:, None], axis=1)[:, 0], error

    def rows(self, bits: list[list[int]]) -> Array:
        """Records with large values where a bit is 1."""
        X = np.full((len(bits), self.feature + self.l), self.cut - 1)
        X[:, self.feature :] += 2 * np.array(bits)
        return X

    def moved(
        self, bits: list[list[int]], other: list[int], asked: list[int], reason: str
    ) -> WorstCase:
        """Return a pair: training records with these bits, the first of them replaced.

        And the query with the bits `asked`.
        """
        data = Labelled(self.rows(bits + [bits[-1]] * self.m), np.zeros(self.n, dtype=np.int64))
        before, after = ("".join(map(str, each)) for each in (bits[0], other))
        how = (
            f"{self.trained} training record{'s' * (self.trained > 1)} of {self.l} bits each; one "
            f"changes from {before} to {after}"
        )
        return WorstCase.of(
            data,
            Replace(0, self.rows([other])[0], 0),
            how=how,
            reason=reason,
            query=self.rows([asked]),
        )

    def values_words(self, pattern: int, query: Array) -> str:
        """Say which t_i are at least u_i, the bits of a query.

        What a pattern of l bits stands for.
        """
        bits = self.large(query[None])[0].astype(int)
        return ", ".join(
            f"t_{i + 1} {'>=' if pattern >> i & 1 else '<'} {bit}" for i, bit in enumerate(bits)
        )

    def shares(self, first: int, second: int) -> str:
        """Say how many training records have a large value in the columns of candidates 1 and 2.

        n f(D, 1) and n f(D, 2).
        """
        n = self.trained
        return (
            f"{first} of {n} training records have a large value for candidate 1, {second} of {n} "
            "for candidate 2"
        )

    def half(self) -> list[list[int]]:
        """The dataset of section 6.1: f(D, 1) = 1, f(D, 2) = 1/2, rounded down where n is odd.

        Other candidates as 2.
        """
        few = self.trained - self.trained // 2
        return [[1, *[0] * (self.l - 1)]] * few + [[1] * self.l] * (self.trained - few)


def difference_outside(low: float, high: float) -> float:
    """P[X < low or X > high], low < high, for X the difference of two standard Laplace numbers.

    P[X > x] = (2 + x) e^-x / 4.
    """

    def above(x: float) -> float:
        tail = 0.0 if math.isinf(x) else (2 + abs(x)) * math.exp(-abs(x)) / 4
        return tail if x >= 0 else 1 - tail

    return above(-low) + above(high)


def logistic_between(low: float, high: float) -> float:
    """sigma(high) - sigma(low) for low <= high, to almost full relative accuracy."""
    return float(expit(high) * expit(-low)) * -math.expm1(low - high)


def answers_of(patterns: Any) -> NDArray[np.int64]:
    """Number the patterns of bits in the last axis, the first bit counting 1."""
    bits = np.asarray(patterns, dtype=np.int64)
    return np.asarray(bits @ 2 ** np.arange(bits.shape[-1]), dtype=np.int64)


def patterns(l: int) -> NDArray[np.bool_]:  # noqa: E741
    """Every pattern of l bits in the order of its number, shape (2^l, l)."""
    return np.asarray(np.arange(2**l)[:, None] >> np.arange(l) & 1, dtype=np.bool_)


def sides_log_p(z: Array) -> tuple[Array, Array]:
    """Return ln P[R < z] and ln P[R >= z] for R standard Laplace."""
    unit = Noise(kind="laplace", scale=1.0)
    return unit.log_below(z), unit.log_below(-z)
