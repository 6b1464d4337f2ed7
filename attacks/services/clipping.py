"""Missing clipping: a record with extreme features moves the answers beyond the claim.

A service that bounds what a record does by clipping its features, and forgot to, keeps its claim on
all data that are usual. So a record is moved far out, and the loss of one answer is certified: the
record, the move, the point and the answer are chosen on some sessions, and counted on others, each
of a deployment of its own. It is named only where the same record with another label alone does not
break the claim; else there is simply too little noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dpassay.attacks.observed import Array
from dpassay.attacks.services.budgets import Defect
from dpassay.attacks.services.probe_points import ProbePoints, shown
from dpassay.claims import DP
from dpassay.data import Labelled
from dpassay.errors import TargetError
from dpassay.pairs import Replace
from dpassay.stats.binomial import ranking_bound
from dpassay.stats.bounds import Counts
from dpassay.stats.lower_bounds import lower_bound
from dpassay.stats.scales import Ratio

RECORDS, EXTREMES = 2, (1e6, -1e6)
TRIED, SESSIONS = 40, 500
"""Sessions a side that try a move, and that count."""
POINTS = 4
RANKING = 0.05
"""Error probability of the bounds that moves are ranked by; it decides nothing else."""
MISSING = "missing clipping"


def clipping_cost(room: int) -> tuple[int, int]:
    """Return how many openings and queries it takes at most."""
    tried = (1 + 2 * RECORDS * len(EXTREMES)) * TRIED
    return tried + 3 * SESSIONS, tried * min(room, POINTS) + 3 * SESSIONS


def clipping_defects(
    probe: ProbePoints, points: Sequence[Array], claim: DP, alpha: float, untold: list[str]
) -> list[Defect]:
    """A claim that an extreme record breaks, and its label alone does not."""
    asked = ([*points, *probe.data.X[:POINTS]])[: min(POINTS, probe.room)]
    scale = Ratio(claim.delta)
    best = max(_tried(probe, asked, scale), key=lambda each: each[0], default=None)
    if best is None:
        untold.append("missing clipping: extreme records are refused")
        return []
    _, change, k, label, up = best
    moved = change.apply(probe.data)
    point = [asked[k]]
    flipped = Replace(
        change.index, probe.data.X[change.index], next_label(probe.data, change.index)
    )
    known = _count(probe, probe.data, point, label, "base")

    def certified(data: Labelled, side: str) -> float:
        x, y = known, _count(probe, data, point, label, side)
        if not up:
            x, y = SESSIONS - y, SESSIONS - x
        counts = Counts(x=x, n1=SESSIONS, y=y, n0=SESSIONS)
        return lower_bound("clopper-pearson", counts, scale=scale, alpha=alpha).value

    value = certified(moved, "moved")
    if value <= claim.epsilon:
        return []
    if certified(flipped.apply(probe.data), "label") > claim.epsilon:
        return []  # it is not the features: repeated queries break the claim
    seen = (
        f"record {change.index} moved to {shown(change.x)} makes an answer lose {value:.3g} at "
        f"least, claimed {claim.epsilon:g}; another label alone does not"
    )
    again = (
        f"open {SESSIONS} deployments on S and with record {change.index} at {shown(change.x)}, "
        f"and ask at {shown(point[0])}"
    )
    return [Defect(name=MISSING, seen=seen, probability=alpha, again=again)]


def _tried(
    probe: ProbePoints, asked: list[Array], scale: Ratio
) -> Iterator[tuple[float, Replace, int, Any, bool]]:
    """Moves, with the place of a point, an answer, and whether it is likelier on S; ranked."""
    base = _answers(probe, probe.data, asked, TRIED, "clipping base")
    for number, change in enumerate(_changes(probe)):
        try:
            other = _answers(probe, change.apply(probe.data), asked, TRIED, f"clipping {number}")
        except TargetError:
            continue  # it does not take such data: that is as good as clipping
        for k in range(len(asked)):
            for label in sorted({row[k] for row in (*base, *other)}, key=str):
                x, y = (sum(row[k] == label for row in side) for side in (base, other))
                for up, a, b in ((True, x, y), (False, TRIED - y, TRIED - x)):
                    one, two = np.array([a]), np.array([b])
                    value = ranking_bound(one, TRIED, two, TRIED, scale=scale, alpha=RANKING)
                    yield float(value[0]), change, k, label, up


def next_label(data: Labelled, i: int) -> int:
    """Return the label after that of record i, in the order of their names."""
    labels = np.unique(data.y).tolist()
    return int(labels[(labels.index(int(data.y[i])) + 1) % len(labels)])


def _changes(probe: ProbePoints) -> Iterator[Replace]:
    data = probe.data
    for i in probe.rng.permutation(len(data))[:RECORDS].tolist():
        for factor in EXTREMES:
            far = factor * np.maximum(np.abs(data.X).max(axis=0), probe.spread)
            for label in sorted({int(data.y[i]), next_label(data, i)}):
                yield Replace(i, far, label)


def _answers(
    probe: ProbePoints, data: Labelled, asked: list[Array], sessions: int, phase: str
) -> list[tuple[Any, ...]]:
    """First answers of new deployments; see `_plain`."""
    found = []
    for t in range(sessions):
        session = probe.service.open(data, probe.service.deployment(phase, t), probe.service.user())
        row = session.transcript(asked)
        if len(row) < len(asked):
            raise TargetError(f"{probe.service.name} refused after {len(row)} answers")
        found.append(tuple(map(_plain, row)))
    return found


def _plain(answer: Any) -> Any:
    """The likeliest label of probabilities, the sign of a real number: what can be counted."""
    if isinstance(answer, tuple) and all(isinstance(each, int | float) for each in answer):
        return int(np.argmax(answer))
    return answer > 0.5 if isinstance(answer, float) else answer


def _count(probe: ProbePoints, data: Labelled, point: list[Array], label: Any, side: str) -> int:
    rows = _answers(probe, data, point, SESSIONS, f"clipping count {side}")
    return sum(row[0] == label for row in rows)
