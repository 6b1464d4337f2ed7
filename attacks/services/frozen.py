"""Answers that are drawn once and given again: caches, sticky noise, rounded queries, one draw.

At each point sessions are asked again and again, and a hair beside it. Where the answers of a
session never change, the points beside tell which it is: coins of their own mean a cache of the
exact query, the same answers mean noise that sticks. If then points far apart agree no more than
chance has it, the cache is one of rounded queries.

Two kinds are no defects, for they are one draw that a claim can be about, and are remarked: answers
that are the same for all users of a deployment (a noisy model without coins of its own, memoised
randomised response), and answers that are the same whenever a user comes back (memoised for each
user). Whoever is redrawn when a session is opened again is a cache.

A cache of rounded queries that all users or deployments share looks like one model without coins,
but it has cells with edges at decimal numbers, and the answers on both sides of an edge are drawn
apart. So pairs of points a hair apart are asked, which an edge of a decimal grid divides, and pairs
that it does not; a model that knows nothing of decimals makes no difference between them. The
thresholds of a decision tree may lie at decimals, but its answers change at few of the edges, and
more often over several cells; those of a cache change at one edge as often as over five. Only the
latter is named; that is a rule of thumb, and no part of the false-alarm probability. A model whose
own cells are decimal and have noise of their own, such as a private histogram, cannot be told
apart: say `one_model` or `memoised`.
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
    ProbePart,
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
ROUNDED = "answers cached by rounded query"
CLAIM = "whose claim is about that draw. If every answer is claimed to have coins of its own, this "
ONE_DRAW = (
    "one draw: the answers of a deployment never change, whoever asks, and differ from deployment "
    "to deployment; so do those of a model that is trained with noise from the seed and answers "
    f"without coins, and of memoised randomised response, {CLAIM}is a defect"
)
MEMOISED = (
    "memoised: a user always gets the same answer at a point, also when a session is opened again, "
    "and points a hair beside it have answers of their own; so does memoised randomised response, "
    f"{CLAIM}is a defect"
)
FROZEN = ProbePart(
    "cached answers, sticky noise", "coins", 13, 2,
    lambda room, _: (
        POINTS * (ANSWERS // _repeats(room)) + 2 * RETURNS + (1 + POINTS) * ANSWERS
        + len(MOVES) * MOVED,
        POINTS * (ANSWERS // _repeats(room)) * min(room, 8) + 4 * RETURNS + 6 * POINTS * ANSWERS
        + 2 * len(MOVES) * MOVED,
    ),
)  # fmt: skip


Found = tuple[float, Array, str]
"""What was found at a point: its chance, the point, and from what to what answers differ."""


def _repeats(room: int) -> int:
    """Return how often a session is asked at a point."""
    return min(4, max(2, room // 2))


def frozen_defects(probe: Probing) -> list[Defect]:
    """Return cached answers, sticky noise or rounded queries, one of them; remark one draw."""
    r = _repeats(probe.room)
    moved, sessions = min(4, probe.room - r), ANSWERS // r
    found: dict[str, list[Found]] = {name: [] for name in ("cached", "sticky", "eternal", "drawn")}
    for p, x in enumerate(probe.points):
        blocks = []
        for t in range(sessions):
            session = probe.session("frozen", p, t // USERS)
            asked = [x] * r + [probe.beside(x, HAIR) for _ in range(moved)]
            blocks.append(session.transcript(asked))
        if any(len(block) < r + moved for block in blocks):
            return []  # it refuses earlier than it did before: that is told elsewhere
        if all(len(set(block[:r])) == 1 for block in blocks):
            name, chance, how = _kind(probe, p, x, blocks, r)
            if chance <= probe.share:
                found[name].append((chance, x, how))
    cached, sticky, eternal = found["cached"], found["sticky"], found["eternal"]
    if found["drawn"]:
        probe.remarks.append(ONE_DRAW)
    if _kept(probe, cached, len(eternal) >= 2):
        return []
    if sticky and not cached and moved and not _together(probe):
        return [_moved(probe, *min(sticky, key=lambda each: each[0])[:2], r, sessions)]
    return _named(r, moved, cached, sticky, eternal)


def _kept(probe: Probing, cached: list[Found], one_for_all: bool) -> bool:
    """Return whether answers are kept as a correct service may keep them."""
    if probe.service.says("live") and one_for_all:  # all its deployments are one
        probe.remarks.append(ONE_DRAW)
        return True
    if probe.service.says("memoised"):
        return bool(cached) or one_for_all
    if not cached or not _comes_back(probe, cached[0][1]):
        return False
    probe.remarks.append(MEMOISED)
    return True


def _named(
    r: int, moved: int, cached: list[Found], sticky: list[Found], eternal: list[Found]
) -> list[Defect]:
    """Return the defect of what was found at points, the most certain one."""
    sessions = ANSWERS // r
    if cached:
        (chance, x, how), name = min(cached, key=lambda each: each[0]), "cached answers"
        seen = (
            f"the same point gave the same answer {r} times in each of {sessions} sessions, and "
            "points moved by a hair got coins of their own: repeated points are answered from a "
            f"cache; the answer differed from {how}"
        )
    elif sticky:
        chance, x, how = min(sticky, key=lambda each: each[0])
        name = "sticky noise" if moved else "cached answers or sticky noise"
        at = f", at the point or a hair beside it ({r} + {moved}" if moved else f" at a point ({r}"
        seen = (
            f"the answers of a session never changed{at} answers in each of {sessions} sessions):"
            f" the noise is drawn once and sticks; they differed from {how}"
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
    beside = f", then {moved} times a hair beside it" if moved else ""
    return [Defect(name, seen, f"{_open(sessions, r, x)}{beside}", chance)]


def _open(sessions: int, r: int, x: Array) -> str:
    return f"open {sessions} sessions of different users and seeds, ask {r} times at {shown(x)}"


def _kind(
    probe: Probing, p: int, x: Array, blocks: list[tuple[Any, ...]], r: int
) -> tuple[str, float, str]:
    """Return what it may be if no session changed an answer at a point, and that chance."""
    firsts = [block[0] for block in blocks]
    deployed = [firsts[t : t + USERS] for t in range(0, len(firsts), USERS)]
    if len(set(firsts)) == 1:
        # the chance that deployments agree at a point, though a hair beside it they do not: one
        # answer of each counts, and one at each of the points beside it, as a correct service may
        # keep what it has drawn in a deployment, but then draws at all of them alike
        odd, moved = 0, len(blocks[0]) - r
        for t in range(ANSWERS):
            session = probe.session("eternal", p, t)
            first, *beside = session.transcript([x] + [probe.beside(x, HAIR) for _ in range(moved)])
            if first != firsts[0] or len(beside) < moved:
                return "eternal", 1.0, ""
            odd += sum(answer != firsts[0] for answer in beside)
        return "eternal", apart_probability(ANSWERS, moved * ANSWERS, odd), ""
    if all(len(set(each)) == 1 for each in deployed):
        chance = block_probability((each[0] for each in deployed), r * USERS)
        return "drawn", chance, "deployment to deployment"
    follows = all(len(set(block)) == 1 for block in blocks)
    chance = math.prod(block_probability(each, r) for each in deployed)
    return "sticky" if follows else "cached", chance, "session to session"


def _comes_back(probe: Probing, x: Array) -> bool:
    """Return whether users who come back get the old answer though they first ask another."""
    other = probe.beside(x, HAIR)
    for t in range(RETURNS):
        seed = probe.service.deployment("comes back", t // USERS)
        user = probe.service.user()
        first = probe.answers(seed, user, [x])
        if first != probe.answers(seed, user, [other, x] if probe.room >= 3 else [x])[-1:]:
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


def _moved(probe: Probing, chance: float, x: Array, r: int, sessions: int) -> Defect:
    """Return the defect of rounded queries, with the largest move that got the same answer."""
    widest = HAIR
    for k, move in enumerate(MOVES):
        pairs = [
            probe.session("moves", k, t).transcript([x, probe.beside(x, move)])
            for t in range(MOVED)
        ]
        if any(len(set(pair)) > 1 for pair in pairs):
            break
        widest = move
    seen = (
        "the answers of a session never changed at the point or a hair beside it in each of "
        f"{sessions} sessions, and points far apart got coins of their own: the query is rounded, "
        f"and its answer kept; moves of {widest:g} standard deviations got the same answer"
    )
    again = f"{_open(sessions, r, x)}, then {r} times a hair beside it"
    return Defect(ROUNDED, seen, again, chance)


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
PAIRS = TRIED * (1 + len(GRIDS)) + 3 * COUNTED
ROUNDING = ProbePart(
    "rounded queries", "coins", 1, 2,
    lambda room, _: (
        PAIRS // max(1, min(room, MOST_ASKED) // 2) + 1 + len(GRIDS) + 3, 2 * PAIRS
    ),
)  # fmt: skip


def rounded_defects(probe: Probing) -> list[Defect]:
    """Return edges of a decimal grid at which answers change though a hair apart."""
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
    digits, edge = GRIDS[max(k for k, changes in enumerate(tried) if 2 * changes >= max(tried))]
    wheres = {"at": (0.0, 0.0), "beside": (ASIDE, ASIDE), "across": (ASIDE, ASIDE + ACROSS)}
    at, beside, across = (
        _changes(probe, _pairs(probe, digits, edge, *where), COUNTED, f"count {what}")
        for what, where in wheres.items()
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
    return [Defect(ROUNDED, seen, again, chance)]


def _pairs(
    probe: Probing, digits: int, edge: float, start: float = 0.0, end: float = 0.0
) -> Iterator[tuple[Array, Array]]:
    """Yield pairs of points a hair below an edge and above it in all columns."""
    cell = 10.0**-digits
    centre, width = probe.data.X.mean(axis=0), np.maximum(probe.spread, CELLS * cell)
    while True:
        near = centre + width * probe.rng.normal(size=centre.size)
        edges = (np.round(near / cell - edge) + edge) * cell
        yield edges + (start - HALF) * cell, edges + (end + HALF) * cell


def _changes(probe: Probing, pairs: Iterator[tuple[Array, Array]], number: int, phase: str) -> int:
    """Return in how many pairs the answers of one session differ."""
    each, changed = max(1, min(probe.room, MOST_ASKED) // 2), 0
    for t, first in enumerate(range(0, number, each)):
        session = probe.session("rounding", phase, t)
        some = [next(pairs) for _ in range(min(each, number - first))]
        answers = session.transcript(x for pair in some for x in pair)
        changed += sum(a != b for a, b in zip(answers[::2], answers[1::2], strict=False))
    return changed
