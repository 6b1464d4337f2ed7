"""A rung of repeated queries: an event chosen on half of the transcripts, counted on the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.experiment.power import Reach, composed, reach_of_counts
from dpassay.attacks.experiment.record import encoded
from dpassay.attacks.observed import Array
from dpassay.attacks.repeated.optimal import best_strategy, ceiling, composition, privacy_spent
from dpassay.attacks.repeated.worst_cell import TranscriptCell, WorstCells
from dpassay.claims import DP
from dpassay.errors import InvalidInput
from dpassay.laws import FiniteLaw
from dpassay.mechanism import Reachable
from dpassay.numerics import lower_number
from dpassay.relations import REPLACE_ONE
from dpassay.stats.bounds import Bound, Counts
from dpassay.stats.event_leak import ranking_bound
from dpassay.stats.lower_bounds import choose, lower_bound
from dpassay.stats.scales import Ratio

DELTA_PRIME = 1e-5
"""delta' of advanced and optimal composition, and of the exact loss beside them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What the attacker calls S, or S'; chosen before the transcripts that are counted were drawn.

    S is called at `score >= threshold`, or S' at `score < threshold`; scores of answers are
    summed. The score of a label is its log-likelihood ratio, by the exact laws or by the
    frequencies in the first half.
    """

    threshold: float
    from_base: bool
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptLimits:
    """What no attacker can exceed with m answers, computed from the exact laws.

    Each limit is at the pair that is worst for it. The pairs are those that were looked at,
    and, for an attacker who repeats one query, all moves between the states that the mechanism
    says are the only ones, whatever the data. `everywhere` says that all its states were looked
    at, so that no other data give more to that attacker. The losses are over all adaptive
    strategies and both directions, `epsilon_prime` at m delta + delta'; None where there are
    too many strategies to play through.
    """

    epsilon: float  # of the transcript at the composed delta
    epsilon_prime: float | None
    advantage: float  # of the best attacker who repeats a query
    auc: float  # of the same
    adaptive: float | None  # best advantage on the queries of a pair; None with too many strategies
    everywhere: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptTest:
    """A test of m answers; `basic` and `delta`, claimed of all, are what `lower` is held against.

    `advantage` is an estimate, on the second half, of a threshold chosen on the first; it may
    be of another pair than `lower`. `advanced` and `optimal` are what the other composition
    theorems allow at delta' = 1e-5, for claims with delta = 0. `limits` are None without exact
    laws, or with too many answers to table. `reach` leaves the choice of the event out of
    account.
    """

    m: int
    lower: Bound  # certified loss of the transcript in nats, at `delta`
    event: Event
    advantage: float
    basic: float
    delta: float
    advanced: float | None
    optimal: float | None
    allowed: float  # largest advantage that the composed claim allows
    limits: TranscriptLimits | None
    reach: Reach
    losing: str = ""  # the pair of `lower`; empty if there is only one
    telling: str = ""  # the pair of `advantage`; empty if there is only one

    @property
    def broken(self) -> bool:
        """Return whether the composed claim is exceeded, at the bound's error probability."""
        return self.lower.value > self.basic


def test_json(test: TranscriptTest) -> dict[str, Any]:
    """Return JSON values."""
    found: dict[str, Any] = encoded(test)
    del found["reach"]
    lower = found | {name: found["lower"][name] for name in ("alpha", "method", "counts")}
    bound = {"lower": lower_number(test.lower.value), "broken": test.broken}
    return lower | test.reach.as_json() | bound


def on_pairs(test: TranscriptTest, other: TranscriptTest, worst: WorstCells) -> TranscriptTest:
    """Return a rung with the advantage of another cell, and the names of both."""
    both = worst.telling in worst.certified
    best = other if both and other.lower.value > test.lower.value else test
    losing = worst.telling if best is other else worst.losing
    return replace(best, advantage=other.advantage, losing=str(losing), telling=str(worst.telling))


