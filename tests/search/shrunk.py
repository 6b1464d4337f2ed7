"""Shrink a pair, as a search does where looking costs nothing."""

from __future__ import annotations

from collections.abc import Callable

from dpassay.search.proposals.proposal import Proposal, Space


def shrink(space: Space, found: Proposal, holds: Callable[[Proposal], bool], most: int) -> Proposal:
    """Return the simplest proposal that `holds`, which is asked `most` times at most."""
    asked = 0
    simpler = space.smaller(found)
    while asked < most and (candidate := next(simpler, None)) is not None:
        asked += 1
        if holds(candidate):
            found, simpler = candidate, space.smaller(candidate)
    return found
