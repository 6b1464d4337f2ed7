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

    `fpr` and `tpr` are the corners of the trade-off curve, from (0, 0) to (1, 1); it is
    straight between them, by coins.
    """

    fpr: Array
    tpr: Array
    auc: float  # at least 1/2
    advantage: float  # largest TPR - FPR, which is the total variation


def optimal(log_p: ArrayLike, log_q: ArrayLike) -> Optimal:
    """Return the best attacker on one draw from P or Q, given the logs of their masses (K,)."""
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

    An attacker needs no more. The log-probabilities are those of all C(m + K - 1, K - 1)
    vectors of counts, in the order of `compositions`; more than 400,000 are refused.
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
