"""The privacy profile delta(epsilon) and the trade-off function of one pair and query.

With a band for all epsilon at once.

Every test of S' against S is a point: the probability of an event on S (false positives) and on S'
(true positives), or the other way round. Both curves are support lines of that set of points, so
two finite sets hold everything that is known: tests that surely exist, and tests that no test can
beat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.numerics import UNIT_ROUNDOFF
from dpassay.stats.bounds import clopper_pearson_lower, clopper_pearson_upper

MAX_UNION_LABELS = 10
"""Up to this many labels every union of labels gets a confidence interval of its own."""
LEVELS = np.sin(np.pi / 160 * np.arange(81)) ** 2
"""False positive rates to show a trade-off function at: 81 from 0 to 1, denser at both ends, where
it may be steep."""
_TINY = float(np.finfo(float).tiny)
_LARGE = 700.0
"""e to this is finite, and more than one divided by any probability that trials can bound."""
_ALWAYS = np.array([[0.0, 0.0], [1.0, 1.0]])
"""The tests that look at nothing: say S always, say S' always."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profile:
    """What is known about delta(epsilon) of a pair and query.

    That is the smallest delta for which they are (epsilon, delta)-private.

    delta(epsilon) = max over both directions of sum_k (p_k - e^epsilon q_k)_+, the hockey-stick
    divergence: the largest P[E] - e^epsilon Q[E] over all events E.

    `epsilon` (m,), >= 0, in nats, says where the curve was evaluated; the band itself holds at
    every epsilon >= 0. `lower` and `upper` (m,) in [0, 1] do not increase: with probability at
    least 1 - alpha, lower <= delta(epsilon) <= upper everywhere. `alpha` is the error probability
    of the whole band and of the trade-off functions made from it; 0.0 for a computed profile, whose
    width is its numerical error.

    `attained` (a, 2) are tests that exist: false positives at most the first column and true
    positives at least the second. `allowed` are tests that none can beat: the points (false
    positives, true positives) of all events, in both directions, lie on or below the concave hull
    of each of these arrays (b, 2).
    """

    epsilon: Array
    lower: Array
    upper: Array
    alpha: float
    attained: Array
    allowed: tuple[Array, ...]


def grid_for(claimed: float) -> Array:
    """Return 34 epsilons, evenly from 0 to three times the claim, which is exactly the twelfth."""
    return claimed * (np.arange(34) / 11)


def exact_profile(log_p: Array, log_q: Array, epsilon: Array, law_error: float) -> Profile:
    """Compute the profile from the exact laws of the label on the two datasets.

    `log_p` and `log_q` (K,) are -inf where a label is impossible; `law_error` bounds the error of
    each finite entry. `lower` and `upper` enclose the value within its numerical error, with alpha
    0; that error stays relative to the value down to the smallest numbers there are: p - e^epsilon
    q is computed as -p (e^(epsilon + ln q - ln p) - 1).
    """
    log_p, log_q, epsilon = (np.asarray(each, dtype=float) for each in (log_p, log_q, epsilon))
    directions = ((log_p, log_q), (log_q, log_p))
    lower, upper = (
        np.maximum(
            *(_hockey_stick(one, other, epsilon, law_error, sign) for one, other in directions)
        )
        for sign in (-1, 1)
    )
    attained, allowed = (
        np.concatenate([_nested(_points(one, other, law_error, sign)) for one, other in directions])
        for sign in (-1, 1)
    )
    return Profile(
        epsilon=epsilon, lower=lower, upper=upper, alpha=0.0, attained=attained, allowed=(allowed,)
    )


