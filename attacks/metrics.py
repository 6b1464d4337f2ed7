"""What an attack reaches: rates at thresholds, the area under the ROC curve, the advantage. Members first, higher = member.

These are estimates over the target models and records of an experiment; what is certified stands in
`dpassay.attacks.certified` and `dpassay.attacks.one_run`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata, t

from dpassay.attacks.observed import Array, Flags
from dpassay.errors import is_real, require

FALSE_POSITIVE_RATES = (0.01, 0.001)
"""Where true positive rates are told."""
ENOUGH = 10
"""False positives that a rate needs to be told: at least 10 / rate non-members."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Roc:
    """Rates of the rule 'member if score >= threshold', for every threshold that changes them, from (0, 0) to (1, 1).

    Records with equal scores are called members together, so that there is no curve between tied scores.

    Parameters
    ----------
    fpr, tpr : array (k,)
        Share of non-members, and of members, that are called members; ascending.
    thresholds : array (k,)
        Descending; the first is inf.
    """

    fpr: Array
    tpr: Array
    thresholds: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Operating:
    """The best rule at a false positive rate.

    Parameters
    ----------
    asked : float
        The false positive rate that was asked for.
    fpr, tpr : float
        The realised rates: the largest realised rate that does not exceed what was asked, and the true positive rate there.
    threshold : float
        Called member from this score on.
    """

    asked: float
    fpr: float
    tpr: float
    threshold: float


def scores_of(members: ArrayLike, non_members: ArrayLike) -> tuple[Array, Array]:
    """Check scores of members and of non-members.

    Raises
    ------
    InvalidInput
        If there are none of a kind, or one is NaN.
    """
    one, other = np.asarray(members, dtype=float).ravel(), np.asarray(non_members, dtype=float).ravel()
    for name, scores in (("members", one), ("non_members", other)):
        require(scores.size > 0, name, "no scores", "at least one")
        require(not bool(np.isnan(scores).any()), name, "NaN", "numbers, infinite ones included")
    return one, other


def roc(members: ArrayLike, non_members: ArrayLike) -> Roc:
    """Return the curve of all rules 'member if score >= threshold'.

    Parameters
    ----------
    members, non_members : array
        Scores; any shape, infinite ones included.

    Returns
    -------
    Roc
    """
    one, other = scores_of(members, non_members)
    thresholds, place = np.unique(np.concatenate([one, other]), return_inverse=True)
    hits = np.bincount(place[: one.size], minlength=thresholds.size)[::-1].cumsum()
    alarms = np.bincount(place[one.size :], minlength=thresholds.size)[::-1].cumsum()
    return Roc(
        fpr=np.concatenate([[0.0], alarms / other.size]),
        tpr=np.concatenate([[0.0], hits / one.size]),
        thresholds=np.concatenate([[np.inf], thresholds[::-1]]),
    )


def auc(members: ArrayLike, non_members: ArrayLike) -> float:
    """Return the chance that a member scores above a non-member, ties counted half (Mann and Whitney 1947); in [0, 1]."""
    one, other = scores_of(members, non_members)
    ranks = rankdata(np.concatenate([one, other]))
    return float((ranks[: one.size].sum() - one.size * (one.size + 1) / 2) / (one.size * other.size))


def advantage(curve: Roc) -> float:
    """Return the largest TPR - FPR (Yeom et al. 2018), in [0, 1]: the total variation between the two kinds of scores."""
    return float((curve.tpr - curve.fpr).max())


def at_rate(curve: Roc, asked: float, non_members: int) -> Operating | None:
    """Return the best rule whose false positive rate does not exceed what is asked.

    Parameters
    ----------
    curve : Roc
    asked : float
        In (0, 1).
    non_members : int
        How many scores of non-members the curve was made of.

    Returns
    -------
    Operating or None
        None where fewer than 10 / asked non-members exist.
    """
    require(is_real(asked) and 0 < asked < 1, "asked", asked, "a number in (0, 1)")
    if non_members * asked < ENOUGH * (1 - 1e-12):
        return None
    place = int(np.searchsorted(curve.fpr, asked * (1 + 1e-12), side="right")) - 1
    return Operating(
        asked=asked, fpr=float(curve.fpr[place]), tpr=float(curve.tpr[place]), threshold=float(curve.thresholds[place])
    )


