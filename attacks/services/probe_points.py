"""Where to ask a service whether its coins are fresh: at points where its answers differ."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from dpassay.attacks.observed import Array
from dpassay.attacks.services.interface import Service
from dpassay.data import Labelled
from dpassay.seeds import stream

CANDIDATES, SCREENED = 24, 12
"""Points that are looked at, and sessions that look."""
POINTS = 4
"""Points that are then tested."""
JITTER, HAIR = 0.1, 1e-6
"""How far points lie from records, and moved points from points, in standard deviations."""


class ProbePoints:
    """Where to ask: a little beside records, so that no law is likely to jump just there."""

    def __init__(self, service: Service, data: Labelled, room: int, seed: int) -> None:
        self.service, self.data, self.room = service, data, room
        self.rng = stream(seed, "probe", service.name)
        spread = data.X.std(axis=0)
        self.spread = np.where(spread > 0, spread, 1.0)

    def beside(self, x: Array, distance: float) -> Array:
        """Return a point near x."""
        found: Array = x + distance * self.spread * self.rng.normal(size=x.size)
        return found

    def points(self) -> list[Array]:
        """Return up to four points at which answers differ most.

        Asked a hair beside each, in sessions and deployments apart, each time in another order: the
        first answers of two sessions may be the same though later ones are not.
        """
        rows = self.rng.permutation(len(self.data))[:CANDIDATES]
        candidates = [self.beside(self.data.X[i], JITTER) for i in rows]
        seen: list[list[Any]] = [[] for _ in candidates]
        for t in range(SCREENED):
            order = self.rng.permutation(len(candidates)).tolist()
            for first in range(0, len(candidates), self.room):
                part = order[first : first + self.room]
                session = self.service.open(
                    self.data, self.service.deployment("screen", t, first), self.service.user()
                )
                answers = session.transcript(self.beside(candidates[c], HAIR) for c in part)
                for c, answer in zip(part, answers, strict=False):
                    seen[c].append(answer)
        rest = [len(each) - max(Counter(each).values(), default=0) for each in seen]
        best = sorted(range(len(candidates)), key=lambda c: -rest[c])[:POINTS]
        return [candidates[c] for c in best if rest[c] > 0]


def points_cost(room: int) -> tuple[int, int]:
    """Return how many openings and queries it takes at most."""
    return SCREENED * math.ceil(CANDIDATES / room), SCREENED * CANDIDATES


def shown(x: Array) -> str:
    """Write a point down, cut where it is long."""
    values = [f"{value:.6g}" for value in x[:6]]
    return f"({', '.join(values)}{', ...' if x.size > 6 else ''})"
