"""Parts of `relabelled`.

The labellings of S by H_{S_I}, the realisable learner A^R on them, and which threshold is chosen.

A^R (Dagan and Feldman 2020, Lemma 6) is Theorem 4.1 of Dwork and Feldman (2018): r blocks of S_h,
record i in block i mod r, a hypothesis that is consistent with each, and a soft majority of their
answers. The consistent hypothesis is the representative in H_B of the labels that h gives to the
block's points B.

For thresholds all that h does is to label the j smallest of the m distinct values of S 0 and the
others 1; j is its number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpassay.data import Labelled
from dpassay.mechanisms.dagan_feldman_2020.random_sums import chances_by_value
from dpassay.mechanisms.shared.hypothesis_class import HypothesisClass, Labels, Points, Rule, column
from dpassay.mechanisms.shared.line_classes import after
from dpassay.numerics import UNIT_ROUNDOFF

Counts = NDArray[np.int64]

MOST_EXPONENT = 500.0
"""Weights that differ by more than e to this have no exact law by quadrature."""


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
    rate : float
        Its privacy: 1 is answered with log-odds rate / 2 for each vote for it, less as many for
        each vote for 0.
    """

    H: HypothesisClass
    rule: Rule
    r: int
    rate: float

    def votes(self, X: Points, labels: Labels, queries: Points) -> Counts:
        """How many of the r hypotheses answer 1 at q queries, shape (k, q).

        For k labellings of the points by H, shape (k, n).
        """
        votes = np.zeros((len(labels), len(queries)), dtype=np.int64)
        for j in range(self.r):
            block = X[j :: self.r]
            consistent = self.H.representatives(block, self.rule)
            places = {
                row.tobytes(): place for place, row in enumerate(self.H.predict(consistent, block))
            }
            rows = [places[row.tobytes()] for row in np.ascontiguousarray(labels[:, j :: self.r])]
            votes += self.H.predict(consistent, queries)[rows]
        return votes

    def answers(self, votes: Counts, y: int) -> Points:
        """Probability of answering y, for these numbers of votes for 1."""
        more = 2 * votes - self.r
        return np.asarray(expit(self.rate / 2 * (more if y == 1 else -more)))


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
    feature : int
        Column that has the values.
    """

    values: Points
    ranks: Counts
    errors: Counts
    feature: int

    @classmethod
    def of(cls, data: Labelled, feature: int) -> Line:
        """Sort and count."""
        values, ranks = np.unique(column(data.X, feature), return_inverse=True)
        ones = np.bincount(ranks, weights=data.y, minlength=len(values)).astype(np.int64)
        zeros = np.bincount(ranks, minlength=len(values)) - ones
        errors = np.append(0, np.cumsum(ones)) + np.append(np.cumsum(zeros[::-1])[::-1], 0)
        return cls(values=values, ranks=ranks, errors=errors, feature=feature)

    def votes(self, learner: RealisableLearner, X: Points, queries: Points) -> Counts:
        """Votes for all labellings, shape (m + 1, q).

        A block's hypothesis is that with as many zeros among its own values. With `least` it
        answers 1 if the block has a value labelled 1 that is at most the query; with `greatest` 0
        if it has one labelled 0 that is at least the query.
        """
        x, m = column(queries, self.feature), len(self.values)
        if learner.rule == "least":
            stops = np.searchsorted(self.values, x, side="right")
            return np.ascontiguousarray(_blocks_within(self.ranks, m, stops, learner.r).T)
        if learner.rule == "greatest":
            stops = m - np.searchsorted(self.values, x)
            zeros = _blocks_within(m - 1 - self.ranks, m, stops, learner.r)[:, ::-1]
            return np.ascontiguousarray(learner.r - zeros.T)
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
        m, first, last = (
            len(self.values),
            np.zeros((len(chosen), 1), dtype=np.int64),
            np.full((len(chosen), 1), len(self.values)),
        )
        present = np.concatenate([first == 0, chosen[:, 1:] != chosen[:, :-1], first == 0], axis=1)
        if rule == "least":
            return np.concatenate([chosen, last], axis=1), present
        if rule == "greatest":
            return np.concatenate([first, chosen + 1], axis=1), present
        z = self.values[chosen]
        low, high = z[:, :-1], z[:, 1:]
        t = np.concatenate(
            [z[:, :1], np.maximum(low + (high - low) / 2, after(low)), after(z[:, -1:])], axis=1
        )
        numbers = np.searchsorted(self.values, t)
        return np.minimum(numbers, m), present

    def chance_of_each(self, n_prime: int, rule: Rule, rate: float) -> tuple[Points, float] | None:
        """Probability that the exponential mechanism over H_{S_I} chooses each labelling.

        I is uniform, of size n'.

        With `least`, H_{S_I} has the thresholds at the values of I and one above them all; with
        `greatest` those just above the values, and one below them all. Either way Z_I is a sum over
        I.

        Returns
        -------
        probabilities : array (m + 1,)
            By the labelling's number.
        error : float
            Bound on the relative error of each; None for the rule `middle`, or where numbers would
            overflow.
        """
        if rule == "middle" or rate * int(np.ptp(self.errors)) > MOST_EXPONENT:
            return None
        weights = np.exp(-rate * (self.errors - self.errors.min()))
        split = (
            (weights[:-1], float(weights[-1]))
            if rule == "least"
            else (weights[1:], float(weights[0]))
        )
        found = chances_by_value(*split, np.bincount(self.ranks), n_prime)
        if found is None:
            return None
        chances, error = found
        return np.roll(chances, int(rule == "greatest")), error + 16 * UNIT_ROUNDOFF * (
            rate * len(self.ranks) + 1
        )


def _blocks_within(ranks: Counts, m: int, stops: Counts, r: int) -> Counts:
    """How many of r blocks have a record whose rank is at least j and below a stop.

    They are as many as records there whose block has no later one there.

    Parameters
    ----------
    ranks : int array (n,)
        Of each record, 0 to m - 1.
    m : int
    stops : int array (q,)
        0 to m.
    r : int
        Record i is in block i mod r.

    Returns
    -------
    int array (q, m + 1)
        For j from 0 to m.
    """
    order = np.argsort(ranks, kind="stable")
    ascending, blocks = ranks[order], order % r
    together = np.argsort(blocks, kind="stable")
    here, later = together[:-1], together[1:]
    same = blocks[here] == blocks[later]
    following = np.full(len(ranks), m)
    following[here[same]] = ascending[later[same]]
    last = (ascending < stops[:, None]) & (following >= stops[:, None])
    reached = np.zeros((len(stops), len(ranks) + 1), dtype=np.int64)
    np.cumsum(last[:, ::-1], axis=1, out=reached[:, -2::-1])
    return reached[:, np.searchsorted(ascending, np.arange(m + 1))]


def labellings_of(
    labels: Iterable[Labels], y: NDArray[np.int64], rate: float
) -> tuple[Points, Labels]:
    """Chances of all labellings that occur, each subset being as likely.

    Parameters
    ----------
    labels : iterable of bool arrays (k, n)
        Labels of S by H_{S_I}, for each subset I.
    y : array (n,)
    rate : float
    """
    total: dict[bytes, float] = {}
    subsets = 0
    for rows in labels:
        chances = chances_of((rows != (y == 1)).sum(axis=1), rate)
        for row, chance in zip(np.ascontiguousarray(rows), chances.tolist(), strict=True):
            key = row.tobytes()
            total[key] = total.get(key, 0.0) + chance
        subsets += 1
    found = np.frombuffer(b"".join(total), dtype=bool).reshape(len(total), len(y))
    return np.array(list(total.values())) / subsets, found


def chances_of(errors: Counts, rate: float, present: Labels | bool = True) -> Points:
    """Probabilities of the exponential mechanism over the present hypotheses, last axis."""
    least = np.where(present, errors, np.iinfo(np.int64).max).min(axis=-1, keepdims=True)
    weights = np.exp(-rate * np.maximum(errors - least, 0)) * present
    chances: Points = weights / weights.sum(axis=-1, keepdims=True)
    return chances


def drawn(chances: Points, coins: Points) -> Counts:
    """Place in each row of probabilities (size, k) that a uniform number falls on.

    Shape (size, 1), as the numbers have.
    """
    reached = np.cumsum(chances, axis=1)
    place: Counts = np.minimum(
        (reached <= coins * reached[:, -1:]).sum(axis=1, keepdims=True), chances.shape[1] - 1
    )
    return place
