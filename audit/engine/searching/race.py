"""A race: a claim that is grossly false is refuted after some hundred runs.

A few runs of the likeliest pairs show which of them leak most, some more choose the event, and ever
more fresh trials bound it. What is not refuted so has cost some hundred runs, and a share
of alpha; the search goes on as if there had been no race.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dpassay.engine.budget import Budget
from dpassay.engine.searching.pair_candidates import Candidate, Certainties, round_of
from dpassay.engine.searching.search import FIRST, Search
from dpassay.errors import TargetError
from dpassay.search.outputs import Encoder
from dpassay.seeds import stream
from dpassay.stats.alpha import Spending
from dpassay.targets.groups import PairGroup

PAIRS, PILOT, LOOK = 16, 4, 8
"""Pairs, runs on either side of each that say what is to be seen in answers, and that rank it."""
CLOSER, CLOSE = 3, 24
"""So many of them have so many more runs, and an event is chosen for each."""
SCREENED, LOTS = 16, (16, 16, 32, 64, 128, 256)
"""Runs a side that the guards compare with the others, and before each look at the bound."""
SHARE = 1 / 8
"""Of alpha, for all looks at all pairs of a race together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceBudget(Budget):
    """A budget of one pair that ends early or shows nothing."""

    @property
    def lots(self) -> tuple[int, ...]:
        """Into what lots the trials are cut; a look follows each."""
        return LOTS

    def screening(self, groups: tuple[PairGroup, ...]) -> int:  # noqa: ARG002
        """Hardly any: the event is chosen already."""
        return SCREENED

    def finalists(self, groups: tuple[PairGroup, ...]) -> int:  # noqa: ARG002
        """There is one pair and one query."""
        return 1

    def screening_lots(
        self, groups: tuple[PairGroup, ...]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """All at once."""
        return (SCREENED,) * len(groups), ()

    def spending(self, groups: tuple[PairGroup, ...], *, profiled: bool) -> Spending:
        """Where alpha goes: each look at each of the closest pairs has a share."""
        return replace(Budget.spending(self, groups, profiled=profiled), cells=CLOSER * len(LOTS))


def race(search: Search) -> Iterator[tuple[Search, Candidate, Encoder]]:
    """Yield pairs that look as if they leaked grossly, the worst first, each with its event.

    What is told apart by a missing answer, or by having no records, is left to the search.
    """
    drawing = search.drawing
    goals = tuple(replace(goal, n=sum(LOTS)) for goal in search.goals)
    passed = Certainties(missing=True, empty=True)
    racing = replace(search, goals=goals, passed=passed, log=[], rounds=[])
    rng = stream(drawing.seed, drawing.target.name, "search")
    likely = [each for each in search.space.first(rng, FIRST) if not passed.passes_over(each)]
    if not likely:
        return
    some = likely[:PAIRS]
    try:
        encoder = drawing.encoder(some, pilots=PAIRS, runs=PILOT)
        ranked = [Candidate(proposal=each) for each in some]
        racing.look(encoder, ranked, LOOK, "race")
        ranked = sorted((each for each in ranked if each.outlook), key=lambda c: c.rank)[::-1]
        closest = ranked[:CLOSER]
        racing.look(encoder, closest, CLOSE, "race on", racing.choose)
    except TargetError as error:
        if error.fatal:
            raise
        return
    racing.rounds.append(round_of(ranked, LOOK, CLOSER))
    racing.note(0, ranked, LOOK)
    closest = [each for each in closest if each.choice]
    for each in sorted(closest, key=lambda each: each.rank, reverse=True):
        if each.rank > (0.0, 0.0):
            yield racing, each, encoder
