"""Deletion: a record is deleted and the model trained again, as if it had never been there.

Two things go wrong. The coins of the answers, or of the training, are those from before, so that
the difference of two answers is the record's; and the record is still in. For the first, users of
many deployments ask before and after: where both tossed their own coins, each order of the answers
afterwards is equally likely beside those before. For the second, answers after the deletion are
compared with those of deployments that never had the record; both have one law if the model was
trained anew. The record is one that matters there, which is looked for first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from dpassay.attacks.observed import Array
from dpassay.attacks.services.budgets import Defect
from dpassay.attacks.services.chances import pairing_probability
from dpassay.attacks.services.probe_points import ProbePoints, shown
from dpassay.data import Labelled

PAIRS = 48
"""Deployments that are asked before and after."""
CANDIDATES, TRIED = 6, 16
"""Records that are looked at, and deployments a side that try one."""
DEPLOYMENTS = 96
"""A side."""
LONGEST = 16
REUSED = "deletion reuses the coins"
LEFT = "deletion leaves the record in"


def deletion_cost(room: int) -> tuple[int, int]:
    """Return how many openings and queries it takes at most."""
    openings = 2 * PAIRS + 2 * CANDIDATES * TRIED + 3 * DEPLOYMENTS
    return openings, openings * min(room, LONGEST)


def reuse_defects(probe: ProbePoints, points: Sequence[Array], alpha: float) -> list[Defect]:
    """Coins from before the deletion, at points far from the record, so that it does not matter."""
    x, service = points[0], probe.service
    i = int(np.argmax((((probe.data.X - x) / probe.spread) ** 2).sum(axis=1)))
    length = max(1, min(probe.room // 2, LONGEST))
    before, after, seed, user = [], [], 0, ""
    for t in range(PAIRS):
        seed, user = service.deployment("reuse", t), service.user()
        before.append(service.open(probe.data, seed, user).transcript([x] * length))
        service.delete(probe.data, seed, i)
        back = user if probe.room >= 2 else service.user()
        after.append(service.open(probe.data, seed, back).transcript([x] * length))
    chance = pairing_probability(before, after)
    if chance > alpha or any(len(stream) < length for stream in (*before, *after)):
        return []
    equal = sum(a == b for a, b in zip(before, after, strict=True))
    seen = (
        f"in {equal} of {PAIRS} deployments the {length} answers after a deletion were those "
        "before it, answer for answer, though deployments differ: a difference is the record's"
    )
    again = (
        f"open a session of '{user}' with seed {seed}, ask at {shown(x)}, delete record {i}, open "
        "it again and ask the same"
    )
    return [Defect(name=REUSED, seen=seen, probability=chance, again=again)]


def left_defects(probe: ProbePoints, alpha: float, untold: list[str]) -> list[Defect]:
    """A record that is still in after its deletion."""
    rows = probe.rng.permutation(len(probe.data))[:CANDIDATES].tolist()
    if len(probe.data) < 3:
        return []
    tried = [
        (_difference(_asked(probe, i, TRIED, "try", with_it=True),
                     _asked(probe, i, TRIED, "try", with_it=False)), -i)
        for i in rows
    ]  # fmt: skip
    i = -min(tried)[1]
    without = _asked(probe, i, DEPLOYMENTS, "never", with_it=False)
    chance = _difference(
        _asked(probe, i, DEPLOYMENTS, "deleted", with_it=True, delete=True), without
    )
    if chance > alpha:
        if _difference(_asked(probe, i, DEPLOYMENTS, "kept", with_it=True), without) > alpha:
            untold.append(
                f"deletion: no record was found that matters enough; {DEPLOYMENTS} deployments a "
                "side showed no difference with and without it"
            )
        return []
    seen = (
        f"after record {i} was deleted, answers at it in {DEPLOYMENTS} deployments differ from "
        "those of deployments that never had it"
    )
    again = (
        f"open deployments with different seeds, delete record {i}, ask at {shown(probe.data.X[i])}"
        "; the same on data without it"
    )
    return [Defect(name=LEFT, seen=seen, probability=chance, again=again)]


def _asked(
    probe: ProbePoints, i: int, deployments: int, phase: str, *, with_it: bool, delete: bool = False
) -> list[Any]:
    """Commonest answer of each deployment at record i."""
    data = probe.data
    if not with_it:
        kept = np.arange(len(data)) != i
        data = Labelled(data.X[kept], data.y[kept])
    found = []
    for t in range(deployments):
        seed = probe.service.deployment(f"deletion {phase} {i} {with_it}", t)
        if delete:
            probe.service.open(data, seed, probe.service.user())
            probe.service.delete(data, seed, i)
        session = probe.service.open(data, seed, probe.service.user())
        answers = session.transcript([probe.data.X[i]] * min(probe.room, LONGEST))
        found.append(Counter(answers).most_common(1)[0][0] if answers else None)
    return found


def _difference(one: list[Any], other: list[Any]) -> float:
    """Fisher's exact test of the commonest answer of all against the others, two-sided."""
    label = Counter(one + other).most_common(1)[0][0]
    table = [[sum(each == label for each in side), sum(each != label for each in side)]
             for side in (one, other)]  # fmt: skip
    return float(scipy.stats.fisher_exact(np.array(table)).pvalue)
