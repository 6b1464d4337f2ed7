"""Answers that are drawn once and given again: caches, sticky noise, rounded queries, one draw.

At each point sessions are asked again and again, and a hair beside it. Where the answers of a
session never change, the points beside tell which it is: coins of their own mean a cache of the
exact query, the same answers mean noise that sticks. If then points far apart agree no more than
chance has it, the cache is one of rounded queries.

Two kinds are no defects, for they are one draw that a claim can be about, and are remarked: answers
that are the same for all users of a deployment (a noisy model without coins of its own, memoised
randomised response), and answers that are the same whenever a user comes back (memoised for each
user). Whoever is redrawn when a session is opened again is a cache.

A cache of rounded queries may be shared by all users or all deployments. There no session sees a
change: its answers look like those of one model without coins. But such a cache has cells with
edges at decimal numbers, and the answers on both sides of an edge are drawn apart. So pairs of
points a hair apart are asked, which an edge of a decimal grid divides, and pairs that it does not.
A model that knows nothing of decimals makes no difference between them.

A model may know something of decimals: the thresholds of a decision tree lie between data of few
digits. Its answers change at few of the edges, and more often over several cells; those of a cache
change at one edge as often as over five. Only the latter is named; that is a rule of thumb, and no
part of the false-alarm probability. What cannot be told apart is a model whose own cells are
decimal and have noise of their own, such as a private histogram: say `one_model` or `memoised`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpassay.attacks.observed import Array
from dpassay.attacks.services.probing import (
    HAIR,
    POINTS,
    Defect,
    Probing,
    apart_probability,
    block_probability,
    fisher,
    shown,
)

ANSWERS = 96
"""Answers at each point, in sessions of four where their budget allows."""
USERS = 4
"""Of a deployment."""
RETURNS = 32
"""Users who come back, to tell a cache from answers that are kept."""
DEPENDENT = 1e-3
"""Two points depend on each other below this; it decides on a name, not on whether there is a
defect."""
MOVES = (1e-3, 1e-2, 1e-1)
"""Larger moves, in standard deviations."""
MOVED = 12
"""Sessions that try one."""
CAVEAT = "; exact if training draws no coins from the seed, else it may be training alone that does"
ONE_DRAW = (
    "one draw: the answers of a deployment never change, whoever asks, and differ from deployment "
    "to deployment; so do those of a model that is trained with noise from the seed and answers "
    "without coins, and of memoised randomised response, whose claim is about that draw. If every "
    "answer is claimed to have coins of its own, this is a defect"
)
MEMOISED = (
    "memoised: a user always gets the same answer at a point, also when a session is opened again, "
    "and points a hair beside it have answers of their own; so does memoised randomised response, "
    "whose claim is about that draw. If every answer is claimed to have coins of its own, this is a"
    " defect"
)


def frozen_cost(room: int) -> tuple[int, int]:
    """Return how many openings and queries it takes at most."""
    r = min(4, max(2, room // 2))
    sessions = ANSWERS // r
    more = 2 * RETURNS + (1 + POINTS) * ANSWERS + len(MOVES) * MOVED
    return (
        POINTS * sessions + more,
        POINTS * sessions * min(room, 8)
        + 4 * RETURNS
        + 6 * POINTS * ANSWERS
        + 2 * len(MOVES) * MOVED,
    )


Found = dict[str, list[tuple[float, Array, str]]]
"""What was found at points: its probability, the point, and from what to what answers differ."""


def frozen_defects(probe: Probing) -> list[Defect]:
    """Cached answers, sticky noise or rounded queries, one of them; one draw is remarked."""
    r = min(4, max(2, probe.room // 2))
    moved, sessions = min(4, probe.room - r), ANSWERS // r
    found: Found = {name: [] for name in ("cached", "sticky", "eternal", "drawn")}
    for p, x in enumerate(probe.points):
        blocks = [_block(probe, p, x, t, r, moved) for t in range(sessions)]
        if any(len(block) < r + moved for block in blocks):
            return []  # it refuses earlier than it did before: that is told elsewhere
        if all(len(set(block[:r])) == 1 for block in blocks):
            name, chance, how = _kind(probe, p, x, blocks, r)
            if chance <= probe.share:
                found[name].append((chance, x, how))
    if found.pop("drawn"):
        probe.remarks.append(ONE_DRAW)
    if _kept(probe, found):
        return []
    if found["sticky"] and not found["cached"] and moved and not _together(probe):
        return [_rounded(probe, *min(found["sticky"], key=lambda each: each[0])[:2], r, sessions)]
    return _named(r, moved, **found)


def _block(probe: Probing, p: int, x: Array, t: int, r: int, moved: int) -> tuple[Any, ...]:
    """Answers of a session, r at a point and then a hair beside it."""
    session = probe.session("frozen", p, t // USERS)
    return session.transcript([x] * r + [probe.beside(x, HAIR) for _ in range(moved)])


def _kind(
    probe: Probing, p: int, x: Array, blocks: list[tuple[Any, ...]], r: int
) -> tuple[str, float, str]:
    """Return what it may be if no session changed an answer at a point, and that chance."""
    firsts = [block[0] for block in blocks]
    deployed = [firsts[t : t + USERS] for t in range(0, len(firsts), USERS)]
    if len(set(firsts)) == 1:
        return "eternal", _eternal(probe, p, x, firsts[0], len(blocks[0]) - r), ""
    if all(len(set(each)) == 1 for each in deployed):
        chance = block_probability((each[0] for each in deployed), r * USERS)
        return "drawn", chance, "deployment to deployment"
    follows = all(len(set(block)) == 1 for block in blocks)
    chance = math.prod(block_probability(each, r) for each in deployed)
    return "sticky" if follows else "cached", chance, "session to session"


def _kept(probe: Probing, found: Found) -> bool:
    """Return whether answers are kept as a correct service may keep them."""
    one_for_all = len(found["eternal"]) >= 2
    if probe.service.says("live") and one_for_all:  # all its deployments are one
        probe.remarks.append(ONE_DRAW)
        return True
    if probe.service.says("memoised"):
        return bool(found["cached"]) or one_for_all
    if found["cached"] and _comes_back(probe, found["cached"][0][1]):
        probe.remarks.append(MEMOISED)
        return True
    return False


def _eternal(probe: Probing, p: int, x: Array, known: Any, moved: int) -> float:
    """The chance that deployments agree at a point, though a hair beside it they do not.

    One answer of each counts, and one at each of the points beside it: a correct service may keep
    what it has drawn in a deployment, but then draws at all of them alike.
    """
    odd = 0
    for t in range(ANSWERS):
        session = probe.session("eternal", p, t)
        first, *beside = session.transcript([x] + [probe.beside(x, HAIR) for _ in range(moved)])
        if first != known or len(beside) < moved:
            return 1.0
        odd += sum(answer != known for answer in beside)
    return apart_probability(ANSWERS, moved * ANSWERS, odd)


def _comes_back(probe: Probing, x: Array) -> bool:
    """Return whether users who come back get the old answer though they first ask another."""
    before = probe.room >= 3
    other = probe.beside(x, HAIR)
    for t in range(RETURNS):
        seed = probe.service.deployment("comes back", t // USERS)
        user = probe.service.user()
        first = probe.service.open(probe.data, seed, user).transcript([x])
        again = probe.service.open(probe.data, seed, user)
        if first != again.transcript([other, x] if before else [x])[-1:]:
            return False
    return True


def _together(probe: Probing) -> bool:
    """Return whether the answers of a session at points far apart depend on each other, mostly."""
    asked = probe.points[: probe.room]
    rows = [probe.session("together", t).transcript(asked) for t in range(ANSWERS)]
    rows = [row for row in rows if len(row) == len(asked)]
    found = []
    for i in range(len(asked)):
        for j in range(i):
            one, other = ([row[k] == rows[0][k] for row in rows] for k in (i, j))
            pairs = Counter(zip(one, other, strict=True))
            here, there = ((pairs[u, False], pairs[u, True]) for u in (False, True))
            found.append(fisher(here, there) <= DEPENDENT)
    return not found or 2 * sum(found) > len(found)


def _rounded(probe: Probing, chance: float, x: Array, r: int, sessions: int) -> Defect:
    """The defect, with the largest move that still got the same answer."""
    widest = HAIR
    for k, move in enumerate(MOVES):
        pairs = [
            probe.session("moves", k, t).transcript([x, probe.beside(x, move)])
            for t in range(MOVED)
        ]
        if any(len(set(pair)) > 1 for pair in pairs):
            break
        widest = move
    return Defect(
        name="answers cached by rounded query",
        seen=(
            f"the answers of a session never changed at the point or a hair beside it in each of "
            f"{sessions} sessions, and points far apart got coins of their own: the query is "
            f"rounded, and its answer kept; moves of {widest:g} standard deviations got the same "
            "answer"
        ),
        probability=chance,
        again=(
            f"open {sessions} sessions of different users and seeds, ask {r} times at {shown(x)}, "
            f"then {r} times a hair beside it"
        ),
    )


def _named(
    r: int, moved: int, cached: list[Any], sticky: list[Any], eternal: list[Any]
) -> list[Defect]:
    sessions, near = ANSWERS // r, f", then {moved} times a hair beside it" if moved else ""
    if cached:
        (chance, x, how), name = min(cached, key=lambda each: each[0]), "cached answers"
        seen = (
            f"the same point gave the same answer {r} times in each of {sessions} sessions, and "
            "points moved by a hair got coins of their own: repeated points are answered from a "
            f"cache; the answer differed from {how}"
        )
    elif sticky:
        (chance, x, how), name = (
            min(sticky, key=lambda each: each[0]),
            "sticky noise" if moved else "cached answers or sticky noise",
        )
        beside = (
            f", at the point or a hair beside it ({r} + {moved} answers"
            if moved
            else f" at a point ({r} answers"
        )
        seen = (
            f"the answers of a session never changed{beside} in each of {sessions} sessions): the"
            f" noise is drawn once and sticks; they differed from {how}"
        )
    elif len(eternal) >= 2:
        (chance, x, _), name = max(eternal, key=lambda each: each[0]), "cached answers"
        seen = (
            f"two points gave one answer for ever ({r} times in each of {sessions} sessions, and "
            f"in {ANSWERS} more, of different users and seeds), though points moved by a hair got "
            "other answers: the answer of a point is drawn once for all"
        )
    else:
        return []
    again = (
        f"open {sessions} sessions of different users and seeds, ask {r} times at {shown(x)}{near}"
    )
    return [Defect(name=name, seen=seen, probability=chance, again=again)]


GRIDS = tuple((digits, edge) for digits in range(-1, 5) for edge in (0.5, 0.0))
"""Digits of a rounded query, and where edges lie between two rounded numbers: in the middle where
it is rounded, at the number where the rest is cut off."""
TRIED, COUNTED = 24, 256
"""Pairs of each kind that choose a grid, and that count."""
HALF = 1e-3
"""Half of the distance of a pair, in cells."""
ASIDE, ACROSS = 0.3819660113, 5
"""Where undivided pairs lie, at no decimal number, and how far apart are points several cells
apart; in cells."""
CELLS = 8
"""Of the standard deviation of the points that are asked, at least."""
MOST_CHANGES = 0.125
"""Share of undivided pairs with different answers above which answers have coins of their own."""
AS_OFTEN = 2 / 3
"""Share of the changes over several cells that one edge must have."""
MOST_ASKED = 64
"""Of a session."""
ROUNDED = "answers cached by rounded query"


def rounding_cost(room: int) -> tuple[int, int]:
    """Return how many openings and queries it takes at most."""
    pairs = TRIED * (1 + len(GRIDS)) + 3 * COUNTED
    each = max(1, min(room, MOST_ASKED) // 2)
    batches = 1 + len(GRIDS) + 3
    return pairs // each + batches, 2 * pairs


def rounded_defects(probe: Probing) -> list[Defect]:
    """Edges of a decimal grid at which answers change though a hair apart."""
    aside = _pairs(probe, 1, 0.5, ASIDE, ASIDE)
    if _changes(probe, aside, TRIED, "aside") > MOST_CHANGES * TRIED:
        return []
    tried = [
        _changes(probe, _pairs(probe, digits, edge), TRIED, f"edge {digits} {edge}")
        for digits, edge in GRIDS
    ]
    if max(tried) <= MOST_CHANGES * TRIED:
        return []
    # edges of a fine grid are those of coarser ones too: the finest that explains the changes
    often = [k for k, changes in enumerate(tried) if 2 * changes >= max(tried)]
    digits, edge = GRIDS[often[-1]]
    at, beside, across = (
        _changes(probe, _pairs(probe, digits, edge, *where), COUNTED, f"count {what}")
        for what, where in (
            ("at", (0.0, 0.0)),
            ("beside", (ASIDE, ASIDE)),
            ("across", (ASIDE, ASIDE + ACROSS)),
        )
    )
    chance = fisher((at, COUNTED - at), (beside, COUNTED - beside), "greater")
    if chance > probe.share or at < AS_OFTEN * across:
        return []
    how = "rounded" if edge else "cut off"
    one, other = next(_pairs(probe, digits, edge))
    seen = (
        f"{at} of {COUNTED} pairs of points a hair apart got different answers in one session where"
        f" numbers {how} to {digits} digits differ, and {beside} of {COUNTED} where they do not: "
        "the query is rounded, and its answer is kept for all who ask"
    )
    again = f"open a session and ask at {shown(one)} and {shown(other)}, and at other such edges"
    return [Defect(name=ROUNDED, seen=seen, probability=chance, again=again)]


Pairs = Iterator[tuple[Array, Array]]


def _pairs(probe: Probing, digits: int, edge: float, start: float = 0.0, end: float = 0.0) -> Pairs:
    """Yield pairs of points, each in all columns a hair below an edge and above it.

    Moved by `start` and `end` cells. They lie among at least `CELLS` cells a column, so that an
    edge of the model's own is seldom met.
    """
    cell = 10.0**-digits
    centre, width = probe.data.X.mean(axis=0), np.maximum(probe.spread, CELLS * cell)
    while True:
        near = centre + width * probe.rng.normal(size=centre.size)
        edges = (np.round(near / cell - edge) + edge) * cell
        yield edges + (start - HALF) * cell, edges + (end + HALF) * cell


def _changes(probe: Probing, pairs: Pairs, number: int, phase: str) -> int:
    """In how many pairs the answers of one session differ."""
    each, changed, done, t = max(1, min(probe.room, MOST_ASKED) // 2), 0, 0, 0
    while done < number:
        session = probe.session("rounding", phase, t)
        some = [next(pairs) for _ in range(min(each, number - done))]
        answers = session.transcript(x for pair in some for x in pair)
        changed += sum(a != b for a, b in zip(answers[::2], answers[1::2], strict=False))
        done, t = done + len(some), t + 1
    return changed
