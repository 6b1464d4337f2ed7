"""What a search takes: its rounds and its runs, before anything is drawn."""

from __future__ import annotations

from dataclasses import dataclass

from dpassay.engine.searching import search as searching
from dpassay.engine.searching import walking
from dpassay.engine.searching.drawing import PILOT, PILOTS
from dpassay.search.proposals.paths import paths_of
from dpassay.search.proposals.proposal import Space

CHECKED, MOST_CHECKED = 10, 100_000
"""One in so many certification trials, but no more than that, drawn before them, chooses the test
and guards them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlay:
    """The plan of a search of one mechanism against one claim, in runs at most.

    `rounds` are pairs and trials per side; `shrinking` comes on top where a pair looks broken.
    """

    pairs: int
    rounds: tuple[tuple[int, int], ...]
    search: int
    shrinking: int
    draws: int
    certification: int


def outlay(space: Space, pairs: int, draws: int) -> Outlay:
    """Return what a search that begins with so many pairs does at most."""
    least, alive = searching.LEAST, pairs
    rounds: list[tuple[int, int]] = []
    for share, kept, more in searching.plan(draws):
        rounds.append((alive, searching.trials(share, alive, draws, len(rounds))))
        alive = min(kept, alive) + more
    search = 2 * sum(several * trials for several, trials in rounds) + 2 * PILOTS * PILOT
    search += 2 * searching.closer(draws, min(searching.SURVIVORS[-1], alive))
    search += walking.most(paths_of(space)) + 2 * walking.RUNS * len(space.outside)
    smaller = max(least, min(draws // 4, searching.MOST_SMALLER))
    return Outlay(
        pairs=pairs,
        rounds=tuple(rounds),
        search=search,
        shrinking=2 * searching.STEPS * searching.SMALLER * smaller,
        draws=draws,
        certification=2 * (draws + max(least, draws // CHECKED)),
    )
