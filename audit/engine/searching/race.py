"""A race: which pairs look after some hundred runs as if they leaked grossly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dpassay.engine.budget import RACERS
from dpassay.engine.searching.pair_candidates import Candidate, Certainties, round_of
from dpassay.engine.searching.search import FIRST, Search
from dpassay.errors import TargetError
from dpassay.search.outputs import Encoder
from dpassay.seeds import stream

PAIRS, PILOT, LOOK = 16, 4, 8
"""Pairs, runs on either side of each that say what is to be seen in answers, and that rank it."""
CLOSER = 24
"""The best have so many more runs, and an event is chosen for each."""
SOON = 256
"""An event is worth what so many trials per side would show."""


def race(search: Search) -> Iterator[tuple[Search, Candidate, Encoder]]:
    """Yield pairs that look as if they leaked grossly, the worst first, each with its event.

    What is told apart by a missing answer, or by having no records, is left to the search.
    """
    drawing = search.drawing
    goals = tuple(replace(goal, n=SOON) for goal in search.goals)
    passed = Certainties(missing=True, empty=True)
    racing = replace(search, goals=goals, passed=passed, log=[], rounds=[])
    rng = stream(drawing.seed, drawing.target.name, "search")
    first = search.space.first(rng, FIRST)
    some = [each for each in first if not passed.passes_over(each)][:PAIRS]
    if not some:
        return
    try:
        encoder = drawing.encoder(some, pilots=PAIRS, runs=PILOT, phase="race pilot")
        drawn = [Candidate(proposal=each) for each in some]
        racing.look(encoder, drawn, LOOK, "race")
        ranked = sorted((each for each in drawn if each.outlook), key=_rank)
        racing.look(encoder, ranked[:RACERS], CLOSER, "race on", racing.choose)
    except TargetError as error:
        if error.fatal:
            raise
        return
    racing.rounds.append(round_of(ranked, LOOK, RACERS))
    racing.note(0, ranked, LOOK)
    for each in sorted(ranked[:RACERS], key=_rank):
        if each.choice and each.rank > (0.0, 0.0):
            yield racing, each, encoder


def _rank(each: Candidate) -> tuple[float, float]:
    sure, times = each.rank
    return -sure, -times
