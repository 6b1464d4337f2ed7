"""Defects that depend on records: their deletion, extreme ones, and probabilities without noise.

Deletion. A record is deleted and the model trained again, as if it had never been there. Two things
go wrong. The coins of the answers, or of the training, are those from before, so that the
difference of two answers is the record's; and the record is still in. For the first, users of many
deployments ask before and after: where both tossed their own coins, each order of the answers
afterwards is equally likely beside those before. For the second, answers after the deletion are
compared with those of deployments that never had it; both have one law if the model was trained
anew. A single record may matter too little, so some neighbours with one label are deleted one after
another, which of them is looked for first.

Missing clipping. A service that bounds what a record does by clipping its features, and forgot to,
keeps its claim on all data that are usual. So a record is moved far out, and the loss of one answer
is certified: the record, the move, the point and the answer are chosen on some sessions, and
counted on others, each of a deployment of its own. It is named only where the same record with
another label alone does not break the claim; else there is simply too little noise.

Probabilities without noise. Where labels have coins, all other probes ask for labels. A service
that tells, beside them, the plain probabilities of its model lets every record through. So they are
asked of deployments on S and on S with the label of the record nearest to the point changed; that a
value comes on one side only is certified to lose more than the claim.
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
    ProbePart,
    Probing,
    fisher,
    halves,
    is_vector,
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
RECORDS, EXTREMES = 2, (1e6, -1e6)
TRIED, SESSIONS = 40, 500
"""Sessions a side that try a move, and that count."""
POINTS = 4
LOOKED = 12
"""Deployments a side that look whether probabilities are worth it."""
REUSED = "deletion reuses the coins"
LEFT = "deletion leaves the record in"
MISSING = "missing clipping"
PLAIN = "probabilities without noise"

OPENED = 2 * PAIRS + 2 * GROUPS * COMPARED + 3 * DEPLOYMENTS
MOVES = (1 + 2 * RECORDS * len(EXTREMES)) * TRIED
TOLD = 2 * (LOOKED + SESSIONS) + 1
DELETION = ProbePart(
    "deletion", "deletion", 2, 1, lambda room, _: (OPENED, OPENED * min(room, LONGEST))
)
SCORES = ProbePart("probabilities", "claim", 1, 1, lambda *_: (TOLD, TOLD))
CLIPPING = ProbePart(
    "missing clipping", "claim", 1, 1,
    lambda room, _: (MOVES + 3 * SESSIONS, MOVES * min(room, POINTS) + 3 * SESSIONS),
)  # fmt: skip


def reuse_defects(probe: Probing) -> list[Defect]:
    """Return coins from before a deletion, at a point far from the record, which hides nothing.

    Two tests, with alpha / 2 each: of equal answers, and of numbers on the same side.
    """
    x, service, alpha = probe.points[0], probe.service, probe.share
    i = int(np.argmax(probe.distances(x)))
    length = max(1, min(probe.room // 2, LONGEST))
    before, after = list[tuple[Any, ...]](), list[tuple[Any, ...]]()
    seed, user = 0, ""
    for t in range(PAIRS):
        seed, user = service.deployment("reuse", t), service.user()
        before.append(probe.answers(seed, user, [x] * length))
        service.delete(probe.data, seed, i)
        back = user if probe.room >= 2 else service.user()
        after.append(probe.answers(seed, back, [x] * length))
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
    return [Defect(REUSED, seen, again, chance)]


def left_defects(probe: Probing) -> list[Defect]:
    """Return records that are still in after their deletion."""
    data, groups = probe.data, list(_groups(probe))
    if not groups:
        return []

    def asked(group: list[int], deployments: int, phase: str) -> list[Any]:
        """Return the commonest answer of each deployment amid the group."""
        x, S, found = data.X[group].mean(axis=0), data, []
        if phase in ("out", "never"):
            S = data.take(np.setdiff1d(np.arange(len(data)), group))
        for t in range(deployments):
            seed = probe.service.deployment(f"deletion {phase} {group[0]}", t)
            if phase == "deleted":
                probe.service.open(S, seed, probe.service.user())
                for i in group:
                    probe.service.delete(S, seed, i)
            session = probe.service.open(S, seed, probe.service.user())
            answers = session.transcript([x] * min(probe.room, LONGEST))
            found.append(middle(answers) if answers else None)
        return found

    def difference(one: list[Any], other: list[Any]) -> float:
        """Compare the commonest answer, or whether numbers are above the median, with the rest."""
        one, other = halves(one, other)
        label = Counter(one + other).most_common(1)[0][0]
        mine, theirs = (sum(each == label for each in side) for side in (one, other))
        return fisher((mine, len(one) - mine), (theirs, len(other) - theirs))

    tried = [
        difference(asked(group, COMPARED, "try"), asked(group, COMPARED, "out")) for group in groups
    ]
    group = groups[int(np.argmin(tried))]
    without = asked(group, DEPLOYMENTS, "never")
    chance = difference(asked(group, DEPLOYMENTS, "deleted"), without)
    if chance > probe.share:
        if difference(asked(group, DEPLOYMENTS, "kept"), without) > probe.share:
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
        f"{shown(data.X[group].mean(axis=0))}; the same on data without them"
    )
    return [Defect(LEFT, seen, again, chance)]


def _groups(probe: Probing) -> Iterator[list[int]]:
    """Yield neighbours with one label, the last first: no deletion moves a later one's place."""
    data = probe.data
    for centre in probe.rng.permutation(len(data))[:GROUPS].tolist():
        same = np.flatnonzero(data.y == data.y[centre])
        number = min(LARGEST, len(data) // 3, len(same) - 2)
        if number >= 1:
            far = probe.distances(data.X[centre])[same]
            yield sorted(same[np.argsort(far, kind="stable")[:number]].tolist(), reverse=True)


def clipping_defects(probe: Probing) -> list[Defect]:
    """Return a claim that an extreme record breaks, and its label alone does not."""
    claim, data = probe.claim, probe.data
    assert claim is not None
    asked = ([*probe.points, *data.X[:POINTS]])[: min(POINTS, probe.room)]
    best = max(_tried(probe, asked, claim.delta), key=lambda each: each[0], default=None)
    if best is None:
        probe.untold.append("missing clipping: extreme records are refused")
        return []
    _, change, k, label, up = best
    i, point = change.index, [asked[k]]

    def count(S: Labelled, side: str) -> int:
        rows = _answers(probe, S, point, SESSIONS, f"clipping count {side}")
        return sum(row[0] == label for row in rows)

    known = count(data, "base")

    def certified(S: Labelled, side: str) -> float:
        x, y = known, count(S, side)
        return _certified(probe, *((x, y) if up else (SESSIONS - y, SESSIONS - x)))

    value = certified(change.apply(data), "moved")
    if value <= claim.epsilon:
        return []
    flipped = Replace(i, data.X[i], next_label(data, i))
    if certified(flipped.apply(data), "label") > claim.epsilon:
        return []  # it is not the features: repeated queries break the claim
    seen = (
        f"record {i} moved to {shown(change.x)} makes an answer lose {value:.3g} at "
        f"least, claimed {claim.epsilon:g}; another label alone does not"
    )
    again = (
        f"open {SESSIONS} deployments on S and with record {i} at {shown(change.x)}, "
        f"and ask at {shown(point[0])}"
    )
    return [Defect(MISSING, seen, again, probe.share)]


def _certified(probe: Probing, x: int, y: int) -> float:
    """Return the certified loss of an event that x sessions showed on S, and y on S'."""
    assert probe.claim is not None
    counts = Counts(x=x, n1=SESSIONS, y=y, n0=SESSIONS)
    scale = Ratio(probe.claim.delta)
    return lower_bound("clopper-pearson", counts, scale=scale, alpha=probe.share).value


def _tried(
    probe: Probing, asked: list[Array], delta: float
) -> Iterator[tuple[float, Replace, int, Any, bool]]:
    """Yield moves, with the place of a point, an answer, and whether it is likelier on S; ranked.

    The expected bound stands first.
    """
    data = probe.data
    base = _answers(probe, data, asked, TRIED, "clipping base")
    changes = [
        Replace(i, factor * np.maximum(np.abs(data.X).max(axis=0), probe.spread), label)
        for i in probe.rng.permutation(len(data))[:RECORDS].tolist()
        for factor in EXTREMES
        for label in sorted({int(data.y[i]), next_label(data, i)})
    ]
    for number, change in enumerate(changes):
        try:
            other = _answers(probe, change.apply(data), asked, TRIED, f"clipping {number}")
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


def _answers(
    probe: Probing, data: Labelled, asked: list[Array], sessions: int, phase: str
) -> list[tuple[Any, ...]]:
    """Return the first answers of new deployments, as they can be counted.

    Of probabilities that is the likeliest label, of a real number whether it is above 1/2.
    """
    found = []
    for t in range(sessions):
        row = probe.session(phase, t, data=data).transcript(asked)
        if len(row) < len(asked):
            raise TargetError(f"{probe.service.name} refused after {len(row)} answers")
        plain = (int(np.argmax(each)) if is_vector(each) else each for each in row)
        found.append(tuple(each > 0.5 if isinstance(each, float) else each for each in plain))
    return found


def scores_defects(probe: Probing) -> list[Defect]:
    """Return probabilities at a point that all deployments tell, but none on a neighbour."""
    claim, x = probe.claim, probe.points[0]
    assert claim is not None
    session = probe.session("scores")
    if not (session.has("ask") and session.has("probabilities")):
        return []
    i = int(np.argmin(probe.distances(x)))
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
    value = _certified(probe, on, off)
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
    return [Defect(PLAIN, seen, again, probe.share)]
