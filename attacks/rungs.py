"""One rung of a ladder of repeated queries: an event chosen on one half of the transcripts, counted on the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.adaptive import best_strategy, composition, privacy_spent
from dpassay.attacks.cells import Cell
from dpassay.attacks.observed import Array
from dpassay.attacks.optimal import ceiling
from dpassay.attacks.reach import Reach, of_counts
from dpassay.bounds import Bound, Counts
from dpassay.claims import DP
from dpassay.documents import number
from dpassay.errors import InvalidInput
from dpassay.limits import ranking_bound
from dpassay.lower_bounds import choose, lower_bound
from dpassay.scales import Ratio

DELTA_PRIME = 1e-5
"""delta' of advanced and optimal composition, and of the exact loss beside them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What the attacker calls S, or S'; chosen before the transcripts that are counted were drawn.

    Parameters
    ----------
    threshold : float
        Of the summed scores of the answers.
    from_base : bool
        Whether it is `score >= threshold`, which S makes likelier, or `score < threshold`, for S'.
    scores : tuple of float
        Of each label: its log-likelihood ratio, by the exact laws or by the frequencies in the first half.
    """

    threshold: float
    from_base: bool
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What no attacker can exceed with m answers, computed from the exact laws.

    Parameters
    ----------
    epsilon : float
        Loss of the transcript at the claim's m delta, over all adaptive strategies on this pair, the larger of both directions.
    epsilon_prime : float or None
        The same at m delta + delta'; None where there are too many strategies to play through.
    advantage, auc : float
        Of the best attacker who repeats this query.
    adaptive : float or None
        The best advantage over all adaptive strategies on the queries of this pair; None where they are too many.
    """

    epsilon: float
    epsilon_prime: float | None
    advantage: float
    auc: float
    adaptive: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """m answers.

    Parameters
    ----------
    m : int
    lower : Bound
        Certified loss of the transcript in nats, at m times the claim's delta.
    event : Event
    advantage : float
        Of a threshold chosen on the first half, on the second: an estimate.
    basic : float
        Claimed of m answers, at m delta; what `lower` is held against.
    advanced, optimal : float or None
        What the other composition theorems allow at delta' = 1e-5; for claims with delta = 0.
    allowed : float
        Largest advantage that the composed claim allows.
    limits : Limits or None
        None without exact laws, or with too many answers to table.
    reach : Reach
        What `lower` could have been, held against `basic`; the choice of the event is left out of account.
    """

    m: int
    lower: Bound
    event: Event
    advantage: float
    basic: float
    advanced: float | None
    optimal: float | None
    allowed: float
    limits: Limits | None
    reach: Reach

    @property
    def broken(self) -> bool:
        """Whether the composed claim is certainly exceeded, at the bound's error probability."""
        return self.lower.value > self.basic


def rung_json(rung: Rung) -> dict[str, Any]:
    """Return JSON values."""
    counts = rung.lower.counts
    shown = _known({name: getattr(rung, name) for name in ("advantage", "basic", "advanced", "optimal", "allowed")})
    return shown | {
        "m": rung.m,
        **rung.reach.as_json(),
        "lower": number(rung.lower.value),
        "alpha": number(rung.lower.alpha),
        "method": rung.lower.method,
        "counts": None if counts is None else asdict(counts),
        "event": {
            "threshold": number(rung.event.threshold),
            "from_base": rung.event.from_base,
            "scores": [number(score) for score in rung.event.scores],
        },
        "limits": None if rung.limits is None else _known(asdict(rung.limits)),
        "broken": rung.broken,
    }


def _known(values: Mapping[str, float | None]) -> dict[str, Any]:
    return {name: None if value is None else number(value) for name, value in values.items()}


