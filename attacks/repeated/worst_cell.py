"""The worst pairs and queries of a mechanism, for an attacker who may ask at them again and again.

The pair that loses most and the pair that an attacker tells apart best are two pairs: the largest
loss may belong to an answer that next to never comes. Each number is therefore shown at the pair
that is worst for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.observed import Array
from dpassay.attacks.repeated.optimal import answers, optimal
from dpassay.data import Labelled
from dpassay.errors import InvalidInput, TargetError
from dpassay.laws import FiniteLaw
from dpassay.pairs import Change, FlipLabel, Pairs
from dpassay.seeds import stream
from dpassay.stats.event_leak import ranking_bound
from dpassay.stats.scales import Ratio
from dpassay.targets.groups import PairGroup, Progress, silent
from dpassay.targets.guard import AuditTarget
from dpassay.trials.blocks import stream_key, where

SCREENED = 500
"""Answers a side by which cells without a law are ranked."""
ALPHA = 0.05
"""Of the bounds that cells are ranked by; it decides nothing else."""
MOST_FLIPS, MOST_STEPS = 64, 64
"""Labels that are tried at each step of the way to the pair that is told apart best, and steps."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TranscriptCell:
    """One pair of neighbours S and S' and one query of a group."""

    group: PairGroup
    change: Change  # makes S' of S
    states: tuple[Any, Any]  # of S and of S'
    query: int
    # of an answer on S and S' at all queries; None where the mechanism has none
    laws: tuple[FiniteLaw, FiniteLaw] | None

    def __str__(self) -> str:
        kind = "own worst case: " if self.group.kind == "own" else ""
        return f"{kind}{self.group.reason}; {self.change}"

    @property
    def point(self) -> Array:
        """The query, shape (1, d)."""
        return self.group.queries[self.query : self.query + 1]

    @cached_property
    def rows(self) -> tuple[Array, Array] | None:
        """Log-probabilities of an answer at the query on S and on S', shape (K,)."""
        if self.laws is None:
            return None
        return self.laws[0].log_p[self.query], self.laws[1].log_p[self.query]

    def draw(
        self, target: AuditTarget, transcripts: int, m: int, *, phase: str, seed: int
    ) -> tuple[NDArray[np.int64], ...]:
        """Draw transcripts (n, m) of the query on S and on S', as places of the labels."""
        found, order = [], np.argsort(target.labels)
        what = f"{phase}, query {self.query}"
        for state, change in zip(self.states, (None, self.change), strict=True):
            rng = stream(*stream_key(target, self.group, change, phase=what, seed=seed))
            labels = target.sample(state, self.point, transcripts * m, rng, where(change))
            places = order[np.searchsorted(target.labels, labels[:, 0], sorter=order)]
            found.append(places.reshape(transcripts, m))
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WorstCells:
    """The cells at which m answers are shown."""

    losing: TranscriptCell  # expected to certify the largest loss
    telling: TranscriptCell  # where an attacker has the largest advantage

    @property
    def certified(self) -> tuple[TranscriptCell, ...]:
        """Those at which a loss is certified, which share the error probability.

        With laws it is known where the largest bound is to be expected. Without them a few single
        answers have told, and m answers may show more where an attacker has the larger advantage.
        """
        both = self.telling is not self.losing and self.losing.rows is None
        return (self.losing, self.telling) if both else (self.losing,)


def candidates(
    target: AuditTarget, groups: tuple[PairGroup, ...], *, progress: Progress = silent
) -> tuple[TranscriptCell, ...]:
    """Return the cells among which the worst are sought.

    A mechanism's own pairs are where it loses most. If it has laws and labels 0 and 1, labels are
    flipped from there one after the other, each time the one that moves the answers most, until
    none moves them more than the flip before.
    """
    total = sum(len(group.pairs) for group in groups)
    if total == 0:
        raise InvalidInput(
            f"target = '{target.name}': brings no pair of neighbours of its own, and no data are "
            "given"
        )
    found: list[TranscriptCell] = []
    for group in groups:
        base = target.prepare(group.pairs.base)
        for done, change in enumerate(group.pairs.changes, start=1):
            found += _cells(target, group, base, change)
            progress(f"{target.name}: pairs", done, len(group.pairs))
    for group in groups:
        if group.kind == "own":
            found += _towards(target, group)
    if not found:
        raise TargetError(f"{target.name} has no query to be asked at")
    return tuple(found)


