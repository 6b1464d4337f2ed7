"""Exhaustive mode: every dataset of size n over a small domain, every neighbour, every query: the true worst case."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.auditee import Auditee
from dpassay.bounds import EXACT_LAW, Bound, Computed
from dpassay.claims import Claim
from dpassay.data import Labelled, points
from dpassay.errors import AuditeeError, is_count, require
from dpassay.evidence import Cell, Evidence
from dpassay.exact import any_size, check_alike, readable
from dpassay.laws import Law
from dpassay.leaks import Leaks
from dpassay.pairs import Pairs, Replace
from dpassay.plan import DIRECTIONS, Group, Progress

MAX_DATASETS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """All datasets of n records (x, y) with x in {1, ..., points} and y in {0, 1}; queries are the same points.

    Parameters
    ----------
    n : int
        Records in a dataset, >= 1.
    points : int
        Points of the line, >= 1: [N] in section 5 of Dwork and Feldman (2018).

    Raises
    ------
    InvalidInput
        If a number is out of range or there are more than a million datasets.
    """

    n: int
    points: int

    def __post_init__(self) -> None:
        require(is_count(self.n), "--n", self.n, "an integer >= 1")
        require(is_count(self.points), "--domain", self.points, "an integer >= 1")
        require(
            self.n * math.log(2 * self.points) <= math.log(MAX_DATASETS) + 1e-9,
            "--n, --domain",
            (self.n, self.points),
            f"small enough for at most {MAX_DATASETS:,} datasets, (2 points)^n of them",
        )
        object.__setattr__(self, "n", int(self.n))
        object.__setattr__(self, "points", int(self.points))

    def __str__(self) -> str:
        return f"all datasets of {self.n} records over the points 1..{self.points} with labels 0 and 1"

    @property
    def records(self) -> tuple[tuple[int, int], ...]:
        """The 2 x points possible records."""
        return tuple(itertools.product(range(1, self.points + 1), (0, 1)))

    @property
    def queries(self) -> NDArray[np.float64]:
        """Every point, shape (points, 1)."""
        return points(np.arange(1, self.points + 1)[:, None], "queries")

    def dataset(self, choice: tuple[int, ...]) -> Labelled:
        """Return the dataset with these records, given by their numbers."""
        chosen = [self.records[k] for k in choice]
        return Labelled(np.array([[x] for x, _ in chosen], dtype=float), np.array([y for _, y in chosen]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DomainLaws:
    """Laws of every dataset of a domain at every query.

    Parameters
    ----------
    table : array (R, ..., R, q, K)
        One axis per record of the dataset, R = 2 x points; then the query, and what `Law.table` has.
    error : float
        Bound on the numerical error of each entry.
    law : Law
        That of the first dataset: what the table means.
    """

    table: NDArray[np.float64]
    error: float
    law: Law


def domain_laws(auditee: Auditee, domain: Domain, progress: Progress) -> DomainLaws:
    """Compute the law of every dataset of the domain at every query."""
    sizes, queries = (len(domain.records),) * domain.n, domain.queries
    table = np.empty((*sizes, domain.points, len(auditee.labels) or 1))
    first: Law | None = None
    error, total = 0.0, int(np.prod(sizes))
    for done, choice in enumerate(itertools.product(*map(range, sizes))):
        where = f"the dataset {choice}"
        law = auditee.law(auditee.prepare(domain.dataset(choice)), queries, where)
        if law is None:
            raise AuditeeError(f"it has no exact law for {domain}; use mode monte-carlo")
        first = first or law
        check_alike(first, law, where)
        table[choice], error = law.table, max(error, law.error)
        if done % 256 == 255 or done + 1 == total:
            progress("datasets", done + 1, total)
    assert first is not None
    return DomainLaws(table=table, error=error, law=first)


def exhaustive_evidence(auditee: Auditee, claim: Claim, domain: Domain, laws: DomainLaws) -> Evidence:
    """Find the true worst case of a domain, per query point and over all.

    Parameters
    ----------
    auditee, claim
        What is audited, and against what.
    domain, laws
        The domain and its laws, from `domain_laws`.

    Returns
    -------
    Evidence
        With one group, of one pair, for every query: its worst.
    """
    leaks = readable(auditee, claim, laws.law)
    found, highest = _search(laws, leaks)
    groups, cells = [], []
    for query, worst in enumerate(found):
        x, y = domain.records[worst.other[worst.axis]]
        pair = Pairs(base=domain.dataset(worst.choice), changes=(Replace(worst.axis, np.array([float(x)]), y),), how=str(domain))
        groups.append(Group(pairs=pair, queries=domain.queries[query : query + 1], kind="domain", reason="enumeration"))
        row, row0 = laws.table[worst.choice][query], laws.table[worst.other][query]
        seen = leaks.seen(row, row0, worst.loss.value)
        cells.append(
            Cell(
                group=query,
                pair=0,
                query=0,
                direction=DIRECTIONS[0],
                event=seen.event,
                p1=seen.p1,
                p0=seen.p0,
                profile=leaks.profile(row, row0, laws.error),
                lower=worst.loss.lower,
                upper=worst.loss.upper,
                exact=worst.loss,
            )
        )
    top = max(cells, key=lambda cell: cell.lower.value)
    records = len(domain.records)
    pairs = domain.n * records ** (domain.n - 1) * records * (records - 1) // 2
    return Evidence(
        mode="exhaustive",
        lower=top.lower,
        upper=Bound(value=highest, alpha=0.0, method=EXACT_LAW),
        cells=tuple(cells),
        worst=top,
        groups=tuple(groups),
        detectable=claim.promised + (0.0 if top.exact is None else top.exact.error),
        trials=0,
        alpha=0.0,
        searched={
            "datasets": records**domain.n,
            "pairs": pairs,
            "queries": domain.points,
            "cells": 2 * pairs * domain.points,
            "how": [str(domain)],
        },
        domain=str(domain),
        any_size=any_size(auditee, claim),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Worst:
    """The worst pair at one query: two datasets, as record numbers, that differ along one axis."""

    loss: Computed
    axis: int
    choice: tuple[int, ...]
    other: tuple[int, ...]


def _search(laws: DomainLaws, leaks: Leaks) -> tuple[list[_Worst], float]:
    """Return the worst pair per query, and the most that any loss of the domain can be.

    Every ordered pair of neighbours differs along one axis of the table, so each pair of slices of each axis is compared once
    and both directions are covered.
    """
    *sizes, queries, _ = laws.table.shape
    worst: dict[int, _Worst] = {}
    highest = 0.0
    for axis, a, b in itertools.product(range(len(sizes)), range(sizes[0]), range(sizes[0])):
        if a == b:
            continue
        loss = leaks.loss(np.take(laws.table, a, axis=axis), np.take(laws.table, b, axis=axis), laws.error)
        highest = max(highest, float(np.max(loss.value + loss.error)))
        others = loss.value.shape[:-1]
        for query in range(queries):
            place = tuple(int(k) for k in np.unravel_index(np.argmax(loss.certain[..., query]), others)) if others else ()
            cell = (*place, query)
            found = Computed(value=float(loss.value[cell]), error=float(loss.error[cell]))
            if query not in worst or found.value - found.error > worst[query].loss.value - worst[query].loss.error:
                choice, other = ((*place[:axis], k, *place[axis:]) for k in (a, b))
                worst[query] = _Worst(loss=found, axis=axis, choice=choice, other=other)
    return [worst[query] for query in range(queries)], highest
