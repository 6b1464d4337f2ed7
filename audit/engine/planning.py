"""Planning: what a run would do and cost, and how many trials a wanted detectable leak takes."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from scipy.special import ndtri

from dpassay.claims import Claim
from dpassay.engine.budget import Budget
from dpassay.engine.detection.curve import DetectionCurve
from dpassay.engine.kinds import kind_of
from dpassay.engine.testers.interface import CellEffort
from dpassay.errors import InvalidInput
from dpassay.seeds import stream
from dpassay.stats.alpha import Spending
from dpassay.stats.power import POWER, Screening
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget

MOST_DRAWS = 10**8
BLOCK_TIMED = 1000
LADDER = (2.0, 1.5, 1.2, 1.1, 1.05)
"""Multiples of the claim that are planned for where no leak is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCost:
    """What a sampled audit of one mechanism against one claim would do.

    `cells` count both directions. `screening` is the trials per dataset, `draws` the certification
    trials per side (the `--budget`), and `trials` the runs of the mechanism at most; finalists that
    are the same pair share theirs. `sight` is what would be refuted with probability 0.9, screening
    included, at the frequency that is assumed before anything is drawn. `seconds` estimates the
    time on one core, from one timed block; it is no part of any record.
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


def measure(target: AuditTarget, groups: tuple[PairGroup, ...]) -> Speed:
    """Time one neighbour and one block of trials."""
    group = groups[0]
    state = target.prepare(group.pairs.base)
    started = time.perf_counter()
    target.neighbour(group.pairs.base, state, group.pairs.changes[0])
    prepared = time.perf_counter()
    target.sample(state, group.queries, BLOCK_TIMED, stream(0, "plan"), "the base dataset")
    sampled = time.perf_counter()
    return Speed(change=prepared - started, trial=(sampled - prepared) / BLOCK_TIMED)


def cost(
    target: AuditTarget, claim: Claim, groups: tuple[PairGroup, ...], budget: Budget, speed: Speed
) -> AuditCost:
    """Say what a sampled audit would do and take."""
    pairs, queries = (
        sum(len(group.pairs) for group in groups),
        sum(len(group.queries) for group in groups),
    )
    budget = budget.about(claim).of(target)
    spending, screening = _spending(target, claim, groups, budget), budget.screening(groups)
    trials = screening * (pairs + len(groups)) + budget.draws * (
        min(pairs, spending.cells) + len(groups)
    )
    return AuditCost(
        pairs=pairs,
        queries=queries,
        cells=sum(2 * len(group.pairs) * len(group.queries) for group in groups),
        screening=screening,
        certified=spending.cells,
        draws=budget.draws,
        trials=trials,
        sight=kind_of(claim).curve(target, _effort(target, claim, groups, budget)),
        spending=spending,
        seconds=speed.change * (len(groups) + pairs) + speed.trial * trials,
    )


def ladder(target: AuditTarget, claim: Claim) -> tuple[float, ...]:
    """Return the leaks to plan for where none is asked for.

    They are those of the ladder that can be, or else one half-way there.
    """
    most = target.most(claim)
    leaks = tuple(leak for factor in LADDER if (leak := factor * claim.promised) < most)
    return leaks or ((claim.promised + most) / 2,)


def draws_needed(
    target: AuditTarget,
    claim: Claim,
    groups: tuple[PairGroup, ...],
    detect: float,
    alpha: float,
    *,
    stop_early: bool = False,
) -> int:
    """Return the least certification trials per side, within 1 %, at which a leak is detectable.

    They are at least 100. Raise InvalidInput if the leak `detect` is not above the claim, is as
    large as any can be, or takes more than 100 million trials.
    """
    target.check_detect(claim, detect)

    def enough(n: int) -> bool:
        budget = Budget(draws=n, alpha=alpha, stop_early=stop_early).about(claim).of(target)
        return kind_of(claim).sees(target, _effort(target, claim, groups, budget), detect)

    low, high = 99, max(100, min(_guess(target, claim, detect, alpha), MOST_DRAWS))
    if enough(high):
        while high > 100 and enough(max(100, high // 2)):
            high = max(100, high // 2)
        low = max(low, high // 2)
    else:
        while not enough(high):
            if high >= MOST_DRAWS:
                raise InvalidInput(
                    f"--detect = {detect!r}: must be so far above the claim that {MOST_DRAWS:,} "
                    "trials show it"
                )
            low, high = high, min(MOST_DRAWS, 2 * high)
    while high - low > max(1, 0.01 * high):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _guess(target: AuditTarget, claim: Claim, detect: float, alpha: float) -> int:
    """Asymptotic number of trials, for a single cell."""
    spread = kind_of(claim).spread(target, detect)
    return round(
        min(
            MOST_DRAWS,
            (float(ndtri(POWER) - ndtri(alpha)) * spread / (detect - claim.promised)) ** 2,
        )
    )


def _spending(
    target: AuditTarget, claim: Claim, groups: tuple[PairGroup, ...], budget: Budget
) -> Spending:
    """Return where alpha would go."""
    spending = budget.spending(groups, profiled=claim.profiled)
    return replace(spending, bounded=kind_of(claim).bounded(target))


def _effort(
    target: AuditTarget, claim: Claim, groups: tuple[PairGroup, ...], budget: Budget
) -> CellEffort:
    """Return what is spent on each cell."""
    pairs = max(len(group.pairs) for group in groups)
    return CellEffort(
        n=budget.draws,
        alpha=_spending(target, claim, groups, budget).each_lower,
        screening=Screening(
            draws=budget.screening(groups), pairs=pairs, finalists=budget.finalists(groups)
        ),
    )
