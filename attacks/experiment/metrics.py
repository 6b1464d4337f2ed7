"""What an attack reaches: rates at thresholds, the area under the ROC curve, the advantage.

Members come first, and a higher score means a member. These are estimates over the target models
and records of an experiment; what is certified stands in `certified` and `one_run`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dpassay.attacks.observed import Array, Flags
from dpassay.errors import is_real, require
from dpassay.seeds import stream

FALSE_POSITIVE_RATES = (0.01, 0.001)
"""Where true positive rates are told."""
POINTS = 100
"""Of a curve that are kept."""
ENOUGH = 10
"""False positives that a rate needs to be told: at least 10 / rate non-members."""
TOSSES = 400
"""New tosses of all coins."""
AT_ONCE = 1 << 16
"""Coins that are tossed in one go."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Roc:
    """Rates of the rule 'member if score >= threshold', from (0, 0) to (1, 1).

    There is one point for every threshold that changes them. Records with equal scores are
    called members together, so that there is no curve between tied scores.
    """

    fpr: Array  # (k,), ascending
    tpr: Array  # (k,), ascending
    thresholds: Array  # (k,), descending; the first is inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Operating:
    """The best rule at a false positive rate."""

    asked: float
    fpr: float  # the largest realised rate that does not exceed what was asked
    tpr: float
    threshold: float  # called a member from this score on


def scores_of(members: ArrayLike, non_members: ArrayLike) -> tuple[Array, Array]:
    """Return scores of members and of others as flat arrays; refuse an empty one and NaN."""
    one, other = (np.asarray(each, dtype=float).ravel() for each in (members, non_members))
    for name, scores in (("members", one), ("non_members", other)):
        require(scores.size > 0, name, "no scores", "at least one")
        require(not bool(np.isnan(scores).any()), name, "NaN", "numbers, infinite ones included")
    return one, other


def roc(members: ArrayLike, non_members: ArrayLike) -> Roc:
    """Return the curve of all rules 'member if score >= threshold'; scores may be infinite."""
    one, other = scores_of(members, non_members)
    thresholds, place = np.unique(np.concatenate([one, other]), return_inverse=True)
    tpr, fpr = (
        np.bincount(each, minlength=thresholds.size)[::-1].cumsum() / each.size
        for each in (place[: one.size], place[one.size :])
    )
    return Roc(
        fpr=np.concatenate([[0.0], fpr]),
        tpr=np.concatenate([[0.0], tpr]),
        thresholds=np.concatenate([[np.inf], thresholds[::-1]]),
    )


def auc(members: ArrayLike, non_members: ArrayLike) -> float:
    """Return the AUC: the chance that a member scores above a non-member, in [0, 1].

    Ties count half (Mann and Whitney 1947).
    """
    one, other = scores_of(members, non_members)
    ranks = scipy.stats.rankdata(np.concatenate([one, other]))
    wins = ranks[: one.size].sum() - one.size * (one.size + 1) / 2
    return float(wins / (one.size * other.size))


def advantage(curve: Roc) -> float:
    """Return the largest TPR - FPR (Yeom et al. 2018): the scores' total variation, in [0, 1]."""
    return float((curve.tpr - curve.fpr).max())


def at_rate(curve: Roc, asked: float, non_members: int) -> Operating | None:
    """Return the best rule whose false positive rate does not exceed what is asked.

    None if there are fewer than 10 / asked non-members, the number that the curve was made of.
    """
    require(is_real(asked) and 0 < asked < 1, "asked", asked, "a number in (0, 1)")
    if non_members * asked < ENOUGH * (1 - 1e-12):
        return None
    place = int(np.searchsorted(curve.fpr, asked * (1 + 1e-12), side="right")) - 1
    fpr, tpr, threshold = (float(x[place]) for x in (curve.fpr, curve.tpr, curve.thresholds))
    return Operating(asked=asked, fpr=fpr, tpr=tpr, threshold=threshold)


