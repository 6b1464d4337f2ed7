"""Deletion: a record is deleted and the model trained again, as if it had never been there.

Two things go wrong. The coins of the answers, or of the training, are those from before, so that
the difference of two answers is the record's; and the record is still in. For the first, users of
many deployments ask before and after: where both tossed their own coins, each order of the answers
afterwards is equally likely beside those before. For the second, answers after the deletion are
compared with those of deployments that never had it; both have one law if the model was trained
anew. A single record may matter too little, so some neighbours with one label are deleted one after
another, which of them is looked for first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from dpassay.attacks.observed import Array
from dpassay.attacks.services.answers import halves, middle
from dpassay.attacks.services.budgets import Defect
from dpassay.attacks.services.chances import pairing_probability
from dpassay.attacks.services.probe_points import ProbePoints, shown
from dpassay.data import Labelled

PAIRS = 96
"""Deployments that are asked before and after."""
CANDIDATES, TRIED = 4, 16
"""Groups of records that are looked at, and deployments a side that try one."""
MOST_DELETED = 12
"""Of a group; a third of the records at most, and two of their label stay."""
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
    """Coins from before the deletion, at points far from the record, so that it does not matter.

    Two tests, with alpha / 2 each: of equal answers, and of numbers on the same side.
    """
    x, service = points[0], probe.service
    i = int(np.argmax((((probe.data.X - x) / probe.spread) ** 2).sum(axis=1)))
    length = max(1, min(probe.room // 2, LONGEST))
    before: list[tuple[Any, ...]] = []
    after: list[tuple[Any, ...]] = []
    seed, user = 0, ""
    for t in range(PAIRS):
        seed, user = service.deployment("reuse", t), service.user()
        before.append(service.open(probe.data, seed, user).transcript([x] * length))
        service.delete(probe.data, seed, i)
        back = user if probe.room >= 2 else service.user()
        after.append(service.open(probe.data, seed, back).transcript([x] * length))
    if any(len(stream) < length for stream in (*before, *after)):
        return []
    chance = pairing_probability(before, after)
    what = f"the {length} answers after a deletion were those before it, answer for answer"
    if chance > alpha / 2:  # numbers may move a little, with the record
        before, after = (halves(list(map(middle, side)), [])[0] for side in (before, after))
        chance = pairing_probability(before, after)
        what = "the answer after a deletion was above the median where the one before it was"
    if chance > alpha / 2:
        return []
    equal = sum(a == b for a, b in zip(before, after, strict=True))
    seen = (
        f"in {equal} of {PAIRS} deployments {what}, though deployments differ: a difference is the "
        "record's"
    )
    again = (
        f"open a session of '{user}' with seed {seed}, ask at {shown(x)}, delete record {i}, open "
        "it again and ask the same"
    )
    return [Defect(name=REUSED, seen=seen, probability=chance, again=again)]


def left_defects(probe: ProbePoints, alpha: float, untold: list[str]) -> list[Defect]:
    """Records that are still in after their deletion."""
    groups = _groups(probe)
    if not groups:
        return []
    tried = [
        _difference(_asked(probe, group, TRIED, "try"), _asked(probe, group, TRIED, "out"))
        for group in groups
    ]
    group = groups[int(np.argmin(tried))]
    without = _asked(probe, group, DEPLOYMENTS, "never")
    chance = _difference(_asked(probe, group, DEPLOYMENTS, "deleted"), without)
    if chance > alpha:
        if _difference(_asked(probe, group, DEPLOYMENTS, "kept"), without) > alpha:
            untold.append(
                f"deletion: no records were found that matter enough; {DEPLOYMENTS} deployments a "
                "side showed no difference with and without them"
            )
        return []
    names = ", ".join(map(str, group))
    seen = (
        f"after records {names} were deleted, answers amid them in {DEPLOYMENTS} deployments "
        "differ from those of deployments that never had them"
    )
    again = (
        f"open deployments with different seeds, delete records {names} in this order, ask at "
        f"{shown(probe.data.X[group].mean(axis=0))}; the same on data without them"
    )
    return [Defect(name=LEFT, seen=seen, probability=chance, again=again)]


def _groups(probe: ProbePoints) -> list[list[int]]:
    """Return groups of neighbours with one label, the last first; none with too few records.

    So no deletion moves a later one's place.
    """
    data, found = probe.data, []
    for centre in probe.rng.permutation(len(data))[:CANDIDATES].tolist():
        same = np.flatnonzero(data.y == data.y[centre])
        number = min(MOST_DELETED, len(data) // 3, len(same) - 2)
        if number >= 1:
            far = (((data.X[same] - data.X[centre]) / probe.spread) ** 2).sum(axis=1)
            nearest = same[np.argsort(far, kind="stable")[:number]]
            found.append(sorted(nearest.tolist(), reverse=True))
    return found


def _asked(probe: ProbePoints, group: list[int], deployments: int, phase: str) -> list[Any]:
    """Commonest answer of each deployment amid the group: with it, never with it, or deleted."""
    data = probe.data
    x = data.X[group].mean(axis=0)
    if phase in ("out", "never"):
        kept = np.setdiff1d(np.arange(len(data)), group)
        data = Labelled(data.X[kept], data.y[kept])
    found = []
    for t in range(deployments):
        seed = probe.service.deployment(f"deletion {phase} {group[0]}", t)
        if phase == "deleted":
            probe.service.open(data, seed, probe.service.user())
            for i in group:
                probe.service.delete(data, seed, i)
        session = probe.service.open(data, seed, probe.service.user())
        answers = session.transcript([x] * min(probe.room, LONGEST))
        found.append(middle(answers) if answers else None)
    return found


def _difference(one: list[Any], other: list[Any]) -> float:
    """Fisher's exact test of the commonest answer of all against the others, two-sided.

    Of numbers or vectors: whether they are above the median.
    """
    one, other = halves(one, other)
    label = Counter(one + other).most_common(1)[0][0]
    table = [[sum(each == label for each in side), sum(each != label for each in side)]
             for side in (one, other)]  # fmt: skip
    return float(scipy.stats.fisher_exact(np.array(table)).pvalue)
