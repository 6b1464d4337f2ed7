"""What a search would cost, before it is made."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.budget import Budget
from dpassay.engine.searching.drawing import PILOT, PILOTS
from dpassay.engine.searching.evidence import CHECKED
from dpassay.engine.searching.search import (
    FIRST,
    LEAST,
    MOST_SMALLER,
    SMALLER,
    STEPS,
    SURVIVORS,
    closer,
    plan,
    trials,
)
from dpassay.engine.searching.walking import EVENTS, RUNS
from dpassay.pairs import NOTHING_ASKED
from dpassay.search.proposals.paths import paths_of
from dpassay.search.proposals.proposal import Space
from dpassay.seeds import stream
from dpassay.targets.guard import AuditTarget

TIMED = (20, 200, 1200)
"""Trials that are timed; the first call, which may load things, does not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCost:
    """What a search of one mechanism against one claim would do."""

    pairs: int
    families: int
    rounds: tuple[tuple[int, int], ...]
    search: int
    shrinking: int
    draws: int
    certification: int
    seconds: float


def search_cost(target: AuditTarget, space: Space, budget: Budget, seed: int) -> SearchCost:
    """Say what a search would do and take.

    Raise TargetError if the mechanism fails on the pair that is timed.
    """
    proposals = space.first(stream(seed, target.name, "search"), FIRST)
    draws = budget.draws
    rounds: list[tuple[int, int]] = []
    alive = len(proposals)
    for share, kept, more in plan(draws):
        rounds.append((alive, trials(share, alive, draws, len(rounds))))
        alive = min(kept, alive) + more
    search = 2 * sum(pairs * trials for pairs, trials in rounds) + 2 * PILOTS * PILOT
    search += 2 * closer(draws, min(SURVIVORS[-1], alive))
    halved = sum(2 + EVENTS * (path.length - 1).bit_length() for path in paths_of(space))
    search += 2 * RUNS * (halved + len(space.outside))
    certification = 2 * (draws + max(LEAST, draws // CHECKED))
    first = proposals[0]
    asked = first.queries.reshape(1, -1) if target.joint else first.queries
    asked = NOTHING_ASKED if target.mechanism.without_query else asked
    each = _seconds(target, first.base, asked)
    return SearchCost(
        pairs=len(proposals),
        families=len({each.family for each in proposals}),
        rounds=tuple(rounds),
        search=search,
        shrinking=2 * STEPS * SMALLER * max(LEAST, min(draws // 4, MOST_SMALLER)),
        draws=draws,
        certification=certification,
        seconds=each * (search + certification),
    )


def _seconds(target: AuditTarget, base: Any, asked: NDArray[np.float64]) -> float:
    """Time one trial: the difference between many and few, since each call begins with more."""
    taken = []
    for size in TIMED:
        started = time.perf_counter()
        target.encoder([(base, asked, (0, "plan", size))], size)
        taken.append(time.perf_counter() - started)
    _, few, many = taken
    return max(0.0, (many - few) / (TIMED[2] - TIMED[1]))
