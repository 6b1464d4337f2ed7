"""Exhaustive mode: every dataset of size n over a small domain, every neighbour, every query: the true worst case."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.auditee import Auditee
from dpassay.bounds import EXACT_LAW, Bound, Computed
from dpassay.claims import Claim
from dpassay.data import Labelled, points
from dpassay.errors import AuditeeError, require
from dpassay.evidence import Cell, Evidence, event_labels
from dpassay.exact import any_size
from dpassay.loss import privacy_loss
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
        require(self.n >= 1, "--n", self.n, "an integer >= 1")
        require(self.points >= 1, "--domain", self.points, "an integer >= 1")
        size = (2 * self.points) ** self.n
        require(
            size <= MAX_DATASETS,
            "--n, --domain",
            (self.n, self.points),
            f"small enough for {MAX_DATASETS:,} datasets, not {size:,}",
        )

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


def domain_laws(auditee: Auditee, domain: Domain, progress: Progress) -> tuple[NDArray[np.float64], float]:
    """Compute the law of every dataset of the domain at every query.

    Returns
    -------
    log_p : array (R, ..., R, q, K)
        One axis per record of the dataset, R = 2 x points; then the query and the label.
    error : float
        Bound on the numerical error of each entry.
    """
    sizes, queries = (len(domain.records),) * domain.n, domain.queries
    log_p = np.empty((*sizes, domain.points, len(auditee.labels)))
    error, total = 0.0, int(np.prod(sizes))
    for done, choice in enumerate(itertools.product(*map(range, sizes))):
        law = auditee.law(auditee.prepare(domain.dataset(choice)), queries, f"the dataset {choice}")
        if law is None:
            raise AuditeeError(f"it has no exact law for {domain}; use mode monte-carlo")
        log_p[choice], error = law.log_p, max(error, law.error)
        if done % 256 == 255 or done + 1 == total:
            progress("datasets", done + 1, total)
    return log_p, error


def exhaustive_evidence(auditee: Auditee, claim: Claim, domain: Domain, log_p: NDArray[np.float64], law_error: float) -> Evidence:
    """Find the true worst case of a domain, per query point and over all.

    Every ordered pair of neighbours differs along one axis of the table, so each pair of slices of each axis is compared
    once and both directions are covered.
    """
    axes, record_numbers = domain.n, range(len(domain.records))
    worst: list[tuple[float, float, int, int, int, int] | None] = [None] * domain.points
    highest = 0.0
    for axis, a, b in itertools.product(range(axes), record_numbers, record_numbers):
        if a == b:
            continue
        loss = privacy_loss(np.take(log_p, a, axis=axis), np.take(log_p, b, axis=axis), claim.delta, law_error)
        highest = max(highest, float(np.max(loss.epsilon + loss.error)))
        rest = loss.epsilon.reshape(-1, domain.points)
        for query, place in enumerate(rest.argmax(axis=0)):
            value = float(rest[place, query])
            best = worst[query]
            if best is None or value > best[0]:
                worst[query] = (
                    value,
                    float(loss.error.reshape(-1, domain.points)[place, query]),
                    axis,
                    a,
                    b,
                    int(place),
                )

    groups, cells = [], []
    for query, found in enumerate(worst):
        assert found is not None  # a domain has at least two records
        value, error, axis, a, b, place = found
        others = [int(k) for k in np.unravel_index(place, (len(record_numbers),) * (axes - 1))] if axes > 1 else []
        choice = (*others[:axis], a, *others[axis:])
        other = (*choice[:axis], b, *choice[axis + 1 :])
        x, y = domain.records[b]
        pair = Pairs(base=domain.dataset(choice), changes=(Replace(axis, np.array([float(x)]), y),), how=str(domain))
        groups.append(Group(pairs=pair, queries=domain.queries[query : query + 1], kind="domain", reason="enumeration"))
        row, row0 = log_p[choice][query], log_p[other][query]
        event = privacy_loss(row, row0, claim.delta).event
        exact = Computed(value=value, error=error)
        cells.append(
            Cell(
                group=query,
                pair=0,
                query=0,
                direction=DIRECTIONS[0],
                event=event_labels(event, auditee.labels),
                p1=float(np.exp(row)[event].sum()),
                p0=float(np.exp(row0)[event].sum()),
                lower=exact.lower,
                upper=exact.upper,
                exact=exact,
            )
        )
    top = max(cells, key=lambda cell: cell.lower.value)
    datasets, records = len(record_numbers) ** domain.n, len(record_numbers)
    pairs = domain.n * records ** (domain.n - 1) * records * (records - 1) // 2
    return Evidence(
        mode="exhaustive",
        lower=top.lower,
        upper=Bound(value=highest, alpha=0.0, method=EXACT_LAW),
        cells=tuple(cells),
        worst=top,
        groups=tuple(groups),
        detectable=claim.epsilon + (0.0 if top.exact is None else top.exact.error),
        trials=0,
        alpha=0.0,
        searched={
            "datasets": datasets,
            "pairs": pairs,
            "queries": domain.points,
            "cells": 2 * pairs * domain.points,
            "how": [str(domain)],
        },
        domain=str(domain),
        any_size=any_size(auditee, claim),
    )
