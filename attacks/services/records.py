"""Defects that depend on records: their deletion, extreme ones, and probabilities without noise.

Deletion. A record is deleted and the model trained again, as if it had never been there.

Two things go wrong. The coins of the answers, or of the training, are those from before, so that
the difference of two answers is the record's; and the record is still in. For the first, users of
many deployments ask before and after: where both tossed their own coins, each order of the answers
afterwards is equally likely beside those before. For the second, answers after the deletion are
compared with those of deployments that never had it; both have one law if the model was trained
anew. A single record may matter too little, so some neighbours with one label are deleted one after
another, which of them is looked for first.

Missing clipping. A record with extreme features moves the answers beyond the claim.

A service that bounds what a record does by clipping its features, and forgot to, keeps its claim on
all data that are usual. So a record is moved far out, and the loss of one answer is certified: the
record, the move, the point and the answer are chosen on some sessions, and counted on others, each
of a deployment of its own. It is named only where the same record with another label alone does not
break the claim; else there is simply too little noise.

Probabilities without noise beside labels that have it.

Where labels have coins, all other parts of the probe ask for labels. A service that tells, beside
them, the plain probabilities of its model lets every record through. So they are asked of
deployments on S and on S with the label of the record nearest to the point changed; that a value
comes on one side only is certified to lose more than the claim.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpassay.attacks.observed import Array
from dpassay.attacks.repeated.worst_cell import ranked
from dpassay.attacks.services.interface import Refusal
from dpassay.attacks.services.probing import (
    Defect,
    Probing,
    fisher,
    halves,
    middle,
    pairing_probability,
    shown,
)
from dpassay.data import Labelled
from dpassay.errors import TargetError
from dpassay.pairs import Replace
from dpassay.stats.bounds import Counts
from dpassay.stats.lower_bounds import lower_bound
from dpassay.stats.scales import Ratio

PAIRS = 96
"""Deployments that are asked before and after."""
GROUPS, COMPARED = 4, 16
"""Groups of records that are looked at, and deployments a side that try one."""
LARGEST = 12
"""Of a group; a third of the records at most, and two of their label stay."""
DEPLOYMENTS = 96
"""A side."""
LONGEST = 16
REUSED = "deletion reuses the coins"
LEFT = "deletion leaves the record in"


def deletion_cost(room: int) -> tuple[int, int]:
    """Return how many openings and queries it takes at most."""
    openings = 2 * PAIRS + 2 * GROUPS * COMPARED + 3 * DEPLOYMENTS
    return openings, openings * min(room, LONGEST)


def reuse_defects(probe: Probing) -> list[Defect]:
    """Coins from before the deletion, at points far from the record, so that it does not matter.

    Two tests, with alpha / 2 each: of equal answers, and of numbers on the same side.
    """
    x, service, alpha = probe.points[0], probe.service, probe.share
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


def left_defects(probe: Probing) -> list[Defect]:
    """Records that are still in after their deletion."""
    groups = _groups(probe)
    if not groups:
        return []
    tried = [
        _difference(_asked(probe, group, COMPARED, "try"), _asked(probe, group, COMPARED, "out"))
        for group in groups
    ]
    group = groups[int(np.argmin(tried))]
    without = _asked(probe, group, DEPLOYMENTS, "never")
    chance = _difference(_asked(probe, group, DEPLOYMENTS, "deleted"), without)
    if chance > probe.share:
        if _difference(_asked(probe, group, DEPLOYMENTS, "kept"), without) > probe.share:
            probe.untold.append(
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


def _groups(probe: Probing) -> list[list[int]]:
    """Return groups of neighbours with one label, the last first; none with too few records.

    So no deletion moves a later one's place.
    """
    data, found = probe.data, []
    for centre in probe.rng.permutation(len(data))[:GROUPS].tolist():
        same = np.flatnonzero(data.y == data.y[centre])
        number = min(LARGEST, len(data) // 3, len(same) - 2)
        if number >= 1:
            far = (((data.X[same] - data.X[centre]) / probe.spread) ** 2).sum(axis=1)
            nearest = same[np.argsort(far, kind="stable")[:number]]
            found.append(sorted(nearest.tolist(), reverse=True))
    return found


def _asked(probe: Probing, group: list[int], deployments: int, phase: str) -> list[Any]:
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
    mine, theirs = (sum(each == label for each in side) for side in (one, other))
    return fisher((mine, len(one) - mine), (theirs, len(other) - theirs))


RECORDS, EXTREMES = 2, (1e6, -1e6)
TRIED, SESSIONS = 40, 500
"""Sessions a side that try a move, and that count."""
POINTS = 4
MISSING = "missing clipping"


def clipping_cost(room: int) -> tuple[int, int]:
    """Return how many openings and queries it takes at most."""
    tried = (1 + 2 * RECORDS * len(EXTREMES)) * TRIED
    return tried + 3 * SESSIONS, tried * min(room, POINTS) + 3 * SESSIONS


def clipping_defects(probe: Probing) -> list[Defect]:
    """A claim that an extreme record breaks, and its label alone does not."""
    claim, alpha = probe.claim, probe.share
    assert claim is not None
    asked = ([*probe.points, *probe.data.X[:POINTS]])[: min(POINTS, probe.room)]
    scale = Ratio(claim.delta)
    best = max(_tried(probe, asked, claim.delta), key=lambda each: each[0], default=None)
    if best is None:
        probe.untold.append("missing clipping: extreme records are refused")
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
    probe: Probing, asked: list[Array], delta: float
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
                    value = ranked(np.array([a]), np.array([b]), TRIED, delta)
                    yield value, change, k, label, up


def next_label(data: Labelled, i: int) -> int:
    """Return the label after that of record i, in the order of their names."""
    labels = np.unique(data.y).tolist()
    return int(labels[(labels.index(int(data.y[i])) + 1) % len(labels)])


def _changes(probe: Probing) -> Iterator[Replace]:
    data = probe.data
    for i in probe.rng.permutation(len(data))[:RECORDS].tolist():
        for factor in EXTREMES:
            far = factor * np.maximum(np.abs(data.X).max(axis=0), probe.spread)
            for label in sorted({int(data.y[i]), next_label(data, i)}):
                yield Replace(i, far, label)


def _answers(
    probe: Probing, data: Labelled, asked: list[Array], sessions: int, phase: str
) -> list[tuple[Any, ...]]:
    """First answers of new deployments; see `_plain`."""
    found = []
    for t in range(sessions):
        session = probe.session(phase, t, data=data)
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


def _count(probe: Probing, data: Labelled, point: list[Array], label: Any, side: str) -> int:
    rows = _answers(probe, data, point, SESSIONS, f"clipping count {side}")
    return sum(row[0] == label for row in rows)


LOOKED = 12
"""Deployments a side that look whether it is worth it."""
PLAIN = "probabilities without noise"


def scores_cost() -> tuple[int, int]:
    """Return how many openings and queries it takes at most."""
    number = 2 * (LOOKED + SESSIONS) + 1
    return number, number


def scores_defects(probe: Probing) -> list[Defect]:
    """Probabilities at a point that are the same in all deployments, but not on a neighbour."""
    claim, x = probe.claim, probe.points[0]
    assert claim is not None
    session = probe.session("scores")
    if not (session.has("ask") and session.has("probabilities")):
        return []
    i = int(np.argmin((((probe.data.X - x) / probe.spread) ** 2).sum(axis=1)))
    neighbour = Replace(i, probe.data.X[i], next_label(probe.data, i)).apply(probe.data)
    known = session.probabilities(x)

    def count(data: Labelled, number: int, phase: str) -> int:
        """Return in how many new deployments the value comes at the point."""
        sessions = (probe.session("scores", phase, t, data=data) for t in range(number))
        return sum(each.probabilities(x) == known for each in sessions)

    if isinstance(known, Refusal) or count(probe.data, LOOKED, "S, tried") < LOOKED:
        return []
    if count(neighbour, LOOKED, "S', tried"):
        return []
    on, off = count(probe.data, SESSIONS, "S"), count(neighbour, SESSIONS, "S'")
    counts = Counts(x=on, n1=SESSIONS, y=off, n0=SESSIONS)
    value = lower_bound(
        "clopper-pearson", counts, scale=Ratio(claim.delta), alpha=probe.share
    ).value
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
    return [Defect(name=PLAIN, seen=seen, probability=probe.share, again=again)]
