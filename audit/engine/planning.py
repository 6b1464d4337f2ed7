"""Planning: what a run would do and cost, and how many trials a wanted detectable leak takes."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from scipy.special import ndtri

from dpassay.claims import DP, Accuracy, Claim, PredictionStability, ScoreStability
from dpassay.engine.alternatives import answers_of
from dpassay.engine.detection import Design, DetectionCurve, is_seen, sight, usual_frequency
from dpassay.engine.monte_carlo import Budget
from dpassay.engine.testers.means import detectable_difference
from dpassay.engine.testers.proportions import detectable_share
from dpassay.errors import InvalidInput
from dpassay.seeds import stream
from dpassay.stats.alpha import Spending
from dpassay.stats.power import POWER, Screening, tight_pair
from dpassay.stats.scales import scale_of
from dpassay.targets.groups import Group
from dpassay.targets.guard import AuditTarget

MOST_DRAWS = 10**8
BLOCK_TIMED = 1000
LADDER = (2.0, 1.5, 1.2, 1.1, 1.05)
"""Multiples of the claim that are planned for where no leak is asked for."""
HALF = 0.5
"""Standard deviation of a prediction in [0, 1] at most; assumed where nothing has been drawn yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a sampled audit of one mechanism against one claim would do.

    Parameters
    ----------
    pairs, queries, cells : int
        What is looked at; cells count both directions.
    screening : int
        Screening trials per dataset.
    certified : int
        Cells that are certified.
    draws : int
        Certification trials per side: the `--budget`.
    trials : int
        Runs of the mechanism at most; finalists that are the same pair share theirs.
    sight : DetectionCurve
        What would be refuted with probability 0.9, screening included, at the frequency that is assumed before anything is
        drawn.
    spending : Spending
        Where the result's error probability would go.
    seconds : float
        An estimate of the time on one core, from one timed block; it is no part of any record.
    """

    pairs: int
    queries: int
    cells: int
    screening: int
    certified: int
    draws: int
    trials: int
    sight: DetectionCurve
    spending: Spending
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Seconds that one change and one trial of all queries take, measured once."""

    change: float
    trial: float


def measure(target: AuditTarget, groups: tuple[Group, ...]) -> Speed:
    """Time one neighbour and one block of trials."""
    group = groups[0]
    state = target.prepare(group.pairs.base)
    started = time.perf_counter()
    target.neighbour(group.pairs.base, state, group.pairs.changes[0])
    prepared = time.perf_counter()
    target.sample(state, group.queries, BLOCK_TIMED, stream(0, "plan"), "the base dataset")
    sampled = time.perf_counter()
    return Speed(change=prepared - started, trial=(sampled - prepared) / BLOCK_TIMED)


def cost(target: AuditTarget, claim: Claim, groups: tuple[Group, ...], budget: Budget, speed: Speed) -> Cost:
    """Say what a sampled audit would do and take."""
    pairs, queries = sum(len(group.pairs) for group in groups), sum(len(group.queries) for group in groups)
    spending, screening = budget.spending(groups, profiled=isinstance(claim, DP)), budget.screening(groups)
    trials = screening * (pairs + len(groups)) + budget.draws * (min(pairs, spending.cells) + len(groups))
    return Cost(
        pairs=pairs,
        queries=queries,
        cells=sum(2 * len(group.pairs) * len(group.queries) for group in groups),
        screening=screening,
        certified=spending.cells,
        draws=budget.draws,
        trials=trials,
        sight=_sight(target, claim, groups, budget),
        spending=spending,
        seconds=speed.change * (len(groups) + pairs) + speed.trial * trials,
    )


def ladder(target: AuditTarget, claim: Claim) -> tuple[float, ...]:
    """Return the leaks that are planned for where none is asked for: those of the ladder that can be, else half-way there."""
    most = target.most(claim)
    leaks = tuple(leak for factor in LADDER if (leak := factor * claim.promised) < most)
    return leaks or ((claim.promised + most) / 2,)