def run_tests(
    one: NDArray[np.int64],
    other: NDArray[np.int64],
    claim: DP,
    labels: int,
    alpha: float,
    *,
    scores: Array | None = None,
    limits: TranscriptLimits | None = None,
    m: int | None = None,
) -> TranscriptTest:
    """Choose an event on the first half of the transcripts, and count it on the second.

    `one` and `other` (N, m) are transcripts on S and on S', as indices of the labels. The claim
    is about a single answer. Log-likelihood ratios in `scores` are estimated on the first half
    if they are not known. `m` is the number of answers of the interface that a transcript was
    made of, by default its length.
    """
    m, half = m or one.shape[1], len(one) // 2
    basic, delta = composed(claim, m)
    if scores is None:
        often, rarely = (
            np.bincount(each[:half].ravel(), minlength=labels) for each in (one, other)
        )
        scores = np.log((often + 0.5) / (rarely + 0.5))
    scale = Ratio(delta)

    def sums(transcripts: NDArray[np.int64]) -> Array:
        """Sum by counts of labels, so that equal sums are equal in whatever order answers came."""
        counts = [(transcripts == label).sum(axis=1) for label in range(len(scores))]
        found: Array = np.round(np.stack(counts, axis=1) @ scores, 9)
        return found

    mine, theirs = sums(one), sums(other)
    event, pilot = _choose(mine[:half], theirs[:half], scale, alpha, scores)
    x, y = _count(event, mine[half:], theirs[half:])
    n = len(one) - half
    method = choose(*pilot, half, n, labels=2, scale=scale, alpha=alpha)
    lower = lower_bound(method, Counts(x=x, n1=n, y=y, n0=n), scale=scale, alpha=alpha)
    advanced, best = None, None
    if claim.delta == 0:
        advanced, best = composition(claim.epsilon, m, DELTA_PRIME)
    # the advantage of the threshold that has the largest one on the first half
    thresholds = np.unique(np.concatenate([mine[:half], theirs[:half]]))
    a, b = (np.searchsorted(np.sort(each[:half]), thresholds) for each in (mine, theirs))
    at = thresholds[int((b - a).argmax())]
    return TranscriptTest(
        m=m,
        lower=lower,
        event=event,
        advantage=float((mine[half:] >= at).mean() - (theirs[half:] >= at).mean()),
        basic=basic,
        delta=delta,
        advanced=advanced,
        optimal=best,
        allowed=float(min(1.0, np.tanh(basic / 2) * (1 - delta) + delta)),
        limits=limits,
        reach=reach_of_counts(n, claimed=basic, delta=delta, alpha=alpha),
    )


def likelihood_scores(log_p: Array, log_q: Array) -> Array:
    """Return log-likelihood ratios of labels, beyond all sums for one that a side never gives."""
    with np.errstate(invalid="ignore"):
        ratio = np.where(np.isneginf(log_p) & np.isneginf(log_q), 0.0, log_p - log_q)
    most = float(np.abs(ratio[np.isfinite(ratio)]).sum() + 1) * 1e6
    return np.clip(ratio, -most, most)


def _choose(
    one: Array, other: Array, scale: Ratio, alpha: float, scores: Array
) -> tuple[Event, tuple[int, int]]:
    """Return the event with the largest bound on the pilot half, and its counts there."""
    thresholds, n = np.unique(np.concatenate([one, other])), len(one)
    x, y = (n - np.searchsorted(np.sort(each), thresholds, side="left") for each in (one, other))
    up = ranking_bound(x, n, y, n, scale=scale, alpha=alpha)
    down = ranking_bound(n - y, n, n - x, n, scale=scale, alpha=alpha)
    from_base = bool(up.max() >= down.max())
    place = int((up if from_base else down).argmax())
    event = Event(
        threshold=float(thresholds[place]), from_base=from_base, scores=tuple(scores.tolist())
    )
    return event, _count(event, one, other)


def _count(event: Event, one: Array, other: Array) -> tuple[int, int]:
    """Return how often it is seen on the side that makes it likelier, and on the other."""
    x, y = int((one >= event.threshold).sum()), int((other >= event.threshold).sum())
    return (x, y) if event.from_base else (len(other) - y, len(one) - x)


def limits(
    cells: Sequence[TranscriptCell], reachable: Reachable | None, m: int, claim: DP
) -> TranscriptLimits | None:
    """Return what no attacker can exceed, None without a law or with too many answers to table."""
    pairs = list({id(cell.laws): cell.laws for cell in cells if cell.laws is not None}.values())
    if any(cell.laws is None for cell in cells):
        return None
    moves: list[tuple[Array, Array]] = []  # laws of the two states of each move
    law = None if reachable is None else reachable.law
    if reachable is not None and isinstance(law, FiniteLaw) and claim.relation == REPLACE_ONE:
        moves += [(law.log_p[one], law.log_p[other]) for one, other in reachable.moves.tolist()]
    rows = [*(cell.rows for cell in cells if cell.rows is not None), *moves]
    laws = [(one.log_p, other.log_p) for one, other in pairs]
    laws += [(one[None], other[None]) for one, other in moves]

    def spent(delta: float) -> float:
        both = (sides for one, other in laws for sides in ((one, other), (other, one)))
        return max(privacy_spent(*sides, m, delta) for sides in both)

    delta = composed(claim, m)[1]
    try:
        best = [ceiling(*each, m) for each in rows]
        epsilon = spent(delta)
    except InvalidInput:
        return None
    advantage = max(each.advantage for each in best)
    prime: float | None
    adaptive: float | None
    try:
        prime = spent(min(delta + DELTA_PRIME, 1 - 1e-9))
        several = (best_strategy(one, other, m, 0.0).delta for one, other in laws if len(one) > 1)
        adaptive = max(advantage, *several, 0.0)
    except InvalidInput:
        prime, adaptive = None, None
    return TranscriptLimits(
        epsilon=epsilon,
        epsilon_prime=prime,
        advantage=advantage,
        auc=max(each.auc for each in best),
        adaptive=adaptive,
        everywhere=bool(moves),
    )
