"""Answers cached by rounded query, where the cache is shared by all users or all deployments.

There no session sees a change: its answers look like those of one model without coins. But a cache
of rounded queries has cells with edges at decimal numbers, and the answers on both sides of an edge
are drawn apart. So pairs of points a hair apart are asked, which an edge of a decimal grid divides,
and pairs that it does not. A model that knows nothing of decimals makes no difference between them.

A model may know something of decimals: the thresholds of a decision tree lie between data of few
digits. Its answers change at few of the edges, and more often over several cells; those of a cache
change at one edge as often as over five. Only the latter is named; that is a rule of thumb, and no
part of the false-alarm probability. What cannot be told apart is a model whose own cells are
decimal and have noise of their own, such as a private histogram: say `one_model` or `memoised`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy

from dpassay.attacks.observed import Array
from dpassay.attacks.services.budgets import Defect
from dpassay.attacks.services.probe_points import ProbePoints, shown

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


def rounded_defects(probe: ProbePoints, alpha: float) -> list[Defect]:
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
    table = np.array([[at, COUNTED - at], [beside, COUNTED - beside]])
    chance = float(scipy.stats.fisher_exact(table, alternative="greater").pvalue)
    if chance > alpha or at < AS_OFTEN * across:
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


def _pairs(
    probe: ProbePoints, digits: int, edge: float, start: float = 0.0, end: float = 0.0
) -> Pairs:
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


def _changes(probe: ProbePoints, pairs: Pairs, number: int, phase: str) -> int:
    """In how many pairs the answers of one session differ."""
    each, changed, done, t = max(1, min(probe.room, MOST_ASKED) // 2), 0, 0, 0
    while done < number:
        session = probe.service.open(
            probe.data, probe.service.deployment("rounding", phase, t), probe.service.user()
        )
        some = [next(pairs) for _ in range(min(each, number - done))]
        answers = session.transcript(x for pair in some for x in pair)
        changed += sum(a != b for a, b in zip(answers[::2], answers[1::2], strict=False))
        done, t = done + len(some), t + 1
    return changed