def profile_band(
    x: NDArray[np.int64],
    y: NDArray[np.int64],
    epsilon: Array,
    *,
    alpha: float,
    events: NDArray[np.bool_] | None = None,
) -> Profile:
    """Bound the profile from label counts, for all epsilon >= 0, directions and events at once.

    A family of events gets Clopper-Pearson intervals [L, U] on both datasets, which share alpha
    (Bonferroni: 2 datasets, 2 tails, an event and its complement count once; single labels have one
    half of alpha and all other events the other). Where all of them hold, every bound below holds,
    whatever epsilon is: nothing but the intervals is random.

    * Lower: delta(epsilon) >= L_P(E) - e^epsilon U_Q(E) for each event E of the family, and for all
      other events with sums over their labels (or over all others, from 1) in the place of L and U;
      the best of those is among the K nested ones that collect labels in falling order of L_P(k) /
      U_Q(k).
    * Upper: sum_k (U_P(k) - e^epsilon L_Q(k))_+. A complete family (every union of labels, the
      default up to K = 10) has the maximising event in it, so there also max over E of U_P(E) -
      e^epsilon L_Q(E); the lesser of the two counts.

    Unions are worth it, though they are many: to share alpha among 2^(K-1) - 1 events instead of K
    widens intervals by the root of a ratio of logarithms only, while a sum adds up K / 2 widths
    where a union has the width of one binomial. Two equal even laws of ten labels, 10,000 trials a
    side, alpha = .05: delta(0) <= .042 from unions, .182 from sums. Where single rare labels
    decide, at large epsilon, sums are better, and half of alpha costs them next to nothing. With
    two labels all this is a rectangle for (p1, p0), alpha / 4 per limit.

    `x` and `y` (K,) count each label on S and on S' in independent trials, `alpha` is of the whole
    band. `events` (e, K) are chosen before the trials: the lower side looks at these and their
    complements (half-lines, where labels are bins of a number) beside single labels, instead of at
    all unions, and the upper side at single labels. The upper side speaks of the labels as they
    are: for bins it says nothing about what happens within them.

    Clopper and Pearson (1934); the union bound over all events is that of Weissman et al. (2003)
    with exact tails.
    """
    x, y, epsilon = np.asarray(x), np.asarray(y), np.asarray(epsilon, dtype=float)
    sizes, hits = _family(np.stack([x, y]), events)
    single, complete = sizes == 1, len(sizes) == 2 ** len(x) - 2
    on_s, on_other = (
        np.stack(_limits(*side, sizes, alpha)) for side in zip((x, y), hits, strict=True)
    )
    p, q = np.stack([on_s, on_other]), np.stack([on_other, on_s])[:, ::-1]
    # (direction, event, 2): how bad and how good the tests may be
    least, most = np.stack([q, p], axis=-1).swapaxes(0, 1)
    few, many = (
        np.concatenate([_nested(direction[single]) for direction in end]) for end in (least, most)
    )
    attained = np.concatenate([*least, few, _mirror(few)])
    allowed = (many, np.concatenate(most)) if complete else (many,)
    return Profile(
        epsilon=epsilon,
        lower=_support(attained, epsilon),
        upper=np.min([_support(points, epsilon) for points in allowed], axis=0),
        alpha=alpha,
        attained=attained,
        allowed=allowed,
    )


def trade_off(profile: Profile, false_positive: Array) -> tuple[Array, Array]:
    """Bound the largest symmetric convex function below both directions' trade-off functions.

    A trade-off function is the least false negative rate at a level, of tests of S against S' or
    the other way round. No test of either direction is below f; at some levels there may be none
    that reaches it, where the two functions differ.

    f(a) = sup over epsilon >= 0 of max(0, 1 - delta(epsilon) - e^epsilon a, e^-epsilon (1 -
    delta(epsilon) - a)): the duality of Dong, Roth and Su (2022), with delta the larger of both
    directions.

    No grid of epsilon enters. These lines are the support lines, of slope -e^epsilon and
    -e^-epsilon, of the points (false positives, false negatives) of all events in both directions,
    a set that is its own mirror image at the diagonal; so f is the lower convex hull of that set. A
    hull can only fall as points are added or moved towards (0, 0): that of `attained` is an upper
    bound on f, and each of `allowed` and of its mirror image a lower one, at every level at once,
    wherever the band of delta holds too.

    `false_positive` (m,) are levels a in [0, 1]. The lower and the upper bound (m,) are convex and
    not increasing in a; 1 - a where nothing can be told apart.
    """
    rounding = 8 * UNIT_ROUNDOFF
    a = np.asarray(false_positive, dtype=float)
    lower = np.max(
        [_hull(each, a) for points in profile.allowed for each in (points, _mirror(points))], axis=0
    )
    upper = _hull(profile.attained, a)
    return np.clip(lower - rounding, 0.0, 1.0), np.clip(upper + rounding, 0.0, 1.0)


