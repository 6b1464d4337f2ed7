"""Cells of a baseline.

Fresh counts where an accepted record found most, whatever the screening chooses now.

Only the very same cell tells whether a mechanism has changed. The trials are those that would
certify the cell, with the same streams, so a mechanism that has not changed gives the same counts,
and no error probability of the run is spent: the bounds are made by `dpassay.record.compare`, at
its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.engine.directions import OpenExecutor
from dpassay.pairs import change_key
from dpassay.stats.bounds import Counts, Histograms
from dpassay.stats.methods import of_fixed_size
from dpassay.targets.groups import DIRECTIONS, PairGroup
from dpassay.trials.encoders import Bins, Coding, Rounded
from dpassay.trials.tasks import Task

Raw = Mapping[str, Any]
IDENTITY = (
    *("group", "data", "query", "point", "pair"),
    *("change", "pair_key", "direction", "event", "method"),
)
"""Fields of a recorded cell that say which one it is, and by which test its bounds are made."""


Place = tuple[int, int, int]
"""Group, pair and query of a recorded cell in the plan of this run."""


def certified_again(
    cells: Sequence[Raw],
    groups: tuple[PairGroup, ...],
    codings: tuple[Coding, ...],
    labels: tuple[int, ...],
    open_executor: OpenExecutor,
    draws: int,
) -> tuple[dict[str, Any], ...]:
    """Count the events of recorded cells on fresh trials, `draws` per side.

    `cells` are sampled entries of `per_query` of an older record of the same mechanism and claim;
    the other arguments are the plan of this run and how its answers are counted. Each cell that the
    plan still holds comes back with what identifies it and new counts or histograms.
    """
    found = [
        (cell, place) for cell in cells if (place := _place(cell, groups, codings)) is not None
    ]
    if not found:
        return ()
    codings = tuple(_at_thresholds(found, g, group, codings[g]) for g, group in enumerate(groups))
    runner = open_executor(groups, codings)
    sides = sorted({(group, pair) for _, (group, pair, _) in found})
    drawn: dict[tuple[int, int | None], NDArray[np.int64]] = {}
    for g in sorted({g for g, _ in sides}):
        wanted = [(g, None), *(side for side in sides if side[0] == g)]
        tasks = [Task(group=g, pair=pair, phase="certify", size=draws) for _, pair in wanted]
        drawn |= dict(zip(wanted, runner.counts(tasks), strict=True))
    again = []
    for cell, (group, pair, query) in found:
        both = drawn[group, None][query], drawn[group, pair][query]
        one, other = both[::-1] if DIRECTIONS.index(cell["direction"]) else both
        again.append(
            {name: cell[name] for name in IDENTITY if name in cell}
            | {"method": of_fixed_size(cell["method"], means=cell["histograms"] is not None)}
            | _counted(cell, one, other, codings[group], query, labels)
        )
    return tuple(again)


def _place(cell: Raw, groups: tuple[PairGroup, ...], codings: tuple[Coding, ...]) -> Place | None:
    """Find a recorded cell.

    A direction that was learned is another one each time, so such a cell is not found.
    """
    for g, group in enumerate(groups):
        query, pair, pairs = cell["query"], cell["pair"], group.pairs
        known = (group.kind, group.digest) == (cell["group"], cell["data"])
        inside = query < len(group.queries) and pair < len(pairs)
        if not (known and inside and group.kind in ("data", "own")):
            continue
        same = change_key(pairs.changes[pair], pairs.pool) == cell["pair_key"]
        if same and _alike(cell, codings[g]):
            return g, pair, query
    return None


def _alike(cell: Raw, coding: Coding) -> bool:
    """Return whether a recorded cell is about answers of the kind that this run counts."""
    if isinstance(coding, Rounded):
        seen = cell["histograms"]
        return seen is not None and tuple(seen["limits"]) == (coding.low, coding.high)
    half_line = isinstance(cell["event"], Mapping)
    return cell["counts"] is not None and half_line == isinstance(coding, Bins)


def _threshold(cell: Raw) -> float:
    (threshold,) = cell["event"].values()
    return float(threshold)


def _at_thresholds(
    found: Sequence[tuple[Raw, Place]], g: int, group: PairGroup, coding: Coding
) -> Coding:
    """Cut numbers at the recorded half-lines' thresholds; count anything else as this run does."""
    if not isinstance(coding, Bins):
        return coding
    at: list[list[float]] = [[] for _ in group.queries]
    for cell, (of, _, query) in found:
        if of == g:
            at[query].append(_threshold(cell))
    most = max(1, *map(len, at))
    return Bins(
        np.array([sorted(each + [each[0] if each else 0.0] * (most - len(each))) for each in at])
    )


def _counted(
    cell: Raw,
    one: NDArray[np.int64],
    other: NDArray[np.int64],
    coding: Coding,
    query: int,
    labels: tuple[int, ...],
) -> dict[str, Any]:
    """Return the counts of a cell's event on its two sides; all counts for claims about means."""
    if cell["histograms"] is not None:
        spreads, limits = cell["histograms"]["spreads"], cell["histograms"]["limits"]
        seen = Histograms(
            one=tuple(one.tolist()),
            other=tuple(other.tolist()),
            spreads=tuple(spreads),
            limits=tuple(limits),
        )
        return {"counts": None, "histograms": asdict(seen)}
    if isinstance(coding, Bins):
        inside = np.arange(coding.size) > np.searchsorted(coding.edges[query], _threshold(cell))
        inside = inside if "at_least" in cell["event"] else ~inside
    else:
        inside = np.isin(labels, cell["event"])
    x, y = (int(side[inside].sum()) for side in (one, other))
    counts = Counts(x=x, n1=int(one.sum()), y=y, n0=int(other.sum()))
    return {"counts": asdict(counts), "histograms": None}
