"""Probabilities without noise beside labels that have it.

Where labels have coins, all other parts of the probe ask for labels. A service that tells, beside
them, the plain probabilities of its model lets every record through. So they are asked of
deployments on S and on S with the label of the record nearest to the point changed; that a value
comes on one side only is certified to lose more than the claim.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpassay.attacks.observed import Array
from dpassay.attacks.services.budgets import Defect
from dpassay.attacks.services.clipping import next_label
from dpassay.attacks.services.interface import Refusal
from dpassay.attacks.services.probe_points import ProbePoints, shown
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.pairs import Replace
from dpassay.stats.bounds import Counts
from dpassay.stats.lower_bounds import lower_bound
from dpassay.stats.scales import Ratio

TRIED, SESSIONS = 12, 500
"""Deployments a side that look whether it is worth it, and that count."""
PLAIN = "probabilities without noise"


def scores_cost() -> tuple[int, int]:
    """Return how many openings and queries it takes at most."""
    number = 2 * (TRIED + SESSIONS) + 1
    return number, number


def scores_defects(probe: ProbePoints, x: Array, claim: DP, alpha: float) -> list[Defect]:
    """Probabilities at a point that are the same in all deployments, but not on a neighbour."""
    session = probe.service.open(
        probe.data, probe.service.deployment("scores"), probe.service.user()
    )
    if not (session.has("ask") and session.has("probabilities")):
        return []
    i = int(np.argmin((((probe.data.X - x) / probe.spread) ** 2).sum(axis=1)))
    neighbour = Replace(i, probe.data.X[i], next_label(probe.data, i)).apply(probe.data)
    known = session.probabilities(x)
    count = _Count(probe, x, known)
    if isinstance(known, Refusal) or count(probe.data, TRIED, "S, tried") < TRIED:
        return []
    if count(neighbour, TRIED, "S', tried"):
        return []
    on, off = count(probe.data, SESSIONS, "S"), count(neighbour, SESSIONS, "S'")
    counts = Counts(x=on, n1=SESSIONS, y=off, n0=SESSIONS)
    value = lower_bound("clopper-pearson", counts, scale=Ratio(claim.delta), alpha=alpha).value
    if value <= claim.epsilon:
        return []
    seen = (
        f"{on} of {SESSIONS} deployments told the same probabilities, and {off} of {SESSIONS} did "
        f"where record {i} has another label: they lose {value:.3g} at least, claimed "
        f"{claim.epsilon:g}"
    )
    again = (
        f"ask for the probabilities at {shown(x)} in deployments on S and with another label of "
        f"record {i}"
    )
    return [Defect(name=PLAIN, seen=seen, probability=alpha, again=again)]


class _Count:
    """In how many new deployments a value comes at a point."""

    def __init__(self, probe: ProbePoints, x: Array, value: Any) -> None:
        self.probe, self.x, self.value = probe, x, value

    def __call__(self, data: Labelled, number: int, phase: str) -> int:
        service = self.probe.service
        return sum(
            service.open(
                data, service.deployment("scores", phase, t), service.user()
            ).probabilities(self.x) == self.value
            for t in range(number)
        )  # fmt: skip