def climb(
    one: NDArray[np.int64],
    other: NDArray[np.int64],
    claim: DP,
    labels: int,
    alpha: float,
    *,
    scores: Array | None = None,
    limits: Limits | None = None,
    m: int | None = None,
) -> Rung:
    """Choose an event on the first half of the transcripts, and count it on the second.

    Parameters
    ----------
    one, other : int array (N, m)
        Transcripts on S and on S', as places of the labels.
    claim : DP
        Of a single answer.
    labels : int
        How many there are.
    alpha : float
        Error probability of the bound.
    scores : array (labels,), optional
        Log-likelihood ratios; estimated on the first half where they are not known.
    limits : Limits, optional
    m : int, optional
        Answers of the interface that a transcript was made of; its length where nothing is said.
    """
    m, half = m or one.shape[1], len(one) // 2
    if scores is None:
        often, rarely = (np.bincount(each[:half].ravel(), minlength=labels) for each in (one, other))
        scores = np.log((often + 0.5) / (rarely + 0.5))
    scale = Ratio(m * claim.delta)
    mine, theirs = (_sums(scores, each) for each in (one, other))
    event, pilot = _choose(mine[:half], theirs[:half], scale, alpha, scores)
    x, y = _count(event, mine[half:], theirs[half:])
    n = len(one) - half
    method = choose(*pilot, half, n, labels=2, scale=scale, alpha=alpha)
    lower = lower_bound(method, Counts(x=x, n1=n, y=y, n0=n), scale=scale, alpha=alpha)
    pure = composition(claim.epsilon, m, DELTA_PRIME) if claim.delta == 0 else None
    basic, delta = m * claim.epsilon, m * claim.delta
    return Rung(
        m=m,
        lower=lower,
        event=event,
        advantage=_advantage(mine, theirs, half),
        basic=basic,
        advanced=None if pure is None else pure.advanced,
        optimal=None if pure is None else pure.optimal,
        allowed=float(min(1.0, np.tanh(basic / 2) * (1 - delta) + delta)),
        limits=limits,
        reach=of_counts(n, claimed=basic, delta=delta, alpha=alpha),
    )


def likelihood_scores(log_p: Array, log_q: Array) -> Array:
    """Log-likelihood ratio of each label; of one that a side never gives, as large as nothing else adds up to."""
    with np.errstate(invalid="ignore"):
        ratio = np.where(np.isneginf(log_p) & np.isneginf(log_q), 0.0, log_p - log_q)
    most = float(np.abs(ratio[np.isfinite(ratio)]).sum() + 1) * 1e6
    return np.clip(ratio, -most, most)


def _sums(scores: Array, transcripts: NDArray[np.int64]) -> Array:
    """Summed by counts of labels, so that the order of the answers cannot part equal sums by rounding."""
    counts = np.stack([(transcripts == label).sum(axis=1) for label in range(len(scores))], axis=1)
    sums: Array = np.round(counts @ scores, 9)
    return sums


def _choose(one: Array, other: Array, scale: Ratio, alpha: float, scores: Array) -> tuple[Event, tuple[int, int]]:
    """Return the event with the largest bound on the pilot half, and its counts there."""
    thresholds, n = np.unique(np.concatenate([one, other])), len(one)
    x, y = (n - np.searchsorted(np.sort(each), thresholds, side="left") for each in (one, other))
    up = ranking_bound(x, n, y, n, scale=scale, alpha=alpha)
    down = ranking_bound(n - y, n, n - x, n, scale=scale, alpha=alpha)
    from_base = bool(up.max() >= down.max())
    place = int((up if from_base else down).argmax())
    event = Event(threshold=float(thresholds[place]), from_base=from_base, scores=tuple(scores.tolist()))
    return event, _count(event, one, other)


def _count(event: Event, one: Array, other: Array) -> tuple[int, int]:
    """How often it is seen on the side that makes it likelier, and on the other."""
    x, y = int((one >= event.threshold).sum()), int((other >= event.threshold).sum())
    return (x, y) if event.from_base else (len(other) - y, len(one) - x)


def _advantage(one: Array, other: Array, half: int) -> float:
    thresholds = np.unique(np.concatenate([one[:half], other[:half]]))
    x, y = (np.searchsorted(np.sort(each[:half]), thresholds, side="left") for each in (one, other))
    best = thresholds[int((y - x).argmax())]
    return float((one[half:] >= best).mean() - (other[half:] >= best).mean())


def limits(cell: Cell, m: int, claim: DP) -> Limits | None:
    """Return what no attacker can exceed on the cell's pair; None without laws, or where the answers are too many to table."""
    if cell.laws is None or cell.rows is None:
        return None
    one, other = cell.laws[0].log_p, cell.laws[1].log_p
    delta = m * claim.delta
    try:
        best = ceiling(*cell.rows, m)
        epsilon = _spent(one, other, m, delta)
    except InvalidInput:
        return None
    try:
        prime = _spent(one, other, m, min(delta + DELTA_PRIME, 1 - 1e-9))
        adaptive = best.advantage if len(one) == 1 else best_strategy(one, other, m, 0.0).delta
    except InvalidInput:
        prime, adaptive = None, None
    return Limits(epsilon=epsilon, epsilon_prime=prime, advantage=best.advantage, auc=best.auc, adaptive=adaptive)


def _spent(one: Array, other: Array, m: int, delta: float) -> float:
    return max(privacy_spent(one, other, m, delta), privacy_spent(other, one, m, delta))