def _family(
    counts: NDArray[np.int64], events: NDArray[np.bool_] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return sizes (E,) of the events that get intervals, and their counts on both sides (2, E).

    First those without the last label, then their complements in the same order. Many labels are
    looked at one by one; all sets of them would not fit anywhere.
    """
    labels, n = counts.shape[1], counts.sum(axis=1, keepdims=True)
    if events is None and labels > MAX_UNION_LABELS:
        rest = np.concatenate([counts[:, -2::-1], n - counts[:, -1:]], axis=1)
        many = np.append(np.ones(labels - 1, dtype=np.int64), labels - 1)
    else:
        if events is None:
            chosen = (np.arange(2 ** (labels - 1))[:, None] >> np.arange(labels)) & 1 == 1
        else:
            chosen = np.concatenate([np.eye(labels, dtype=bool), np.asarray(events, dtype=bool)])
        chosen = chosen ^ chosen[:, -1:]
        half = np.unique(chosen[chosen.any(axis=1)], axis=0)
        rest, many = counts @ half.T, half.sum(axis=1)
    return np.append(many, labels - many), np.concatenate([rest, n - rest], axis=1)


def _limits(
    counts: NDArray[np.int64], hits: NDArray[np.int64], sizes: NDArray[np.int64], alpha: float
) -> tuple[Array, Array]:
    """Return Clopper-Pearson limits of every event, which hold on both datasets with 1 - alpha."""
    n = counts.sum()
    single = (sizes == 1) | (sizes == len(counts) - 1)
    shares = 1 if single.all() else 2
    tail = alpha / shares / (2 * np.where(single, single.sum(), len(single) - single.sum()))
    return clopper_pearson_lower(hits, n, tail), clopper_pearson_upper(hits, n, tail)


def _nested(points: Array) -> Array:
    """Return the Neyman-Pearson polygon of labels' (q, p).

    Sums of labels in falling order of p / q, from (0, 0), one by one.

    The sums over all other events lie on or below it.
    """
    q, p = points.T
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(p > 0, p / q, 0.0), kind="stable")
    return np.concatenate([_ALWAYS[:1], np.cumsum(points[order], axis=0)])


def _mirror(points: Array) -> Array:
    """Return the tests with S and S' exchanged: complementary events, the other direction."""
    return np.subtract(1, points[:, ::-1])


def _support(points: Array, epsilon: Array) -> Array:
    """Return the largest p - e^epsilon q over points (q, p), within [0, 1]."""
    excess = points[:, 1] - np.exp(np.minimum(epsilon, _LARGE))[:, None] * points[:, 0]
    largest: Array = excess.max(axis=1)
    return np.clip(largest, 0.0, 1.0)


def _hull(points: Array, a: Array) -> Array:
    """Evaluate the lower convex hull of points (q, 1 - p) at each a (Andrew's monotone chain)."""
    q, p = np.concatenate([points, _ALWAYS]).T
    order = np.lexsort((-p, q))
    hull: list[tuple[float, float]] = []
    for new in zip(q[order].tolist(), (1 - p[order]).tolist(), strict=True):
        if hull and new[0] == hull[-1][0]:
            continue
        while len(hull) > 1 and _turns_down(hull[-2], hull[-1], new):
            hull.pop()
        hull.append(new)
    return np.asarray(np.interp(a, *np.transpose(hull)))


def _turns_down(
    first: tuple[float, float], middle: tuple[float, float], last: tuple[float, float]
) -> bool:
    """Return whether the middle point lies on or above the line between the two others."""
    return (middle[1] - first[1]) * (last[0] - first[0]) >= (last[1] - first[1]) * (
        middle[0] - first[0]
    )


def _points(log_p: Array, log_q: Array, law_error: float, sign: int) -> Array:
    return np.stack([_exp(log_q, law_error, -sign), _exp(log_p, law_error, sign)], axis=1)


def _exp(log_p: Array, law_error: float, sign: int) -> Array:
    """Return the most (sign 1) or least (sign -1) of probabilities and sums, with roundings."""
    p = np.exp(log_p + sign * (law_error + 4 * (len(log_p) + 2) * UNIT_ROUNDOFF * _scale(log_p)))
    underflow = _TINY if sign > 0 else 0.0
    return np.where(np.isneginf(log_p), 0.0, np.where(p < _TINY, underflow, p))


def _hockey_stick(log_p: Array, log_q: Array, epsilon: Array, law_error: float, sign: int) -> Array:
    """Return the most (sign 1) or least (-1) of sum_k (p_k - e^epsilon q_k)_+ in one direction."""
    possible = ~np.isneginf(log_p)
    log_p, log_q = log_p[possible], log_q[possible]
    slack = 2 * law_error + 4 * UNIT_ROUNDOFF * (_scale(log_p) + _scale(log_q) + epsilon[:, None])
    gap = np.minimum(epsilon[:, None] + (log_q - log_p) - sign * slack, 0.0)
    terms = np.where(gap < 0, -np.expm1(gap) * _exp(log_p, law_error, sign), 0.0)
    total: Array = terms.sum(axis=1)
    return np.clip(total, 0.0, 1.0)


def _scale(log_p: Array) -> Array:
    return np.add(1, np.where(np.isneginf(log_p), 0.0, np.abs(log_p)))
