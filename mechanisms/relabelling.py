"""Parts of `relabelled`: the labellings of S by H_{S_I}, the realisable learner A^R on them, and which threshold is chosen.

A^R (Dagan and Feldman 2020, Lemma 6) is Theorem 4.1 of Dwork and Feldman (2018): r blocks of S_h, record i in block i mod r, a
hypothesis that is consistent with each, and a soft majority of their answers. The consistent hypothesis is the representative
in H_B of the labels that h gives to the block's points B.

For thresholds all that h does is to label the j smallest of the m distinct values of S 0 and the others 1; j is its number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.data import Labelled
from dpassay.mechanisms.classes import HypothesisClass, Labels, Points, Rule, after, column
from dpassay.rounding import UNIT_ROUNDOFF

Counts = NDArray[np.int64]

STEP = 0.4
"""Distance of the quadrature's nodes in ln s."""
TAIL = 1e-10
"""What is cut off at either end of the integral, as a part of it."""
MOST_NUMBERS = 4_000_000
"""Numbers held at a time by the quadrature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealisableLearner:
    """A^R: votes of r consistent hypotheses.

    Parameters
    ----------
    H : HypothesisClass
    rule : {"least", "greatest", "middle"}
        Which consistent hypothesis is taken.
    r : int
        Number of blocks, >= 1 and at most the number of records.
    """

    H: HypothesisClass
    rule: Rule
    r: int

    def votes(self, X: Points, labels: Labels, queries: Points) -> Counts:
        """How many of the r hypotheses answer 1 at q queries, shape (k, q), for k labellings of the points by H, shape (k, n)."""
        votes = np.zeros((len(labels), len(queries)), dtype=np.int64)
        for j in range(self.r):
            block = X[j :: self.r]
            consistent = self.H.representatives(block, self.rule)
            places = {row.tobytes(): place for place, row in enumerate(self.H.predict(consistent, block))}
            rows = [places[row.tobytes()] for row in np.ascontiguousarray(labels[:, j :: self.r])]
            votes += self.H.predict(consistent, queries)[rows]
        return votes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Line:
    """S seen by thresholds.

    Parameters
    ----------
    values : array (m,)
        Distinct values, ascending.
    ranks : int array (n,)
        Place of each record among them.
    errors : int array (m + 1,)
        Errors of the labelling with j zeros.
    """

    values: Points
    ranks: Counts
    errors: Counts

    @classmethod
    def of(cls, data: Labelled, feature: int) -> Line:
        """Sort and count."""
        values, ranks = np.unique(column(data.X, feature), return_inverse=True)
        ones = np.bincount(ranks, weights=data.y, minlength=len(values)).astype(np.int64)
        zeros = np.bincount(ranks, minlength=len(values)) - ones
        errors = np.append(0, np.cumsum(ones)) + np.append(np.cumsum(zeros[::-1])[::-1], 0)
        return cls(values=values, ranks=ranks, errors=errors)

    def votes(self, learner: RealisableLearner, X: Points, queries: Points) -> Counts:
        """Votes for all labellings, shape (m + 1, q): a block's hypothesis is that with as many zeros among its own values."""
        numbers = np.arange(len(self.values) + 1)
        votes = np.zeros((len(numbers), len(queries)), dtype=np.int64)
        for j in range(learner.r):
            block = slice(j, None, learner.r)
            rows = np.searchsorted(np.unique(self.ranks[block]), numbers)
            consistent = learner.H.representatives(X[block], learner.rule)
            votes += learner.H.predict(consistent, queries)[rows]
        return votes

    def labellings(self, subsets: Counts, rule: Rule) -> tuple[Counts, Labels]:
        """Numbers of the labellings by H_{S_I} for many subsets I.

        Parameters
        ----------
        subsets : int array (size, n')
            Records of each subset.
        rule : Rule

        Returns
        -------
        numbers : int array (size, n' + 1)
        present : bool array (size, n' + 1)
            Two records with one value leave a labelling out.
        """
        chosen = np.sort(self.ranks[subsets], axis=1)
        m, first, last = len(self.values), np.zeros((len(chosen), 1), dtype=np.int64), np.full((len(chosen), 1), len(self.values))
        present = np.concatenate([first == 0, chosen[:, 1:] != chosen[:, :-1], first == 0], axis=1)
        if rule == "least":
            return np.concatenate([chosen, last], axis=1), present
        if rule == "greatest":
            return np.concatenate([first, chosen + 1], axis=1), present
        z = self.values[chosen]
        low, high = z[:, :-1], z[:, 1:]
        t = np.concatenate([z[:, :1], np.maximum(low + (high - low) / 2, after(low)), after(z[:, -1:])], axis=1)
        numbers = np.searchsorted(self.values, t)
        return np.minimum(numbers, m), present

    def chance_of_each(self, n_prime: int, rule: Rule, rate: float) -> tuple[Points, float] | None:
        """Probability that the exponential mechanism over H_{S_I} chooses each labelling, over a uniform I of size n'.

        With `least`, H_{S_I} has the thresholds at the values of I and one above them all, so that Z_I is a sum over I, and

            P[v is chosen] = lambda_v integral over s > 0 of E[1{v in I} e^(-s Z_I)],

        where the mean is a coefficient of a product over the other values; `greatest` is alike. The integral over ln s is done by the
        trapezoidal rule. On e^u Z exp(-Z e^u), which is integrated for each I, its relative error is that of the aliases
        2 sum over j >= 1 of |Gamma(1 + 2 pi i j / h)|, whatever Z is. Every term is positive, so no digits are lost.

        Returns
        -------
        probabilities : array (m + 1,)
            By the labelling's number.
        error : float
            Bound on the relative error of each; None for the rule `middle`, or where numbers would overflow.
        """
        counts, m, n = np.bincount(self.ranks), len(self.values), len(self.ranks)
        if rule == "middle" or math.comb(n, n_prime) > 1e300 or rate * int(np.ptp(self.errors)) > 500:
            return None
        weights = np.exp(-rate * (self.errors - self.errors.min()))
        own, always = (weights[:-1], weights[-1]) if rule == "least" else (weights[1:], weights[0])
        ascending = np.sort(own)
        smallest, largest = always + ascending[0], always + ascending[-min(m, n_prime) :].sum()
        cut = -math.log(TAIL)
        u = np.arange(-cut - math.log(largest), math.log(cut / smallest) + STEP, STEP)
        chances, total = np.zeros(m + 1), float(math.comb(n, n_prime))
        width = max(1, MOST_NUMBERS // ((m + 1) * (n_prime + 1)))
        for start in range(0, len(u), width):
            s = np.exp(u[start : start + width])
            inside, outside = _coefficients(np.exp(-own[:, None] * s), counts, n_prime)
            common = STEP * s * np.exp(-always * s) / total
            chances[:-1] += own * (inside @ common)
            chances[-1] += always * float(outside @ common)
        return np.roll(chances, 0 if rule == "least" else 1), quadrature_error() + 16 * UNIT_ROUNDOFF * (
            n + n_prime + len(u) + rate * n + 16
        )


def _coefficients(factors: Points, counts: Counts, n_prime: int) -> tuple[Points, Points]:
    """Sums over all subsets of n' records of the product of the factors of the values that occur.

    Parameters
    ----------
    factors : array (m, K)
        Of each value, at K nodes.
    counts : int array (m,)
        Records with each value.
    n_prime : int

    Returns
    -------
    inside : array (m, K)
        Over the subsets in which the value occurs.
    outside : array (K,)
        Over all subsets.
    """
    m, nodes = factors.shape
    both = np.zeros((m + 1, 2, n_prime + 1, nodes))  # products over the first v values, and over the last v
    both[0, :, 0] = 1.0
    for v in range(m):
        _multiply(both[v, 0], both[v + 1, 0], factors[v], int(counts[v]))
        _multiply(both[v, 1], both[v + 1, 1], factors[m - 1 - v], int(counts[m - 1 - v]))
    before, behind = both[:m, 0], both[m - 1 :: -1, 1]
    inside = np.zeros_like(factors)
    for a in range(1, min(int(counts.max()), n_prime) + 1):
        some = slice(None) if a == 1 else counts >= a
        ways = np.array([math.comb(int(c), a) for c in counts[some]], dtype=float)
        left = n_prime - a + 1
        others = np.einsum("vik,vik->vk", before[some, :left], behind[some, left - 1 :: -1])
        inside[some] += ways[:, None] * others
    return inside * factors, both[m, 0, n_prime]


def _multiply(old: Points, new: Points, factor: Points, count: int) -> None:
    """Multiply a polynomial by 1 + ((1 + z)^count - 1) factor."""
    np.multiply(old[:-1], count * factor, out=new[1:])
    new += old
    for a in range(2, min(count, len(old) - 1) + 1):
        new[a:] += math.comb(count, a) * factor * old[:-a]


def quadrature_error() -> float:
    """Relative error of `Line.chance_of_each` but for rounding: |Gamma(1 + i y)|^2 = pi y / sinh(pi y); and both tails."""
    y = 2 * math.pi / STEP
    alias = 2 * math.sqrt(2 * math.pi * y) * math.exp(-math.pi * y / 2)
    return 2 * alias + 2 * TAIL  # the next alias is below 1e-10 of the first

