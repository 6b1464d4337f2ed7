"""How pairs are ranked when one of them is picked."""

from __future__ import annotations

import numpy as np

from dpassay.engine.searching.pair_candidates import Candidate
from dpassay.search.outlook import Outlook
from dpassay.search.spaces import Scalars
from dpassay.search.worth import Goal
from dpassay.stats.scales import Ratio

GOAL = Goal(scale=Ratio(), promised=1.0, n=20_000, alpha=1e-3)
PROPOSAL = Scalars(0, 1, size=1).first(np.random.default_rng(0), 1)[0]


def seen(p1: float, p0: float, expected: float, assurance: float) -> Candidate:
    """Return a pair of which 10,000 runs were drawn on each side."""
    outlook = Outlook(p1=p1, p0=p0, expected=expected, assurance=assurance, promise=expected)
    drawn = [np.zeros((1, 10_000, 1))]
    return Candidate(proposal=PROPOSAL, one=drawn, other=drawn, outlook=outlook, goal=GOAL)


def test_chance_is_taken_off_where_refutation_is_unlikely_and_nowhere_else() -> None:
    rare, usual = seen(0.026, 0.009, 0.81, -1.1), seen(0.31, 0.14, 0.70, -7.4)
    assert rare.rank > usual.rank
    assert usual.cautious_rank > rare.cautious_rank
    likely = seen(0.026, 0.009, 1.05, 0.2)
    assert likely.cautious_rank == likely.rank > usual.cautious_rank
