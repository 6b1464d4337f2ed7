"""Planning: what a run would do and cost, and how many trials a wanted detectable leak takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from scipy.special import ndtri

from dpassay.claims import Claim
from dpassay.engine.budget import Budget
from dpassay.engine.evidence import DetectionCurve
from dpassay.engine.kinds import kind_of
from dpassay.engine.searching.outlay import Outlay, outlay
from dpassay.engine.searching.search import FIRST
from dpassay.engine.testers.tester import CellEffort
from dpassay.errors import InvalidInput
from dpassay.pairs import NOTHING_ASKED
from dpassay.search.proposals.proposal import Space
from dpassay.seeds import stream
from dpassay.stats.alpha import Spending
from dpassay.stats.power import POWER, Screening
from dpassay.targets.groups import PairGroup
from dpassay.targets.guard import AuditTarget

MOST_DRAWS = 10**8
LADDER = (2.0, 1.5, 1.2, 1.1, 1.05)
"""Multiples of the claim that are planned for where no leak is asked for."""
TIMED, LONG_ENOUGH = (1, 20, 200, 2000), 0.2
"""Sizes of the calls made; the first is not timed, and a call of so many seconds is the last."""


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
    """Time the making of one neighbour, and calls of growing size."""
    group = groups[0]
    state = target.prepare(group.pairs.base)
    started = time.perf_counter()
    target.neighbour(group.pairs.base, state, group.pairs.changes[0])
    change, rng = time.perf_counter() - started, stream(0, "plan")
    known = state, group.queries
    pace = _pace(lambda size: target.sample(*known, size, rng, "the base dataset"))
    return Speed(change=change, trial=pace)


def _pace(run: Callable[[int], object]) -> float:
    """Return the seconds of one trial, from the largest call that is timed."""
    run(TIMED[0])
    for size in TIMED[1:]:
        started = time.perf_counter()
        run(size)
        if (taken := time.perf_counter() - started) > LONG_ENOUGH:
            break
    return taken / size


def cost(
    target: AuditTarget, claim: Claim, groups: tuple[PairGroup, ...], budget: Budget, speed: Speed
) -> AuditCost:
    """Return what a sampled audit would do and take."""
    pairs = sum(len(group.pairs) for group in groups)
    budget = budget.of(target)
    spending, effort = _planned(target, claim, groups, budget)
    trials = budget.most(groups)
    return AuditCost(
        pairs=pairs,
        queries=sum(len(group.queries) for group in groups),
        cells=sum(2 * len(group.pairs) * len(group.queries) for group in groups),
        screening=budget.screening(groups),
        certified=spending.cells,
        draws=budget.draws,
        trials=trials,
        sight=kind_of(claim, target).sight(effort),
        spending=spending,
        seconds=speed.change * (pairs + len(groups)) + speed.trial * trials,
    )


def ladder(target: AuditTarget, claim: Claim) -> tuple[float, ...]:
    """Return the leaks to plan for where none is asked for: some above the claim that can be.

    If none of them can be, it is the one half-way to the largest.
    """
    most = target.most(claim)
    leaks = tuple(leak for factor in LADDER if (leak := factor * claim.promised) < most)
    return leaks or ((claim.promised + most) / 2,)


def draws_needed(
    target: AuditTarget, claim: Claim, groups: tuple[PairGroup, ...], detect: float, budget: Budget
) -> int:
    """Return the least certification trials per side, within 1 %, at which a leak is detectable.

    They are at least 100. Raise InvalidInput if the leak `detect` is not above the claim, is as
    large as any can be, or takes more than 100 million trials.
    """
    target.check_detect(claim, detect)
    alpha = budget.alpha
    tester = kind_of(claim, target)

    def enough(n: int) -> bool:
        known = replace(budget, draws=n).of(target)
        return tester.sees(_planned(target, claim, groups, known)[1], detect)

    # begin with the asymptotic number for a single cell
    errors = float(ndtri(POWER) - ndtri(alpha)) * tester.spread(detect)
    guess = round(min(MOST_DRAWS, (errors / (detect - claim.promised)) ** 2))
    low, high = 99, max(100, min(guess, MOST_DRAWS))
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


def _planned(
    target: AuditTarget, claim: Claim, groups: tuple[PairGroup, ...], budget: Budget
) -> tuple[Spending, CellEffort]:
    """Return where alpha would go, and what is spent on each cell."""
    spending = budget.spending(groups, profiled=claim.profiled)
    spending = replace(spending, bounded=kind_of(claim, target).bounded)
    screening = Screening(
        draws=budget.screening(groups),
        pairs=max(len(group.pairs) for group in groups),
        finalists=budget.finalists(groups),
    )
    effort = CellEffort(n=budget.draws, alpha=spending.each_lower, screening=screening)
    return spending, effort


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCost:
    """What a search does, and how long its runs take on one core."""

    outlay: Outlay
    families: int
    seconds: float


def search_cost(target: AuditTarget, space: Space, budget: Budget, seed: int) -> SearchCost:
    """Return what a search would do and take.

    Raise TargetError if the mechanism fails on the pair that is timed.
    """
    proposals = space.first(stream(seed, target.name, "search"), FIRST)
    found = outlay(space, len(proposals), budget.draws)
    first = proposals[0]
    asked = first.queries.reshape(1, -1) if target.joint else first.queries
    asked = NOTHING_ASKED if target.mechanism.without_query else asked

    def run(size: int) -> None:
        target.encoder([target.pilot((first.base, asked, (0, "plan", size)), size)])

    pace = _pace(run)
    return SearchCost(
        outlay=found,
        families=len({each.family for each in proposals}),
        seconds=pace * (found.search + found.certification),
    )