def draws_needed(target: AuditTarget, claim: Claim, groups: tuple[Group, ...], detect: float, alpha: float) -> int:
    """Smallest number of certification trials per side, within 1 %, at which a leak is detectable.

    Parameters
    ----------
    target, claim, groups
        What would be audited.
    detect : float
        The leak to be seen; above the promised one, and below the largest there can be.
    alpha : float
        Error probability of the result.

    Returns
    -------
    int
        At least 100.

    Raises
    ------
    InvalidInput
        If the leak is not above the claim, is as large as any can be, or takes more than 100 million trials.
    """
    target.check_detect(claim, detect)

    def enough(n: int) -> bool:
        budget = Budget(draws=n, alpha=alpha)
        design = _design(target, claim, groups, budget)
        if design is not None:
            return is_seen(design, usual_frequency(design), detect)
        return _detectable(target, claim, groups, budget) <= detect

    low, high = 99, max(100, min(_guess(target, claim, detect, alpha), MOST_DRAWS))
    if enough(high):
        while high > 100 and enough(max(100, high // 2)):
            high = max(100, high // 2)
        low = max(low, high // 2)
    else:
        while not enough(high):
            if high >= MOST_DRAWS:
                raise InvalidInput(f"--detect = {detect!r}: must be so far above the claim that {MOST_DRAWS:,} trials show it")
            low, high = high, min(MOST_DRAWS, 2 * high)
    while high - low > max(1, 0.01 * high):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _guess(target: AuditTarget, claim: Claim, detect: float, alpha: float) -> int:
    """Asymptotic number of trials, for a single cell."""
    if isinstance(claim, PredictionStability):
        low, high = target.numbers or (0.0, 1.0)
        spread = math.sqrt(2) * HALF * (high - low)
    else:
        spread = scale_of(claim).spread(*tight_pair(*scale_of(claim).at(detect)))
    return round(min(MOST_DRAWS, (float(ndtri(POWER) - ndtri(alpha)) * spread / (detect - claim.promised)) ** 2))


def _sight(target: AuditTarget, claim: Claim, groups: tuple[Group, ...], budget: Budget) -> DetectionCurve:
    """What would be seen, at the frequency that is assumed; means by bets on answers that vary as much as they can."""
    design = _design(target, claim, groups, budget)
    return DetectionCurve(detectable=_detectable(target, claim, groups, budget)) if design is None else sight(design, None)


def _detectable(target: AuditTarget, claim: Claim, groups: tuple[Group, ...], budget: Budget) -> float:
    """Smallest mean or proportion that would be seen."""
    if isinstance(claim, Accuracy):  # computed: any error above the claim is seen
        return claim.promised
    alpha, screening = _each_lower(claim, groups, budget), _screening(groups, budget)
    if isinstance(claim, ScoreStability):
        return detectable_share(promised=claim.delta, n=budget.draws, alpha=alpha, screening=screening)
    low, high = target.numbers or (0.0, 1.0)
    gamma, spreads = claim.promised / (high - low), (HALF, HALF)
    found = detectable_difference(gamma=gamma, n=budget.draws, alpha=alpha, spreads=spreads, screening=screening)
    return (high - low) * found


def _design(target: AuditTarget, claim: Claim, groups: tuple[Group, ...], budget: Budget) -> Design | None:
    """Return the design of an audit of a claim about events; None for the others."""
    if isinstance(claim, (Accuracy, PredictionStability, ScoreStability)):
        return None
    scale = scale_of(claim)
    return Design(
        scale=scale,
        promised=claim.promised,
        answers=answers_of(scale, len(target.labels) if target.numbers is None else 0),
        n=budget.draws,
        alpha=_each_lower(claim, groups, budget),
        screening=_screening(groups, budget),
    )


def _each_lower(claim: Claim, groups: tuple[Group, ...], budget: Budget) -> float:
    return budget.spending(groups, profiled=isinstance(claim, DP)).each_lower


def _screening(groups: tuple[Group, ...], budget: Budget) -> Screening:
    pairs = max(len(group.pairs) for group in groups)
    return Screening(draws=budget.screening(groups), pairs=pairs, finalists=budget.finalists(groups))
