"""The worst pair and query of a mechanism, for an attacker who may ask at it again and again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.attacks.observed import Array
from dpassay.attacks.optimal import answers, optimal
from dpassay.auditee import Auditee
from dpassay.errors import AuditeeError, InvalidInput
from dpassay.laws import FiniteLaw
from dpassay.limits import ranking_bound
from dpassay.pairs import Change
from dpassay.plan import Group, Progress, silent
from dpassay.scales import Ratio
from dpassay.seeds import stream
from dpassay.trials import stream_key, where

SCREENED = 500
"""Answers a side by which cells without a law are ranked."""
ALPHA = 0.05
"""Of the bounds that cells are ranked by; it decides nothing else."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cell:
    """One pair of neighbours S and S' and one query.

    Parameters
    ----------
    group : Group
    change : Change
        Makes S' of S.
    states : tuple
        Of S and of S'.
    query : int
        Of the group's.
    laws : tuple of FiniteLaw or None
        Of an answer on S and on S' at all queries of the group; None where the mechanism has none.
    """

    group: Group
    change: Change
    states: tuple[Any, Any]
    query: int
    laws: tuple[FiniteLaw, FiniteLaw] | None

    @property
    def point(self) -> NDArray[np.float64]:
        """The query, shape (1, d)."""
        return self.group.queries[self.query : self.query + 1]

    @cached_property
    def rows(self) -> tuple[Array, Array] | None:
        """Log-probabilities of an answer at the query on S and on S', shape (K,)."""
        return None if self.laws is None else (self.laws[0].log_p[self.query], self.laws[1].log_p[self.query])

    def draw(self, auditee: Auditee, transcripts: int, m: int, *, phase: str, seed: int) -> tuple[NDArray[np.int64], ...]:
        """Draw transcripts of m answers at the query on S and on S', as places of the labels; shape (transcripts, m) each."""
        found = []
        for state, change in zip(self.states, (None, self.change), strict=True):
            rng = stream(*stream_key(auditee, self.group, change, phase=f"{phase}, query {self.query}", seed=seed))
            labels = auditee.sample(state, self.point, transcripts * m, rng, where(change))
            order = np.argsort(auditee.labels)
            found.append(order[np.searchsorted(auditee.labels, labels[:, 0], sorter=order)].reshape(transcripts, m))
        return tuple(found)


def worst_cell(
    auditee: Auditee, groups: tuple[Group, ...], *, m: int, trials: int, delta: float, seed: int, progress: Progress = silent
) -> Cell:
    """Return the cell at which m answers are expected to certify the largest loss.

    Where there is a law the bound is computed that the expected counts of the best event would give; elsewhere a few answers
    on both sides are drawn and ranked. The largest loss of all may belong to an answer that is too rare ever to be seen.

    Parameters
    ----------
    auditee : Auditee
        Answers labels.
    groups : tuple of Group
        From `dpassay.plan.groups_for`.
    m, trials : int
        Answers in a transcript, and transcripts a side that will be counted.
    delta : float
        Of the loss of the transcript.
    seed : int

    Raises
    ------
    InvalidInput
        If there is no pair at all.
    AuditeeError
        If the mechanism fails.
    """
    total = sum(len(group.pairs) for group in groups)
    if total == 0:
        raise InvalidInput(f"target = '{auditee.name}': brings no pair of neighbours of its own, and no data are given")
    best, done = None, 0
    for group in groups:
        base = auditee.prepare(group.pairs.base)
        for change in group.pairs.changes:
            for value, cell in _cells(auditee, group, base, change, m=m, trials=trials, delta=delta, seed=seed):
                if best is None or value > best[0]:
                    best = value, cell
            done += 1
            progress(f"{auditee.name}: worst pair", done, total)
    if best is None:
        raise AuditeeError(f"{auditee.name} has no query to be asked at")
    return best[1]


def _cells(
    auditee: Auditee, group: Group, base: Any, change: Change, *, m: int, trials: int, delta: float, seed: int
) -> Iterator[tuple[float, Cell]]:
    """Yield each query of a pair with what it promises."""
    state = auditee.neighbour(group.pairs.base, base, change)
    laws = (auditee.law(base, group.queries, where(None)), auditee.law(state, group.queries, where(change)))
    known = (laws[0], laws[1]) if isinstance(laws[0], FiniteLaw) and isinstance(laws[1], FiniteLaw) else None
    for query in range(len(group.queries)):
        cell = Cell(group=group, change=change, states=(base, state), query=query, laws=known)
        yield (promise(cell, m, trials, delta) if cell.rows else _screened(auditee, cell, delta, seed)), cell


def promise(cell: Cell, m: int, trials: int, delta: float) -> float:
    """Return the bound to be expected of the best event on m answers, by the counts that the exact laws make expected."""
    assert cell.rows is not None
    one, other = at_most(cell.rows, m)
    value = -np.inf
    for p, q in ((one, other), (other, one)):
        curve = optimal(p, q)
        x, y = np.floor(trials * curve.tpr), np.ceil(trials * curve.fpr)
        value = max(value, float(ranking_bound(x, trials, np.minimum(y, trials), trials, scale=Ratio(delta), alpha=ALPHA).max()))
    return value


def at_most(rows: tuple[Array, Array], m: int) -> tuple[Array, Array]:
    """Return the laws of the counts of m answers, or of the most answers that can be tabled."""
    while True:
        try:
            return answers(*rows, m)
        except InvalidInput:
            if m == 1:
                raise
            m //= 2


def _screened(auditee: Auditee, cell: Cell, delta: float, seed: int) -> float:
    one, other = cell.draw(auditee, SCREENED, 1, phase="screen repeated", seed=seed)
    x, y = (np.bincount(each[:, 0], minlength=len(auditee.labels)) for each in (one, other))
    known = {"scale": Ratio(delta), "alpha": ALPHA}
    bounds = [ranking_bound(a, SCREENED, b, SCREENED, **known) for a, b in ((x, y), (y, x))]  # type: ignore[arg-type]
    return float(np.max(bounds))