def with_a_coin(members: ArrayLike, curve: Roc, asked: float) -> float:
    """Return the true positive rate of some members at an exact false positive rate.

    A coin is tossed for tied scores. The rate is over all non-members of the curve; the members
    may be all of the curve's, or those of one target.
    """
    place = int(np.searchsorted(curve.fpr, asked, side="right")) - 1
    step = curve.fpr[place + 1] - curve.fpr[place]
    chance = (asked - curve.fpr[place]) / step
    scores = np.asarray(members, dtype=float)
    above, tied = scores >= curve.thresholds[place], scores >= curve.thresholds[place + 1]
    return float(above.mean() + chance * (tied.mean() - above.mean()))


def allowed_tpr(fpr: ArrayLike, epsilon: float, delta: float = 0.0) -> Array:
    """Return the largest TPR that (epsilon, delta)-DP allows at a false positive rate.

    It is the smaller of e^epsilon fpr + delta and 1 - e^-epsilon (1 - delta - fpr), clipped at
    1 (Kairouz, Oh and Viswanath 2015). `epsilon` may be inf.
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


def auc_interval(
    scores: Array, membership: Flags, told: Flags | None = None
) -> tuple[float, float] | None:
    """Return a 95 % interval around the AUC of all models together, an estimate.

    The jackknife (Efron and Stein 1981) leaves out one model after the other. Scores of
    different models are compared too, as in the curve, so the mean of the models' own areas
    would be another number. Student's quantile has one degree of freedom less than there are
    models; the interval is clipped to [0, 1]. `told` (e,) selects records. The result is None
    if an area lacks members or others when a model is left out.
    """
    flags = np.broadcast_to(True if told is None else told, membership.shape)
    inside, outside = membership & flags, ~membership & flags
    m, k = inside.sum(axis=1), outside.sum(axis=1)
    rest = (m.sum() - m) * (k.sum() - k)
    if len(scores) < 2 or (rest == 0).any():
        return None

    def wins(scores: Array, chosen: Flags, others: Array) -> Array:
        """Return how many ascending scores each model's chosen ones exceed, ties half."""
        places = sum(np.searchsorted(others, scores, side=side) for side in ("left", "right"))
        found: Array = np.where(chosen, places / 2, 0.0).sum(axis=1)
        return found

    above = wins(scores, inside, np.sort(scores[outside]))
    below = wins(-scores, outside, np.sort(-scores[inside]))
    own = [
        float(wins(row[None], one[None], np.sort(row[other]))[0])
        for row, one, other in zip(scores, inside, outside, strict=True)
    ]
    without = (above.sum() - above - below + np.array(own)) / rest
    whole, n = float(above.sum() / (m.sum() * k.sum())), len(scores)
    variance = (n - 1) / n * float(((without - without.mean()) ** 2).sum())
    half = float(scipy.stats.t.ppf(0.975, n - 1)) * math.sqrt(variance)
    return max(0.0, whole - half), min(1.0, whole + half)


def delong(members: ArrayLike, non_members: ArrayLike) -> tuple[float, float]:
    """Return a 95 % interval around the AUC of one model, an estimate over its records.

    It is the normal interval with the variance of DeLong, DeLong and Clarke-Pearson (1988),
    clipped to [0, 1]; (0, 1) if there are fewer than two records of a kind.
    """
    one, other = scores_of(members, non_members)
    if min(one.size, other.size) < 2:
        return 0.0, 1.0
    variance = 0.0
    for scores, others in ((one, np.sort(other)), (other, np.sort(one))):
        below = np.searchsorted(others, scores, side="left")
        share = (below + np.searchsorted(others, scores, side="right")) / (2 * others.size)
        variance += float(np.var(share, ddof=1)) / scores.size
    middle, half = auc(one, other), float(scipy.special.ndtri(0.975)) * math.sqrt(variance)
    return max(0.0, middle - half), min(1.0, middle + half)


def interval(
    values: ArrayLike, confidence: float = 0.95, *, least: float = 0.0, most: float = 1.0
) -> tuple[float, float]:
    """Return Student's interval for the mean of independent shares of target models, an estimate.

    There is one value for each of at least two models. The interval is clipped to the range of
    the mean.
    """
    values = np.asarray(values, dtype=float)
    several = values.ndim == 1 and values.size >= 2
    require(several, "values", f"shape {values.shape}", "of shape (models,) with at least two")
    quantile = float(scipy.stats.t.ppf((1 + confidence) / 2, values.size - 1))
    half = quantile * float(values.std(ddof=1)) / math.sqrt(values.size)
    middle = float(values.mean())
    return max(least, middle - half), min(most, middle + half)


