"""The Bayes-optimal attacker where the laws of the answers are known.

The ceiling of every other attack.

For one answer, or m independent answers at one query, the likelihood ratio is optimal (Neyman and
Pearson 1933). Who chooses queries by the answers before: `dpassay.attacks.repeated.adaptive`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from dpassay.attacks.observed import Array
from dpassay.errors import is_count, require

MOST_STATES = 400_000
"""No larger table of counts is made."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Optimal:
    """What the best attacker reaches, who sees answers of law P of members and Q of others.

    Parameters
    ----------
    fpr, tpr : array
        Corners of the trade-off curve, from (0, 0) to (1, 1); between them it is straight, by
        coins.
    auc : float
        In [1/2, 1].
    advantage : float
        Largest TPR - FPR, in [0, 1]: the total variation between P and Q.
    """

    fpr: Array
    tpr: Array
    auc: float
    advantage: float


def optimal(log_p: ArrayLike, log_q: ArrayLike) -> Optimal:
    """Return the best attacker on one draw from P or Q.

    Parameters
    ----------
    log_p, log_q : array (K,)
        Log-probabilities of the same K values under the two laws; -inf where impossible.
    """
    log_p, log_q = table(log_p, log_q)
    require(log_p.ndim == 1, "log_p", log_p.shape, "of shape (K,)")
    possible = ~(np.isneginf(log_p) & np.isneginf(log_q))
    one, other = log_p[possible], log_q[possible]
    order = np.argsort(-(one - other), kind="stable")
    tpr, fpr = (np.concatenate([[0.0], np.cumsum(np.exp(each[order]))]) for each in (one, other))
    tpr, fpr = tpr / tpr[-1], fpr / fpr[-1]
    area = float(np.sum((tpr[1:] + tpr[:-1]) / 2 * np.diff(fpr)))
    return Optimal(
        fpr=fpr, tpr=tpr, auc=min(1.0, area), advantage=float(np.clip((tpr - fpr).max(), 0.0, 1.0))
    )


def table(log_p: ArrayLike, log_q: ArrayLike) -> tuple[Array, Array]:
    """Check two laws of one shape."""
    one, other = np.asarray(log_p, dtype=float), np.asarray(log_q, dtype=float)
    same = one.shape == other.shape and one.size > 0
    require(same, "log_q", f"shape {other.shape}", f"of shape {one.shape}, not empty")
    return one, other


def answers(log_p: ArrayLike, log_q: ArrayLike, m: int) -> tuple[Array, Array]:
    """Return the laws of the counts of labels in m independent answers at one query.

    All that an attacker needs of them.

    Parameters
    ----------
    log_p, log_q : array (K,)
        Of one answer.
    m : int
        >= 1.

    Returns
    -------
    tuple of array
        Log-probabilities of every vector of counts, C(m + K - 1, K - 1) of them, in the order of
        `compositions`.

    Raises
    ------
    InvalidInput
        If there are more than 400,000 of them.
    """
    log_p, log_q = table(log_p, log_q)
    require(log_p.ndim == 1, "log_p", log_p.shape, "of shape (K,)")
    require(is_count(m), "m", m, "an integer >= 1")
    counts = compositions(m, log_p.size)
    ways = gammaln(m + 1) - gammaln(counts + 1).sum(axis=1)
    with np.errstate(invalid="ignore"):
        one, other = (
            ways + np.where(counts > 0, counts * each, 0.0).sum(axis=1) for each in (log_p, log_q)
        )
    return np.minimum(one, 0.0), np.minimum(other, 0.0)


def compositions(total: int, parts: int) -> NDArray[np.int64]:
    """Return all vectors of `parts` counts >= 0 with this sum, a row each."""
    number = math.comb(total + parts - 1, parts - 1)
    require(
        number <= MOST_STATES,
        "m",
        total,
        f"small enough for {MOST_STATES:,} counts of {parts} answers",
    )
    bars = np.array(
        list(combinations(range(total + parts - 1), parts - 1)), dtype=np.int64
    ).reshape(number, parts - 1)
    ends = np.full((number, 1), total + parts - 1)
    return np.diff(np.concatenate([np.full((number, 1), -1), bars, ends], axis=1), axis=1) - 1


def ceiling(log_p: ArrayLike, log_q: ArrayLike, m: int = 1) -> Optimal:
    """Return the best attacker on m independent answers at one query; see `answers`."""
    return optimal(*answers(log_p, log_q, m))
