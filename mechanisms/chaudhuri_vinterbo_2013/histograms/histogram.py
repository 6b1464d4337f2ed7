"""Private histogram density estimator and its score.

Source: Chaudhuri and Vinterbo (2013), Algorithm 5 and Theorem 6.

n_i records of T lie in bin i of width h; n~_i = max(0, n_i + 2 R_i / alpha) with R_i standard
Laplace, n~ = sum n~_i, and the density in bin i is n~_i / (h n~). The text has one dimension,
"although the general techniques can be easily extended": in d dimensions bins are cubes, and h^d
stands wherever h stands. Where n~ = 0, which the text leaves open, the density is uniform.

Claims as printed: alpha-differential privacy of the histogram. A replaced record moves two counts
by 1, so all counts together lose alpha and a single one alpha / 2. Theorem 6, for widths H,
k = |H|, nu = 2 ln(4 k / delta) / (n alpha sqrt(h_min)): if n (1 - nu) >= 1, the score q(f,
V) = - integral f^2 + (2 / m) sum f(z_j) is (beta_1, beta_2, delta / k)-stable with
beta_1 = 6 / ((1 - nu) h_min), beta_2 = 2 / h_min. With p_i = n~_i / n~ and v the shares of V,

    h q = |v|^2 - |p - v|^2,
    h |q(p, V) - q(p', V)| <= 4 tau - 2 tau^2,    tau = min(1, 1 / max(n~, n~')),

so 6 can be 4 - 2 / (n (1 - nu)): the claim `corrected` (docs/findings.md, 'Theorem 6').
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.claims import DP, Claim
from dpassay.data import Labelled, points
from dpassay.errors import require
from dpassay.laws import FiniteLaw, Law, NoiseLaw
from dpassay.mechanism import Reachable, WorstCase
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.binned import Binned, sides
from dpassay.mechanisms.chaudhuri_vinterbo_2013.histograms.densities import HistogramMasses, fuller
from dpassay.noise import Noise
from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.pairs import Pairs, Replace

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
UNITS = {
    "all": "all noisy counts",
    "count": "noisy count of one bin",
    "comparison": "comparison of two bins",
    "density": "density at one point",
}
LN2 = math.log(2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram(Binned):
    """Algorithm 5 over columns of X that are scaled to [0, 1] by public limits and clipped.

    Parameters
    ----------
    alpha, h, H, n, m, delta, feature, d, low, high
        See `Binned`.
    release : {"all", "count", "comparison", "density"}
        What is released. `all`: the whole vector n~, of which is answered at a query x with bin i
        the number 2 [n~_i >= n] + [some other n~_j > 0], n the records of T: of a record that goes
        into bin i or out of it these two bits tell as much as the vector, and no event of the
        vector loses more. `count`: n~_i. `comparison`: whether the next bin (the first follows the
        last) has a larger n~, another statistic of the vector, which loses almost all of alpha.
        `density`: that at x.

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, or there is nothing to compare.
    """

    release: Literal["all", "count", "comparison", "density"] = "all"

    def __post_init__(self) -> None:
        super(Histogram, self).__post_init__()
        require(self.release in UNITS, "release", self.release, f"one of {', '.join(UNITS)}")
        enough = self.release != "comparison" or sides(self.h) > 1
        require(enough, "h", self.h, "so small that there are two bins to compare")

    @property
    def labels(self) -> tuple[int, ...]:
        """The two bits of `all`, or whether the next bin is fuller."""
        return (0, 1, 2, 3) if self.release == "all" else (0, 1)

    @property
    def looked_at(self) -> str:
        """What of all noisy counts is answered."""
        return (
            "for one bin i, whether n~_i >= n - m and whether any other n~_j > 0,"
            if self.release == "all"
            else ""
        )

    @property
    def numbers(self) -> tuple[float, float] | None:
        """Limits of counts and densities; None for bits."""
        limits = {"count": (0.0, math.inf), "density": (0.0, float(self.bins(self.h)))}
        return limits.get(self.release)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Privacy as printed, and of a single count.

        Theorem 6 where its condition holds, and with the constant that is true.
        """
        facts: dict[str, Any] = {
            "unit": UNITS[self.release],
            "coins": "noise fresh; no other coins",
        }
        text = "Chaudhuri and Vinterbo 2013, Algorithm 5"
        claims: list[Claim] = [DP(epsilon=self.alpha, source=text, status="printed", **facts)]
        page = "docs/findings.md, 'The histogram: one count and all of them'"
        if self.release == "count":
            claims.append(DP(epsilon=self.alpha / 2, source=page, status="corrected", **facts))
        return (*claims, *self.stability())

    def prepare(self, data: Labelled) -> Counts:
        """Count the records of T in each bin."""
        self.check(data)
        return self.counts(data, self.h)

    def sample(
        self, state: Counts, queries: Array, size: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Answers of `size` independent histograms at q queries, shape (size, q)."""
        noisy = np.maximum(
            0.0, state + Noise(kind="laplace", scale=2 / self.alpha).draw((size, len(state)), rng)
        )
        at = self.bins_of(queries, self.h)
        if self.release == "count":
            return noisy[:, at]
        if self.release == "density":
            return HistogramMasses.of(noisy).p[:, at] * len(state)
        if self.release == "all":
            some = noisy > 0
            others = some.sum(axis=1)[:, None] > some[:, at]
            full = noisy[:, at] >= self.n - self.m
            return np.asarray(2 * full + others, dtype=np.int64)
        return (noisy[:, (at + 1) % len(state)] > noisy[:, at]).astype(np.int64)

    def distribution(self, state: Counts, queries: Array) -> Law | None:
        """Exact law of a count, of a comparison and of the two bits of `all` in closed form.

        None for the density.
        """
        at = self.bins_of(queries, self.h)
        if self.release == "count":
            noise = Noise(kind="laplace", scale=2 / self.alpha)
            return NoiseLaw(values=state[at].astype(float), noise=noise, error=0.0, low=0.0)
        if self.release == "density":
            return None
        if self.release == "all":
            return self._bits(state[at])
        return fuller(state[at] * self.alpha / 2, state[(at + 1) % len(state)] * self.alpha / 2)

    def answer_words(self, answer: int, query: Array) -> str:  # noqa: ARG002
        """Say what the two bits of `all` are, i the bin of the query; nothing of the rest."""
        if self.release != "all":
            return ""
        return (
            f"n~_i {'>=' if answer >= 2 else '<'} n - m, {'some' if answer % 2 else 'no'} other "
            "n~_j > 0"
        )

    def _bits(self, counts: Counts) -> FiniteLaw:
        """Law of the two bits of `all` where bin i has these counts.

        The others have the n - n_i records that are left.

        With a = (n - n_i) alpha / 2 the bits are independent, P[n~_i >= n] = e^-a / 2 and P[all
        others 0] = e^-a / 2^(bins - 1).
        """
        left = (self.n - self.m - counts) * self.alpha / 2
        full, none = -left - LN2, -left - (self.bins(self.h) - 1) * LN2
        with np.errstate(divide="ignore"):  # there is no other bin
            sides_of = [(np.log1p(-np.exp(log_p)), log_p) for log_p in (full, none)]
        log_p = np.stack([a + b for a in sides_of[0] for b in sides_of[1][::-1]], axis=-1)
        return FiniteLaw(log_p=log_p, error=16 * UNIT_ROUNDOFF * (1 - float(none.min())))

    def pairs(self) -> tuple[WorstCase, ...]:
        """All of T in the first bin, all of V in the second.

        One record of T goes where V is, or one of V where T is.
        """
        finest, width = min(self.h, *self.widths), self.high - self.low
        second = self.h if sides(self.h) > 1 else finest
        center = [self.low + 0.5 * finest * width, self.low + 1.5 * second * width]
        X = np.repeat(self._row(center), (self.n - self.m, self.m), axis=0)
        data = Labelled(X, np.zeros(self.n, dtype=np.int64))
        there, back = self._row(center)[1], self._row(center)[0]
        changes = (Replace(0, there, 0), *((Replace(self.n - 1, back, 0),) if self.m else ()))
        bins = "bin" if sides(self.h) > 1 else f"bin of width {finest:g}"
        trains = self.n - self.m
        trained = f"{trains} training record{'s' * (trains > 1)}"
        tested = f"{self.m} validation record{'s' * (self.m > 1)}"
        how = f"{trained} in the first {bins}; one moves to the second"
        reason = "two counts change by 1"
        if self.m:
            how = (
                f"{trained} in the first {bins}, {tested} in the second; one record of either "
                "moves to the other bin"
            )
            reason = (
                "a record of T changes two counts by 1 and moves mass from a bin without records "
                "of V to the bin that holds all of V; a record of V leaves that bin for the one "
                "of T, and changes no count"
            )
        if sides(self.h) == 1:
            reason = "the histogram has one bin, so that no count changes"
        return (
            WorstCase(
                pairs=Pairs(base=data, changes=changes, how=how),
                queries=self._row(center),
                reason=reason,
            ),
        )

    def _row(self, values: list[float]) -> Array:
        """Points with these values in the first column, the others in their lowest bin.

        The first column of the histogram.
        """
        X = np.full((len(values), self.feature + self.d), self.low)
        X[:, self.feature] = values
        return points(X, "queries")

    def reachable(self) -> Reachable | None:
        """Counts 0, ..., n of a bin, where there are two bins or more."""
        if self.release not in ("all", "count") or sides(self.h) == 1:
            return None
        counts = np.arange(self.n - self.m + 1)
        noise = Noise(kind="laplace", scale=2 / self.alpha)
        count = NoiseLaw(values=counts.astype(float), noise=noise, error=0.0, low=0.0)
        return Reachable(
            states=tuple(f"{each} records in the bin" for each in counts),
            law=self._bits(counts) if self.release == "all" else count,
            moves=np.stack([counts[:-1], counts[1:]], axis=1),
            argument=(
                "A record lies in one bin, so a replacement changes at most two counts, each by "
                "at most 1. Every count can occur, and every such change."
            ),
            several=(
                "k replacements change a count by at most k; each step puts one record into the "
                "bin or takes one out."
            ),
        )
