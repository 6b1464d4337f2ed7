"""A race: which pairs look after some hundred runs as if they leaked grossly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dpassay.engine.searching.pair_candidates import Candidate, Certainties, round_of
from dpassay.engine.searching.search import FIRST, Search
from dpassay.errors import TargetError
from dpassay.search.outputs import Encoder
from dpassay.seeds import stream

STAGES = ((4, 1, 4, 8), (16, 3, 4, 8), (64, 3, 8, 16), (256, 3, 16, 32))
"""So many of the first pairs, of which so many race, the runs on either side of 16 of them that say
what is to be seen in answers, and the runs on either side of each that rank it."""
PILOTS, CLOSER, RACE = 16, 3, 1 / 2
"""And so many times the ranking runs, by which the best have their events chosen. Where time is
limited, a race has such a part of it."""
LIKELY = "the likeliest pairs"
SOON = 256
"""An event is worth what so many trials per side would show."""


def race(search: Search) -> Iterator[tuple[float, Search, Candidate, Encoder]]:
    """Yield pairs that look as if they leaked grossly, the worst first, each with its event.

    Before each stands its share of alpha: half is for the first stage, a quarter for the next, and
    so on.
    Stage by stage, there are more of them and more runs. What is told apart by a missing answer, or
    by having no records, is left to the search.
    """
    drawing = search.drawing
    # a curve is raced at its first, middle and last point: each point costs as much as a claim
    points = sorted({0, len(search.goals) // 2, len(search.goals) - 1})
    goals = tuple(replace(search.goals[k], n=SOON) for k in points)
    passed = Certainties(missing=True, empty=True)
    rng = stream(drawing.seed, drawing.target.name, "search")
    first = [each for each in search.space.first(rng, FIRST) if not passed.passes_over(each)]
    for stage, (pairs, racers, pilot, runs) in enumerate(STAGES):
        racing = replace(search, goals=goals, passed=passed, log=[], rounds=[])
        drawn = [Candidate(proposal=each) for each in first[:pairs]]
        if not drawn or (stage and search.deadline.over(RACE * stage / len(STAGES))):
            return
        try:
            some = [each.proposal for each in drawn]
            encoder = drawing.encoder(some, pilots=PILOTS, runs=pilot, phase=f"race pilot {stage}")
            racing.look(encoder, drawn, runs, f"race {stage}", what=LIKELY)
            ranked = sorted((each for each in drawn if each.outlook), key=_rank)
            if not ranked:
                continue
            racing.rounds.append(round_of(ranked, runs, racers))
            racing.note(0, ranked, runs)
            best = ranked[:racers]
            racing.look(encoder, best, CLOSER * runs, f"race on {stage}", racing.choose, LIKELY)
        except TargetError as error:
            if error.fatal and not error.unforeseen:
                raise
            return
        for each in sorted(best, key=_rank):
            if each.choice and each.rank > (0.0, 0.0):
                yield 2.0 ** -(stage + 1) / racers, racing, each, encoder


def _rank(each: Candidate) -> tuple[float, float]:
    sure, times = each.rank
    return -sure, -times