def worst_cells(
    target: AuditTarget,
    cells: Sequence[TranscriptCell],
    ms: Sequence[int],
    *,
    trials: int,
    delta: float,
    seed: int,
) -> tuple[WorstCells, ...]:
    """Return for each number of answers the cells at which they are shown."""
    screened = [None if cell.rows else _screened(target, cell, delta, seed) for cell in cells]
    found = []
    for m in ms:
        ranked = [
            seen
            or (promise(cell, m, trials, m * delta), optimal(*at_most(_known(cell), m)).advantage)
            for cell, seen in zip(cells, screened, strict=True)
        ]
        loss, gain = (int(np.argmax(values)) for values in zip(*ranked, strict=True))
        found.append(WorstCells(losing=cells[loss], telling=cells[gain]))
    return tuple(found)


def _cells(
    target: AuditTarget, group: PairGroup, base: Any, change: Change
) -> list[TranscriptCell]:
    """Return every query of a pair."""
    state = target.neighbour(group.pairs.base, base, change)
    one = target.law(base, group.queries, where(None))
    other = target.law(state, group.queries, where(change))
    known = None
    if isinstance(one, FiniteLaw) and isinstance(other, FiniteLaw):
        known = one, other
    return [
        TranscriptCell(group=group, change=change, states=(base, state), query=query, laws=known)
        for query in range(len(group.queries))
    ]


def _towards(target: AuditTarget, group: PairGroup) -> Iterator[TranscriptCell]:
    """Flip labels as long as that raises the advantage of a single answer."""
    data, most = group.pairs.base, 0.0
    if not (isinstance(data, Labelled) and set(data.y.tolist()) <= {0, 1}):
        return
    for step in range(MOST_STEPS):
        state = target.prepare(data)
        if not isinstance(target.law(state, group.queries, where(None)), FiniteLaw):
            return
        how = f"{len(data)} records, label after label flipped where that moves the answers most"
        more = f"; {step} more label{'' if step == 1 else 's'} flipped" if step else ""
        cells: list[TranscriptCell] = []
        for i in range(min(len(data), MOST_FLIPS)):
            pairs = Pairs(base=data, changes=(FlipLabel(i),), how=how)
            flipped = PairGroup(
                pairs=pairs, queries=group.queries, kind="data", reason=f"{group.reason}{more}"
            )
            cells += _cells(target, flipped, state, FlipLabel(i))
        gains = [optimal(*_known(cell)).advantage for cell in cells]
        best = int(np.argmax(gains))
        if gains[best] <= most * (1 + 1e-9):
            return
        most = gains[best]
        yield cells[best]
        data = cells[best].change.apply(data)


def _known(cell: TranscriptCell) -> tuple[Array, Array]:
    assert cell.rows is not None
    return cell.rows


def promise(cell: TranscriptCell, m: int, trials: int, delta: float) -> float:
    """Return the best event's bound on m answers at the counts that exact laws make expected."""
    laws, bounds = at_most(_known(cell), m), []
    for one, other in (laws, laws[::-1]):
        curve = optimal(one, other)
        x, y = np.floor(trials * curve.tpr), np.ceil(trials * curve.fpr)
        bounds.append(ranked(x, np.minimum(y, trials), trials, delta))
    return max(bounds)


def ranked(x: NDArray[Any], y: NDArray[Any], n: int, delta: float) -> float:
    """Return the largest bound that counts of n a side give; it ranks, and decides nothing else."""
    return float(ranking_bound(x, n, y, n, scale=Ratio(delta), alpha=ALPHA).max())


def at_most(rows: tuple[Array, Array], m: int) -> tuple[Array, Array]:
    """Return the laws of the counts of m answers, or of the most answers that can be tabled."""
    while True:
        try:
            return answers(*rows, m)
        except InvalidInput:
            if m == 1:
                raise
            m //= 2


def _screened(
    target: AuditTarget, cell: TranscriptCell, delta: float, seed: int
) -> tuple[float, float]:
    """Return the largest bound and advantage of a single label, of few answers: only ranks."""
    one, other = cell.draw(target, SCREENED, 1, phase="screen repeated", seed=seed)
    x, y = (np.bincount(each[:, 0], minlength=len(target.labels)) for each in (one, other))
    bound = max(ranked(a, b, SCREENED, delta) for a, b in ((x, y), (y, x)))
    return bound, float(np.abs(x - y).sum()) / 2 / SCREENED
