"""Data on [0, 1]^d in bins of several widths, and the score of private histograms.

Source: Chaudhuri and Vinterbo (2013), Theorem 6.

See `dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.histogram`, which releases them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import ScoreStability
from dpassay.data import Labelled
from dpassay.errors import is_count, is_real, require
from dpassay.mechanism import Trainer
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.densities import (
    HistogramMasses,
    integrated_score,
    most_moved,
    sum_above,
    total_below,
)
from dpassay.mechanisms.shared.blocks import check_binary
from dpassay.mechanisms.shared.ranges import check_positive, check_proportion
from dpassay.noise import Noise
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import Compared

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
MOST_BINS = 100_000
NO_SHARE = 1e-6
"""A proportion of bad random strings that is proven to be below this is taken for 0, with this
error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binned(Trainer):
    """Columns of X scaled to [0, 1] by public limits, and a trainer of histograms of widths H.

    Values beyond the limits are clipped.

    Parameters
    ----------
    alpha : float
        Privacy parameter of the histogram, in nats; finite and > 0. Relation: replace-one.
    h : float
        Width of a bin of the released histogram; 1 / h is an integer.
    H : str
        Widths that the claim about scores is for, h_1 ... h_k, as a list or as a text with blanks
        between them.
    n : int
        Records of (T, V) together, above m.
    m : int
        Records of V, the last ones; >= 0. Without any there is no claim about scores.
    delta : float
        Of Theorem 6, in (0, 1).
    feature, d : int
        The first column, >= 0, and how many, >= 1.
    low, high : float
        What is scaled to 0 and 1, of every column; finite. The defaults hold the mean radius of the
        breast cancer set (7 to 28) and standardised columns.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, or there are more than 100,000 bins.
    """

    alpha: float = 1.0
    h: float = 0.1
    H: Any = "0.2 0.1 0.05"
    n: int = 400
    m: int = 10
    delta: float = 0.01
    feature: int = 0
    d: int = 1
    low: float = -3.0
    high: float = 30.0
    widths: tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_positive(alpha=self.alpha)
        require(is_count(self.d), "d", self.d, "an integer >= 1")
        require(is_count(self.feature, 0), "feature", self.feature, "an integer >= 0")
        require(is_count(self.m, 0), "m", self.m, "an integer >= 0")
        require(is_count(self.n) and self.n > self.m, "n", self.n, f"an integer above m = {self.m}")
        check_proportion(delta=self.delta)
        limits = (
            is_real(self.low) and is_real(self.high) and -math.inf < self.low < self.high < math.inf
        )
        allowed = "two finite numbers, the lower one first"
        require(limits, "low, high", (self.low, self.high), allowed)
        allowed = f"a number with 1 / h an integer, (1 / h)^d at most {MOST_BINS:,}"
        require(self._is_width(self.h), "h", self.h, allowed)
        if isinstance(self.H, (list, tuple)):
            object.__setattr__(self, "H", " ".join(map(str, self.H)))
        object.__setattr__(self, "widths", tuple(_numbers(self.H)))
        known = len(self.widths) > 0 and all(map(self._is_width, self.widths))
        allowed = "one or more widths with blanks between them, 1 / h an integer for each"
        require(known, "H", self.H, allowed)

    def _is_width(self, h: object) -> bool:
        real = is_real(h) and 1 / MOST_BINS <= float(h) <= 1  # type: ignore[arg-type]
        return (
            real
            and abs(
                sides(h) * h - 1  # type: ignore[operator, arg-type]
            )
            <= 1e-9
            and sides(h) ** self.d <= MOST_BINS  # type: ignore[arg-type]
        )

    def stability(self) -> tuple[ScoreStability, ...]:
        """Theorem 6 as printed and with the constant that is true.

        Nothing where its condition does not hold.
        """
        left, volume, k, n = self.kept, 1 / self._finest, len(self.widths), self.n - self.m
        if self.m == 0 or left < 1:
            return ()
        facts: dict[str, Any] = {
            "beta2": 2 / volume,
            "delta": self.delta / k,
            "unit": "score",
            "coins": "the same on both sides",
        }
        text, page = "Chaudhuri and Vinterbo 2013, Theorem 6", "docs/findings.md, 'Theorem 6'"
        printed = ScoreStability(
            beta1=6 * n / (left * volume), source=text, status="printed", **facts
        )
        missed = sum(sum_above(self.bins(h), (n - left) * self.alpha / 2) for h in self.widths)
        if missed > self.delta / k:
            return (printed,)
        beta1 = n * most_moved(1 / left) / volume
        return printed, ScoreStability(beta1=beta1, source=page, status="corrected", **facts)

    @property
    def kept(self) -> float:
        """Return n (1 - nu), the least n~ on the event E of the proof, for every width of H."""
        return (
            self.n
            - self.m
            - 2 * math.log(4 * len(self.widths) / self.delta) * math.sqrt(self._finest) / self.alpha
        )

    @property
    def _finest(self) -> int:
        return max(map(self.bins, self.widths))

    def bins(self, h: float) -> int:
        """Return the number of bins of width h."""
        return int(sides(h) ** self.d)

    @property
    def fixed_n(self) -> int:
        """The only number of records that it takes."""
        return self.n

    def check(self, data: Labelled) -> None:
        """Raise `InvalidInput` unless there are n records labelled 0 and 1 and the columns."""
        check_binary(data)
        require(len(data) == self.n, "n", self.n, f"the number of records, {len(data)}")
        columns, last = data.X.shape[1], self.feature + self.d
        require(last <= columns, "feature + d", last, f"at most the number of columns, {columns}")

    def bins_of(self, X: Array, h: float) -> Counts:
        """Bin of each row; bins are closed below, the last one also above."""
        unit = (X[:, self.feature : self.feature + self.d] - self.low) / (self.high - self.low)
        side = sides(h)
        places = np.clip(np.floor(np.clip(unit, 0.0, 1.0) * side), 0, side - 1).astype(np.int64)
        return np.asarray(places @ side ** np.arange(self.d), dtype=np.int64)

    @property
    def thetas(self) -> tuple[float, ...]:
        """The widths H."""
        return self.widths

    def sizes(self, data: Labelled) -> tuple[int, int]:
        """Records of T and of V."""
        return len(data) - self.m, self.m

    def noise(self, size: int, rng: np.random.Generator) -> Array:
        """Draw R_1, R_2, ... for the finest width; a coarser one takes the first of them."""
        return Noise(kind="laplace", scale=1.0).draw((size, self._finest), rng)

    def apply(self, data: Labelled, theta: float, R: Array) -> HistogramMasses:
        """Return the estimates of width theta, one per string."""
        counts = self.counts(data, theta)
        added = 2 * R[:, : len(counts)] / self.alpha
        return HistogramMasses.of(
            np.maximum(0.0, counts + added), counts.sum() + np.abs(added).sum(axis=1)
        )

    def score(self, trained: HistogramMasses, data: Labelled) -> tuple[Array, float]:
        """Return the score of Equation 6 for each estimate."""
        side = round(trained.p.shape[1] ** (1 / self.d))
        at = self.bins_of(data.X[len(data) - self.m :], 1 / side)
        return integrated_score(trained, np.bincount(at, minlength=trained.p.shape[1]) / self.m)

    def bad_share(self, state: Compared, claim: ScoreStability) -> tuple[float, float] | None:
        """Return the proportion 0 with a proven bound where it is next to nothing.

        None where it has to be sampled.

        A string is bad only if (4 tau - 2 tau^2) / h^d > beta_1 / n for a width h, tau = 1 / n~ on
        the base dataset.
        """
        n = self.n - self.m
        if claim.beta2 < 2 * self._finest * (1 - 1e-12) and any(
            change.index >= n for change in state.changes
        ):
            return None
        share = 0.0
        for h in self.widths:
            move = claim.beta1 / n / self.bins(h)
            if move < 2 and sides(h) > 1:
                counts = self.counts(state.base, h)
                share += total_below(
                    counts,
                    self.alpha / 2,
                    (2 + math.sqrt(4 - 2 * move)) / move if move > 0 else math.inf,
                )
        return (0.0, share + UNIT_ROUNDOFF) if share <= NO_SHARE else None

    def counts(self, data: Labelled, h: float) -> Counts:
        """Return n_i, the number of records of T in each bin of width h."""
        return np.bincount(self.bins_of(data.X[: len(data) - self.m], h), minlength=self.bins(h))


def sides(h: float) -> int:
    """Return the number of bins of width h on a side."""
    return round(1 / h)


def _numbers(text: object) -> list[float]:
    """Read numbers with blanks between them; none where they cannot be read."""
    try:
        return [float(part) for part in str(text).split()]
    except ValueError:
        return []