def with_a_coin(members: ArrayLike, curve: Roc, asked: float) -> float:
    """Return the true positive rate of some members at exactly a false positive rate, a coin being tossed for tied scores.

    Parameters
    ----------
    members : array
        Scores of members: all that the curve was made of, or those of one target.
    curve : Roc
        Says which threshold and which coin give the rate.
    asked : float
        The false positive rate over all non-members of the curve; in (0, 1).
    """
    place = int(np.searchsorted(curve.fpr, asked, side="right")) - 1
    step = curve.fpr[place + 1] - curve.fpr[place]
    chance = (asked - curve.fpr[place]) / step
    scores = np.asarray(members, dtype=float)
    above, tied = scores >= curve.thresholds[place], scores >= curve.thresholds[place + 1]
    return float(above.mean() + chance * (tied.mean() - above.mean()))


def allowed_tpr(fpr: ArrayLike, epsilon: float, delta: float = 0.0) -> Array:
    """Return the largest true positive rate that (epsilon, delta)-differential privacy allows at a false positive rate.

    The smaller of e^epsilon fpr + delta and 1 - e^-epsilon (1 - delta - fpr), cut off at 1 (Kairouz, Oh and Viswanath 2015).

    Parameters
    ----------
    fpr : array
        In [0, 1].
    epsilon : float
        >= 0, may be inf.
    delta : float
        In [0, 1].
    """
    fpr = np.asarray(fpr, dtype=float)
    if math.isinf(epsilon):
        return np.ones(fpr.shape)  # nothing is forbidden, not even TPR 1 at FPR 0
    growth = math.exp(epsilon) if epsilon < 700 else math.inf
    with np.errstate(invalid="ignore"):
        steep = np.where(fpr > 0, growth * fpr, 0.0) + delta
    flat = 1 - math.exp(-epsilon) * (1 - delta - fpr)
    allowed: Array = np.clip(np.minimum(steep, flat), 0.0, 1.0)
    return allowed


def per_model(scores: Array, membership: Flags) -> list[tuple[Array, Array]]:
    """Scores of members and of non-members of each model, from arrays (models, e)."""
    return [(row[inside], row[~inside]) for row, inside in zip(scores, membership, strict=True)]


def interval(values: ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """Return Student's interval for the mean of independent values: of target models, or of their differences. An estimate.

    Parameters
    ----------
    values : array (models,)
        At least two; one for each target model.
    confidence : float
        In (0, 1).
    """
    values = np.asarray(values, dtype=float)
    require(values.ndim == 1 and values.size >= 2, "values", f"shape {values.shape}", "of shape (models,) with at least two")
    half = float(t.ppf((1 + confidence) / 2, values.size - 1)) * float(values.std(ddof=1)) / math.sqrt(values.size)
    middle = float(values.mean())
    return middle - half, middle + half


def thin(curve: Roc, most: int) -> Roc:
    """Keep the points of a curve that a picture with a logarithmic axis needs, at most `most` of them and the last."""
    if len(curve.fpr) <= most:
        return curve
    positive = curve.fpr[curve.fpr > 0]
    wanted = np.concatenate([[0.0], np.geomspace(positive[0], 1.0, most - 1)])
    places: NDArray[np.int64] = np.unique(np.append(np.searchsorted(curve.fpr, wanted, side="right") - 1, len(curve.fpr) - 1))
    return Roc(fpr=curve.fpr[places], tpr=curve.tpr[places], thresholds=curve.thresholds[places])
