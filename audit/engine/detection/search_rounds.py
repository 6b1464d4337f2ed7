"""Rounds of a search, and what a pair must rank above in each of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpassay.search.events import parts

Array = NDArray[np.float64]

RUNS = 400
"""Searches that are rehearsed."""
EVENTS = 3
"""Events that leak just what is claimed, at each of the other pairs and each query; they err
independently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round of a search: `pairs`, of which `new` were not looked at before.

    `draws` are the trials per side of each pair, whose `queries` are looked at one by one. So many
    of the best as are `safe` go on, from whatever families; 1 in the last round.
    """

    pairs: int
    new: int
    draws: int
    safe: int
    queries: int = 1


@lru_cache(maxsize=32)
def needed(rounds: tuple[Round, ...], n: int, alpha: float) -> tuple[Array, ...]:
    """Find what a pair must rank above in each round, in so many rehearsed searches: (R,) each.

    All other pairs leak what the claim allows, so that they rank by chance: by the largest of
    `EVENTS` standardised errors for each query. What was drawn of a pair adds up; in the last
    round, a part of it ranks.
    """
    rng = np.random.default_rng(71)
    events = EVENTS * max(each.queries for each in rounds)
    noise, drawn = np.zeros((RUNS, 0, events)), np.zeros((RUNS, 0))
    found = []
    for number, each in enumerate(rounds):
        last = number + 1 == len(rounds)
        # one of the first is the pair that leaks; in the end its other queries are its rivals
        new = each.new - (number == 0) + (last and events > EVENTS)
        noise = np.concatenate([noise, np.zeros((RUNS, new, events))], axis=1)
        drawn = np.concatenate([drawn, np.zeros((RUNS, new))], axis=1)
        noise += math.sqrt(each.draws) * rng.standard_normal(noise.shape)
        drawn += each.draws
        ranking, counted = noise, drawn
        if last:
            counted = np.vectorize(lambda m: parts(int(m))[1], otypes=[float])(drawn)
            part = (counted / drawn)[..., None]
            chance = np.sqrt(counted)[..., None] * np.sqrt(1 - part)
            ranking = noise * part + chance * rng.standard_normal(noise.shape)
        z = ranking.max(axis=2) / counted / np.sqrt(1 / n + 1 / counted)
        z += float(ndtri(alpha)) / np.sqrt(1 + n / counted)  # less the margin; see `Goal.margin`
        order = np.argsort(-z, axis=1)
        safe = order[:, each.safe - 1 : each.safe]
        lowest = np.full((RUNS, 1), -np.inf)
        found.append((np.take_along_axis(z, safe, axis=1) if safe.size else lowest)[:, 0])
        if not last:
            kept = order[:, : max(0, rounds[number + 1].pairs - rounds[number + 1].new - 1)]
            noise = np.take_along_axis(noise, kept[..., None], axis=1)
            drawn = np.take_along_axis(drawn, kept, axis=1)
    return tuple(found)