def thin(curve: Roc, most: int = POINTS) -> Roc:
    """Keep at most `most` points of a curve and the last, enough for a logarithmic axis."""
    if len(curve.fpr) <= most:
        return curve
    positive = curve.fpr[curve.fpr > 0]
    wanted = np.concatenate([[0.0], np.geomspace(positive[0], 1.0, most - 1)])
    below = np.searchsorted(curve.fpr, wanted, side="right") - 1
    places: NDArray[np.int64] = np.unique(np.append(below, len(curve.fpr) - 1))
    return Roc(fpr=curve.fpr[places], tpr=curve.tpr[places], thresholds=curve.thresholds[places])


def band(curve: Roc, scores: Array, membership: Flags) -> tuple[Array, Array]:
    """Return the ends of 95 % intervals of the TPR at each FPR of a curve, shape (k,) each.

    The intervals are pointwise and estimates. The records share their target model, so only the
    targets are independent: each has a TPR and a FPR at a threshold, and moves the curve by its
    TPR less the slope times its FPR. This is Student's interval of the mean of these, clipped
    to [0, 1]. The scores are (models, e), of at least two models with as many members in each.
    """
    # the slope at each point, between the points beside it; 0 where the curve is vertical
    places = np.arange(len(curve.fpr))
    before, after = np.maximum(places - 1, 0), np.minimum(places + 1, len(places) - 1)
    wide, high = curve.fpr[after] - curve.fpr[before], curve.tpr[after] - curve.tpr[before]
    slope = np.divide(high, wide, out=np.zeros(len(wide)), where=wide > 0)
    n, moves = len(scores), np.empty((len(scores), len(places)))
    members, others = membership.sum(axis=1), (~membership).sum(axis=1)
    for k, threshold in enumerate(curve.thresholds.tolist()):
        called = scores >= threshold
        hits = (called & membership).sum(axis=1) / members
        moves[:, k] = hits - slope[k] * ((called & ~membership).sum(axis=1) / others)
    quantile = float(scipy.stats.t.ppf(0.975, n - 1))
    half = quantile * moves.std(axis=0, ddof=1) / math.sqrt(n)
    return np.clip(curve.tpr - half, 0.0, 1.0), np.clip(curve.tpr + half, 0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoLeak:
    """The highest AUC of several attacks if nothing leaks; estimates, over `TOSSES` tosses."""

    attacks: int  # how many AUCs the highest is of
    middle: float  # median
    high: float  # 95 % quantile


def tossed_again(scores: Array) -> Array:
    """Return AUCs of an attack under new tosses of the coins, shape (TOSSES,).

    The highest of many AUCs is above 1/2 by chance. If the scores do not depend on the coins,
    the coins can be tossed again: every toss is as likely as the one that was, so that its AUCs
    have the law that they would have had. All attacks are given the same tosses, which keeps
    what they have in common. The scores are (models, e), without NaN; records 2 j and 2 j + 1
    are a pair of which one is a member.
    """
    ranks = scipy.stats.rankdata(scores)
    moves = (ranks.reshape(-1, 2) @ [1.0, -1.0]) / (2 * (scores.size / 2) ** 2)
    found, rng = np.full(TOSSES, 0.5), stream(0, "coins tossed again")
    for first in range(0, len(moves), AT_ONCE):
        part = moves[first : first + AT_ONCE]
        drawn = np.frombuffer(rng.bytes(TOSSES * (-(-len(part) // 8))), dtype=np.uint8)
        heads = np.unpackbits(drawn.reshape(TOSSES, -1), axis=1, count=len(part))
        found += 2 * (heads @ part) - part.sum()
    return found


def best_of(again: Sequence[Array]) -> NoLeak:
    """Return what the highest of some AUCs is, from `tossed_again` of each."""
    highest = np.max(again, axis=0)
    middle, high = float(np.median(highest)), float(np.quantile(highest, 0.95))
    return NoLeak(attacks=len(again), middle=middle, high=high)
